//! One clock for a stage: its rates are those that anybody can compute from the samples, in every form of the result.

use std::collections::BTreeMap;

use iolag_model::format_count;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::user::{User, number, text};

/// One stage by its samples: operations that succeeded, the first start, the last end, those by operation.
#[derive(Debug, Clone, Default)]
struct Truth {
    succeeded: u64,
    begin: u64,
    end: u64,
    by_operation: BTreeMap<String, u64>,
}

impl Truth {
    fn per_second(&self, count: u64) -> f64 {
        count as f64 / ((self.end - self.begin) as f64 / 1e9)
    }
}

/// What iolag itself did is no operation.
const HARNESS: [&str; 4] = ["stage", "ring-wait", "reach", "open-session"];

/// The stages by number, from the samples as they are exported.
fn truth(user: &User) -> BTreeMap<u64, Truth> {
    let mut stages: BTreeMap<u64, Truth> = BTreeMap::new();
    for sample in user.samples("last") {
        let operation = text(&sample, "operation");
        if HARNESS.contains(&operation) {
            continue;
        }
        let start = number(&sample, "start_ns");
        let end = start + number(&sample, "duration_ns");
        let stage =
            stages.entry(number(&sample, "stage")).or_insert(Truth { begin: start, ..Truth::default() });
        (stage.begin, stage.end) = (stage.begin.min(start), stage.end.max(end));
        if ["ok", "late"].contains(&text(&sample, "outcome")) {
            stage.succeeded += 1;
            *stage.by_operation.entry(operation.to_owned()).or_default() += 1;
        }
    }
    stages
}

/// Exactly, but for the last bits of floating-point numbers.
#[track_caller]
fn same(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
}

/// A rate as tables print it, with plain spaces.
fn printed(rate: f64) -> String {
    match rate {
        rate if rate < 9.995 => format!("{rate:.2}"),
        rate if rate < 999.5 => format!("{rate:.1}"),
        rate => plain(&format_count(rate.round() as u64)),
    }
}

/// One space wherever there is room.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What md-workbench prints as the rate of a phase.
fn md_workbench_rates(lines: &str) -> Vec<f64> {
    let phases = lines.lines().filter(|line| line.contains(" process max:"));
    let rate = |line: &str| line.split_once(" rate:")?.1.split_once(" iops/s")?.0.parse().ok();
    phases.map(|line| rate(line).unwrap()).collect()
}

/// Text, JSON, CSV and the lines of md-workbench of the last run tell the rates that its samples have.
fn every_form_agrees(user: &User) {
    let truth = truth(user);
    let document = user.document("last");
    let stages: Vec<&Value> = document["stages"].as_array().unwrap().iter().collect();
    assert_eq!(stages.len(), truth.len());
    let shown = plain(&user.fine(&["show", "last"]).output);
    let csv = user.fine(&["show", "last", "--format", "csv"]).output;
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let md_workbench = user.fine(&["show", "last", "--format", "md-workbench"]).output;
    let md_rates = md_workbench_rates(&md_workbench);
    assert_eq!(md_rates.len(), stages.len(), "{md_workbench}");
    for (stage, md_rate) in stages.iter().zip(md_rates) {
        let index = number(stage, "stage");
        let own = &truth[&index];
        assert_eq!(number(stage, "phase_time_ns"), own.end - own.begin);
        let all = own.per_second(own.succeeded);
        same(stage["operations_per_second"].as_f64().unwrap(), all);
        assert!((md_rate - all).abs() <= 0.051, "{md_rate} is not {all}");
        assert!(shown.contains(&format!("{} operations/s", printed(all))), "{all}: {shown}");
        for row in stage["rows"].as_array().unwrap() {
            let operation = text(&row["summary"], "operation");
            let count = own.by_operation.get(operation).copied().unwrap_or(0);
            let expected = own.per_second(count);
            same(row["per_second"].as_f64().unwrap(), expected);
            same(row["summary"]["rate_per_second"].as_f64().unwrap(), expected);
            let in_csv = rows
                .iter()
                .find(|row| row[place("stage")] == index.to_string() && row[place("operation")] == operation)
                .unwrap();
            same(in_csv[place("rate_per_second")].parse().unwrap(), expected);
            let line = format!("{operation} {} {}", plain(&format_count(count)), printed(expected));
            assert!(shown.contains(&line), "{line}: {shown}");
        }
        let last_done = number(stage, "last_done_ns");
        assert!(number(stage, "first_done_ns") <= last_done && last_done <= number(stage, "phase_time_ns"));
    }
}

#[test]
fn rates_of_short_stages_are_those_of_the_samples_in_every_form() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&[
        "bench", "metadata", &target, "-n", "4", "-D", "1", "-P", "300", "-I", "100", "-R", "3", "-q",
    ]);
    every_form_agrees(&user);
    let findings = user.document("last")["findings"].to_string();
    assert!(findings.contains("lasted less than 1.00 s"), "{findings}");
    assert_eq!(findings.matches("lasted less than 1.00 s").count(), 1, "said once for the run: {findings}");
}

#[test]
fn many_clients_on_few_processors_with_known_delays_are_not_faster_than_they_were() {
    let user = User::new();
    let target = "delayed:500us~exp:memory:";
    user.fine(&["bench", "metadata", target, "-n", "16", "-D", "1", "-P", "20", "-I", "10", "-R", "2", "-q"]);
    every_form_agrees(&user);
    // All clients of a stage were to begin at one moment, and nobody began before it.
    let mut first: BTreeMap<(u64, u64), (u64, u64, u64)> = BTreeMap::new();
    for sample in user.samples("last") {
        if HARNESS.contains(&text(&sample, "operation")) {
            continue;
        }
        let key = (number(&sample, "stage"), number(&sample, "client"));
        let times = (number(&sample, "start_ns"), number(&sample, "intended_ns"), number(&sample, "attempt"));
        let known = first.entry(key).or_insert(times);
        *known = times.min(*known);
    }
    for stage in 0..4 {
        let of_stage = || first.iter().filter(move |((of, _), _)| *of == stage).map(|(_, times)| times);
        let intended: Vec<u64> = of_stage().map(|(_, intended, _)| *intended).collect();
        assert_eq!(intended.len(), 16);
        assert!(intended.iter().all(|moment| *moment == intended[0]), "stage {stage}: {intended:?}");
        assert!(of_stage().all(|(start, intended, _)| start >= intended), "stage {stage}");
    }
}

/// One operation as the stored part has it.
#[derive(Debug, Clone, Copy)]
struct Stored {
    client: u64,
    stage: u64,
    begin: u64,
    end: u64,
}

/// The operations on objects of the last run, from its Parquet part.
fn stored(user: &User) -> Vec<Stored> {
    let record = user.record();
    let run = user.store().join("runs").join(text(&record, "id"));
    let parts = record["parts"].as_array().unwrap();
    let mut found = Vec::new();
    for part in parts {
        let file = std::fs::File::open(run.join(text(part, "file"))).unwrap();
        for row in SerializedFileReader::new(file).unwrap().get_row_iter(None).unwrap() {
            let columns: BTreeMap<String, Field> = row.unwrap().into_columns().into_iter().collect();
            let whole = |name: &str| match &columns[name] {
                Field::Int(value) => u64::try_from(*value).unwrap(),
                Field::Long(value) => u64::try_from(*value).unwrap(),
                other => panic!("{name} is no whole number: {other:?}"),
            };
            let Field::Str(operation) = &columns["operation"] else { panic!("no name of an operation") };
            if HARNESS.contains(&operation.as_str()) {
                continue;
            }
            let (client, stage, begin) = (whole("client"), whole("stage"), whole("start_ns"));
            found.push(Stored { client, stage, begin, end: begin + whole("duration_ns") });
        }
    }
    found
}

#[test]
fn on_one_processor_a_stage_lasts_at_least_what_its_operations_are_known_to_take() {
    let user = User::new();
    let (clients, delay_ns) = (8, 500_000);
    let mut command = user.command("taskset");
    let mine = rustix::thread::sched_getaffinity(None).unwrap();
    let processor = (0..rustix::thread::CpuSet::MAX_CPU).find(|processor| mine.is_set(*processor)).unwrap();
    command.args(["-c", &processor.to_string(), env!("CARGO_BIN_EXE_iolag"), "bench", "metadata"]);
    command.args(["delayed:500us:memory:", "-n", "8", "-D", "1", "-P", "20", "-I", "10", "-R", "1", "-q"]);
    let said = crate::user::said(command);
    assert_eq!(said.code, 0, "{said:?}");
    let operations = stored(&user);
    let document = user.document("last");
    let stages = document["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 3);
    for stage in stages {
        let own = || operations.iter().filter(|operation| operation.stage == number(stage, "stage"));
        let of_client = |client: u64| own().filter(|operation| operation.client == client).count() as u64;
        let most = (0..clients).map(of_client).max().unwrap();
        assert!(most >= 20 && own().count() as u64 == number(stage, "operations"), "{stage}");
        let time = number(stage, "phase_time_ns");
        assert!(time >= most * delay_ns, "{most} operations of {delay_ns} ns each took {time} ns");
        let (begin, end) = (own().map(|one| one.begin).min(), own().map(|one| one.end).max());
        assert_eq!(time, end.unwrap() - begin.unwrap());
        let rate = own().count() as f64 / (time as f64 / 1e9);
        same(stage["operations_per_second"].as_f64().unwrap(), rate);
        assert!(rate <= clients as f64 * 1e9 / delay_ns as f64, "{rate} operations/s");
    }
}
