//! How much a user copies to a login node: the stripped binary of the profile `dist`.

use anyhow::{Context, Result};

use super::setting::{Setting, Size};

const MOST_MIB: f64 = 15.0;

/// Builds the program and prints its size.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let profile = setting.size.shipped();
    let iolag = setting.places.build("iolag", "iolag", profile)?;
    let bytes = std::fs::metadata(&iolag).with_context(|| format!("asking for {}", iolag.display()))?.len();
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    let verdict = match setting.size {
        Size::Tiny => "not judged",
        Size::Full if mebibytes < MOST_MIB => "met",
        Size::Full => "missed",
    };
    println!(
        "| size of the binary, profile {} | {mebibytes:.2} MiB | under {MOST_MIB} MiB | {verdict} |",
        profile.name()
    );
    Ok(())
}
