//! How much a user copies to a login node: the stripped binary of the profile `dist`, and what takes how much of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::setting::{Setting, Size};
use crate::places::{Places, output, run as execute};

const MOST_MIB: f64 = 30.0;
/// So many crates have a row of their own.
const ROWS: usize = 15;

/// Builds the program and prints its size, and the sizes of its parts.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let profile = setting.size.shipped();
    if setting.size == Size::Full {
        let without = with_symbols(setting.places, &["--no-default-features"])?;
        let scratch = setting.scratch("size")?;
        let stripped = scratch.path().join("iolag");
        execute(Command::new("strip").arg("-o").arg(&stripped).arg(&without))?;
        println!("| the same without PostgreSQL | {:.2} MiB | | |", mebibytes(&stripped)?);
        print_parts(&with_symbols(setting.places, &[])?)?;
    }
    // Last, so that it is the one that lies there in the end.
    let iolag = setting.places.build("iolag", "iolag", profile)?;
    let mebibytes = mebibytes(&iolag)?;
    let verdict = match setting.size {
        Size::Tiny => "not judged",
        Size::Full if mebibytes < MOST_MIB => "met",
        Size::Full => "missed",
    };
    println!(
        "| size of the binary, profile {} | {mebibytes:.2} MiB | under {MOST_MIB} MiB | {verdict} |",
        profile.name()
    );
    if setting.size == Size::Tiny {
        // It has its symbols.
        print_parts(&iolag)?;
    }
    Ok(())
}

fn mebibytes(file: &Path) -> Result<f64> {
    let bytes = std::fs::metadata(file).with_context(|| format!("asking for {}", file.display()))?.len();
    Ok(bytes as f64 / f64::from(1 << 20))
}

/// The program as its users have it, but for its symbols.
fn with_symbols(places: &Places, features: &[&str]) -> Result<PathBuf> {
    let mut cargo = places.cargo();
    cargo.args(["build", "--quiet", "--package", "iolag", "--bin", "iolag", "--profile", "dist"]);
    execute(cargo.args(["--config", "profile.dist.strip=\"none\""]).args(features))?;
    Ok(places.target.join("dist/iolag"))
}

fn print_parts(program: &Path) -> Result<()> {
    let sections = output(Command::new("size").arg("-A").arg(program)).context("`size` is in binutils")?;
    for name in [".text", ".rodata", ".data.rel.ro", ".data", ".eh_frame", ".rela.dyn"] {
        let bytes = section_bytes(&sections, name);
        println!("| section {name} | {:.2} MiB | | |", bytes as f64 / f64::from(1 << 20));
    }
    let symbols =
        output(Command::new("nm").args(["-S", "-C"]).arg(program)).context("`nm` is in binutils")?;
    for (name, bytes) in greatest(symbols.lines().filter_map(symbol)) {
        println!("| symbols of {name} | {:.2} MiB | | |", bytes as f64 / f64::from(1 << 20));
    }
    Ok(())
}

/// A line is a name, a size, an address.
fn section_bytes(sections: &str, name: &str) -> u64 {
    let mut lines = sections.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find_map(|words| (words.first() == Some(&name)).then(|| words.get(1)?.parse().ok())?).unwrap_or(0)
}

/// Whose a symbol is, and how long: a line is an address, a size, a kind, and a name.
fn symbol(line: &str) -> Option<(&str, u64)> {
    let mut words = line.splitn(4, ' ');
    let (_, bytes, kind) = (words.next()?, u64::from_str_radix(words.next()?, 16).ok()?, words.next()?);
    // What is zero when the program starts takes no room in the file.
    (!matches!(kind, "b" | "B")).then_some((owner(words.next()?), bytes))
}

/// The crate that a name begins with: of `<alloc::vec::Vec<T> as core::ops::Drop>::drop` alloc.
fn owner(name: &str) -> &str {
    let path = name.trim_start_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let path = path.trim_start_matches("mut ").trim_start_matches("dyn ");
    match path.split_once("::") {
        Some((owner, _)) if owner.chars().all(|letter| letter.is_alphanumeric() || letter == '_') => owner,
        _ => "no crate (C, assembler)",
    }
}

/// The owners of most, and the rest.
fn greatest<'a>(symbols: impl Iterator<Item = (&'a str, u64)>) -> Vec<(&'a str, u64)> {
    let mut sums = BTreeMap::new();
    symbols.for_each(|(owner, bytes)| *sums.entry(owner).or_insert(0) += bytes);
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let rest = sums.split_off(sums.len().min(ROWS)).iter().map(|(_, bytes)| bytes).sum();
    sums.push(("all others", rest));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_of_the_crate_that_its_name_begins_with() {
        let line = |name: &str| format!("0000000000401000 0000000000000010 T {name}");
        let owner = |name: &str| symbol(&line(name)).unwrap().0.to_owned();
        assert_eq!(symbol(&line("iolag_keeper::child::fork")), Some(("iolag_keeper", 16)));
        assert_eq!(owner("<alloc::vec::Vec<T> as core::ops::Drop>::drop"), "alloc");
        assert_eq!(owner("<&mut std::io::Stdout as core::fmt::Write>::write_str"), "std");
        assert_eq!(owner("sqlite3_open_v2"), "no crate (C, assembler)");
        assert_eq!(symbol("0000000000401000 0000000000000010 b zeroes"), None);
        assert_eq!(symbol("                 U malloc"), None);
    }

    #[test]
    fn the_greatest_come_first_and_the_rest_is_one() {
        let names: Vec<String> = (0..20).map(|number| format!("crate_{number}")).collect();
        let symbols =
            names.iter().zip(1..).flat_map(|(name, bytes)| [(name.as_str(), bytes), (name.as_str(), 1)]);
        let sums = greatest(symbols);
        assert_eq!((sums[0], sums.len()), (("crate_19", 21), ROWS + 1));
        assert_eq!(sums[ROWS], ("all others", (1..=5).map(|bytes| bytes + 1).sum()));
    }

    #[test]
    fn sections_are_found_by_their_whole_name() {
        let sections = "iolag  :\nsection   size  addr\n.data.rel.ro  7  1\n.data  5  2\n";
        assert_eq!([".data", ".text"].map(|name| section_bytes(sections, name)), [5, 0]);
    }
}
