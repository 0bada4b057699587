//! Which cargo features the workspace is linted, tested and built with.

use anyhow::{Context, Result, ensure};

use crate::places::{Places, output, run};

/// What everything here is built with: what makes the types of the pages is built with the tests, not once more.
pub const BUILT: [&str; 2] = ["--features", "iolag-report/typescript"];

/// Which sets of features clippy sees of the workspace, one run for each: none, those by default, and all. Tests are seen with none and with
/// all: each feature is on in one and off in the other.
pub const LINTED: [(&[&str], Targets); 3] = [
    (&["--no-default-features"], &["--all-targets"]),
    (&[], &["--lib", "--bins"]),
    (&["--all-features"], &["--all-targets"]),
];

/// Features of which clippy sees the crate with each alone. Others only pass these on.
pub const ALONE: &[(&str, &[&str])] = &[
    ("iolag-analysis", &["typescript"]),
    ("iolag-backend", &["http", "mongodb", "postgres", "s3"]),
    ("iolag-model", &["typescript"]),
    ("iolag-net", &["postgres"]),
    ("iolag-report", &["typescript"]),
    ("iolag-store", &["postgres"]),
];

/// What is linted of each crate.
pub type Targets = &'static [&'static str];

/// What the features are: what can be left out can be left out, and what has to be asked for works.
pub fn check(places: &Places) -> Result<()> {
    leave_out_all(places)?;
    let mut cargo = places.cargo();
    // The program is tested as most people have it, which is without MongoDB.
    cargo.args([
        "test",
        "--quiet",
        "--package",
        "iolag-backend",
        "--features",
        "mongodb",
        "--test",
        "stores",
        "mongo",
    ]);
    run(cargo.env("IOLAG_SERVERS", places.servers()))
}

/// Builds the program without any feature of its own, and runs it. With them it is built by the tests, from which this takes all crates but
/// those that know of servers.
fn leave_out_all(places: &Places) -> Result<()> {
    let mut cargo = places.cargo();
    cargo.args(["build", "--quiet", "--workspace", "--bin", "iolag", "--no-default-features"]).args(BUILT);
    // Nobody else has these without features: there is nothing to share, and little of it is run.
    for own in ["iolag", "iolag-conduct", "iolag-store"] {
        cargo.args(["--config", &format!("profile.dev.package.{own}.opt-level=0")]);
    }
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
        let told: Vec<(&str, Vec<&str>)> =
            ALONE.iter().map(|(package, features)| (*package, features.to_vec())).collect();
        assert_eq!(found, told, "a feature that is never alone: add it");
    }
}
