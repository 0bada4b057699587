//! A check of a server: what it is asked, how often, and known answers under a simulated clock.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

use std::collections::BTreeMap;
use std::sync::Arc;

use iolag_backend::{Completion, Request, Session, SessionOptions, Target};
use iolag_fixtures::{Alone, Recorded};
use iolag_model::{
    CheckSpec, ClientId, Clock, MonotonicTime, Nanoseconds, Operation, Outcome, Sample, SimulatedClock,
};
use iolag_workload::{
    CheckAbilities, CheckClient, CheckShare, CheckTasks, CheckTurns, ClientLoop, DriveOptions, drive_blocking,
};

const START: MonotonicTime = MonotonicTime(3_000_000_000);
/// What a web server with WebDAV can be asked.
const OF_WEBDAV: [Operation; 8] = [
    Operation::Create,
    Operation::Read,
    Operation::Stat,
    Operation::Delete,
    Operation::Rename,
    Operation::List,
    Operation::MakeDirectory,
    Operation::RemoveDirectory,
];
/// What a store of objects can be asked, which has nothing but these.
const OF_OBJECTS: [Operation; 5] =
    [Operation::Create, Operation::Read, Operation::Stat, Operation::Delete, Operation::List];

/// Datasets need not be made: whoever creates finds his there.
struct Implied(Box<dyn Session>);

impl Session for Implied {
    fn prepare(&mut self, request: &Request) {
        if request.operation == Operation::Create {
            let make = Request::new(Operation::MakeDirectory, request.key, 0);
            self.0.prepare(&make);
            self.0.execute(&make);
        }
        self.0.prepare(request);
    }

    fn execute(&mut self, request: &Request) -> Completion {
        self.0.execute(request)
    }
}

struct Checked {
    samples: Vec<Sample>,
    end: MonotonicTime,
    left: u64,
}

impl Checked {
    fn counts(&self) -> BTreeMap<Operation, usize> {
        let mut counts = BTreeMap::new();
        self.samples.iter().for_each(|sample| *counts.entry(sample.operation()).or_default() += 1);
        counts
    }
}

/// Checks this target for so long and so many rounds, as if it could be asked for nothing but these operations.
fn check(target: &str, operations: &[Operation], budget: Nanoseconds, rounds: u32) -> Checked {
    let clock = SimulatedClock::starting_at(START);
    let backend = Target::parse(target).unwrap().backend("w", Arc::new(clock.clone())).unwrap();
    backend.create_place(&iolag_backend::conformance::maker()).unwrap();
    let spec = CheckSpec {
        budget_ns: budget,
        listed_files: 6,
        created_files: 500,
        stream_bytes: 10_000,
        block_bytes: 3_000,
        object_bytes: 3901,
        thresholds_ns: vec![],
        control: None,
    };
    let share = CheckShare {
        directory: 0,
        turns: CheckTurns::of_all(START, budget, 1)[0],
        end: START.after(budget),
        deadline: Nanoseconds::from_seconds(15),
        place_cost: Nanoseconds::ZERO,
        rounds,
    };
    let abilities =
        CheckAbilities { tasks: CheckTasks::None, operations: operations.iter().copied().collect() };
    let are_made = abilities.operations.contains(&Operation::MakeDirectory);
    let drive =
        DriveOptions { client: ClientId(0), rank: 0, deadlines: Nanoseconds::from_seconds(15).into() };
    let recorded = Recorded::default();
    let client = ClientLoop::new(CheckClient::new(&spec, share, abilities, 5), recorded.clone(), drive);
    let mut session = backend.open_session(&SessionOptions::new(ClientId(0), 0, 1, 3901)).unwrap();
    if !are_made {
        session = Box::new(Implied(session));
    }
    let opened = clock.now();
    drive_blocking(client, session.as_mut(), &Alone::default(), &clock);
    drop(session);
    assert_eq!(opened, START);
    let datasets = (0..200).map(|dataset| backend.inventory(0, dataset).map_or(0, |found| found.objects));
    let samples = recorded.samples.lock().unwrap().clone();
    Checked { samples, end: clock.now(), left: datasets.sum() }
}

#[test]
fn a_server_takes_as_long_as_it_does_and_is_asked_for_what_it_knows() {
    let target = "delayed:create=20ms,read=5ms,stat=2ms,list=8ms,delete=3ms:memory:";
    let checked = check(target, &OF_OBJECTS, Nanoseconds::from_seconds(45), 10);
    let expected = [
        (Operation::Create, 20),
        (Operation::Read, 5),
        (Operation::Stat, 2),
        (Operation::List, 8),
        (Operation::Delete, 3),
    ];
    assert_eq!(checked.counts(), expected.map(|(operation, _)| (operation, 200)).into());
    for sample in &checked.samples {
        let (_, ms) = expected.into_iter().find(|(operation, _)| *operation == sample.operation()).unwrap();
        assert_eq!((sample.outcome(), sample.duration), (Outcome::Ok, Nanoseconds::from_milliseconds(ms)));
    }
    let lengths = checked.samples.iter().filter(|sample| sample.operation() == Operation::Create);
    assert!(lengths.into_iter().all(|sample| sample.bytes == 3901));
    assert_eq!(checked.left, 0, "each object is deleted before the next one is made");
}

#[test]
fn collections_are_made_and_removed_around_the_objects_of_a_round_and_objects_get_other_names() {
    let checked = check("delayed:1ms:memory:", &OF_WEBDAV, Nanoseconds::from_seconds(45), 10);
    let counts = checked.counts();
    assert_eq!((counts[&Operation::MakeDirectory], counts[&Operation::RemoveDirectory]), (10, 10));
    assert_eq!((counts[&Operation::Create], counts[&Operation::Rename]), (200, 200));
    assert_eq!(counts.len(), OF_WEBDAV.len(), "{counts:?}");
    assert!(checked.samples.iter().all(|sample| sample.outcome() == Outcome::Ok));
    assert_eq!(checked.left, 0);
}

#[test]
fn a_slow_server_keeps_the_budget_and_has_some_of_everything() {
    for ms in [1, 40, 300, 900] {
        let budget = Nanoseconds::from_seconds(45);
        let checked = check(&format!("delayed:{ms}ms:memory:"), &OF_OBJECTS, budget, 75);
        assert!(checked.end <= START.after(budget), "{ms} ms: {}", checked.end.since(START));
        let counts = checked.counts();
        assert_eq!(counts.len(), OF_OBJECTS.len(), "{ms} ms: {counts:?}");
        assert_eq!(checked.left, 0, "{ms} ms");
    }
}

#[test]
fn a_server_that_refuses_every_object_is_asked_once_in_a_round() {
    let checked = check("faulty:create:eacces@1:memory:", &OF_OBJECTS, Nanoseconds::from_seconds(45), 10);
    let counts = checked.counts();
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [Operation::Create]);
    assert!(checked.samples.iter().all(|sample| sample.outcome() == Outcome::Error));
}
