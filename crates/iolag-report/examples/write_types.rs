//! Writes the types of what the pages read: `cargo xtask types`.

use std::path::PathBuf;

use iolag_report::typescript;

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args_os().nth(1).unwrap_or_default());
    typescript().into_iter().try_for_each(|(name, text)| std::fs::write(directory.join(name), text))
}
