//! What is said of those who measured beside a load, where it is known what they felt.

use iolag_analysis::{BesideAnalysis, RunAnalysis, Standing, analyse_run, analysed, run_values};
use iolag_model::*;

use crate::scenario::{MS, S, Scenario};

const WRITE: LoadTime = LoadTime::During(StageIndex(0));

/// A load of one stage, beside which stat and list were asked from everywhere.
struct Beside {
    scenario: Scenario,
    noise: Random,
    clock_ns: u64,
}

impl Beside {
    fn new() -> Self {
        let mut scenario = Scenario::metadata(1, 1, 0, &[(Phase::Write, 0)]);
        let record = &mut scenario.record;
        record.spec.bystander = Some(BystanderSpec {
            asked: vec![BystanderTask::Stat],
            rate_per_second: 10.0,
            quiet_ns: Nanoseconds(5 * S),
        });
        record.beside = Some(BesideRecord::of(&record.stages, Standpoint::ALL));
        let mut beside = Self { scenario, noise: Random::new(7), clock_ns: S };
        beside.scenario.at(0, 0, Operation::StreamWrite, S, 30 * S).bytes = 20 << 30;
        beside
    }

    fn stage(&self, standpoint: Standpoint, time: LoadTime) -> u16 {
        let beside = self.scenario.record.beside.as_ref();
        beside.and_then(|beside| beside.stage(standpoint, time)).expect("each place and time has one").0
    }

    /// As many attempts around this median.
    fn felt(&mut self, standpoint: Standpoint, time: LoadTime, count: usize, median_ns: u64) {
        let stage = self.stage(standpoint, time);
        for _ in 0..count {
            let ns = median_ns as f64 * (0.1 * self.noise.normal()).exp();
            self.scenario.at(stage, 1, Operation::Stat, self.clock_ns, ns as u64);
            self.clock_ns += 100 * MS;
        }
    }

    fn hung(&mut self, standpoint: Standpoint, ns: u64) {
        let stage = self.stage(standpoint, WRITE);
        let sample = self.scenario.at(stage, 1, Operation::Stat, self.clock_ns, ns);
        *sample = sample.with_outcome(Outcome::Hung, FailureCode::NONE);
    }

    fn analysed(&self) -> BesideAnalysis {
        match analyse_run(&self.scenario.record, &self.scenario.by_stage()) {
            RunAnalysis::Metadata(analysis) => analysis.beside.expect("somebody measured"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_took_longer_is_told_with_where_it_did_not() {
    let mut beside = Beside::new();
    for (standpoint, during) in
        [(Standpoint::Directory, 1_300_000), (Standpoint::Sibling, 1_000_000), (Standpoint::Control, 1_000)]
    {
        beside.felt(standpoint, LoadTime::Before, 100, during.min(1_000_000));
        beside.felt(standpoint, WRITE, 300, during);
        beside.felt(standpoint, LoadTime::After, 100, 1_000_000);
    }
    let analysis = beside.analysed();
    let felt = analysis.felt_most().unwrap();
    assert_eq!(
        (felt.standpoint, felt.operation, felt.time.time),
        (Standpoint::Directory, Operation::Stat, WRITE)
    );
    assert_eq!(felt.time.stage.unwrap().bytes, 20 << 30);
    let times = felt.cell.times_as_long.unwrap();
    let [low, high] = times.interval.unwrap();
    assert!(low < 1.3 && 1.3 < high && high - low < 0.2, "{times:?}");
    let others = [Standpoint::Sibling, Standpoint::Control]
        .map(|place| analysis.elsewhere(&felt, place).unwrap().cell.is_longer);
    assert_eq!((others, analysis.is_machine_slower(&felt)), ([false, false], false));
    assert_eq!((analysis.target_per_second, analysis.control_per_second), (30.0, 10.0));
}

#[test]
fn a_single_hang_is_graver_than_all_that_took_longer_and_the_file_is_compared_with_one_beside_it() {
    let mut beside = Beside::new();
    beside.felt(Standpoint::Directory, LoadTime::Before, 50, 100_000);
    beside.felt(Standpoint::Directory, WRITE, 50, 900_000);
    beside.felt(Standpoint::File, WRITE, 50, 200_000);
    beside.hung(Standpoint::File, 840 * S);
    let analysis = beside.analysed();
    let felt = analysis.felt_most().unwrap();
    assert_eq!((felt.standpoint, felt.cell.stuck()), (Standpoint::File, 1));
    assert_eq!(felt.cell.longest().bound(), Some(Nanoseconds(840 * S)));
    assert_eq!(felt.cell.times_as_long, None, "who hangs asks no more: what was asked before says little");
    let file = |beside: &Beside| {
        let analysis = beside.analysed();
        let row = analysis.rows.iter().find(|row| row.standpoint == Standpoint::File).unwrap();
        analysis.felt_most_of(row).unwrap().cell.times_as_long.unwrap().factor
    };
    let mut beside = Beside::new();
    beside.felt(Standpoint::Directory, LoadTime::Before, 50, 100_000);
    beside.felt(Standpoint::File, WRITE, 50, 200_000);
    assert!((1.8..2.2).contains(&file(&beside)), "{}", file(&beside));
}

#[test]
fn a_stall_in_a_short_load_is_told_and_what_only_processors_did_is_not() {
    // For 8 of 10 s nothing was answered: one attempt waited, and what came due behind it.
    let mut stalled = Beside::new();
    stalled.felt(Standpoint::Directory, LoadTime::Before, 30, 7 * MS);
    stalled.felt(Standpoint::Directory, WRITE, 10, 7 * MS);
    let stage = stalled.stage(Standpoint::Directory, WRITE);
    for due in 0..80 {
        let start = stalled.clock_ns + due * 100 * MS;
        let sample = stalled.scenario.at(stage, 1, Operation::Stat, start, 8 * S - due * 100 * MS);
        *sample =
            sample.with_outcome(if due == 0 { Outcome::Ok } else { Outcome::Skipped }, FailureCode::NONE);
    }
    stalled.clock_ns += 8 * S;
    stalled.felt(Standpoint::Directory, WRITE, 10, 7 * MS);
    let analysis = stalled.analysed();
    let felt = analysis.felt_most().expect("8 s are felt");
    assert!(felt.cell.is_stall && felt.cell.longest().bound() == Some(Nanoseconds(8 * S)), "{:?}", felt.cell);
    // It may last as long as the stage: then all of that came due behind an attempt of before.
    let mut whole = Beside::new();
    whole.felt(Standpoint::Directory, LoadTime::Before, 30, 7 * MS);
    let stage = whole.stage(Standpoint::Directory, WRITE);
    for due in 0..60 {
        let start = whole.clock_ns + due * 100 * MS;
        let sample = whole.scenario.at(stage, 1, Operation::Stat, start, 7 * S - due * 100 * MS);
        *sample = sample.with_outcome(Outcome::Skipped, FailureCode::NONE);
    }
    let analysis = whole.analysed();
    let felt = analysis.felt_most().expect("a whole stage is felt");
    assert!(felt.cell.is_longer && felt.cell.is_stall, "{:?}", felt.cell);
    // A few µs more are those of a processor that has something else to do, ...
    let mut busy = Beside::new();
    busy.felt(Standpoint::Directory, LoadTime::Before, 100, 8_000);
    busy.felt(Standpoint::Directory, WRITE, 100, 16_000);
    assert!(busy.analysed().felt_most().is_none());
    // ... and what this machine's memory takes longer, too, is not the storage's.
    let mut hogged = Beside::new();
    for standpoint in [Standpoint::Directory, Standpoint::Control] {
        hogged.felt(standpoint, LoadTime::Before, 100, 100_000);
        hogged.felt(standpoint, WRITE, 100, 2_000_000);
    }
    assert!(hogged.analysed().felt_most().is_none());
}

/// How often, in so many runs of so many attempts each, somebody is said to wait: the level of the storage goes up and down by itself, each
/// fourth attempt anew.
fn told_longer(runs: u64, factor: f64) -> usize {
    let told = |run: &u64| {
        let mut beside = Beside::new();
        beside.noise = Random::new(1000 + run);
        for (time, level) in [(LoadTime::Before, 2e6), (WRITE, 2e6 * factor)] {
            for _ in 0..15 {
                let own = level * (0.3 * beside.noise.normal()).exp();
                beside.felt(Standpoint::Directory, time, 4, own as u64);
            }
        }
        beside.analysed().felt_most().is_some()
    };
    (0..runs).filter(told).count()
}

#[test]
fn whoever_waits_no_longer_is_hardly_ever_said_to_and_who_waits_twice_as_long_mostly_is() {
    assert!(told_longer(200, 1.0) <= 4, "{} of 200 falsely", told_longer(200, 1.0));
    assert!(told_longer(50, 2.0) >= 45, "{} of 50", told_longer(50, 2.0));
}

#[test]
fn who_hangs_beside_a_load_does_not_make_its_run_a_bound() {
    let mut beside = Beside::new();
    beside.felt(Standpoint::Directory, WRITE, 50, 900_000);
    beside.hung(Standpoint::File, 840 * S);
    let record = &beside.scenario.record;
    let workload = analysed(&record.spec.workload);
    let values =
        run_values(record, &workload.cells(record), &beside.scenario.by_stage(), &[workload.compared()]);
    assert_eq!(
        (values.standing, values.felt.iter().map(|felt| felt.stuck).sum::<u64>()),
        (Standing::Whole, 1)
    );
}

#[test]
fn nothing_is_said_of_a_load_that_was_too_short_or_felt_by_nobody() {
    let mut short = Beside::new();
    short.felt(Standpoint::Directory, LoadTime::Before, 50, 100_000);
    short.felt(Standpoint::Directory, WRITE, 2, 9_000_000);
    let short = short.analysed();
    assert!(short.felt_most().is_none() && short.is_too_short());
    let mut alike = Beside::new();
    alike.felt(Standpoint::Directory, LoadTime::Before, 50, 100_000);
    alike.felt(Standpoint::Directory, WRITE, 50, 102_000);
    let alike = alike.analysed();
    assert!(alike.felt_most().is_none() && !alike.is_too_short());
}

#[test]
fn a_run_beside_which_nobody_measured_says_nothing_of_it() {
    let scenario = Scenario::metadata(1, 1, 0, &[(Phase::Benchmark, 0)]);
    let RunAnalysis::Metadata(analysis) = analyse_run(&scenario.record, &scenario.by_stage()) else {
        panic!("it is a bench")
    };
    assert_eq!(analysis.beside, None);
}
