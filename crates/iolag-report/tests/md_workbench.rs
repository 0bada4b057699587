//! The forms that users of md-workbench parse, and a test per defect of its output that must not come back.

#[path = "../../iolag-analysis/tests/scenario/mod.rs"]
mod scenario;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::rc::Rc;

use iolag_analysis::{Engine, Grouping, Precision, RunAnalysis, StageAnalysis, Summaries, analyse_metadata};
use iolag_model::{
    FailureCode, MetadataSpec, Operation, Outcome, Phase, Sample, SampleColumns, StageIndex, Think,
    WorkloadSpec,
};
use iolag_report::{
    Colour, LatencyExport, metadata_text, phase_line, process_lines, write_csv, write_json,
    write_latency_files, write_md_workbench,
};
use regex::Regex;
use scenario::{MS, S, Scenario, usb_stick};

const BENCHMARK: [(Phase, u32); 1] = [(Phase::Benchmark, 0)];

fn spec(scenario: &Scenario) -> &MetadataSpec {
    match &scenario.record.spec.workload {
        WorkloadSpec::Metadata(spec) => spec,
        _ => panic!("the scenario is a metadata run"),
    }
}

fn stages(scenario: &Scenario) -> Vec<StageAnalysis> {
    analyse_metadata(&scenario.record, &scenario.by_stage()).stages
}

fn first_line(scenario: &Scenario) -> String {
    phase_line(&stages(scenario)[0], spec(scenario)).expect("md-workbench has this phase")
}

/// The seven values of an operation as a user's script reads them.
fn seven(line: &str, operation: &str) -> Option<Vec<f64>> {
    let list = Regex::new(&format!(r" {operation}\(([^)]*)\)")).expect("a valid expression");
    let values = list.captures(line)?.get(1)?.as_str().to_owned();
    Some(values.split(", ").map(|value| value.trim_end_matches('s').parse().expect("a number")).collect())
}

/// Benchmark of `count` objects by one client; durations in order from `ns_of`.
fn benchmark(count: u64, ns_of: impl Fn(u64) -> u64) -> Scenario {
    let mut scenario = Scenario::metadata(1, 1, 1, &BENCHMARK);
    let mut now = S;
    for object in 0..count {
        for operation in [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create] {
            scenario.at(0, 0, operation, now, ns_of(object));
            now += ns_of(object);
        }
    }
    let ended = scenario.at(0, 0, Operation::Stage, S, now - S);
    *ended = ended.with_bytes(4 * count);
    scenario
}

#[test]
fn lines_have_the_form_that_scripts_expect() {
    let number = r"([0-9.]+)";
    let values = r"\(([0-9.e+-]+s, ){6}[0-9.e+-]+s\)";
    let process = format!(
        r"process max:{number}s min:{number}s mean: {number}s balance:{number} stddev:{number} rate:{number} iops/s"
    );
    let forms = [
        format!(
            r"^precreate {process} dsets: \d+ objects:\d+ rate:{number} dset/s rate:{number} obj/s tp:{number} MiB/s op-max:[0-9.e+-]+s \(\d+ errs\) create{values}$"
        ),
        format!(
            r"^benchmark {process} objects:\d+ rate:{number} obj/s tp:{number} MiB/s op-max:[0-9.e+-]+s \(\d+ errs\) read{values} stat{values} create{values} delete{values}$"
        ),
        format!(
            r"^cleanup {process} objects:\d+ dsets: \d+ rate:{number} obj/s rate:{number} dset/s op-max:[0-9.e+-]+s \(\d+ errs\) delete{values}$"
        ),
    ];
    let scenario = usb_stick();
    let stages = stages(&scenario);
    for (stage, form) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2)] {
        let line = phase_line(&stages[stage], spec(&scenario)).expect("md-workbench has this phase");
        assert!(
            Regex::new(&forms[form]).expect("a valid expression").is_match(&line),
            "{line}\n{}",
            forms[form]
        );
    }
    // As results-in-db.py and simple awk scripts look for rates.
    let rate = Regex::new(r"rate:([0-9.]+) iops/s").expect("a valid expression");
    let line = phase_line(&stages[2], spec(&scenario)).expect("a benchmark line");
    let found: f64 = rate.captures(&line).expect("a rate")[1].parse().expect("a number");
    assert!((found - stages[2].operations_per_second).abs() < 0.06);
}

#[test]
fn the_head_names_objects_and_working_set() {
    let scenario = usb_stick();
    let mut bytes = Vec::new();
    write_md_workbench(&scenario.record, &stages(&scenario), None, &mut bytes)
        .expect("a Vec takes everything");
    let text = String::from_utf8(bytes).expect("it is text");
    let head = Regex::new(
        r"(?m)^MD-Workbench total objects: (\d+) workingset size: ([0-9.]+) MiB \(version: .*\) time: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$",
    )
    .expect("a valid expression");
    let found = head.captures(&text).expect("a head line");
    // D (I R + P) N = 1 (1000·3 + 3000) 4; N D P S = 4·1·3000·3901 bytes.
    assert_eq!((&found[1], &found[2]), ("24000", "44.643"));
    assert!(text.contains("\n\tobj-per-proc=1000\n") && text.contains("\nTotal runtime: "));
}

#[test]
fn a_process_line_has_no_spread_and_its_own_numbers() {
    let scenario = usb_stick();
    let lines = process_lines(&stages(&scenario)[1], spec(&scenario), &by_client(&scenario));
    let form = Regex::new(r"^\d: benchmark process max:[0-9.]+s rate:[0-9.]+ iops/s objects:250 rate:")
        .expect("a valid expression");
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| form.is_match(line)), "{lines:#?}");
}

fn by_client(scenario: &Scenario) -> Summaries {
    let grouping = Grouping { stages: NonZeroU32::new(5), targets: None, clients: NonZeroU32::new(4) };
    let mut engine = Engine::new(grouping, Precision::Exact);
    for sample in &scenario.samples {
        engine.batch(SampleColumns {
            client: &[sample.attempt.client().0 as i32],
            stage: &[i32::from(sample.stage.0)],
            operation_code: &[i32::from(sample.operation_code())],
            outcome_code: &[sample.outcome() as i32],
            start_ns: &[sample.start.0 as i64],
            duration_ns: &[sample.duration.0 as i64],
            bytes: &[sample.bytes as i64],
            ..SampleColumns::default()
        });
    }
    engine.finish()
}

#[test]
fn defect_2_quantiles_never_come_from_beyond_the_last_sample() {
    for count in 1..120 {
        let line = first_line(&benchmark(count, |object| (object + 1) * MS));
        let values = seven(&line, "read").expect("seven values");
        let longest = count as f64 / 1e3;
        assert!(values.iter().all(|value| (0.001..=longest + 1e-9).contains(value)), "{count}: {line}");
        assert!(values.is_sorted(), "{count}: {line}");
        assert!(!line.contains("nan"), "{line}");
    }
    let values =
        seven(&first_line(&benchmark(100, |object| (object + 1) * MS)), "read").expect("seven values");
    assert_eq!(values, [0.001, 0.025, 0.05, 0.075, 0.09, 0.099, 0.1]);
}

#[test]
fn defect_3_what_was_never_attempted_leaves_no_zero() {
    let mut scenario = benchmark(10, |_| MS);
    let failed = scenario.at(0, 0, Operation::Stat, 9 * S, 5_000);
    *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(2));
    let line = first_line(&scenario);
    for operation in ["read", "create", "delete", "stat"] {
        let values = seven(&line, operation).expect("seven values");
        assert!(values.iter().all(|value| *value == 0.001), "{operation}: {line}");
    }
    assert!(line.contains("objects:10 ") && line.contains("(1 errs!!!)"), "{line}");
}

#[test]
fn defect_4_durations_of_failures_are_in_no_quantile() {
    let mut scenario = benchmark(50, |_| MS);
    for _ in 0..50 {
        let failed = scenario.at(0, 0, Operation::Read, 2 * S, 9 * S);
        *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(5));
    }
    let line = first_line(&scenario);
    assert_eq!(seven(&line, "read").expect("seven values"), [0.001; 7]);
    assert!(line.contains("(50 errs!!!)"), "{line}");
    let row = stages(&scenario)[0].row(Operation::Read).expect("there are reads").summary.clone();
    assert_eq!((row.failures(), row.failed.map(|failed| failed.count)), (50, Some(50)));
}

/// Every form in which a run is told.
fn forms(scenario: &Scenario) -> [String; 3] {
    let analysis = analyse_metadata(&scenario.record, &scenario.by_stage());
    let (mut json, mut csv) = (Vec::new(), Vec::new());
    write_csv(&scenario.record, &scenario.by_stage().summaries, &mut csv).expect("a Vec takes everything");
    let text = metadata_text(&analysis, 120, Colour::Never);
    write_json(&scenario.record, &RunAnalysis::Metadata(analysis), &mut json)
        .expect("a Vec takes everything");
    [json, csv, text.into_bytes()].map(|bytes| String::from_utf8(bytes).expect("it is text"))
}

#[test]
fn what_was_asked_again_is_counted_apart_from_failures_and_durations() {
    let mut scenario = benchmark(50, |_| MS);
    assert!(forms(&scenario).iter().all(|form| !form.contains("retried") && !form.contains("again")));
    for _ in 0..50 {
        let again = scenario.at(0, 0, Operation::Read, 2 * S, 9 * S);
        *again = again.with_outcome(Outcome::Retried, FailureCode::http(503));
    }
    let line = first_line(&scenario);
    assert_eq!(seven(&line, "read").expect("seven values"), [0.001; 7]);
    assert!(line.contains("(0 errs)"), "{line}");
    let row = stages(&scenario)[0].row(Operation::Read).expect("there are reads").summary.clone();
    assert_eq!((row.attempts, row.ok, row.retried, row.failures(), row.censored()), (100, 50, 50, 0, 0));
    assert_eq!((row.durations.count, row.failed), (50, None));
    let [json, csv, text] = forms(&scenario);
    assert!(json.contains("\"retried\": 50"), "{json}");
    assert!(csv.lines().next().is_some_and(|names| names.ends_with(",retried")), "{csv}");
    assert!(csv.lines().any(|row| row.contains(",read,") && row.ends_with(",50")), "{csv}");
    assert!(text.contains("asked again: 50 attempts"), "{text}");
}

#[test]
fn operations_that_did_not_end_are_counted_as_errors_and_stay_in_the_quantiles() {
    let mut scenario = benchmark(1, |_| MS);
    let hung = scenario.at(0, 0, Operation::Read, 2 * S, 15 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    let line = first_line(&scenario);
    assert_eq!(seven(&line, "read").expect("seven values")[6], 15.0);
    assert!(line.contains("op-max:1.5000e+01s") && line.contains("(1 errs!!!)"), "{line}");
}

#[test]
fn defect_12_columns_do_not_depend_on_errors() {
    let fields = |line: &str| line.split(' ').count();
    let (fine, mut failing) = (benchmark(10, |_| MS), benchmark(10, |_| MS));
    let failed = failing.at(0, 0, Operation::Create, 9 * S, 5_000);
    *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(28));
    assert_eq!(fields(&first_line(&fine)), fields(&first_line(&failing)));
    assert!(first_line(&failing).starts_with("benchmark process max:"));
}

#[derive(Clone, Default)]
struct Files(Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

struct File(Files, String);

impl std::io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.0.borrow_mut().entry(self.1.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn export(scenario: &Scenario, samples: Vec<Sample>) -> (LatencyExport, BTreeMap<String, String>) {
    let files = Files::default();
    let open = |name: &str| Ok(File(files.clone(), name.to_owned()));
    let export =
        write_latency_files(&scenario.record, samples, "lat", open).expect("memory takes everything");
    let files = files.0.borrow();
    let texts = files.iter().map(|(name, bytes)| (name.clone(), String::from_utf8_lossy(bytes).into()));
    let texts = texts.collect();
    (export, texts)
}

#[test]
fn latency_files_have_the_names_and_the_head_that_scripts_expect() {
    let mut scenario = usb_stick();
    let (export_of_all, files) = export(&scenario, scenario.samples.clone());
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let mut expected: Vec<String> = vec!["lat-0.00-0-precreate.csv".into(), "lat-0.00-3-cleanup.csv".into()];
    for iteration in 0..3 {
        for operation in ["create", "delete", "read", "stat"] {
            expected.push(format!("lat-0.00-{iteration}-{operation}.csv"));
        }
    }
    expected.sort();
    assert_eq!(names, expected);
    assert_eq!(export_of_all, LatencyExport { rows: 14_000, failed: 0, censored: 0 });
    let row = Regex::new(r"^\d+\.\d{7},\d\.\d{4}e[+-]\d\d$").expect("a valid expression");
    for text in files.values() {
        assert!(text.starts_with("time,runtime\n") && text.lines().skip(1).all(|line| row.is_match(line)));
    }
    if let WorkloadSpec::Metadata(spec) = &mut scenario.record.spec.workload {
        spec.think = Think::Factor(0.0625);
    }
    let (_, files) = export(&scenario, scenario.samples[..4].to_vec());
    assert!(files.contains_key("lat-0.06-0-precreate.csv"));
}

#[test]
fn defect_5_time_counts_from_the_first_start_and_never_jumps_back() {
    let scenario = usb_stick();
    let mut shuffled = scenario.samples.clone();
    shuffled.reverse();
    let (_, files) = export(&scenario, shuffled);
    for (name, text) in files {
        let times: Vec<f64> =
            text.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
        assert!(times.is_sorted() && !times.is_empty(), "{name}");
        if name.contains("stat") || name.contains("pre") || name.contains("clean") {
            assert_eq!(times[0], 0.0, "{name}");
        }
    }
}

#[test]
fn defect_6_stamps_are_exact_after_hours() {
    let mut scenario = Scenario::metadata(1, 1, 1, &BENCHMARK);
    scenario.at(0, 0, Operation::Stat, S, 1_000);
    scenario.at(0, 0, Operation::Stat, S + 36_000 * S + 123_456_700, 1_234_567);
    let (_, files) = export(&scenario, scenario.samples.clone());
    let text = &files["lat-0.00-0-stat.csv"];
    assert_eq!(text, "time,runtime\n0.0000000,1.0000e-06\n36000.1234567,1.2346e-03\n");
}

#[test]
fn latency_files_tell_what_they_leave_out() {
    let mut scenario = Scenario::metadata(1, 1, 1, &BENCHMARK);
    let failed = scenario.at(0, 0, Operation::Stat, S, 1_000);
    *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(2));
    let hung = scenario.at(0, 0, Operation::Read, 2 * S, 15 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE).in_stage(StageIndex(0));
    let (export, files) = export(&scenario, scenario.samples.clone());
    assert_eq!(export, LatencyExport { rows: 1, failed: 1, censored: 1 });
    assert_eq!(files["lat-0.00-0-read.csv"], "time,runtime\n1.0000000,1.5000e+01\n");
}
