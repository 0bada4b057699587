//! Which cargo features the workspace is linted, tested and built with.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::places::{Places, output, run};

/// What everything here is built with: what makes the types of the pages is built with the tests, not once more.
pub const BUILT: [&str; 2] = ["--features", "iolag-report/typescript"];

/// Which sets of features clippy sees of the whole workspace, one run for each: none, and what everything is built with.
pub const LINTED: [&[&str]; 2] = [&["--no-default-features"], &BUILT];

/// Features of which clippy sees the crate with each alone, and what of it. Others only pass these on. Of one that is built with nothing else
/// the tests are seen, too.
pub const ALONE: &[(&str, &[&str], Targets)] = &[
    ("iolag-analysis", &["typescript"], LIBRARY),
    ("iolag-backend", &["http", "postgres", "s3"], LIBRARY),
    ("iolag-backend", &["mongodb"], ALL),
    ("iolag-model", &["typescript"], LIBRARY),
    ("iolag-net", &["postgres"], LIBRARY),
    ("iolag-report", &["typescript"], LIBRARY),
    ("iolag-store", &["postgres"], LIBRARY),
];

const LIBRARY: Targets = &["--lib"];
const ALL: Targets = &["--all-targets"];

/// What is linted of each crate.
pub type Targets = &'static [&'static str];

/// What the features are: what can be left out can be left out, and what has to be asked for works.
pub fn check(places: &Places) -> Result<()> {
    leave_out_all(places)?;
    let mut cargo = places.cargo();
    // Everything else is tested as most people have it, which is without MongoDB.
    cargo.args(["test", "--quiet", "--workspace", "--test", "stores", "--test", "cli_end_to_end"]);
    cargo.args(BUILT).args(["--features", "iolag/mongodb"]);
    hardly_optimised(&mut cargo, &["iolag", "iolag-conduct", "iolag-workload"]);
    run(cargo.arg("mongo").env("IOLAG_SERVERS", places.servers()))
}

/// Of crates that nobody else has with these features there is nothing to share, and little of them is run.
fn hardly_optimised(cargo: &mut Command, crates: &[&str]) {
    for own in crates {
        cargo.args(["--config", &format!("profile.dev.package.{own}.opt-level=0")]);
    }
}

/// Builds the program without any feature of its own, and runs it. With them it is built by the tests, from which this takes all crates but
/// those that know of servers.
fn leave_out_all(places: &Places) -> Result<()> {
    let mut cargo = places.cargo();
    cargo.args(["build", "--quiet", "--workspace", "--bin", "iolag", "--no-default-features"]).args(BUILT);
    hardly_optimised(&mut cargo, &["iolag", "iolag-conduct", "iolag-store"]);
    run(&mut cargo)?;
    let iolag = || Command::new(places.target.join("debug/iolag"));
    let version = output(iolag().arg("--version"))?;
    ensure!(version.trim().ends_with("without PostgreSQL"), "a program without PostgreSQL says {version:?}");
    let store = tempfile::tempdir().context("making a directory for a store")?;
    output(iolag().args(["bench", "metadata", "memory:", "--store"]).arg(store.path()))?;
    let refused =
        iolag().args(["show", "history", "--history", "postgres://nobody@localhost/nothing"]).output()?;
    let said = String::from_utf8_lossy(&refused.stderr);
    ensure!(said.contains("built without PostgreSQL"), "a program without PostgreSQL says {said:?}");
    print!("{version}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;

    /// Whether a feature of a package does more than to pass on what other features of ours do.
    fn does_something(package: &Value, feature: &str) -> bool {
        let enabled = package["features"][feature].as_array().cloned().unwrap_or_default();
        let passes_on = |name: &str| name.starts_with("iolag-") || package["features"].get(name).is_some();
        enabled.is_empty() || !enabled.iter().filter_map(Value::as_str).all(passes_on)
    }

    #[test]
    fn clippy_sees_each_feature_alone() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            "--manifest-path",
            manifest,
        ]);
        let metadata: Value = serde_json::from_str(&output(&mut cargo).unwrap()).unwrap();
        let mut found = Vec::new();
        for package in metadata["packages"].as_array().unwrap() {
            let features = package["features"].as_object().unwrap().keys();
            let own: Vec<&str> = features
                .map(String::as_str)
                .filter(|feature| *feature != "default" && does_something(package, feature))
                .collect();
            found.extend((!own.is_empty()).then(|| (package["name"].as_str().unwrap(), own)));
        }
        found.sort_unstable();
        let mut told: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (package, features, _) in ALONE {
            told.entry(package).or_default().extend(*features);
        }
        told.values_mut().for_each(|features| features.sort_unstable());
        assert_eq!(found, told.into_iter().collect::<Vec<_>>(), "a feature that is never alone: add it");
    }
}
