//! What a run is worth among others, on made-up runs whose answers are found by hand.

use iolag_analysis::RunQuantity::{Median, P95, Rate, ShareOver};
use iolag_analysis::{
    Cell, CellValue, RunAmount, RunQuantity, RunValues, Standing, Summaries, analysed, run_values,
};
use iolag_model::*;

use crate::scenario::{MS, S, Scenario};

const OVER_ONE_SECOND: RunQuantity = ShareOver(Nanoseconds::from_seconds(1));
const ALL: [RunQuantity; 4] = [Rate, Median, P95, OVER_ONE_SECOND];
const TWO_ITERATIONS: [(Phase, u32); 2] = [(Phase::Benchmark, 0), (Phase::Benchmark, 1)];

fn values(scenario: &Scenario, summaries: &Summaries) -> RunValues {
    let cells = analysed(&scenario.record.spec.workload).cells(&scenario.record);
    run_values(&scenario.record, &cells, summaries, &ALL)
}

fn of(values: &RunValues, operation: Operation, phase: Option<Phase>) -> &CellValue {
    let found = values.cells.iter().find(|one| one.cell == Cell { operation, phase });
    found.unwrap_or_else(|| panic!("{operation} has no value: {values:?}"))
}

/// What is known of an operation of the phases that are meant without saying so.
fn amounts(values: &RunValues, operation: Operation) -> [RunAmount; 4] {
    let cell = of(values, operation, None);
    ALL.map(|quantity| cell.amount(quantity).unwrap_or_else(|| panic!("there is no {quantity}")))
}

/// The same of one that takes turns with another, which has the rate of both.
fn of_follower(values: &RunValues, operation: Operation) -> [RunAmount; 3] {
    let cell = of(values, operation, None);
    assert_eq!(cell.amount(Rate), None, "{operation}");
    [Median, P95, OVER_ONE_SECOND].map(|quantity| cell.amount(quantity).expect("it has durations"))
}

fn incomplete(reason: &str) -> RunState {
    RunState::Incomplete { reason: reason.to_owned() }
}

/// Creates one after the other, so many seconds each, from `begin_s`.
fn creates(scenario: &mut Scenario, stage: u16, begin_s: u64, seconds: &[u64]) {
    let mut start = begin_s;
    for duration in seconds {
        scenario.at(stage, 0, Operation::Create, start * S, duration * S);
        start += duration;
    }
}

fn end_with(sample: &mut Sample, outcome: Outcome, code: FailureCode) {
    *sample = sample.with_outcome(outcome, code);
}

#[track_caller]
fn assert_near(found: [RunAmount; 4], expected: [RunAmount; 4]) {
    for (found, expected) in found.into_iter().zip(expected) {
        let near = |one: f64, other: f64| one == other || (one / other - 1.0).abs() < 1e-12;
        let is_alike = std::mem::discriminant(&found) == std::mem::discriminant(&expected);
        let (ends, others) = (found.ends(), expected.ends());
        assert!(is_alike && near(ends.0, others.0) && near(ends.1, others.1), "{found:?}, not {expected:?}");
    }
}

/// 1 and 3 s; 4, 1 and 4 s.
fn two_iterations() -> Scenario {
    let mut scenario = Scenario::metadata(1, 1, 0, &TWO_ITERATIONS);
    creates(&mut scenario, 0, 1, &[1, 3]);
    creates(&mut scenario, 1, 100, &[4, 1, 4]);
    scenario
}

/// Of two attempts the median is between them, on the logarithm.
fn middle_of_medians() -> f64 {
    (3.0_f64.sqrt() * 4.0).sqrt() * 1e9
}

#[test]
fn two_iterations_are_one_value_of_each_quantity() {
    use RunAmount::Known;
    let scenario = two_iterations();
    let values = values(&scenario, &scenario.by_stage());
    assert_eq!(values.standing, Standing::Whole);
    // 5 in 4 + 9 s; medians of √3 and 4 s, whose middle counts; p95 of 3 and 4 s; 3 of 5 took longer than a second.
    let p95 = (3.0 * 4.0_f64).sqrt() * 1e9;
    assert_near(
        amounts(&values, Operation::Create),
        [Known(5.0 / 13.0), Known(middle_of_medians()), Known(p95), Known(0.6)],
    );
    let cell = of(&values, Operation::Create, None);
    assert_eq!((cell.attempts, cell.target), (5, TargetIndex(0)));
    assert_eq!(values.cells.len(), 1, "what a whole run did not ask for is no value of it");
}

#[test]
fn of_three_iterations_the_middle_one_counts() {
    let mut phases = TWO_ITERATIONS.to_vec();
    phases.push((Phase::Benchmark, 2));
    let mut scenario = Scenario::metadata(1, 1, 0, &phases);
    for (stage, seconds) in [(0, 5), (1, 1), (2, 3)] {
        creates(&mut scenario, stage, 100 * u64::from(stage) + 1, &[seconds]);
    }
    let values = values(&scenario, &scenario.by_stage());
    let [rate, median, ..] = amounts(&values, Operation::Create);
    assert_eq!((rate, median), (RunAmount::Known(3.0 / 9.0), RunAmount::Known(3e9)));
}

#[test]
fn a_run_that_hung_is_slower_than_what_was_measured() {
    use RunAmount::{AtLeast, AtMost, Open};
    let mut scenario = Scenario::metadata(1, 1, 0, &TWO_ITERATIONS);
    scenario.record.clients = vec![ClientRecord::new(ClientId(0), TargetIndex(0), 0)];
    scenario.at(0, 0, Operation::Stage, S, 4 * S);
    creates(&mut scenario, 0, 1, &[1, 3]);
    creates(&mut scenario, 1, 100, &[1]);
    end_with(scenario.at(1, 0, Operation::Create, 101 * S, 20 * S), Outcome::Hung, FailureCode::NONE);
    scenario.at(0, 0, Operation::Read, 2 * S, S);
    scenario.record.state = incomplete("/scratch/me did not answer for longer than the deadline of 15 s");
    let values = values(&scenario, &scenario.by_stage());
    assert_eq!(values.standing, Standing::Hung);
    // 3 of 4 in 4 + 21 s. What was done of the second iteration took 1 s and more than 20, and what was still to be done nobody knows how long.
    let median = (3.0_f64.sqrt() * 20.0_f64.sqrt()).sqrt() * 1e9;
    let p95 = (3.0 * 20.0_f64).sqrt() * 1e9;
    assert_near(
        amounts(&values, Operation::Create),
        [AtMost(3.0 / 25.0), AtLeast(median), AtLeast(p95), AtLeast(0.5)],
    );
    // Its only read was before: those that were to come may have taken as long as anything.
    assert_eq!(of_follower(&values, Operation::Read), [AtLeast(1e9), AtLeast(1e9), AtLeast(0.0)]);
    assert_eq!(of_follower(&values, Operation::Delete), [Open; 3], "nobody got so far");
}

#[test]
fn a_hang_is_no_matter_of_the_stages_that_had_ended() {
    let phases = [(Phase::Precreate, 0), (Phase::Benchmark, 0)];
    let mut scenario = Scenario::metadata(2, 1, 0, &phases);
    scenario.record.clients =
        (0..2).map(|client| ClientRecord::new(ClientId(client), TargetIndex(0), client)).collect();
    for client in 0..2 {
        scenario.at(0, client, Operation::Create, S, 2 * S);
        scenario.at(0, client, Operation::Stage, S, 2 * S);
    }
    scenario.at(1, 0, Operation::Create, 5 * S, S);
    scenario.at(1, 0, Operation::Stage, 5 * S, S);
    end_with(scenario.at(1, 1, Operation::Read, 5 * S, 16 * S), Outcome::Hung, FailureCode::NONE);
    scenario.record.state = incomplete("1 operation had not ended");
    let values = values(&scenario, &scenario.by_stage());
    let rate = |operation, phase| of(&values, operation, phase).amount(Rate);
    assert_eq!(rate(Operation::Create, Some(Phase::Precreate)), Some(RunAmount::Known(1.0)));
    assert_eq!(rate(Operation::Create, None), Some(RunAmount::AtMost(1.0 / 16.0)));
    assert_eq!(of_follower(&values, Operation::Delete), [RunAmount::Open; 3], "nobody got so far");

    // Nothing hung here, but one of two clients is not known to have come to its end.
    scenario.retain(|sample| sample.outcome() != Outcome::Hung);
    scenario.record.state = incomplete("the target failed while it was measured");
    let values = self::values(&scenario, &scenario.by_stage());
    assert_eq!(values.standing, Standing::Failed);
    let rate = |operation, phase| of(&values, operation, phase).amount(Rate);
    assert_eq!(rate(Operation::Create, Some(Phase::Precreate)), Some(RunAmount::Known(1.0)));
    assert_eq!(rate(Operation::Create, None), Some(RunAmount::AtMost(1.0)));
}

#[test]
fn a_target_that_filled_up_is_slower_than_what_it_took() {
    use RunAmount::{AtLeast, AtMost, Known};
    let mut scenario = two_iterations();
    scenario.at(0, 0, Operation::Stat, S, S);
    scenario.at(1, 0, Operation::Stat, 100 * S, S);
    scenario.at(0, 0, Operation::Stage, S, 4 * S);
    scenario.at(1, 0, Operation::Stage, 100 * S, 9 * S);
    let refused = scenario.at(1, 0, Operation::Create, 100 * S, MS);
    end_with(refused, Outcome::Error, FailureCode::from_errno(28));
    scenario.record.state =
        incomplete("the target failed while it was measured: 1 of 2 operations ended with no space left");
    let failed = values(&scenario, &scenario.by_stage());
    assert_eq!(failed.standing, Standing::Failed);
    let p95 = (3.0 * 4.0_f64).sqrt() * 1e9;
    assert_near(
        amounts(&failed, Operation::Create),
        [AtMost(5.0 / 13.0), AtLeast(middle_of_medians()), AtLeast(p95), AtLeast(0.6)],
    );
    // Those that it went on to answer took what they took.
    assert_eq!(of_follower(&failed, Operation::Stat), [Known(1e9), Known(1e9), Known(0.0)]);
    // Nor does it help a target that the user then had enough of it.
    let RunState::Incomplete { reason } = &scenario.record.state else { panic!("it is") };
    scenario.record.state = incomplete(&format!("interrupted (Ctrl-C); {reason}"));
    assert_eq!(values(&scenario, &scenario.by_stage()), failed);

    // The same failure of a run that is complete is data: it took part in the time, and is not hidden.
    scenario.record.state = RunState::Complete;
    let [rate, median, ..] = amounts(&values(&scenario, &scenario.by_stage()), Operation::Create);
    assert_eq!(rate, Known(5.0 / 13.0));
    assert!((median.ends().0 / middle_of_medians() - 1.0).abs() < 1e-12 && matches!(median, Known(_)));
}

#[test]
fn what_user_or_host_broke_off_is_no_unit_unless_it_hung() {
    let mut scenario = two_iterations();
    let mut standing = |state: RunState| {
        scenario.record.state = state;
        let values = values(&scenario, &scenario.by_stage());
        assert_eq!(values.cells.is_empty(), !values.standing.is_unit());
        values.standing
    };
    let running = RunState::Running { keeper_pid: 1, keeper_start_ticks: 1, spool: None };
    let recovered = RunState::Recovered { reason: "its keeper was killed".to_owned() };
    for state in [running, recovered, incomplete("interrupted (Ctrl-C); 1 operation had not ended")] {
        assert_eq!(standing(state.clone()), Standing::BrokenOff, "{state:?}");
    }
    assert_eq!(standing(incomplete("the objects that were to be read are gone")), Standing::Failed);

    // Who was killed in an operation leaves it in flight, however young.
    end_with(scenario.at(1, 0, Operation::Create, 109 * S, MS), Outcome::Hung, FailureCode::ABANDONED);
    scenario.record.state = incomplete("the measurer of /scratch/me was ended by signal 9");
    assert_eq!(values(&scenario, &scenario.by_stage()).standing, Standing::BrokenOff);
    end_with(scenario.at(1, 0, Operation::Create, 109 * S, 16 * S), Outcome::Hung, FailureCode::NONE);
    scenario.record.state = incomplete("interrupted (Ctrl-C); 1 operation had not ended");
    assert_eq!(values(&scenario, &scenario.by_stage()).standing, Standing::Hung);
}

#[test]
fn a_target_that_let_nobody_begin_is_no_unit() {
    let mut scenario = Scenario::metadata(1, 1, 0, &TWO_ITERATIONS);
    let waited = scenario.at(0, 0, Operation::OpenSession, S, 16 * S);
    end_with(waited, Outcome::Hung, FailureCode::ABANDONED);
    scenario.record.state = incomplete("making the working directory in /scratch has not been answered");
    let values = values(&scenario, &scenario.by_stage());
    assert_eq!(
        values,
        RunValues {
            standing: Standing::Unreached,
            cells: Vec::new(),
            caches: None,
            felt: Vec::new(),
            are_clones: None,
            step: 0.0
        }
    );
}

#[test]
fn the_school_of_mdtest_has_the_cells_of_md_workbench() {
    let phases = [(Phase::Precreate, 0), (Phase::Benchmark, 0), (Phase::Cleanup, 0)];
    let mut code = Scenario::metadata(1, 1, 0, &phases);
    let objects = [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create];
    for (operation, start) in objects.into_iter().zip(10..) {
        code.at(1, 0, operation, start * S, S);
    }
    code.at(0, 0, Operation::Create, S, S);
    code.at(2, 0, Operation::Delete, 20 * S, S);

    let stages = [
        (Phase::TreeCreate, Operation::MakeDirectory),
        (Phase::BatchCreate, Operation::Create),
        (Phase::BatchStat, Operation::Stat),
        (Phase::BatchRead, Operation::Read),
        (Phase::BatchRemove, Operation::Delete),
        (Phase::TreeRemove, Operation::RemoveDirectory),
    ];
    let mut batch = Scenario::metadata(1, 1, 0, &stages.map(|(phase, _)| (phase, 0)));
    let WorkloadSpec::Metadata(spec) = &mut batch.record.spec.workload else { panic!("it is one") };
    spec.pattern = Pattern::Batch;
    for (stage, (_, operation)) in (0..).zip(stages) {
        batch.at(stage, 0, operation, 10 * u64::from(stage) * S + S, 2 * S);
    }

    let (code, batch) = (values(&code, &code.by_stage()), values(&batch, &batch.by_stage()));
    for operation in objects {
        let of_both = |quantity| [&code, &batch].map(|values| of(values, operation, None).amount(quantity));
        let medians = of_both(Median).map(|amount| amount.unwrap());
        assert_eq!(medians, [RunAmount::Known(1e9), RunAmount::Known(2e9)], "{operation}");
        // Operations that take turns are as many in as much time, which is one fact and no four.
        let turn = (operation == Operation::Create).then_some(RunAmount::Known(1.0 / 4.0));
        assert_eq!(of_both(Rate), [turn, Some(RunAmount::Known(0.5))], "{operation}");
    }
    of(&code, Operation::Create, Some(Phase::Precreate));
    of(&code, Operation::Delete, Some(Phase::Cleanup));
    of(&batch, Operation::MakeDirectory, None);
    assert_eq!((code.cells.len(), batch.cells.len()), (6, 6));
}

#[test]
fn a_check_has_rows_of_each_directory_and_no_rate() {
    let mut scenario = Scenario::check(&["/home/me", "/scratch", "memory:"]);
    let WorkloadSpec::Check(spec) = &mut scenario.record.spec.workload else { panic!("it is one") };
    spec.control = Some(TargetIndex(2));
    for target in [0, 1, 2] {
        for ns in [2 * MS, 4 * MS, 6 * MS] {
            scenario.add(target, Operation::TaskList, ns);
        }
    }
    scenario.add(0, Operation::CallOpen, MS);
    for _ in 0..4 {
        end_with(scenario.add(1, Operation::TaskList, 15 * S), Outcome::Timeout, FailureCode::NONE);
    }
    let values = values(&scenario, &scenario.by_target());
    let rows: Vec<_> = values.cells.iter().map(|cell| (cell.target.0, cell.cell.operation)).collect();
    assert_eq!(rows, [(0, Operation::TaskList), (1, Operation::TaskList)]);
    let medians = [0, 1].map(|cell: usize| values.cells[cell].amount(Median));
    assert_eq!(medians, [Some(RunAmount::Known(4e6)), Some(RunAmount::AtLeast(15e9))]);
    assert_eq!(values.cells[0].amount(Rate), None);
    assert_eq!(values.cells[1].amount(OVER_ONE_SECOND), Some(RunAmount::Known(4.0 / 7.0)));
}

#[test]
fn what_was_cut_off_before_a_threshold_may_have_passed_it() {
    let mut scenario = Scenario::check(&["/home/me"]);
    (0..6).for_each(|_| {
        scenario.add(0, Operation::TaskList, 2 * S);
    });
    let cut = scenario.add(0, Operation::TaskList, S / 2);
    end_with(cut, Outcome::Interrupted, FailureCode::TIME_UP);
    let values = values(&scenario, &scenario.by_target());
    assert_eq!(values.standing, Standing::Whole);
    assert_eq!(values.cells[0].amount(OVER_ONE_SECOND), Some(RunAmount::AtLeast(6.0 / 7.0)));
}

#[test]
fn quantities_are_called_as_they_are_typed() {
    let over = ShareOver(Nanoseconds::from_milliseconds(100));
    assert_eq!([Rate, Median, P95, over].map(|one| one.to_string()), ["rate", "median", "p95", "over:100ms"]);
}

#[test]
fn quantities_are_read_as_they_are_shown() {
    for (text, quantity) in [
        ("rate", Rate),
        ("throughput", RunQuantity::Throughput),
        ("median", Median),
        ("p95", P95),
        ("over:1.00s", OVER_ONE_SECOND),
        ("over:100ms", ShareOver(Nanoseconds(100 * MS))),
        ("over:1.50ms", ShareOver(Nanoseconds(1_500_000))),
    ] {
        assert_eq!((text.parse(), quantity.to_string().parse()), (Ok(quantity), Ok(quantity)));
    }
    for text in ["", "p99", "Rate", "over", "over:", "over:0", "over:0s", "over:-1s", "over:NaNs", "over:100"]
    {
        let refused = text.parse::<RunQuantity>().unwrap_err().to_string();
        assert!(
            refused.ends_with("choose rate, throughput, median, p95 or over:DURATION, as in over:100ms"),
            "{refused}"
        );
    }
}

#[test]
fn more_speed_is_a_higher_rate_and_a_shorter_duration() {
    use RunAmount::{AtLeast, AtMost, Known, Open};
    let ends = |quantity: RunQuantity, amount| {
        let speed = quantity.speed(amount);
        (speed.low(), speed.high())
    };
    let (ln_2, open) = (2.0_f64.ln(), f64::INFINITY);
    for quantity in ALL {
        let sign = if quantity == Rate { 1.0 } else { -1.0 };
        assert_eq!(ends(quantity, Known(2.0)), (sign * ln_2, sign * ln_2));
        let (at_most, at_least) = (ends(quantity, AtMost(2.0)), ends(quantity, AtLeast(2.0)));
        let expected = [(-open, ln_2), (ln_2, open)];
        let turned = [(-ln_2, open), (-open, -ln_2)];
        assert_eq!([at_most, at_least], if quantity == Rate { expected } else { turned });
        assert_eq!(ends(quantity, Open), (-open, open));
    }
    // What took no time at all, or did not happen, is no known speed.
    assert_eq!(Median.speed(Known(0.0)).known(), None);
    assert_eq!(Rate.speed(Known(0.0)).known(), None);
}
