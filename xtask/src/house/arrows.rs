//! Which crate may use which: the arrows of the design, read from the manifests.
//!
//! Tests may use a crate beside their own (the fixtures, a toy of the workload in the keeper's tests), but none that
//! itself uses theirs: what is below must be provable without what is above.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::places::{Places, output};

/// The house: each crate and the crates of ours that it may use. A crate that is not here has no place yet.
const ARROWS: &[(&str, &[&str])] = &[
    ("iolag-model", &[]),
    ("iolag-directory", &[]),
    ("iolag-net", &["iolag-model"]),
    ("iolag-backend", &["iolag-directory", "iolag-model", "iolag-net"]),
    ("iolag-keeper", &["iolag-model"]),
    ("iolag-trace", &["iolag-model"]),
    ("iolag-store", &["iolag-directory", "iolag-model", "iolag-net"]),
    ("iolag-analysis", &["iolag-model"]),
    ("iolag-calibration", &["iolag-model", "iolag-analysis"]),
    ("iolag-report", &["iolag-model", "iolag-analysis"]),
    ("iolag-workload", &["iolag-directory", "iolag-model", "iolag-backend", "iolag-trace"]),
    (
        "iolag-watch",
        &["iolag-directory", "iolag-model", "iolag-backend", "iolag-trace", "iolag-workload", "iolag-keeper"],
    ),
    (
        "iolag-conduct",
        &[
            "iolag-directory",
            "iolag-model",
            "iolag-backend",
            "iolag-keeper",
            "iolag-trace",
            "iolag-store",
            "iolag-analysis",
            "iolag-workload",
            "iolag-watch",
        ],
    ),
    ("iolag-mpi", &["iolag-model", "iolag-backend", "iolag-trace", "iolag-workload", "iolag-keeper"]),
    ("iolag-fixtures", &["iolag-model"]),
    ("xtask", &[]),
    (
        "iolag",
        &[
            "iolag-conduct",
            "iolag-model",
            "iolag-backend",
            "iolag-keeper",
            "iolag-trace",
            "iolag-store",
            "iolag-analysis",
            "iolag-report",
            "iolag-workload",
            "iolag-watch",
        ],
    ),
];

/// Checks every manifest of the workspace.
pub fn check(places: &Places) -> Result<()> {
    let text = output(places.cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&text).context("reading what `cargo metadata` printed")?;
    let faults = faults(&metadata);
    ensure!(faults.is_empty(), "the crates are not arranged as designed:\n  {}", faults.join("\n  "));
    println!("the crates use each other as designed");
    Ok(())
}

fn faults(metadata: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for package in list(&metadata["packages"]) {
        let name = text(&package["name"]);
        let Some(allowed) = arrows_of(name) else {
            faults.push(format!("{name} has no place in the map of crates in xtask/src/house/arrows.rs"));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            let used = text(&dependency["name"]);
            let is_arrow = allowed.contains(&used);
            let is_beside = dependency["kind"] == "dev"
                && arrows_of(used).is_some_and(|its| !its.contains(&name) && used != "iolag");
            // Dependencies of ours are paths.
            if !dependency["path"].is_null() && !is_arrow && !is_beside {
                faults.push(format!("{name} must not depend on {used}"));
            }
        }
    }
    faults
}

/// The crates that a crate of ours may use.
fn arrows_of(name: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|(known, _)| *known == name).map(|(_, used)| *used)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, used: &str, kind: Value) -> Value {
        json!({ "packages": [{ "name": name, "dependencies": [
            { "name": used, "kind": kind, "path": "/somewhere" },
            { "name": "anyhow", "kind": null, "path": null },
        ] }] })
    }

    #[test]
    fn an_arrow_of_the_design_is_fine_and_its_reverse_is_not() {
        assert!(faults(&package("iolag-workload", "iolag-backend", Value::Null)).is_empty());
        assert_eq!(
            faults(&package("iolag-backend", "iolag-workload", Value::Null)),
            ["iolag-backend must not depend on iolag-workload"]
        );
        assert_eq!(faults(&package("iolag-util", "iolag-model", Value::Null)).len(), 1);
    }

    #[test]
    fn tests_may_look_aside_but_not_up() {
        assert!(faults(&package("iolag-store", "iolag-fixtures", json!("dev"))).is_empty());
        assert_eq!(faults(&package("iolag-store", "iolag-fixtures", Value::Null)).len(), 1);
        assert!(faults(&package("iolag-keeper", "iolag-workload", json!("dev"))).is_empty());
        assert_eq!(faults(&package("iolag-keeper", "iolag-workload", Value::Null)).len(), 1);
        assert_eq!(faults(&package("iolag-model", "iolag-store", json!("dev"))).len(), 1);
    }

    #[test]
    fn the_map_has_no_cycle() {
        let mut settled: Vec<&str> = Vec::new();
        while settled.len() < ARROWS.len() {
            let before = settled.len();
            for (name, used) in ARROWS {
                if !settled.contains(name) && used.iter().all(|used| settled.contains(used)) {
                    settled.push(name);
                }
            }
            assert!(settled.len() > before, "a cycle among the crates other than {settled:?}");
        }
    }
}
