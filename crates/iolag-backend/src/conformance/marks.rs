//! A rule about the parts of requests: a sample is made of each, and figures draw it within its request.

use iolag_model::{Clock, MonotonicClock, MonotonicTime, Operation};

use super::conversation::{Conversation, Form, Subject, options, request};
use crate::{MARKS_MAX, Mark};

/// What parts there are.
const PARTS: [Operation; 4] =
    [Operation::CallResolve, Operation::CallConnect, Operation::CallTls, Operation::CallFirstByte];

/// The parts are those of the opening, and then of the last request and no other, whether it succeeded or not; by the clock of the system.
pub(super) fn a_mark_lies_within_its_request(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    drop(Conversation::with_dataset(backend.as_ref(), form));
    let begin = MonotonicClock.now();
    let mut session = Conversation::open(backend.as_ref(), form, &options());
    lie_within(session.marks(), [begin, MonotonicClock.now()], Operation::OpenSession);
    for operation in [Operation::Create, Operation::Read, Operation::Stat, Operation::Delete, Operation::Read]
    {
        let (_, times) = session.ask_timed(request(operation, 0, 3901));
        lie_within(session.marks(), times, operation);
    }
}

/// Every mark is a part, begins and ends within these times, and not before the one before it.
pub(super) fn lie_within(marks: &[Mark], [begin, end]: [MonotonicTime; 2], whole: Operation) {
    assert!(marks.len() <= MARKS_MAX, "{whole} has {} marks: at most {MARKS_MAX} are recorded", marks.len());
    let mut earliest = begin;
    for mark in marks {
        let part = mark.operation;
        assert!(PARTS.contains(&part), "{part} is no part of a request: {whole} has {mark:?}");
        assert!(
            mark.start >= earliest,
            "a part begins after {whole} and the parts before it have begun, at {earliest:?}, not as {mark:?}"
        );
        assert!(
            mark.start.after(mark.duration) <= end,
            "a part has ended when {whole} has, at {end:?}, not as {mark:?}"
        );
        earliest = mark.start;
    }
}
