//! The rounds of a check: turns that nobody waits for, a budget that holds, nothing left behind.

use std::collections::BTreeSet;

use iolag_backend::Request;
use iolag_model::{CheckSpec, Level, MonotonicTime, Nanoseconds, Operation};
use iolag_workload::{
    CheckAbilities, CheckClient, CheckShare, CheckTasks, CheckTurns, Client, ROUNDS_MAX, Workload,
};

use crate::company::{Company, Deed, Executed, Places, TaskCost};

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

fn seconds(seconds: u64) -> Nanoseconds {
    Nanoseconds::from_seconds(seconds)
}

/// One directory of several. They meet nobody, so each can be simulated alone.
struct Directory {
    budget: Nanoseconds,
    directory: u32,
    directories: u32,
    tasks: CheckTasks,
    seed: u64,
    place_cost: Nanoseconds,
}

impl Directory {
    fn alone(budget: Nanoseconds, tasks: CheckTasks, seed: u64) -> Self {
        Self { budget, directory: 0, directories: 1, tasks, seed, place_cost: Nanoseconds::ZERO }
    }

    fn company(&self, spec: &CheckSpec) -> Company {
        let turns = CheckTurns::of_all(START, self.budget, self.directories);
        let share = CheckShare {
            directory: self.directory,
            turns: turns[self.directory as usize],
            end: START.after(self.budget),
            deadline: seconds(15),
            place_cost: self.place_cost,
            rounds: ROUNDS_MAX,
        };
        let abilities = CheckAbilities { tasks: self.tasks, operations: spec.operations_needed() };
        let client = Box::new(CheckClient::new(spec, share, abilities, self.seed)) as Box<dyn Client>;
        let mut company = Company::new(vec![client], self.seed);
        company.places = Places::Own;
        company.now = START.after(self.place_cost);
        company.duration = |_, _| Nanoseconds::from_milliseconds(1);
        company
    }
}

fn company(spec: &CheckSpec, tasks: CheckTasks, seed: u64) -> Company {
    Directory::alone(spec.budget_ns, tasks, seed).company(spec)
}

fn count(executed: &[Executed], operation: Operation) -> usize {
    executed.iter().filter(|executed| executed.request.operation == operation).count()
}

/// The rounds that a client began: each creates at most once.
fn rounds(executed: &[Executed]) -> usize {
    count(executed, Operation::TaskCreate)
}

/// An operation of a server that needs `ms` for each of two requests; tasks of as many as they need.
macro_rules! server {
    ($ms:literal) => {
        (
            (|_: u32, _: &Request| Nanoseconds::from_milliseconds(2 * $ms))
                as fn(u32, &Request) -> Nanoseconds,
            (|_: u32, request: &Request| match request.operation {
                Operation::TaskCreate => Some(TaskCost::Files {
                    count: 500,
                    making: Nanoseconds(4_000_000 * $ms + 1),
                    removing: Nanoseconds::from_milliseconds(2 * $ms),
                }),
                operation if operation.level() == Level::Task => {
                    Some(TaskCost::Whole(Nanoseconds::from_milliseconds(20 * $ms)))
                }
                _ => None,
            }) as fn(u32, &Request) -> Option<TaskCost>,
            Nanoseconds::from_milliseconds($ms),
        )
    };
}

#[test]
fn a_full_round_has_every_operation_as_often_as_said() {
    let mut company = company(&spec(seconds(4_000)), CheckTasks::All, 1);
    company.run();
    let all = company.executed(0);
    let rounds = ROUNDS_MAX as usize;
    for operation in [Operation::TaskList, Operation::TaskListNumeric] {
        assert_eq!(count(&all, operation), 5 * rounds);
    }
    assert_eq!((count(&all, Operation::TaskCreate), count(&all, Operation::TaskCompile)), (rounds, rounds));
    use Operation as O;
    let objects = [O::Stat, O::Read, O::Write, O::WriteDurably, O::Rename, O::List, O::Delete].into_iter();
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
        assert_eq!(count(&all, operation), 20 * rounds, "{operation}");
    }
    assert_eq!(count(&all, O::Create), 20 * rounds + 6, "six are listed");
    // 10 000 bytes in blocks of 3 000.
    let blocks: Vec<_> = all
        .iter()
        .filter(|executed| executed.request.operation == O::StreamRead)
        .map(|executed| (executed.request.offset, executed.request.bytes))
        .collect();
    assert_eq!(blocks[..4], [(0, 3_000), (3_000, 3_000), (6_000, 3_000), (9_000, 1_000)]);
    assert_eq!((count(&all, O::StreamWrite), count(&all, O::StreamFsync)), (4 * rounds, rounds));
    assert_eq!(count(&all, O::MakeDirectory), rounds + 2, "the stream's and the one that is listed");
    assert_eq!(company.failures(), []);
}

#[test]
fn nothing_but_the_stream_and_what_is_listed_is_left_and_rounds_are_limited() {
    let mut company = company(&spec(seconds(4_000)), CheckTasks::All, 3);
    company.run();
    assert_eq!(company.world.objects_in(0, 1), 6);
    assert_eq!(company.world.objects.len(), 6);
    assert_eq!(company.world.directories.iter().copied().collect::<Vec<_>>(), [(0, 0), (0, 1)]);
    assert_eq!(rounds(&company.executed(0)), ROUNDS_MAX as usize);
}

/// What a directory of three did whose requests take so long.
fn one_of_three(directory: u32, request: fn(u32, &Request) -> Nanoseconds) -> Company {
    let budget = seconds(20);
    let tasks = CheckTasks::WithoutCompiler;
    let one = Directory { directory, directories: 3, ..Directory::alone(budget, tasks, 8) };
    let mut company = one.company(&spec(budget));
    company.duration = request;
    company.run();
    company
}

#[test]
fn units_are_begun_in_the_directorys_own_turns_only_and_nobody_is_met() {
    let turns = CheckTurns::of_all(START, seconds(20), 3);
    for directory in 0..3 {
        let company = one_of_three(directory, |_, _| Nanoseconds::from_milliseconds(1));
        assert!(!company.deeds[0].iter().any(|deed| matches!(deed, Deed::Began(_) | Deed::Agreed)));
        let executed = company.executed(0);
        assert!(rounds(&executed) > 3, "directory {directory}");
        // A turn is 555 ms long, the control's 138 ms.
        let in_turn = |at: MonotonicTime| {
            let cycle = 3 * 555_555_555 + 138_888_888;
            at.since(START).0 % cycle / 555_555_555 == u64::from(directory)
        };
        let outside = executed.iter().filter(|executed| !in_turn(executed.start)).count();
        // An operation that does not end in time ends after it; no unit is begun there.
        assert!(outside * 20 < executed.len(), "{outside} of {}", executed.len());
    }
    assert_eq!(turns.len(), 4);
}

#[test]
fn a_slow_neighbour_takes_nothing_from_the_others() {
    // They meet nobody, so what the others do cannot matter; what matters is that a slow one uses only its own time.
    let healthy = one_of_three(0, |_, _| Nanoseconds::from_milliseconds(1));
    let share = healthy.executed(0).len();
    let alone = {
        let mut company = company(&spec(seconds(20)), CheckTasks::WithoutCompiler, 8);
        company.run();
        company.executed(0).len()
    };
    // A third of the time, the control's part aside: four of thirteen parts, instead of four of five.
    let expected = alone * 5 / 13;
    assert!((expected * 9 / 10..=expected * 11 / 10).contains(&share), "{share} of {alone}");
    let slow = one_of_three(1, |_, _| Nanoseconds::from_milliseconds(200));
    assert!(slow.now <= START.after(seconds(20)), "{}", slow.now.since(START));
    assert!(count(&slow.executed(0), Operation::TaskList) > 0);
}

/// By design a healthy directory gets one turn of a cycle of six and a quarter, and without the slow one of five and a quarter: 84 % of
/// the rounds. What a slow one costs is its turns, however long it takes; the processor is not simulated.
#[test]
fn of_six_directories_one_that_is_slow_costs_the_others_its_turns_and_ends_in_time() {
    let budget = seconds(45);
    let (duration, tasks, request) = server!(200);
    let quick: fn(u32, &Request) -> Nanoseconds = |_, _| Nanoseconds::from_milliseconds(3);
    let slow = Directory {
        directory: 5,
        directories: 6,
        place_cost: Nanoseconds(14 * request.0),
        ..Directory::alone(budget, CheckTasks::WithoutCompiler, 9)
    };
    let mut slow = slow.company(&spec(budget));
    (slow.duration, slow.tasks) = (duration, tasks);
    slow.run();
    let over = when_removed(&slow, request).since(START.after(budget));
    assert!(over <= seconds(1) && !slow.executed(0).is_empty(), "{over} over {budget}");
    for directory in 0..5 {
        let [with, without] = [6, 5].map(|directories| {
            let tasks = CheckTasks::WithoutCompiler;
            let healthy = Directory { directory, directories, ..Directory::alone(budget, tasks, 9) };
            let mut company = healthy.company(&spec(budget));
            company.duration = quick;
            company.run();
            assert!(company.now <= START.after(budget).after(seconds(1)), "directory {directory}");
            rounds(&company.executed(0))
        });
        assert!(without < ROUNDS_MAX as usize, "the time decides, not the number of rounds");
        assert!(with * 100 >= without * 75, "directory {directory}: {with} of {without} rounds");
    }
}

#[test]
fn the_first_round_asks_what_a_user_asks_and_later_ones_are_shuffled_by_the_seed() {
    let groups = |seed| {
        let mut company = company(&spec(seconds(45)), CheckTasks::All, seed);
        company.run();
        let mut levels: Vec<_> =
            company.executed(0).iter().map(|executed| executed.request.operation.level()).collect();
        levels.dedup();
        levels
    };
    let (one, same, other) = (groups(1), groups(1), groups(2));
    assert_eq!(one, same);
    assert_ne!(one, other);
    use Level::{Call, Object, Stream, Task};
    assert_eq!(one[..7], [Object, Task, Object, Task, Call, Object, Stream]);
    assert_eq!(one[..7], other[..7]);
}

/// When everything that is left is removed, if a request of that takes so long.
fn when_removed(company: &Company, removing: Nanoseconds) -> MonotonicTime {
    let left = company.world.objects.len() as u64 + company.files_left(0);
    let executed = company.executed(0);
    let own = [Operation::TaskCreate, Operation::TaskCompile].map(|task| count(&executed, task).min(1));
    let directories = company.world.directories.len() + own.iter().sum::<usize>();
    // Nine requests for a directory that is removed, twelve for the working directory, two for a file.
    let requests = 12 + 9 * directories as u64 + 2 * left;
    company.now.after(Nanoseconds(requests * removing.0))
}

/// Ends within the budget and one operation: the first of a kind may take long, nobody can know before.
fn assert_budget_holds(
    budget: Nanoseconds,
    duration: fn(u32, &Request) -> Nanoseconds,
    tasks: fn(u32, &Request) -> Option<TaskCost>,
    removing: Nanoseconds,
) -> Company {
    let place_cost = Nanoseconds(14 * removing.0);
    let directory = Directory { directories: 2, place_cost, ..Directory::alone(budget, CheckTasks::All, 4) };
    let mut company = directory.company(&spec(budget));
    (company.duration, company.tasks) = (duration, tasks);
    company.run();
    let over = when_removed(&company, removing).since(START.after(budget));
    assert!(over <= seconds(1), "{over} over {budget}: one operation may be in flight");
    company
}

#[test]
fn the_budget_holds_for_quick_and_slow_directories_with_setting_up_and_removing() {
    for budget in [6, 15, 45, 120] {
        for (duration, tasks, request) in [server!(0), server!(1), server!(5), server!(50), server!(200)] {
            assert_budget_holds(seconds(budget), duration, tasks, request);
        }
    }
}

#[test]
fn a_slow_directory_is_measured_in_every_row_that_a_user_knows_or_a_bound_is_known() {
    let (duration, tasks, request) = server!(100);
    let company = assert_budget_holds(seconds(45), duration, tasks, request);
    let executed = company.executed(0);
    for operation in [Operation::TaskList, Operation::TaskCreate, Operation::TaskCompile, Operation::Stat] {
        assert!(count(&executed, operation) > 0, "{operation}");
    }
    let create = executed.iter().find(|one| one.request.operation == Operation::TaskCreate).unwrap();
    assert!(!create.is_ok && create.end.since(create.start) < Nanoseconds::from_milliseconds(6_000));
    assert!(company.files_left(0) > 0, "it is partial, not empty");
}

#[test]
fn a_task_that_takes_for_ever_leaves_time_for_the_others() {
    let tasks: fn(u32, &Request) -> Option<TaskCost> = |_, request| match request.operation {
        Operation::TaskCompile => Some(TaskCost::Whole(seconds(1_000))),
        _ => None,
    };
    let quick: fn(u32, &Request) -> Nanoseconds = |_, _| Nanoseconds::from_milliseconds(1);
    let company = assert_budget_holds(seconds(20), quick, tasks, Nanoseconds::from_milliseconds(1));
    let executed = company.executed(0);
    assert!(rounds(&executed) > 1 && count(&executed, Operation::CallStat) > 10);
}

#[test]
fn what_a_round_had_no_time_for_comes_first_in_the_next() {
    let mut company = company(&spec(seconds(90)), CheckTasks::All, 4);
    company.duration = |_, _| Nanoseconds::from_milliseconds(250);
    company.run();
    let executed = company.executed(0);
    let seen: BTreeSet<_> = executed.iter().map(|executed| executed.request.operation).collect();
    for operation in [
        Operation::TaskList,
        Operation::TaskCreate,
        Operation::TaskCompile,
        Operation::Stat,
        Operation::CallStat,
        Operation::StreamWrite,
    ] {
        assert!(seen.contains(&operation), "{operation}");
    }
}

#[test]
fn a_directory_that_takes_nothing_is_asked_again_each_round_without_a_flood_of_errors() {
    let mut company = company(&spec(seconds(45)), CheckTasks::None, 6);
    company.fails = |_, _| true;
    company.run();
    let asked = company.executed(0);
    assert_eq!(asked.len(), 3 * ROUNDS_MAX as usize, "mkdir for objects, calls and stream");
}

#[test]
fn a_directory_that_cannot_be_made_is_not_listed() {
    let mut company = company(&spec(seconds(45)), CheckTasks::All, 6);
    company.fails = |_, request| request.operation == Operation::MakeDirectory && request.key.dataset == 1;
    company.run();
    let executed = company.executed(0);
    assert_eq!((count(&executed, Operation::TaskList), company.failures().len()), (0, 1));
    assert!(count(&executed, Operation::TaskCompile) > 0);
}

#[test]
fn a_failed_rename_or_create_leaves_no_object() {
    let mut company = company(&spec(seconds(45)), CheckTasks::None, 6);
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
    let spec = spec(seconds(4_000));
    let mut company = company(&spec, CheckTasks::None, 1);
    company.run();
    let written: u64 = company
        .executed(0)
        .into_iter()
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
    assert_eq!(written, u64::from(ROUNDS_MAX) * (10_000 + 20 * 4 * 100));
    assert!(spec.bytes_needed(1) >= written + u64::from(ROUNDS_MAX) * 500);
}
