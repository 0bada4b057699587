//! What a check says of rows with few attempts, some of them cut off, and of directories that feel different.

use crate::scenario::{MS, S, Scenario};
use crate::told_of_check;
use iolag_analysis::{CheckAnalysis, QuantileValue, analyse_check};
use iolag_model::{FailureCode, Nanoseconds, Operation, Outcome};

fn analysed(scenario: &Scenario) -> CheckAnalysis {
    analyse_check(&scenario.record, &scenario.by_target())
}

fn end(scenario: &mut Scenario, target: u16, operation: Operation, ns: u64, outcome: Outcome) {
    let sample = scenario.add(target, operation, ns);
    *sample = sample.with_outcome(outcome, FailureCode::NONE);
}

fn median(analysis: &CheckAnalysis, operation: Operation) -> QuantileValue {
    let last = analysis.directories.last().expect("there is one");
    let summary = last.summaries.iter().find(|summary| summary.key.operation == operation);
    summary.expect("it was attempted").durations.median.value
}

/// A quick directory beside one of which two creations of 500 files are all that took long; one of them was cut off.
fn quick_beside_few_but_long() -> Scenario {
    let mut scenario = Scenario::check(&["/quick", "/few"]);
    scenario.scatter(0, Operation::TaskCreate, 22, 9 * MS, 0.1);
    scenario.scatter(0, Operation::Create, 60, 8_000, 0.1);
    scenario.scatter(1, Operation::Create, 60, 5_900_000, 0.1);
    scenario.add(1, Operation::TaskCreate, 3_450 * MS);
    end(&mut scenario, 1, Operation::TaskCreate, 422 * MS, Outcome::Interrupted);
    scenario
}

#[test]
fn few_attempts_that_took_far_longer_are_told_and_not_called_alike() {
    let ranking = analysed(&quick_beside_few_but_long()).ranking.expect("there are two");
    let few = "; /few (nfs4) felt sluggish in few attempts: `create 500` took at least 3.45 s (n = 2), ";
    assert!(ranking.starts_with("/quick (nfs4) feels fast; /few"), "{ranking}");
    assert!(ranking.contains(few) && ranking.ends_with(" ms in /quick."), "{ranking}");
}

#[test]
fn of_those_with_few_attempts_the_slowest_stands_last() {
    let mut scenario = Scenario::check(&["/quick", "/slow", "/slower", "/remote"]);
    scenario.scatter(0, Operation::TaskCreate, 22, 9 * MS, 0.1);
    end(&mut scenario, 1, Operation::TaskCreate, 4 * S, Outcome::Interrupted);
    end(&mut scenario, 2, Operation::TaskCreate, 5 * S, Outcome::Interrupted);
    for _ in 0..5 {
        scenario.add(3, Operation::TaskCreate, 900 * MS);
    }
    let ranking = analysed(&scenario).ranking.expect("there are four");
    let names: Vec<&str> = ranking.split("; ").filter_map(|clause| clause.split(' ').next()).collect();
    assert_eq!(names, ["/quick", "/remote", "/slow", "/slower"], "{ranking}");
}

#[test]
fn directories_that_feel_different_are_not_alike() {
    let mut scenario = Scenario::check(&["/quick", "/moody"]);
    for target in 0..2 {
        scenario.scatter(target, Operation::TaskList, 40, 3 * MS, 0.1);
    }
    scenario.add(1, Operation::TaskList, 2 * S);
    let ranking = analysed(&scenario).ranking;
    assert_eq!(ranking.as_deref(), Some("/quick (nfs4) and /moody (nfs4) cannot be told apart."));
}

#[test]
fn a_median_of_few_attempts_claims_no_more_than_is_certain() {
    let at_least = |ms| QuantileValue::AtLeast(Nanoseconds(ms * MS));
    let analysis = analysed(&quick_beside_few_but_long());
    assert_eq!(median(&analysis, Operation::TaskCreate), at_least(422));
    let sentence = &analysis.directories[1].verdict.sentence;
    let said = "sluggish: at least 1 of 2 `create 500` took over 1.00 s (the longest at least 3.45 s).";
    assert_eq!(sentence, said);

    let mut five = Scenario::check(&["/five"]);
    for ms in [880, 890, 1_100, 1_200] {
        five.add(0, Operation::TaskList, ms * MS);
    }
    end(&mut five, 0, Operation::TaskList, 896 * MS, Outcome::Interrupted);
    let analysis = analysed(&five);
    assert_eq!(median(&analysis, Operation::TaskList), at_least(896));
    let sentence = &analysis.directories[0].verdict.sentence;
    assert!(sentence.contains("at least 2 of 5 `ls -l` took over 1.00 s"), "{sentence}");
}

#[test]
fn one_attempt_that_was_cut_off_hides_no_median_of_many() {
    let mut scenario = Scenario::check(&["/many"]);
    scenario.scatter(0, Operation::TaskCreate, 21, 9 * MS, 0.1);
    end(&mut scenario, 0, Operation::TaskCreate, 16_000, Outcome::Interrupted);
    let median = median(&analysed(&scenario), Operation::TaskCreate);
    assert!(matches!(median, QuantileValue::Exactly(_)), "{median:?}");
}

#[test]
fn an_attempt_that_did_not_end_is_one_finding() {
    let mut scenario = Scenario::check(&["/hanging"]);
    scenario.scatter(0, Operation::CallWrite, 11, 4_000, 0.1);
    end(&mut scenario, 0, Operation::CallWrite, 4 * S, Outcome::Hung);
    let findings = told_of_check(&analysed(&scenario)).swap_remove(0);
    let about: Vec<&str> = findings.iter().map(|finding| finding.sentence.as_str()).collect();
    assert_eq!(about, ["1 of 12 `call.write` did not end; the longest had been waiting for 4.00 s."]);
    assert!(!findings[0].advice.contains("iolag show"), "{}", findings[0].advice);
    scenario.add(0, Operation::CallWrite, 3 * S);
    assert_eq!(analysed(&scenario).directories[0].findings.len(), 2);
}

#[test]
fn measuring_adds_no_more_to_a_duration_than_the_shortest_has() {
    let mut scenario = Scenario::check(&["/quick"]);
    scenario.record.calibration.overhead_per_sample_ns = 3_262.0;
    scenario.scatter(0, Operation::Create, 40, 5_000, 0.1);
    for _ in 0..40 {
        scenario.add(0, Operation::CallFsync, 400);
    }
    scenario.add(0, Operation::CallFsync, 390);
    let told = analysed(&scenario).footnotes.concat();
    let expected =
        "Measuring itself adds at most 390 ns to a duration, up to 98 % of a median (`call.fsync`).";
    assert!(told.ends_with(expected), "{told}");
}
