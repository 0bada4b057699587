//! Which cargo features the workspace is linted, tested and built with.

use anyhow::{Context, Result, ensure};

use crate::places::{Places, output, run};

/// What everything here is built with: what makes the types of the pages is built with the tests, not once more.
pub const BUILT: [&str; 2] = ["--features", "iolag-report/typescript"];

/// Which sets of features clippy sees, one run for each: none, each alone, and all. By default there is PostgreSQL alone. Tests are seen
/// with none and with all: each feature is on in one and off in the other.
pub const LINTED: [(&[&str], Targets); 4] = [
    (&["--no-default-features"], &["--all-targets"]),
    (&[], &["--lib", "--bins"]),
    (&["--no-default-features", "--features", "iolag-report/typescript"], &["--lib", "--bins"]),
    (&["--all-features"], &["--all-targets"]),
];

/// What is linted of each crate.
pub type Targets = &'static [&'static str];

/// Builds the program without any feature of its own, and runs it: what can be left out can be left out. With the default ones it is
/// built by the tests, from which this takes all crates but those that know of PostgreSQL.
pub fn leave_out_all(places: &Places) -> Result<()> {
    let mut cargo = places.cargo();
    cargo.args(["build", "--quiet", "--workspace", "--bin", "iolag", "--no-default-features"]).args(BUILT);
    run(&mut cargo)?;
    let iolag = || std::process::Command::new(places.target.join("debug/iolag"));
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
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// The features that a set has of the workspace, as `package/feature`, without the name `default`.
    fn features_of(set: &[&str], packages: &[Value]) -> BTreeSet<String> {
        let names = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut waiting: Vec<String> = match set {
            ["--no-default-features", "--features", features] => {
                features.split(',').map(str::to_owned).collect()
            }
            ["--no-default-features"] => Vec::new(),
            [] => packages
                .iter()
                .map(|package| format!("{}/default", package["name"].as_str().unwrap()))
                .collect(),
            ["--all-features"] => packages
                .iter()
                .flat_map(|package| {
                    let features = package["features"].as_object().unwrap().keys();
                    features.map(|feature| format!("{}/{feature}", package["name"].as_str().unwrap()))
                })
                .collect(),
            _ => panic!("what set is {set:?}?"),
        };
        let mut found = BTreeSet::new();
        while let Some(feature) = waiting.pop() {
            let (package, name) = feature.split_once('/').unwrap();
            let manifest = packages.iter().find(|one| one["name"] == package).unwrap();
            for enabled in names(&manifest["features"][name]) {
                match enabled.as_str().unwrap() {
                    dependency if dependency.starts_with("dep:") => {}
                    other if other.contains('/') => waiting.push(other.to_owned()),
                    own => waiting.push(format!("{package}/{own}")),
                }
            }
            if name != "default" {
                found.insert(feature);
            }
        }
        found
    }

    #[test]
    fn clippy_sees_no_feature_all_of_them_and_each_alone() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let mut cargo =
            std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
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
        let packages = metadata["packages"].as_array().unwrap();
        let [none, default, typescript, all] = LINTED.map(|(set, _)| features_of(set, packages));
        assert!(none.is_empty());
        assert!(default.is_disjoint(&typescript), "{default:?} {typescript:?}");
        assert_eq!(&default | &typescript, all, "a feature that is never alone: add a set");
        // What has one name in several packages is one.
        for alone in [default, typescript] {
            let names: BTreeSet<_> =
                alone.iter().filter_map(|feature| feature.split_once('/')).map(|(_, name)| name).collect();
            assert_eq!(names.len(), 1, "{alone:?}");
        }
    }
}
