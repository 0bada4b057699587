//! Runs that 0.1.0 wrote are read by this version, also the one that was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{assert_gapless, exported};
use crate::user::{User, number, text};
use crate::written_before::{KnownAnswers, copy, written_by_0_1_0};

/// What iolag itself did, which is in no table.
const OWN: [&str; 4] = ["stage", "ring-wait", "reach", "open-session"];

/// Run, stage and operation.
type Group = (String, u64, String);

/// A user whose store was written by 0.1.0.
struct Owner {
    user: User,
    answers: KnownAnswers,
}

impl Owner {
    fn new() -> Self {
        let user = User::new();
        copy(&written_by_0_1_0("store"), &user.store());
        let owner = Self { user, answers: KnownAnswers::of_0_1_0("runs.tsv") };
        owner.bring_killed_run_here();
        owner
    }

    /// Of a run on another host nobody knows whether it still runs. It shall have been this host, before it was started again.
    fn bring_killed_run_here(&self) {
        let runs = fs::read_dir(self.user.store().join("runs")).unwrap().flatten();
        let killed: Vec<PathBuf> =
            runs.map(|run| run.path()).filter(|run| run.join("spool").exists()).collect();
        let [killed] = &killed[..] else { panic!("{killed:?}") };
        let record = fs::read_to_string(killed.join("run.json")).unwrap();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let (then, now) = ("\"host\": \"login1\"", format!("\"host\": {host:?}"));
        assert!(record.contains(then));
        let here = record.replacen(then, &now, 1);
        fs::write(killed.join("run.json"), here).unwrap();
    }

    /// What `list` says of each run.
    fn records(&self) -> Vec<Value> {
        serde_json::from_str(&self.user.fine(&["list", "--json", "-"]).output).unwrap()
    }

    fn ids(&self) -> Vec<String> {
        self.records().iter().map(|record| text(record, "id").to_owned()).collect()
    }

    /// The runs with this label, oldest first.
    fn labelled(&self, kind: &str) -> Vec<Value> {
        let mut records = self.records();
        records.retain(|record| record["labels"]["kind"] == kind);
        records
    }

    /// The id of the only run with this label.
    fn id_of(&self, kind: &str) -> String {
        let records = self.labelled(kind);
        assert_eq!(records.len(), 1, "{kind}");
        text(&records[0], "id").to_owned()
    }

    /// The samples of all runs, each as `told` tells them.
    fn samples(&self, told: impl Fn(&str) -> Vec<Value>) -> Vec<Value> {
        let of_run = |id: String| {
            let mut samples = told(&id);
            samples.iter_mut().for_each(|sample| sample["run"] = id.as_str().into());
            samples
        };
        self.ids().into_iter().flat_map(of_run).collect()
    }

    /// The medians of groups of operations in which everything went well.
    fn medians(&self) -> BTreeMap<Group, u64> {
        let mut medians = BTreeMap::new();
        let mut amiss = BTreeSet::new();
        for line in self.answers.lines() {
            let group =
                (line["run"].to_owned(), line["stage"].parse().unwrap(), line["operation"].to_owned());
            if line["outcome"] != "ok" || OWN.contains(&line["operation"]) {
                amiss.insert(group.clone());
            }
            medians.insert(group, line["median_ns"].parse().unwrap());
        }
        medians.retain(|group, _| !amiss.contains(group));
        medians
    }
}

/// Rows of RFC 4180 without quotes, by the names of their columns.
fn rows(csv: &str) -> Vec<Value> {
    assert!(!csv.contains('"'));
    let mut lines = csv.lines().map(|line| line.split(','));
    let header: Vec<&str> = lines.next().unwrap().collect();
    let row = |fields: std::str::Split<'_, char>| {
        header.iter().zip(fields).map(|(name, field)| ((*name).to_owned(), Value::from(field))).collect()
    };
    lines.map(row).collect()
}

/// All summaries anywhere in a document, since they may move.
fn summaries(document: &Value) -> Vec<&Value> {
    match document {
        Value::Object(members) if members.contains_key("operation") && members.contains_key("durations") => {
            vec![document]
        }
        Value::Object(members) => members.values().flat_map(summaries).collect(),
        Value::Array(items) => items.iter().flat_map(summaries).collect(),
        _ => Vec::new(),
    }
}

/// How many attempts of an operation in a stage ended like this.
fn count(document: &Value, stage: u64, operation: &str, outcome: &str) -> u64 {
    let is_it =
        |one: &&&Value| one["stage"] == stage && one["operation"] == operation && one["client"].is_null();
    let all = summaries(document);
    number(all.iter().find(is_it).unwrap(), outcome)
}

#[test]
fn runs_of_0_1_0_are_listed_as_they_ended() {
    let owner = Owner::new();
    let states = |kind| -> Vec<String> {
        owner.labelled(kind).iter().map(|record| text(&record["state"], "state").to_owned()).collect()
    };
    for (kind, expected) in [
        ("complete", &["complete"][..]),
        ("check", &["complete"]),
        ("faults", &["incomplete"]),
        ("sweep", &["complete", "complete"]),
        ("killed", &["recovered"]),
    ] {
        assert_eq!(states(kind), expected, "{kind}");
    }
    let sweep = owner.labelled("sweep");
    assert_eq!(sweep.iter().map(|run| number(&run["spec"], "clients")).collect::<Vec<_>>(), [1, 2]);
    assert!(sweep.iter().all(|run| run["campaign"] == sweep[0]["id"]), "{sweep:?}");
    let list = owner.user.fine(&["list"]).output;
    assert!(owner.ids().iter().all(|id| list.contains(id)), "{list}");
}

#[test]
fn samples_of_0_1_0_are_exported_as_they_were_recorded() {
    let owner = Owner::new();
    let from_lines = owner.samples(|run| owner.user.samples(run));
    assert_eq!(owner.answers.table_of(&from_lines), owner.answers.text);
    let from_csv = owner.samples(|run| rows(&owner.user.fine(&["export", run]).output));
    assert_eq!(owner.answers.table_of(&from_csv), owner.answers.text);
}

#[test]
fn parquet_files_of_0_1_0_are_handed_on_as_they_are() {
    let owner = Owner::new();
    for record in owner.records() {
        let run = text(&record, "id");
        let directory = owner.user.path(run);
        owner.user.fine(&["export", run, "--format", "parquet", "-o", directory.to_str().unwrap()]);
        for part in record["parts"].as_array().unwrap() {
            let exported = fs::read(directory.join(text(part, "file"))).unwrap();
            assert!(exported.starts_with(b"PAR1") && exported.ends_with(b"PAR1"), "{run}");
            // The killed run has none of its time.
            let written = fs::read(written_by_0_1_0("store/runs").join(run).join(text(part, "file")));
            assert!(written.map_or(record["labels"]["kind"] == "killed", |bytes| bytes == exported), "{run}");
        }
    }
}

#[test]
fn a_run_that_was_killed_with_0_1_0_is_recovered_without_a_gap() {
    let owner = Owner::new();
    let run = owner.id_of("killed");
    let lines = owner.user.fine(&["export", &run, "--format", "json"]).output;
    let samples = exported(&lines);
    let mut of_run = owner.answers.lines();
    of_run.retain(|line| line["run"] == run);
    let expected: usize = of_run.iter().map(|line| line["samples"].parse::<usize>().unwrap()).sum();
    assert_eq!(assert_gapless(&samples), expected);
    let ended = |outcome: &str| samples.iter().filter(|sample| sample.outcome == outcome).count();
    // Two came back, one never did.
    assert_eq!((ended("late"), ended("hung")), (2, 1));
    assert!(!owner.user.store().join("runs").join(run).join("spool").exists());
}

#[test]
fn runs_of_0_1_0_are_shown_with_the_medians_of_their_samples() {
    let owner = Owner::new();
    let mut shown = BTreeMap::new();
    for run in owner.ids() {
        assert!(owner.user.fine(&["show", &run]).output.contains(&run));
        let document = owner.user.document(&run);
        for summary in summaries(&document).into_iter().filter(|summary| summary["client"].is_null()) {
            // A check has one stage here, and names none.
            let stage = summary["stage"].as_u64().unwrap_or(0);
            let median = &summary["durations"]["median"]["value"]["exactly_ns"];
            shown.insert((run.clone(), stage, text(summary, "operation").to_owned()), median.as_u64());
        }
    }
    for (group, median) in owner.medians() {
        assert_eq!(shown.get(&group), Some(&Some(median)), "{group:?}");
    }
}

#[test]
fn what_hung_and_what_failed_with_0_1_0_is_still_shown() {
    let owner = Owner::new();
    let faults = owner.user.document(&owner.id_of("faults"));
    assert_eq!(count(&faults, 1, "stat", "late"), 2);
    assert_eq!(count(&faults, 2, "read", "hung"), 2);
    let errors: Vec<u64> = summaries(&faults)
        .into_iter()
        .filter(|one| one["stage"] == 0 && one["operation"] == "create")
        .flat_map(|one| one["errors"].as_array().unwrap())
        .map(|error| number(error, "count"))
        .collect();
    assert_eq!(errors, [2]);
    assert_eq!(count(&owner.user.document(&owner.id_of("killed")), 1, "read", "hung"), 1);
}

#[test]
fn runs_of_0_1_0_are_reported_with_the_medians_of_their_samples() {
    let owner = Owner::new();
    let medians = owner.medians();
    for run in owner.ids() {
        owner.user.fine(&["report", &run, "-o", "report.html", "-q"]);
        let page = fs::read_to_string(owner.user.path("report.html")).unwrap();
        assert!(page.contains(&run));
        for (group, median) in medians.iter().filter(|((of, _, _), _)| *of == run) {
            assert!(page.contains(&format!("data-value=\"{median}\"")), "{group:?}: {median}");
        }
    }
    let ids = owner.ids();
    let mut all = vec!["report", "-o", "all.html", "-q"];
    all.extend(ids.iter().map(String::as_str));
    owner.user.fine(&all);
    let page = fs::read_to_string(owner.user.path("all.html")).unwrap();
    assert!(ids.iter().all(|id| page.contains(id)));
}
