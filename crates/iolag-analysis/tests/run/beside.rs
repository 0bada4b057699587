//! What is said of those who measured beside a load, where it is known what they felt.

use iolag_analysis::{BesideAnalysis, RunAnalysis, analyse_run};
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
        [(Standpoint::Directory, 130_000), (Standpoint::Sibling, 100_000), (Standpoint::Control, 1_000)]
    {
        beside.felt(standpoint, LoadTime::Before, 100, if during < 100_000 { 1_000 } else { 100_000 });
        beside.felt(standpoint, WRITE, 300, during);
        beside.felt(standpoint, LoadTime::After, 100, 100_000);
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
        .map(|place| analysis.elsewhere(&felt, place).unwrap().cell.is_longer());
    assert_eq!((others, analysis.is_machine_slower()), ([false, false], false));
    assert_eq!((analysis.target_per_second, analysis.control_per_second), (20.0, 10.0));
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
    let factor = felt.cell.times_as_long.unwrap().factor;
    assert!((1.8..2.2).contains(&factor), "{factor}");
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
