//! How a test says that it could not run: a line `SKIPPED test: why` in the file that `IOLAG_SKIPPED` names.

use std::fs::OpenOptions;
use std::io::Write;

use anyhow::{Context, Result};

/// Why a test was skipped, from what it wrote: its first reason, since one test may lack several things.
pub fn reasons(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("SKIPPED "))?;
    // Test names hold `::` but no colon with a space.
    Some(line.split_once(": ").map_or("no reason given", |(_, why)| why).to_owned())
}

/// Says so for a test of this program; only at the terminal if nobody counts.
pub fn skip(test: &str, why: &str) -> Result<()> {
    let line = format!("SKIPPED {test}: {why}\n");
    print!("{line}");
    let Some(path) = std::env::var_os("IOLAG_SKIPPED") else { return Ok(()) };
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).context("writing the list of skipped tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts() {
        let text = "noise\nSKIPPED tests::a: no root\nSKIPPED tests::a: no loop: device\n";
        assert_eq!(reasons(text).as_deref(), Some("no root"));
        assert_eq!(reasons("SKIPPED b\n").as_deref(), Some("no reason given"));
        assert_eq!(reasons("noise\n"), None);
    }
}
