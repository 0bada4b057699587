//! What is told beside the speed, of runs as they are stored: processors, caches, and which tree was read.

use iolag_analysis::compare::{
    Beside, ComparedTable, Doubt, Fact, MiddleOfRuns, Side, Unit, compare_sides, unit_of_run,
};
use iolag_analysis::{analysed, run_values};
use iolag_model::*;

use crate::made_up::usual;
use crate::scenario::{S, Scenario};

/// A tree of 120 files is asked for and read, a second each, by so many processors; before it caches are dropped in so many seconds.
fn tree(number: u16, processors: [u64; 2], dropped_s: u64) -> Scenario {
    let mut scenario = Scenario::metadata(1, 1, 0, &[(Phase::Stat, 0), (Phase::Sum, 0)]);
    let record = &mut scenario.record;
    record.id = RunId::new("20261128-000001", number).expect("the form of an id");
    record.spec.workload = WorkloadSpec::Tree(TreeSpec::default());
    record.spec.caches = CacheState::Cold;
    let found = TreeNames { files: 120, directories: 9, ..TreeNames::default() };
    let asked = TreeStage { stage: StageIndex(0), names: 129, size_bytes: 7000, ..TreeStage::default() };
    let read =
        TreeStage { stage: StageIndex(1), files: 120, bytes: 7000, checksum: 0xfd, ..TreeStage::default() };
    record.tree = Some(TreeRecord { found, stages: vec![asked, read] });
    for (stage, operation) in [(0, Operation::TreeStat), (1, Operation::TreeRead)] {
        let begin = 10 * S * u64::from(stage);
        scenario.at(stage, 0, Operation::CachesDrop, begin, (dropped_s - u64::from(stage)) * S);
        scenario.at(stage, 0, operation, begin + 9 * S, S);
        let taken = S * processors[usize::from(stage)] / 100;
        scenario.at(stage, 0, Operation::ProcessorTime, begin + 9 * S, taken);
    }
    scenario
}

fn unit(scenario: &Scenario) -> Unit {
    let record = &scenario.record;
    let workload = analysed(&record.spec.workload);
    let (cells, usual) = (workload.cells(record), [workload.compared()]);
    unit_of_run(record, &run_values(record, &cells, &scenario.by_stage(), &usual))
}

fn side(name: &str, runs: &[Scenario]) -> Side {
    Side {
        name: name.to_owned(),
        units: runs.iter().map(unit).collect(),
        chosen_by: ["target".into()].into(),
    }
}

fn compared(base: &[Scenario], other: &[Scenario]) -> ComparedTable {
    compare_sides(vec![side("native", base), side("nfs", other)], &usual()).expect("they are alike")
}

#[test]
fn processors_and_caches_are_told_of_each_side() {
    let native = [tree(1, [100, 40], 2), tree(2, [98, 60], 4), tree(3, [97, 50], 3)];
    let table = compared(&native, &[tree(4, [30, 20], 8)]);
    let told: Vec<_> = table.beside.iter().map(|one| (&one.what, one.sides.as_slice())).collect();
    let of = |[middle, least, most]: [f64; 3], runs| Some(MiddleOfRuns { middle, least, most, runs });
    let processors = |row, fast: &[usize]| Beside::Processors { row, at_processor_speed: fast.to_vec() };
    let asked = [of([0.98, 0.97, 1.0], 3), of([0.3; 3], 1)];
    let read = [of([0.5, 0.4, 0.6], 3), of([0.2; 3], 1)];
    // Of a run the longest time.
    let took = [of([3e9, 2e9, 4e9], 3), of([8e9; 3], 1)];
    let expected = [
        (&processors(0, &[0]), &asked[..]),
        (&processors(1, &[]), &read[..]),
        (&Beside::Caches(CacheState::Cold), &took[..]),
    ];
    assert_eq!(told, expected);
}

#[test]
fn with_several_clients_processor_speed_is_that_of_all_that_may_work() {
    let run = |number, clients: u32, cpus: u32, processors: u64| {
        let mut run = tree(number, [processors, 10], 2);
        run.record.spec.clients = clients;
        run.record.environment.cpus = cpus;
        run
    };
    let fast = |clients, cpus, processors| {
        let table = compared(&[run(1, clients, cpus, processors)], &[run(2, clients, cpus, 10)]);
        let is_fast = Beside::Processors { row: 0, at_processor_speed: vec![0] };
        table.beside[0].what == is_fast
    };
    assert_eq!(
        [fast(1, 8, 100), fast(4, 8, 100), fast(4, 8, 390), fast(4, 2, 195)],
        [true, false, true, true]
    );
    assert!(fast(1, 0, 100), "how many processors there are is not known");
}

#[test]
fn what_did_not_come_to_its_end_or_was_not_recorded_is_not_told() {
    let mut failed = tree(1, [100, 100], 2);
    failed.record.state = RunState::Incomplete { reason: "the target is full".to_owned() };
    failed.retain(|sample| sample.operation() != Operation::CachesDrop);
    let table = compared(&[failed], &[tree(2, [50, 50], 3)]);
    assert!(table.beside.iter().all(|one| one.sides[0].is_none() && one.sides[1].is_some()), "{table:?}");
    let mut quiet = [tree(1, [1, 1], 2), tree(2, [1, 1], 2)];
    let is_measured = |sample: &Sample| sample.operation().level() != Level::Harness;
    quiet.iter_mut().for_each(|run| run.retain(is_measured));
    assert_eq!(compared(&quiet[..1], &quiet[1..]).beside, []);
}

#[test]
fn trees_that_differ_are_told_by_the_first_thing_in_which_they_do() {
    let differs = |change: &dyn Fn(&mut TreeRecord)| -> Vec<(Fact, Vec<Vec<String>>)> {
        let mut other = tree(2, [50, 50], 2);
        other.record.tree.iter_mut().for_each(change);
        let doubts = compared(&[tree(1, [50, 50], 2)], &[other]).doubts;
        let facts = doubts.into_iter().filter_map(|doubt| match doubt {
            Doubt::Differs { fact, values } => Some((fact, values)),
            _ => None,
        });
        facts.collect()
    };
    let of = |values: [&str; 2]| values.map(|value| vec![value.to_owned()]).to_vec();
    assert_eq!(differs(&|_| ()), []);
    let more = |tree: &mut TreeRecord| {
        tree.found.files += 1;
        tree.stages[0].names += 1;
        tree.stages[1].files += 1;
        tree.stages[1].bytes += 9;
        tree.stages[1].checksum = 1;
    };
    let rest = ["9 directories", "0 symbolic links", "0 special files", "0 mount points"].join(",");
    let names = |files: &str, gone: &str| {
        format!("{files},{rest},0 directories that could not be read,{gone} gone or refused")
    };
    let all = names("120 files", "0 names that were");
    assert_eq!(differs(&more), [(Fact::Tree, of([&all, &names("121 files", "0 names that were")]))]);
    // Two vanished after the walk.
    let gone = |tree: &mut TreeRecord| tree.stages[1].files = 118;
    assert_eq!(differs(&gone), [(Fact::Tree, of([&all, &names("120 files", "2 names that were")]))]);
    let longer = |tree: &mut TreeRecord| tree.stages[1].bytes += 1;
    assert_eq!(differs(&longer), [(Fact::TreeBytes, of(["7 000 bytes", "7 001 bytes"]))]);
    let otherwise = |tree: &mut TreeRecord| tree.stages[1].checksum = 0xfe;
    let sums = ["checksum 00000000000000fd", "checksum 00000000000000fe"];
    assert_eq!(differs(&otherwise), [(Fact::TreeChecksum, of(sums))]);
}

#[test]
fn trees_of_which_as_much_vanished_differ_by_what_is_left() {
    let left = |number, checksum| {
        let mut run = tree(number, [50, 50], 2);
        run.record.tree.iter_mut().for_each(|tree| {
            (tree.stages[1].files, tree.stages[1].checksum) = (118, checksum);
        });
        run
    };
    let differ = |one, other: Scenario| {
        let doubts = compared(&[one], &[other]).doubts;
        doubts.iter().any(|doubt| matches!(doubt, Doubt::Differs { fact: Fact::TreeChecksum, .. }))
    };
    assert!(differ(left(1, 7), left(2, 8)));
    assert!(!differ(left(1, 7), left(2, 7)));
    // What was not read to its end says nothing of the tree.
    let mut cut = left(2, 8);
    cut.record.state = RunState::Incomplete { reason: "stopped".to_owned() };
    assert!(!differ(left(1, 7), cut));
}

#[test]
fn of_a_tree_with_a_time_limit_nobody_knows_all() {
    let limited = |number| {
        let mut run = tree(number, [50, 50], 2);
        let time_limit_ns = Some(Nanoseconds::from_seconds(1));
        run.record.spec.workload = WorkloadSpec::Tree(TreeSpec { time_limit_ns, ..TreeSpec::default() });
        run
    };
    let mut other = limited(2);
    other.record.tree.iter_mut().for_each(|tree| tree.found.files = 7);
    let table = compared(&[limited(1)], &[other]);
    assert!(!table.doubts.iter().any(|doubt| matches!(doubt, Doubt::Differs { .. })), "{:?}", table.doubts);
}
