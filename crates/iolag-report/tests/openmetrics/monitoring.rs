//! The dashboard and the rules in monitoring/: they ask for metrics that there are, and Prometheus' own tool understands all of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use iolag_fixtures::{current_test, skip};
use iolag_report::{openmetrics, prometheus_text};
use regex::Regex;

use crate::parser::{Form, parse};
use crate::scene::scene;

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../monitoring").join(name)
}

/// promtool, or `None` with the current test named as skipped.
fn promtool() -> Option<Command> {
    let is_there =
        Command::new("promtool").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        skip(&current_test(), "there is no promtool (Debian's package prometheus)");
        return None;
    }
    Some(Command::new("promtool"))
}

fn assert_understood(mut command: Command, input: &str) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
}

/// Names of all samples that there can be, with the scene's.
fn emitted() -> BTreeSet<String> {
    parse(&openmetrics(&scene().exposition()), Form::OpenMetrics)
        .into_iter()
        .map(|sample| sample.name)
        .collect()
}

fn asked_in(text: &str) -> BTreeSet<String> {
    Regex::new("iolag_[a-z_]+").unwrap().find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let text = fs::read_to_string(place("iolag-dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut asked = BTreeSet::new();
    let panels = dashboard["panels"].as_array().unwrap();
    for panel in panels {
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty(), "{}", panel["title"]);
        for target in targets {
            let names = asked_in(target["expr"].as_str().unwrap());
            assert!(!names.is_empty(), "{target}");
            asked.extend(names);
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        asked.extend(asked_in(variable["definition"].as_str().unwrap_or_default()));
    }
    let emitted = emitted();
    let unknown: Vec<_> = asked.difference(&emitted).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for needed in [
        "iolag_probe_in_flight_seconds",
        "iolag_probe_hung",
        "iolag_probe_duration_seconds_bucket",
        "iolag_probe_runs_total",
    ] {
        assert!(asked.contains(needed), "{needed}");
    }
}

#[test]
fn panels_have_ids_of_their_own_and_do_not_overlap() {
    let text = fs::read_to_string(place("iolag-dashboard.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(dashboard["schemaVersion"].as_u64().unwrap() >= 38);
    let (mut ids, mut cells) = (BTreeSet::new(), BTreeSet::new());
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()));
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        assert!(place("x") + place("w") <= 24);
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(cells.insert((x, y)), "{} lies on another panel", panel["title"]);
            }
        }
    }
}

#[test]
fn the_rules_ask_for_metrics_that_there_are() {
    for name in ["iolag-rules.yml", "iolag-rules.test.yml"] {
        let text = fs::read_to_string(place(name)).unwrap();
        let asked = asked_in(&text);
        let emitted = emitted();
        let unknown: Vec<_> = asked.difference(&emitted).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        assert!(asked.contains("iolag_probe_in_flight_seconds"));
    }
}

#[test]
fn prometheus_understands_the_rules_and_they_do_what_they_say() {
    let Some(mut check) = promtool() else { return };
    check.args(["check", "rules"]).arg(place("iolag-rules.yml"));
    assert_understood(check, "");
    let Some(mut test) = promtool() else { return };
    test.args(["test", "rules"]).arg(place("iolag-rules.test.yml"));
    assert_understood(test, "");
}

#[test]
fn prometheus_finds_no_fault_with_names_and_form() {
    let Some(mut check) = promtool() else { return };
    check.args(["check", "metrics"]);
    assert_understood(check, &prometheus_text(&scene().exposition()));
}
