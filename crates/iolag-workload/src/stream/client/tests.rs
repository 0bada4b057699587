//! What a client of a stream asks, in which order, and what it does about failures.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use iolag_backend::Completion;
use iolag_model::{FailureCode, StreamFsync, Waiting};

use super::*;
use crate::Workload;

const BLOCK: u64 = 1000;
const COPIES: Copies = Copies { place: CopyPlace::Beside, longest: Nanoseconds(5000) };

fn spec(phases: &[Phase]) -> StreamSpec {
    StreamSpec { phases: phases.to_vec(), block_bytes: BLOCK, ..StreamSpec::of_file(3500) }
}

/// 7 ns more at each look.
#[derive(Default)]
struct Ticking(AtomicU64);

impl ProcessorClocks for Ticking {
    fn of_thread(&self) -> Nanoseconds {
        Nanoseconds(self.0.fetch_add(7, Ordering::Relaxed))
    }

    fn of_others(&self) -> Nanoseconds {
        Nanoseconds::ZERO
    }
}

/// What was done until the client had finished: every step but meetings, as in `stream.write@2000+500`; what came of each request
/// `answer` says, when so many are in flight.
fn walk(
    spec: &StreamSpec,
    depth: usize,
    mut answer: impl FnMut(&Request) -> Completion,
) -> (Vec<String>, Vec<StreamFault>) {
    let ledger = StreamLedger::default();
    let stages: Arc<[StageRecord]> = spec.stages().into();
    let processors = ProcessorTimes::new(stages.len(), Ticking::default());
    let mut client = StreamClient::new(spec, (2, 1), COPIES, stages, ledger.clone(), processors);
    let (mut told, mut flying, mut have_met) = (Vec::new(), VecDeque::new(), false);
    let mut now = MonotonicTime(1_000_000);
    for _ in 0..100_000 {
        let step = client.next(now);
        let most = if matches!(step, Step::Execute { .. }) { depth - 1 } else { 0 };
        let mut ended = Vec::new();
        while flying.len() > most {
            let request: Request = flying.pop_front().unwrap();
            let start = now;
            now = now.after(Nanoseconds(10));
            let done = Done { completion: answer(&request), start, end: now };
            client.completed(&request, &done);
            ended.push(request);
        }
        match step {
            Step::Execute { request, .. } => {
                if std::mem::take(&mut have_met) {
                    client.starts();
                }
                let file = ObjectKey { rank: 2, dataset: 0, index: 0 };
                let whose = if request.key == file { "" } else { "copy: " };
                let copy = ObjectKey { index: 1, ..file };
                assert!((request.key, request.other) == (copy, file) || request.key == file);
                told.push(match request.operation.moves_blocks() {
                    true => format!("{}@{}+{}", request.operation, request.offset, request.bytes),
                    false => format!("{whose}{}", request.operation),
                });
                flying.push_back(request);
                if depth == 1 {
                    let request = flying.pop_front().unwrap();
                    let start = now;
                    now = now.after(Nanoseconds(10));
                    client.completed(&request, &Done { completion: answer(&request), start, end: now });
                }
            }
            Step::Begin { stage, .. } => {
                told.push(format!("[{}]", spec.stages()[usize::from(stage.0)].phase));
                client.met(&Meeting { values: [].into(), begin: now, waiting: Waiting::Actively }, now);
                have_met = true;
            }
            Step::Note(note) => {
                assert_eq!(note.sample.operation(), Operation::ProcessorTime);
                assert_eq!(note.sample.duration, Nanoseconds(7));
            }
            Step::Pause { until } => assert!(until <= now),
            Step::End => {}
            Step::Finished => return (told, ledger.faults()),
            other => panic!("{other:?}"),
        }
    }
    panic!("it does not come to an end")
}

fn fine(request: &Request) -> Completion {
    Completion::ok(request.bytes)
}

#[test]
fn a_file_is_written_made_durable_and_read_in_blocks_of_which_the_last_is_shorter() {
    let (told, faults) = walk(&spec(&[Phase::Write, Phase::Read]), 1, fine);
    let expected = [
        "[precreate]",
        "mkdir",
        "[write]",
        "stream.create",
        "stream.write@0+1000",
        "stream.write@1000+1000",
        "stream.write@2000+1000",
        "stream.write@3000+500",
        "stream.fsync",
        "stream.close-written",
        "[read]",
        "stream.open",
        "stream.read@0+1000",
        "stream.read@1000+1000",
        "stream.read@2000+1000",
        "stream.read@3000+500",
        "stream.close",
        "[cleanup]",
        "delete",
        "rmdir",
    ];
    assert_eq!(told, expected);
    assert!(faults.is_empty());
    let spec = spec(&[Phase::Write, Phase::Read]);
    assert!(spec.samples_per_client().unwrap() >= expected.len() as u64 + 4);
    let asked: Vec<&str> = expected.iter().filter(|told| !told.starts_with('[')).copied().collect();
    let needed: Vec<&str> = spec.operations_needed().iter().map(|operation| operation.name()).collect();
    assert!(asked.iter().all(|told| needed.contains(&told.split('@').next().unwrap())), "{needed:?}");
}

#[test]
fn what_is_read_first_is_made_before_and_what_is_written_over_is_not_made_anew() {
    let phases = [Phase::RandomRead, Phase::Rewrite, Phase::RandomWrite];
    let (told, _) = walk(&StreamSpec { fsync: StreamFsync::Never, ..spec(&phases) }, 1, fine);
    let blocks = |name: &str| {
        let mut blocks: Vec<&String> =
            told.iter().filter(|told| told.starts_with(&format!("{name}@"))).collect();
        blocks.sort();
        blocks.iter().map(|block| block.split('@').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["0+1000", "1000+1000", "2000+1000", "3000+500"];
    assert_eq!(
        blocks("stream.write"),
        ["0+3500"],
        "a file that is only there to be read is made in large blocks"
    );
    for name in ["stream.random-read", "stream.rewrite", "stream.random-write"] {
        assert_eq!(blocks(name), all, "{name}");
    }
    assert_eq!(told[2], "stream.create");
    assert_eq!(told.iter().filter(|told| *told == "stream.reopen").count(), 2);
    assert!(!told.contains(&"stream.fsync".to_owned()));
}

#[test]
fn of_a_file_that_could_not_be_made_whole_what_is_there_is_read_in_its_own_blocks() {
    let full = |request: &Request| match (request.operation, request.offset) {
        (Operation::StreamWrite, 1..) => Completion::failed(FailureCode::from_errno(28)),
        _ => fine(request),
    };
    let (told, _) = walk(&StreamSpec { file_bytes: 600_500, ..spec(&[Phase::Read]) }, 1, full);
    let moved = |name: &str| told.iter().filter(|told| told.starts_with(name)).cloned().collect::<Vec<_>>();
    assert_eq!(moved("stream.write"), ["stream.write@0+263000", "stream.write@263000+263000"]);
    let read = moved("stream.read");
    assert_eq!((read.len(), read[262].as_str()), (263, "stream.read@262000+1000"));
}

#[test]
fn blocks_in_flight_are_waited_for_before_anything_that_needs_them_done() {
    for depth in [1, 2, 4, 9] {
        let spec = StreamSpec { fsync: StreamFsync::Every(2), ..spec(&[Phase::Write]) };
        let (told, _) = walk(&spec, depth, fine);
        let write = told.iter().position(|told| told == "[write]").unwrap();
        let expected = [
            "stream.create",
            "stream.write@0+1000",
            "stream.write@1000+1000",
            "stream.fsync",
            "stream.write@2000+1000",
            "stream.write@3000+500",
            "stream.fsync",
            "stream.close-written",
            "[cleanup]",
        ];
        assert_eq!(told[write + 1..][..expected.len()], expected, "{depth}");
    }
}

#[test]
fn a_full_disk_breaks_off_the_stage_and_what_was_written_is_read() {
    for depth in [1, 3] {
        let full = |request: &Request| match (request.operation, request.offset) {
            (Operation::StreamWrite, 2000..) => Completion::failed(FailureCode::from_errno(28)),
            _ => fine(request),
        };
        let (told, faults) = walk(&spec(&[Phase::Write, Phase::Read]), depth, full);
        assert!(told.contains(&"stream.close-written".to_owned()));
        assert!(!told.contains(&"stream.fsync".to_owned()));
        let read: Vec<&String> = told.iter().filter(|told| told.starts_with("stream.read@")).collect();
        assert_eq!(read, ["stream.read@0+1000", "stream.read@1000+1000"]);
        let [fault] = &faults[..] else { panic!("{faults:?}") };
        assert_eq!((fault.rank, fault.stage.0, fault.operation), (2, 1, Operation::StreamWrite));
        assert_eq!((fault.bytes, fault.code), (2000, FailureCode::from_errno(28)));
    }
}

#[test]
fn what_cannot_be_made_is_not_written_to_by_those_behind_it() {
    for depth in [2, 9] {
        let refused = |request: &Request| match request.operation {
            Operation::StreamCreate => Completion::failed(FailureCode::from_errno(13)),
            _ => fine(request),
        };
        let (told, faults) = walk(&spec(&[Phase::Write]), depth, refused);
        assert_eq!(told, ["[precreate]", "mkdir", "[write]", "stream.create", "[cleanup]", "rmdir"]);
        assert_eq!(faults.len(), 1);
    }
}

#[test]
fn what_cannot_be_made_is_neither_closed_nor_read_nor_removed() {
    let refused = |request: &Request| match request.operation {
        Operation::StreamCreate => Completion::failed(FailureCode::from_errno(13)),
        _ => fine(request),
    };
    let (told, faults) = walk(&spec(&[Phase::Write, Phase::Read]), 1, refused);
    assert_eq!(told, ["[precreate]", "mkdir", "[write]", "stream.create", "[read]", "[cleanup]", "rmdir"]);
    assert_eq!(faults.len(), 1);
}

#[test]
fn room_that_cannot_be_taken_at_once_is_taken_as_it_is_written() {
    let refused = |request: &Request| match request.operation {
        Operation::StreamAllocate => Completion::failed(FailureCode::from_errno(95)),
        _ => fine(request),
    };
    let spec = StreamSpec { allocation: Allocation::Before, ..spec(&[Phase::Write, Phase::Rewrite]) };
    let (told, faults) = walk(&spec, 1, refused);
    assert_eq!(told.iter().filter(|told| *told == "stream.allocate").count(), 1);
    assert_eq!(told.iter().filter(|told| told.starts_with("stream.write@")).count(), 4);
    assert!(faults.is_empty());
}

#[test]
fn a_phase_ends_when_its_time_is_up_and_what_was_written_until_then_is_made_durable_and_read() {
    // Opening takes 10 ns, and each block.
    let spec = StreamSpec { time_limit_ns: Some(Nanoseconds(25)), ..spec(&[Phase::Write, Phase::Read]) };
    let (told, faults) = walk(&spec, 1, fine);
    let count = |name: &str| told.iter().filter(|told| told.starts_with(name)).count();
    assert_eq!((count("stream.write@"), count("stream.fsync"), count("stream.read@")), (2, 1, 2));
    assert!(faults.is_empty());
    let never = StreamSpec { fsync: StreamFsync::Never, ..spec };
    assert!(!walk(&never, 1, fine).0.contains(&"stream.fsync".to_owned()));
}

#[test]
fn a_file_is_copied_with_the_copy_made_durable_and_closed_in_the_phase_and_looked_at_after_all() {
    let phases = [Phase::Write, Phase::Copy];
    let copying =
        StreamSpec { verification: Verification::Content, copy_with: Some(CopyWith::Loop), ..spec(&phases) };
    let (told, faults) = walk(&copying, 1, fine);
    let copy = told.iter().position(|told| told == "[copy]").unwrap();
    let expected = [
        "stream.open",
        "copy: stream.create",
        "stream.copy@0+1000",
        "stream.copy@1000+1000",
        "stream.copy@2000+1000",
        "stream.copy@3000+500",
        "copy: stream.fsync",
        "copy: stream.close-written",
        "stream.close",
        "[cleanup]",
        "copy: copy.shared",
        "copy: stream.compare",
        "copy: delete",
        "delete",
        "rmdir",
    ];
    assert_eq!(told[copy + 1..], expected);
    assert!(faults.is_empty());
    assert!(copying.samples_per_client().unwrap() >= told.len() as u64 + 4);
    // A program is asked once, for all that there is, and until when.
    let cp =
        StreamSpec { copy_with: Some(CopyWith::Cp), time_limit_ns: Some(Nanoseconds(25)), ..spec(&phases) };
    let (told, _) = walk(&cp, 1, fine);
    let asked: Vec<&String> = told.iter().filter(|told| told.starts_with("stream.cp@")).collect();
    let [asked] = asked[..] else { panic!("{told:?}") };
    assert!(asked.ends_with("+2000") && !asked.contains("@0+"), "two blocks were written in time: {asked}");
    assert!(!told.contains(&"copy: stream.compare".to_owned()));
}

#[test]
fn a_copy_that_cannot_be_made_or_goes_no_further_leaves_nothing_open() {
    let copying = StreamSpec { copy_with: Some(CopyWith::Loop), ..spec(&[Phase::Copy]) };
    let refused = |request: &Request| match (request.operation, request.key.index) {
        (Operation::StreamCreate, 1) => Completion::failed(FailureCode::from_errno(28)),
        _ => fine(request),
    };
    let (told, faults) = walk(&copying, 1, refused);
    let copy = told.iter().position(|told| told == "[copy]").unwrap();
    let expected = ["stream.open", "copy: stream.create", "stream.close", "[cleanup]", "delete", "rmdir"];
    assert_eq!(told[copy + 1..], expected);
    assert_eq!(faults.len(), 1);
    let full = |request: &Request| match (request.operation, request.offset) {
        (Operation::StreamCopy, 2000) => Completion::partly(300, FailureCode::from_errno(28)),
        (Operation::CopyShared, _) => Completion::failed(FailureCode::from_errno(95)),
        _ => fine(request),
    };
    let (told, faults) = walk(&copying, 1, full);
    let copy = told.iter().position(|told| told == "stream.copy@2000+1000").unwrap();
    let expected = ["copy: stream.close-written", "stream.close", "[cleanup]", "copy: copy.shared"];
    assert_eq!(told[copy + 1..][..expected.len()], expected);
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert_eq!((fault.operation, fault.bytes), (Operation::StreamCopy, 2300));
}
