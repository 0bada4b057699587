//! Rules about what only sessions with lanes can do: have several requests in flight.

use std::collections::BTreeMap;

use iolag_model::{ErrorClass, MonotonicTime, Operation, Random, Verification};

use super::conversation::{Form, Subject, declares, object, options};
use crate::{Backend, Completion, LaneSession, ObjectKey, Request, SessionOptions};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 40;
/// The last block is shorter.
const FILE: u64 = BLOCK * BLOCKS - 1000;
/// What a session with lanes is for.
const NEEDED: &[Operation] = &[
    Operation::MakeDirectory,
    Operation::StreamCreate,
    Operation::StreamWrite,
    Operation::StreamRandomWrite,
    Operation::StreamFsync,
    Operation::StreamCloseWritten,
    Operation::StreamOpen,
    Operation::StreamRead,
    Operation::StreamRandomRead,
    Operation::StreamClose,
];
const FOR_EVER: MonotonicTime = MonotonicTime(u64::MAX);

pub(super) fn run(subject: &Subject<'_>) {
    if !subject.forms().contains(&Form::Lanes) || !declares(subject.backend().as_ref(), NEEDED) {
        return;
    }
    for lanes in [1, 4, 16] {
        each_block_comes_back_in_its_lane_and_as_it_was_written(subject, lanes);
        nothing_ends_that_was_not_asked_for(subject, lanes);
        what_fails_in_one_lane_fails_there_only(subject, lanes);
    }
}

/// A session by as many requests in flight as it has lanes.
struct Queue {
    session: Box<dyn LaneSession>,
    in_flight: Vec<Option<Request>>,
}

impl Queue {
    fn open(backend: &dyn Backend, lanes: u32) -> Self {
        let options = SessionOptions { verification: Verification::Content, bytes_max: BLOCK, ..options() };
        let opened =
            backend.open_lanes(&options, lanes).expect("a backend that declares a queue has it always");
        let session = opened.expect("a session with lanes opens in a place that was made");
        Self { session, in_flight: vec![None; lanes as usize] }
    }

    /// Asks for all of these, as many at once as there are lanes; what became of each.
    fn ask_all(&mut self, requests: impl IntoIterator<Item = Request>) -> Vec<(Request, Completion)> {
        let mut done = Vec::new();
        for request in requests {
            let lane = match self.in_flight.iter().position(Option::is_none) {
                Some(lane) => lane,
                None => self.end_one(&mut done),
            };
            self.session.prepare(lane as u32, &request);
            self.session.submit(lane as u32, &request);
            self.in_flight[lane] = Some(request);
        }
        while self.in_flight.iter().any(Option::is_some) {
            self.end_one(&mut done);
        }
        done
    }

    fn end_one(&mut self, done: &mut Vec<(Request, Completion)>) -> usize {
        let (lane, completion) = self.session.await_any(FOR_EVER).expect("what is in flight ends");
        let request = self.in_flight[lane as usize].take().expect("only what was asked for ends, and once");
        done.push((request, self.session.inspect(lane, &request, completion)));
        lane as usize
    }

    fn must(&mut self, request: Request) {
        for (request, completion) in self.ask_all([request]) {
            assert!(completion.is_ok(), "{request:?} must succeed, the answer was {}", completion.code);
        }
    }
}

fn ask(operation: Operation) -> Request {
    Request::new(operation, object(0), 0)
}

fn block(operation: Operation, number: u64) -> Request {
    let offset = number * BLOCK;
    Request { offset, ..Request::new(operation, object(0), BLOCK.min(FILE.saturating_sub(offset)).max(1)) }
}

fn shuffled(seed: u64) -> Vec<u64> {
    let mut random = Random::of_stream(seed, 0);
    let mut numbers: Vec<(u64, u64)> = (0..BLOCKS).map(|number| (random.bits(), number)).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|(_, number)| number).collect()
}

fn each_block_comes_back_in_its_lane_and_as_it_was_written(subject: &Subject<'_>, lanes: u32) {
    let backend = subject.backend();
    let mut queue = Queue::open(backend.as_ref(), lanes);
    queue.must(ask(Operation::MakeDirectory));
    queue.must(ask(Operation::StreamCreate));
    for (operation, seed) in [(Operation::StreamWrite, 1), (Operation::StreamRandomWrite, 2)] {
        all_are_done(&queue.ask_all(shuffled(seed).into_iter().map(|number| block(operation, number))));
        queue.must(ask(Operation::StreamFsync));
    }
    queue.must(ask(Operation::StreamCloseWritten));
    queue.must(ask(Operation::StreamOpen));
    for (operation, seed) in [(Operation::StreamRead, 3), (Operation::StreamRandomRead, 4)] {
        all_are_done(&queue.ask_all(shuffled(seed).into_iter().map(|number| block(operation, number))));
    }
    // Beyond the end there is nothing, and of what goes beyond it the part before.
    let whole = Request { bytes: BLOCK, ..block(Operation::StreamRandomRead, BLOCKS - 1) };
    let beyond = block(Operation::StreamRandomRead, BLOCKS + 3);
    for (request, completion) in queue.ask_all([whole, beyond]) {
        let expected = FILE.saturating_sub(request.offset);
        assert_eq!((completion.code.class(), completion.bytes), (ErrorClass::Short, expected), "{request:?}");
    }
    queue.must(ask(Operation::StreamClose));
}

fn all_are_done(done: &[(Request, Completion)]) {
    let mut bytes = BTreeMap::new();
    for (request, completion) in done {
        assert!(completion.is_ok(), "{request:?} must succeed, the answer was {}", completion.code);
        assert_eq!(completion.bytes, request.bytes, "{request:?}");
        bytes.insert(request.offset, completion.bytes);
    }
    let expected: BTreeMap<u64, u64> =
        (0..BLOCKS).map(|number| (number * BLOCK, block(Operation::StreamRead, number).bytes)).collect();
    assert_eq!(bytes, expected, "each block ends once");
}

fn nothing_ends_that_was_not_asked_for(subject: &Subject<'_>, lanes: u32) {
    let backend = subject.backend();
    let mut queue = Queue::open(backend.as_ref(), lanes);
    assert_eq!(queue.session.await_any(MonotonicTime(0)), None);
    queue.must(ask(Operation::MakeDirectory));
    assert_eq!(queue.session.await_any(MonotonicTime(0)), None);
}

fn what_fails_in_one_lane_fails_there_only(subject: &Subject<'_>, lanes: u32) {
    let backend = subject.backend();
    let mut queue = Queue::open(backend.as_ref(), lanes);
    queue.must(ask(Operation::MakeDirectory));
    let create = |index, dataset| Request::new(Operation::Create, ObjectKey { dataset, ..object(index) }, 10);
    for (request, completion) in queue.ask_all((0..20).map(|index| create(index, (index % 2) as u32))) {
        let expected = if request.key.dataset == 1 { ErrorClass::NotFound } else { ErrorClass::None };
        assert_eq!(completion.code.class(), expected, "{request:?}");
    }
}
