//! The metrics: what is in them, that all forms say the same, that hostile names stay names, and that rules and dashboard ask for
//! what there is.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod monitoring;
mod parser;
mod scene;

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{MonotonicTime, WallTime};
use iolag_report::{MetricsForm, metrics, openmetrics, prometheus_text};
use proptest::prelude::*;

use parser::{Form, Sample, parse};
use scene::{Scene, scene};

fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let wanted: BTreeMap<&str, &str> = labels.iter().copied().collect();
    let is_it = |sample: &&Sample| {
        sample.name == name
            && sample.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(wanted.clone())
    };
    let found: Vec<_> = samples.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{name} {labels:?}");
    found[0].value
}

#[test]
fn what_is_seen_of_a_hang() {
    insta::assert_snapshot!(openmetrics(&scene().exposition()));
}

#[test]
fn the_numbers_are_those_of_the_samples() {
    let scene = scene();
    let samples = parse(&openmetrics(&scene.exposition()), Form::OpenMetrics);
    let home = [("task", "list"), ("target", "/home")];
    let scratch = [("task", "list"), ("target", "/scratch")];
    assert_eq!(value(&samples, "iolag_probe_in_flight_seconds", &scratch), 754.0);
    assert_eq!(value(&samples, "iolag_probe_hung", &scratch), 1.0);
    assert_eq!(value(&samples, "iolag_probe_in_flight_seconds", &home), 0.0);
    assert_eq!(value(&samples, "iolag_orphans", &[]), 1.0);
    assert_eq!(value(&samples, "iolag_probe_timeouts_total", &scratch), 2.0);
    let outcome =
        |outcome| value(&samples, "iolag_probe_runs_total", &[scratch[0], scratch[1], ("outcome", outcome)]);
    assert_eq!(["ok", "error", "timeout", "skipped"].map(outcome), [3.0, 1.0, 2.0, 1.0]);
    // 0.02 s, 0.3 s, 2 s, and twice the deadline of 60 s.
    assert_eq!(value(&samples, "iolag_probe_duration_seconds_sum", &scratch), 122.32);
    let below = |bound| {
        value(&samples, "iolag_probe_duration_seconds_bucket", &[scratch[0], scratch[1], ("le", bound)])
    };
    assert_eq!(["0.02", "0.2", "1.0", "10.0", "50.0", "+Inf"].map(below), [1.0, 1.0, 2.0, 3.0, 3.0, 5.0]);
    assert_eq!(value(&samples, "iolag_probe_late_completion_seconds_sum", &scratch), 300.0);
    let other = [("task", "list"), ("target", "/home"), ("host", "login2")];
    assert_eq!(value(&samples, "iolag_probe_last_duration_seconds", &other), 0.5);
    assert!(!samples.iter().any(|sample| sample.labels.contains_key("part")));
}

#[test]
fn a_probe_that_a_watch_left_behind_grows_older_until_it_is_gone() {
    let scene = scene();
    let gone = iolag_report::Exposition { status: None, ..scene.exposition() };
    let left_behind = iolag_report::Exposition { left_behind: &scene.status.in_flight, ..gone };
    let samples = parse(&openmetrics(&left_behind), Form::OpenMetrics);
    let scratch = [("task", "list"), ("target", "/scratch")];
    assert_eq!(value(&samples, "iolag_probe_in_flight_seconds", &scratch), 754.0);
    assert_eq!(value(&samples, "iolag_probe_hung", &scratch), 1.0);
    assert_eq!((value(&samples, "iolag_orphans", &[]), value(&samples, "iolag_watch_up", &[])), (1.0, 0.0));
    let of_home = |sample: &Sample| {
        sample.name == "iolag_probe_in_flight_seconds"
            && sample.labels.get("target").is_some_and(|target| target == "/home")
    };
    assert!(!samples.iter().any(of_home), "nobody knows of the others");
    let names = openmetrics(&gone);
    assert!(!names.contains("iolag_probe_in_flight_seconds") && !names.contains("iolag_orphans"));
}

#[test]
fn forms_say_the_same() {
    let scene = scene();
    let exposition = scene.exposition();
    let new = parse(&openmetrics(&exposition), Form::OpenMetrics);
    let old = parse(&prometheus_text(&exposition), Form::Prometheus);
    assert_eq!(new, old);
    let names = |text: &[u8]| String::from_utf8_lossy(text).matches("iolag_probe_runs_total").count();
    assert_eq!(names(&metrics(&exposition, MetricsForm::Protobuf)), 1);
}

#[test]
fn what_is_not_known_is_left_out() {
    let scene = scene();
    let nothing =
        iolag_report::Exposition { status: None, tallies: None, history_read: None, ..scene.exposition() };
    let names: BTreeSet<String> =
        parse(&openmetrics(&nothing), Form::OpenMetrics).into_iter().map(|sample| sample.name).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["iolag_build_info", "iolag_watch_up"]);
    let unread = iolag_report::Exposition { tallies: None, ..scene.exposition() };
    let samples = parse(&openmetrics(&unread), Form::OpenMetrics);
    assert!(
        samples.iter().any(|sample| sample.name == "iolag_probe_in_flight_seconds" && sample.value == 754.0)
    );
    assert!(
        !samples
            .iter()
            .any(|sample| sample.name.ends_with("_total") && sample.name != "iolag_watch_rounds_total")
    );
}

#[test]
fn names_that_labels_cannot_tell_apart_are_one_series() {
    let mut scene = Scene::empty();
    for target in ["/a\u{1}", "/a\u{2}"] {
        scene.ended(target, "list", 1, iolag_model::Outcome::Ok, 5);
    }
    let samples = parse(&openmetrics(&scene.exposition()), Form::OpenMetrics);
    let counts = samples.iter().filter(|sample| sample.name == "iolag_probe_duration_seconds_count");
    assert_eq!(counts.map(|sample| sample.labels["target"].as_str()).collect::<Vec<_>>(), ["/a\u{fffd}"]);
}

proptest! {
    #[test]
    fn hostile_names_stay_names(target in "\\PC{1,20}|[\\\\\"\n{}=, #]{1,12}|<script>|\u{202e}x", task in any::<String>()) {
        let mut scene = Scene::empty();
        scene.ended(&target, &task, 1, iolag_model::Outcome::Ok, 5);
        let clean = |text: &str| -> String {
            text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
        };
        for (text, form) in [
            (openmetrics(&scene.exposition()), Form::OpenMetrics),
            (prometheus_text(&scene.exposition()), Form::Prometheus),
        ] {
            let samples = parse(&text, form);
            let counted: Vec<_> =
                samples.iter().filter(|sample| sample.name == "iolag_probe_duration_seconds_count").collect();
            prop_assert_eq!(counted.len(), 1);
            prop_assert_eq!(&counted[0].labels["target"], &clean(&target));
            prop_assert_eq!(&counted[0].labels["task"], &clean(&task));
        }
    }

    #[test]
    fn ages_are_those_of_the_moment(seconds in 0_u64..1 << 30) {
        let scene = scene();
        let now = MonotonicTime(scene::NOW_NS + seconds * 1_000_000_000);
        let later = iolag_report::Exposition { now, history_read: Some(WallTime(1)), ..scene.exposition() };
        let samples = parse(&openmetrics(&later), Form::OpenMetrics);
        let age = value(&samples, "iolag_probe_in_flight_seconds", &[("task", "list"), ("target", "/scratch")]);
        prop_assert_eq!(age, (754 + seconds) as f64);
    }
}
