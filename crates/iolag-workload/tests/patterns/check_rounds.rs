//! The rounds of a check: strict turns, a budget that holds, nothing left behind.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolag_backend::Request;
use iolag_model::{CheckSpec, Level, MonotonicTime, Nanoseconds, Operation, StageRecord, WorkloadSpec};
use iolag_workload::{CheckClient, CheckPlace, CheckTasks, Client, ROUNDS_MAX, bytes_to_write, stages};

use crate::company::{Company, Deed, Executed, Places};

const START: MonotonicTime = MonotonicTime(1_000);

fn spec(budget_ns: Nanoseconds) -> CheckSpec {
    CheckSpec {
        budget_ns,
        listed_files: 6,
        created_files: 500,
        stream_bytes: 10_000,
        block_bytes: 3_000,
        object_bytes: 100,
        thresholds_ns: vec![],
        control: None,
    }
}

fn company(spec: &CheckSpec, directories: u32, tasks: CheckTasks, seed: u64) -> Company {
    let list: Arc<[StageRecord]> = stages(&WorkloadSpec::Check(spec.clone())).into();
    let client = |directory| {
        let place = CheckPlace { directory, directories };
        Box::new(CheckClient::new(spec, place, tasks, Arc::clone(&list), seed)) as Box<dyn Client>
    };
    let mut company = Company::new((0..directories).map(client).collect(), seed);
    company.places = Places::Own;
    company.duration = |_, _| Nanoseconds::from_milliseconds(1);
    company
}

/// Operations of one client by stage.
fn by_round(company: &Company, client: usize) -> BTreeMap<u16, Vec<Executed>> {
    let mut rounds: BTreeMap<u16, Vec<Executed>> = BTreeMap::new();
    let mut round = None;
    for deed in &company.deeds[client] {
        match (deed, round) {
            (Deed::Began(stage), _) => round = Some(*stage),
            (Deed::Executed(executed), Some(round)) => rounds.entry(round).or_default().push(*executed),
            _ => {}
        }
    }
    rounds
}

fn count(executed: &[Executed], operation: Operation) -> usize {
    executed.iter().filter(|executed| executed.request.operation == operation).count()
}

#[test]
fn a_full_turn_has_every_operation_as_often_as_said() {
    let mut company = company(&spec(Nanoseconds::from_seconds(45)), 1, CheckTasks::All, 1);
    company.run();
    let rounds = by_round(&company, 0);
    let (first, second) = (&rounds[&0], &rounds[&1]);
    for operation in [Operation::TaskList, Operation::TaskListNumeric] {
        assert_eq!(count(second, operation), 5);
    }
    assert_eq!((count(second, Operation::TaskCreate), count(second, Operation::TaskCompile)), (1, 1));
    use Operation as O;
    let objects =
        [O::Create, O::Stat, O::Read, O::Write, O::WriteDurably, O::Rename, O::List, O::Delete].into_iter();
    let calls = [
        O::CallCreate,
        O::CallWrite,
        O::CallFsync,
        O::CallCloseWritten,
        O::CallStat,
        O::CallOpen,
        O::CallRead,
        O::CallClose,
        O::CallRename,
        O::CallReaddir,
        O::CallUnlink,
    ];
    for operation in objects.chain(calls) {
        assert_eq!(count(second, operation), 20, "{operation}");
    }
    // 10 000 bytes in blocks of 3 000.
    let blocks: Vec<_> = second
        .iter()
        .filter(|executed| executed.request.operation == O::StreamRead)
        .map(|executed| (executed.request.offset, executed.request.bytes))
        .collect();
    assert_eq!(blocks, [(0, 3_000), (3_000, 3_000), (6_000, 3_000), (9_000, 1_000)]);
    assert_eq!((count(second, O::StreamWrite), count(second, O::StreamFsync)), (4, 1));
    assert_eq!((count(first, O::MakeDirectory), count(second, O::MakeDirectory)), (2, 1));
    assert_eq!(company.failures(), []);
}

#[test]
fn nothing_but_the_stream_is_left_and_rounds_are_limited() {
    let mut company = company(&spec(Nanoseconds::from_seconds(4_000)), 2, CheckTasks::All, 3);
    company.run();
    assert_eq!(company.world.objects.len(), 0);
    assert_eq!(company.world.directories.iter().copied().collect::<Vec<_>>(), [(0, 0), (1, 0)]);
    assert_eq!(by_round(&company, 1).len(), ROUNDS_MAX as usize);
}

#[test]
fn directories_take_strict_turns_in_every_round() {
    let mut company = company(&spec(Nanoseconds::from_seconds(20)), 3, CheckTasks::WithoutCompiler, 8);
    company.run();
    let rounds: Vec<_> = (0..3).map(|client| by_round(&company, client)).collect();
    assert!(rounds[0].len() > 3);
    for (round, of_first) in &rounds[0] {
        let span = |executed: &[Executed]| (executed[0].start, executed[executed.len() - 1].end);
        let mut turns = vec![span(of_first)];
        turns.extend(rounds[1..].iter().filter_map(|rounds| rounds.get(round)).map(|turn| span(turn)));
        assert!(turns.windows(2).all(|pair| pair[0].1 <= pair[1].0), "round {round}: {turns:?}");
    }
    assert!(
        rounds.iter().flat_map(|rounds| rounds.values()).all(|turn| count(turn, Operation::TaskCompile) == 0)
    );
}

#[test]
fn the_order_of_groups_changes_from_round_to_round_and_is_repeated_by_the_seed() {
    let groups = |seed| {
        let mut company = company(&spec(Nanoseconds::from_seconds(45)), 1, CheckTasks::All, seed);
        company.run();
        let order = |turn: &Vec<Executed>| {
            let mut levels: Vec<_> = turn.iter().map(|executed| executed.request.operation.level()).collect();
            levels.dedup();
            levels
        };
        by_round(&company, 0).values().map(order).collect::<Vec<_>>()
    };
    let (one, same, other) = (groups(1), groups(1), groups(2));
    assert_eq!(one, same);
    assert_ne!(one, other);
    assert!(one.windows(2).any(|pair| pair[0] != pair[1]));
}

/// Ends within the budget and one unit: the first of a kind may take long, nobody can know before.
fn assert_budget_holds(
    directories: u32,
    duration: fn(u32, &Request) -> Nanoseconds,
    longest_unit: Nanoseconds,
) {
    let budget = Nanoseconds::from_seconds(45);
    let mut company = company(&spec(budget), directories, CheckTasks::All, 4);
    company.duration = duration;
    company.run();
    let allowed = START.after(budget).after(longest_unit);
    assert!(company.now <= allowed, "{} after the start", company.now.since(START));
    for client in 0..directories as usize {
        let executed = company.executed(client);
        assert!(executed.iter().any(|executed| executed.request.operation.level() == Level::Task));
        assert!(
            count(&executed, Operation::Stat) + count(&executed, Operation::CallStat) > 0,
            "directory {client}"
        );
    }
}

#[test]
fn the_budget_holds_for_quick_and_slow_directories() {
    assert_budget_holds(1, |_, _| Nanoseconds(50_000), Nanoseconds::ZERO);
    assert_budget_holds(3, |_, _| Nanoseconds::from_milliseconds(20), Nanoseconds::from_seconds(1));
    assert_budget_holds(2, |_, _| Nanoseconds::from_milliseconds(300), Nanoseconds::from_seconds(4));
    let slow_compiler = |_, request: &Request| match request.operation {
        Operation::TaskCompile => Nanoseconds::from_seconds(8),
        _ => Nanoseconds::from_milliseconds(5),
    };
    assert_budget_holds(2, slow_compiler, Nanoseconds::from_seconds(8));
    let one_slow = |client, _: &Request| Nanoseconds::from_milliseconds(if client == 0 { 200 } else { 1 });
    assert_budget_holds(3, one_slow, Nanoseconds::from_seconds(3));
}

#[test]
fn what_a_turn_had_no_time_for_comes_first_in_the_next() {
    let mut company = company(&spec(Nanoseconds::from_seconds(60)), 1, CheckTasks::All, 4);
    company.duration = |_, _| Nanoseconds::from_milliseconds(250);
    company.run();
    let executed = company.executed(0);
    for operation in [
        Operation::TaskList,
        Operation::TaskCreate,
        Operation::TaskCompile,
        Operation::Stat,
        Operation::CallStat,
        Operation::StreamWrite,
    ] {
        assert!(count(&executed, operation) > 0, "{operation}");
    }
}

#[test]
fn a_directory_that_hangs_stops_no_other() {
    for hangs_after in [0, 30, 700] {
        let mut company = company(&spec(Nanoseconds::from_seconds(45)), 3, CheckTasks::All, 6);
        company.hangs_after.insert(1, hangs_after);
        company.run();
        for client in [0, 2] {
            assert!(by_round(&company, client).len() > 10, "directory {client}");
        }
    }
}

#[test]
fn a_directory_that_takes_nothing_is_asked_again_each_round_without_a_flood_of_errors() {
    let mut company = company(&spec(Nanoseconds::from_seconds(45)), 1, CheckTasks::None, 6);
    company.fails = |_, _| true;
    company.run();
    let rounds = by_round(&company, 0);
    assert_eq!(rounds.len(), ROUNDS_MAX as usize);
    for turn in rounds.values() {
        let asked: Vec<_> = turn.iter().map(|executed| executed.request.operation).collect();
        assert_eq!(asked.len(), 3, "mkdir for objects, calls and stream: {asked:?}");
    }
}

#[test]
fn a_failed_rename_or_create_leaves_no_object() {
    let mut company = company(&spec(Nanoseconds::from_seconds(45)), 1, CheckTasks::None, 6);
    company.fails = |_, request| match request.operation {
        Operation::Rename | Operation::CallRename => request.key.index % 3 == 0,
        Operation::Create | Operation::CallCreate | Operation::CallOpen => request.key.index % 5 == 1,
        _ => false,
    };
    company.run();
    assert!(company.world.objects.is_empty());
    let unexpected: Vec<_> =
        company.failures().into_iter().filter(|(_, request)| !(company.fails)(0, request)).collect();
    assert_eq!(unexpected, []);
}

#[test]
fn what_will_be_written_is_an_upper_bound_of_what_is() {
    let spec = spec(Nanoseconds::from_seconds(4_000));
    let mut company = company(&spec, 2, CheckTasks::None, 1);
    company.run();
    let written: u64 = (0..2)
        .flat_map(|client| company.executed(client))
        .filter(|executed| {
            matches!(
                executed.request.operation,
                Operation::Create
                    | Operation::Write
                    | Operation::WriteDurably
                    | Operation::CallWrite
                    | Operation::StreamWrite
            )
        })
        .map(|executed| executed.request.bytes)
        .sum();
    assert_eq!(written, 2 * u64::from(ROUNDS_MAX) * (10_000 + 20 * 4 * 100));
    assert!(bytes_to_write(&spec, 2) >= written + 2 * u64::from(ROUNDS_MAX) * 500);
}
