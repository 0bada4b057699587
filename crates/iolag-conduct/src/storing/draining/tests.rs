use super::*;
use std::fs::OpenOptions;

use iolag_keeper::SharedRecorder;
use iolag_model::{
    AttemptId, ClientId, Detail, DetailKind, FailureCode, MonotonicTime, Operation, Outcome, Recorder,
};
use iolag_store::{Block, SpoolReader, spools};
use proptest::prelude::*;

const CLIENTS: u32 = 5;

fn run_id() -> RunId {
    RunId::new("20261122-120000", 1).unwrap()
}

/// Two measurers: the clients 0, 2 and 4 on one, 1 and 3 on the other.
fn measurers() -> Vec<Vec<u32>> {
    vec![vec![0, 2, 4], vec![1, 3]]
}

fn sample(client: u32, sequence: u64) -> Sample {
    let attempt = AttemptId::new(ClientId(client), sequence);
    Sample::new(attempt, Operation::Stat, MonotonicTime(1), MonotonicTime(1), Nanoseconds(sequence))
}

fn all_of(directory: &Directory) -> Vec<Vec<Sample>> {
    let read = |number| {
        let mut reader = SpoolReader::open(directory, &run_id(), number).unwrap();
        let mut samples = Vec::new();
        while let Some(block) = reader.next_block().unwrap() {
            if let Block::Samples(more) = block {
                samples.extend_from_slice(more);
            }
        }
        assert_eq!(reader.dropped_bytes(), 0);
        samples
    };
    spools(directory).unwrap().into_iter().map(read).collect()
}

#[derive(Debug, Clone)]
enum Action {
    /// Operations that end, each as the one in this lane of several in flight.
    Record {
        client: u32,
        count: usize,
        lane: usize,
    },
    /// Probes that were due and not sent, as ping notes them among the others.
    RecordUnsent {
        client: u32,
        count: usize,
    },
    KeeperRecords {
        count: usize,
    },
    Drain(Patience),
    /// A writer writes what waits and is killed before it tells the rings; of its last blocks a share is torn away.
    Kill {
        kept: f64,
    },
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (0..CLIENTS, 1_usize..400, 0_usize..4)
            .prop_map(|(client, count, lane)| Action::Record { client, count, lane }),
        3 => (0..CLIENTS, 1_usize..40).prop_map(|(client, count)| Action::RecordUnsent { client, count }),
        1 => (1_usize..5).prop_map(|count| Action::KeeperRecords { count }),
        2 => Just(Action::Drain(Patience::None)),
        1 => Just(Action::Drain(Patience::Some)),
        2 => (0.0..=1.0_f64).prop_map(|kept| Action::Kill { kept }),
    ]
}

/// What a writer does up to the moment before the tails move.
fn write_and_be_killed(draining: &mut Draining<'_>, directory: &Directory, kept: f64) {
    for drain in &mut draining.drains {
        let waiting = drain.rings.iter().map(|ring| ring.head() - ring.tail()).sum::<u64>();
        if waiting == 0 {
            continue;
        }
        let number = drain.number;
        let rings = drain.rings.clone();
        let spool = drain.open(&draining.place).unwrap();
        let before = spool.bytes();
        for ring in &rings {
            // An earlier one may have been killed at the same place.
            spool.append(ring.pending()).unwrap();
        }
        let after = spool.bytes();
        drain.spool = None;
        let file = OpenOptions::new().write(true).open(directory.path().join(number.file_name())).unwrap();
        file.set_len(before + ((after - before) as f64 * kept) as u64).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whenever writers are killed, and wherever their last block is torn: everything is stored once, and each client's
    /// samples in their order.
    #[test]
    fn killed_writers_lose_and_double_nothing(actions in prop::collection::vec(any_action(), 1..40)) {
        let exchange = Exchange::new(CLIENTS, u64::from(CLIENTS) * 1500 * Sample::SIZE as u64).unwrap();
        let mut recorders: Vec<SharedRecorder> = (0..CLIENTS).map(|client| exchange.recorder(client)).collect();
        let mut keeper = exchange.keeper_ring();
        let mut recorded = vec![Vec::new(); CLIENTS as usize];
        let mut lanes = [[0, 1, 2, 3]; CLIENTS as usize];
        let mut unsent = [0_u64; CLIENTS as usize];
        let mut of_keeper = Vec::new();
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), false);
        for action in actions {
            match action {
                Action::Record { client, count, lane } => {
                    for _ in 0..count {
                        let recorder = &mut recorders[client as usize];
                        if recorder.has_room() {
                            let lanes = &mut lanes[client as usize];
                            let next = lanes.iter().max().unwrap() + 1;
                            let ended = std::mem::replace(&mut lanes[lane], next);
                            recorder.record(sample(client, ended));
                            recorded[client as usize].push(ended);
                        }
                    }
                }
                Action::RecordUnsent { client, count } => {
                    for _ in 0..count {
                        let recorder = &mut recorders[client as usize];
                        if recorder.has_room() {
                            let number = AttemptId::UNSENT + unsent[client as usize];
                            recorder.record(sample(client, number));
                            recorded[client as usize].push(number);
                            unsent[client as usize] += 1;
                        }
                    }
                }
                Action::KeeperRecords { count } => {
                    for number in 0..count {
                        // Out of order, and again and again.
                        let hung = sample(0, (count - number) as u64).with_outcome(Outcome::Hung, FailureCode::NONE);
                        prop_assert!(keeper.record(hung));
                        of_keeper.push(hung);
                    }
                }
                Action::Drain(patience) => {
                    draining.drain(Source::Pending, patience).unwrap();
                }
                Action::Kill { kept } => {
                    write_and_be_killed(&mut draining, &directory, kept);
                    drop(draining);
                    draining = Draining::new(&exchange, &measurers(), &directory, run_id(), true);
                }
            }
        }
        draining.drain(Source::Pending, Patience::None).unwrap();
        draining.finish().unwrap();
        prop_assert_eq!(exchange.samples_consumed(), exchange.samples_recorded());
        let mut stored = all_of(&directory);
        if !of_keeper.is_empty() {
            prop_assert!(stored.pop().unwrap() == of_keeper);
        }
        prop_assert!(stored.len() <= measurers().len(), "a spool per measurer");
        let stored = stored.concat();
        for client in 0..CLIENTS {
            let of_client = stored.iter().filter(|sample| sample.attempt.client() == ClientId(client));
            let sequences: Vec<u64> = of_client.map(|sample| sample.attempt.sequence()).collect();
            prop_assert_eq!(&sequences, &recorded[client as usize], "client {}", client);
        }
    }
}

#[test]
fn a_spool_that_lost_blocks_after_their_samples_were_consumed_is_gone_on_with() {
    let exchange = Exchange::new(CLIENTS, 1 << 20).unwrap();
    let mut recorder = exchange.recorder(2);
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), false);
    for sequence in 0..200 {
        recorder.record(sample(2, sequence));
        if sequence % 100 == 99 {
            draining.drain(Source::Pending, Patience::None).unwrap();
        }
    }
    drop(draining);
    // 100 samples are two pages: the second block goes.
    let path = directory.path().join(SpoolNumber(0).file_name());
    OpenOptions::new().write(true).open(path).unwrap().set_len(8192).unwrap();
    let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), true);
    (200..300).for_each(|sequence| recorder.record(sample(2, sequence)));
    draining.drain(Source::Pending, Patience::None).unwrap();
    draining.finish().unwrap();
    let sequences: Vec<u64> =
        all_of(&directory).concat().iter().map(|sample| sample.attempt.sequence()).collect();
    assert_eq!(sequences, (0..100).chain(200..300).collect::<Vec<_>>());
    assert_eq!(exchange.samples_recorded(), 300, "so that the hundred that are missing can be counted");
}

#[test]
fn few_samples_wait_for_company_and_texts_do_not() {
    let exchange = Exchange::new(CLIENTS, 1 << 20).unwrap();
    let mut recorder = exchange.recorder(0);
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), false);
    recorder.record(sample(0, 0));
    assert_eq!(draining.drain(Source::Pending, Patience::Some).unwrap(), Busy::Idle);
    assert!(spools(&directory).unwrap().is_empty());
    let attempt = AttemptId::new(ClientId(0), 0);
    recorder.record_detail(&Detail { attempt, kind: DetailKind::Message, text: "said".into() });
    draining.drain(Source::Pending, Patience::Some).unwrap();
    assert_eq!(spools(&directory).unwrap(), [SpoolNumber(0)]);
    assert_eq!(draining.drain(Source::Pending, Patience::None).unwrap(), Busy::Some);
    assert_eq!(all_of(&directory).concat(), [sample(0, 0)]);
}

#[test]
fn thousands_of_rings_are_looked_at_when_a_client_calls_and_once_a_second() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let exchange = Exchange::new(1000, 64 << 20).unwrap();
    let mut draining = Draining::new(&exchange, &[(0..1000).collect()], &directory, run_id(), false);
    let mut recorder = exchange.recorder(7);
    let mut record = |sequences: std::ops::Range<u64>| {
        for sequence in sequences {
            assert!(recorder.has_room());
            recorder.record(sample(7, sequence));
        }
    };
    assert_eq!(draining.drain(Source::Pending, Patience::Some).unwrap(), Busy::Idle);
    // A quarter of 1398 is 350.
    record(0..300);
    let looked_at = draining.drains[0].looked_at;
    draining.drain(Source::Pending, Patience::Some).unwrap();
    if looked_at.unwrap().elapsed() < WAIT_FOR_COMPANY {
        assert_eq!(
            (draining.drains[0].looked_at, exchange.samples_consumed()),
            (looked_at, 0),
            "nobody has called"
        );
    }
    record(300..400);
    assert_eq!(draining.drain(Source::Pending, Patience::Some).unwrap(), Busy::Full);
    assert_eq!(exchange.samples_consumed(), 400);
    record(400..410);
    draining.drains[0].looked_at = Instant::now().checked_sub(WAIT_FOR_COMPANY);
    draining.drains[0].written_at = Instant::now().checked_sub(WAIT_FOR_COMPANY).unwrap();
    assert_eq!(draining.drain(Source::Pending, Patience::Some).unwrap(), Busy::Some);
    record(410..411);
    assert_eq!(
        draining.drain(Source::Pending, Patience::None).unwrap(),
        Busy::Some,
        "the end waits for nobody"
    );
}
