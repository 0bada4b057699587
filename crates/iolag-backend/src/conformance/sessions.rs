//! Rules about operations.

use iolag_model::{ErrorClass, Operation, Verification};

use super::conversation::{BYTES_MAX, Conversation, Form, Subject, declares, object, options, request};
use super::maker::maker;
use crate::{Completion, Datasets, ObjectKey, Request, SessionOptions};

const SIZES: [u64; 4] = [0, 1, 3901, BYTES_MAX];

pub(super) fn run(subject: &Subject<'_>, form: Form) {
    objects_come_and_go(subject, form);
    a_missing_object_is_not_found(subject, form);
    creating_over_an_object_replaces_it(subject, form);
    a_renamed_object_has_its_new_name_only(subject, form);
    a_listing_counts_the_objects(subject, form);
    a_changed_object_is_noticed(subject, form);
    a_short_object_is_noticed(subject, form);
    a_read_to_the_end_returns_the_object_however_long_it_is(subject, form);
    sessions_see_each_others_objects(subject, form);
    calls_do_what_operations_on_objects_do(subject, form);
    a_call_on_nothing_open_fails(subject, form);
    a_stream_is_read_as_it_was_written(subject, form);
    a_stream_that_is_opened_is_written_over_and_read_in_any_order(subject, form);
    a_stream_that_is_open_is_copied_block_by_block(subject, form);
    capabilities_are_honest(subject, form);
}

fn objects_come_and_go(subject: &Subject<'_>, form: Form) {
    for verification in [Verification::Length, Verification::Content] {
        let backend = subject.backend();
        drop(Conversation::with_dataset(backend.as_ref(), form));
        let options = SessionOptions { verification, bytes_max: BYTES_MAX, ..options() };
        let mut session = Conversation::open(backend.as_ref(), form, &options);
        for (index, bytes) in SIZES.into_iter().enumerate() {
            let index = index as u64;
            assert_eq!(session.must(request(Operation::Create, index, bytes)), bytes);
            session.must(request(Operation::Stat, index, bytes));
            assert_eq!(session.must(request(Operation::Read, index, bytes)), bytes);
            if declares(backend.as_ref(), &[Operation::Write, Operation::WriteDurably]) {
                assert_eq!(session.must(request(Operation::Write, index, bytes)), bytes);
                assert_eq!(session.must(request(Operation::WriteDurably, index, bytes)), bytes);
                assert_eq!(session.must(request(Operation::Read, index, bytes)), bytes);
            }
            session.must(request(Operation::Delete, index, 0));
            session.must_fail(request(Operation::Stat, index, bytes), ErrorClass::NotFound);
        }
    }
}

fn a_missing_object_is_not_found(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    let elsewhere = ObjectKey { rank: 9, dataset: 9, index: 9 };
    for operation in [
        Operation::Stat,
        Operation::Read,
        Operation::Write,
        Operation::Rename,
        Operation::CallStat,
        Operation::CallOpen,
    ] {
        if declares(backend.as_ref(), &[operation]) {
            session.must_fail(request(operation, 5, 1), ErrorClass::NotFound);
            session.must_fail(Request::new(operation, elsewhere, 1), ErrorClass::NotFound);
        }
    }
}

fn creating_over_an_object_replaces_it(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    session.must(request(Operation::Create, 0, 3901));
    session.must(request(Operation::Create, 0, 17));
    session.must(request(Operation::Stat, 0, 17));
    session.must_fail(request(Operation::Stat, 0, 3901), ErrorClass::Mismatch);
    assert_eq!(session.must(request(Operation::Read, 0, 17)), 17);
}

fn a_renamed_object_has_its_new_name_only(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    if !declares(backend.as_ref(), &[Operation::Rename]) {
        return;
    }
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    let elsewhere = ObjectKey { rank: 3, dataset: 1, index: 4 };
    session.make_dataset(backend.as_ref(), elsewhere);
    session.must(request(Operation::Create, 0, 100));
    session.must(request(Operation::Create, 1, 50));
    session.must(Request { other: object(1), ..request(Operation::Rename, 0, 0) });
    session.must_fail(request(Operation::Stat, 0, 100), ErrorClass::NotFound);
    session.must(request(Operation::Stat, 1, 100));
    session.must(Request { other: elsewhere, ..request(Operation::Rename, 1, 0) });
    session.must(Request::new(Operation::Stat, elsewhere, 100));
    session.must_fail(request(Operation::Stat, 1, 100), ErrorClass::NotFound);
}

fn a_listing_counts_the_objects(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    if !declares(backend.as_ref(), &[Operation::List]) {
        return;
    }
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    assert_eq!(session.must(request(Operation::List, 0, 0)), 0);
    for index in 0..1500 {
        session.must(request(Operation::Create, index, 0));
    }
    assert_eq!(session.must(request(Operation::List, 0, 0)), 1500);
}

fn a_changed_object_is_noticed(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    session.must(request(Operation::Create, 0, 3901));
    let other_seed = SessionOptions { seed: 8, ..options() };
    let mut other = Conversation::open(backend.as_ref(), form, &other_seed);
    other.must_fail(request(Operation::Read, 0, 3901), ErrorClass::Mismatch);
    other.must(request(Operation::Create, 0, 3901));
    session.must_fail(request(Operation::Read, 0, 3901), ErrorClass::Mismatch);
    let unverified = SessionOptions { verification: Verification::Length, ..options() };
    let mut unverified = Conversation::open(backend.as_ref(), form, &unverified);
    assert_eq!(unverified.must(request(Operation::Read, 0, 3901)), 3901);
}

fn a_short_object_is_noticed(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    session.must(request(Operation::Create, 0, 100));
    let completion = session.ask(request(Operation::Read, 0, 101));
    assert_eq!((completion.code.class(), completion.bytes), (ErrorClass::Short, 100));
}

fn a_read_to_the_end_returns_the_object_however_long_it_is(subject: &Subject<'_>, form: Form) {
    for verification in [Verification::Length, Verification::Content] {
        let backend = subject.backend();
        drop(Conversation::with_dataset(backend.as_ref(), form));
        // Its buffers are shorter than the longest object.
        let options = SessionOptions { verification, ..options() };
        let mut session = Conversation::open(backend.as_ref(), form, &options);
        for (index, bytes) in (0..).zip(SIZES) {
            session.must(request(Operation::Create, index, bytes));
            assert_eq!(session.must(request(Operation::Read, index, Request::TO_THE_END)), bytes);
        }
        session.must_fail(request(Operation::Read, 9, Request::TO_THE_END), ErrorClass::NotFound);
    }
}

fn sessions_see_each_others_objects(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let mut first = Conversation::with_dataset(backend.as_ref(), form);
    let options = SessionOptions { client: iolag_model::ClientId(1), rank: 1, ..options() };
    let mut second = Conversation::open(backend.as_ref(), form, &options);
    first.must(request(Operation::Create, 0, 3901));
    assert_eq!(second.must(request(Operation::Read, 0, 3901)), 3901);
    second.must(request(Operation::Delete, 0, 0));
    first.must_fail(request(Operation::Stat, 0, 3901), ErrorClass::NotFound);
}

fn calls_do_what_operations_on_objects_do(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let is_call_on_files =
        |operation: &Operation| *operation >= Operation::CallStat && *operation <= Operation::CallRmdir;
    let calls: Vec<Operation> = Operation::ALL.iter().copied().filter(is_call_on_files).collect();
    if !declares(backend.as_ref(), &calls) {
        return;
    }
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    for bytes in SIZES {
        session.must(request(Operation::CallCreate, 0, bytes));
        assert_eq!(session.must(request(Operation::CallWrite, 0, bytes)), bytes);
        session.must(request(Operation::CallFsync, 0, 0));
        session.must(request(Operation::CallCloseWritten, 0, 0));
        session.must(request(Operation::CallStat, 0, bytes));
        assert_eq!(session.must(request(Operation::Read, 0, bytes)), bytes);
        session.must(request(Operation::Create, 1, bytes));
        session.must(request(Operation::CallOpen, 1, bytes));
        assert_eq!(session.must(request(Operation::CallRead, 1, bytes)), bytes);
        session.must(request(Operation::CallClose, 1, 0));
        assert_eq!(session.must(request(Operation::CallReaddir, 0, 0)), 2);
        session.must(Request { other: object(0), ..request(Operation::CallRename, 1, 0) });
        session.must_fail(request(Operation::Stat, 1, bytes), ErrorClass::NotFound);
        session.must(request(Operation::CallUnlink, 0, 0));
        session.must_fail(request(Operation::CallStat, 0, bytes), ErrorClass::NotFound);
    }
    session.must(request(Operation::CallRmdir, 0, 0));
    session.must(request(Operation::CallMkdir, 0, 0));
}

fn a_call_on_nothing_open_fails(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    for operation in [
        Operation::CallRead,
        Operation::CallWrite,
        Operation::CallFsync,
        Operation::CallClose,
        Operation::CallCloseWritten,
    ] {
        let completion = session.ask(request(operation, 0, 1));
        assert!(!completion.is_ok(), "{operation} on nothing open must fail");
    }
}

fn a_stream_is_read_as_it_was_written(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    if !declares(backend.as_ref(), &[Operation::StreamWrite, Operation::StreamFsync, Operation::StreamRead]) {
        return;
    }
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    let block = |operation, number: u64| Request { offset: number * 1000, ..request(operation, 3, 1000) };
    // The second stream is shorter: it must begin empty.
    for blocks in [3, 2] {
        for number in 0..blocks {
            assert_eq!(session.must(block(Operation::StreamWrite, number)), 1000);
        }
        session.must(request(Operation::StreamFsync, 3, 0));
        for number in 0..blocks {
            assert_eq!(session.must(block(Operation::StreamRead, number)), 1000);
        }
        session.must_fail(block(Operation::StreamRead, blocks), ErrorClass::Short);
        assert_eq!(session.must(request(Operation::Read, 3, blocks * 1000)), blocks * 1000);
        session.must(request(Operation::Stat, 3, blocks * 1000));
    }
    session.must(request(Operation::Delete, 3, 0));
    session.must_fail(block(Operation::StreamRead, 0), ErrorClass::NotFound);
    session.must_fail(block(Operation::StreamWrite, 1), ErrorClass::NotFound);
}

fn a_stream_that_is_opened_is_written_over_and_read_in_any_order(subject: &Subject<'_>, form: Form) {
    use Operation::{
        Stat, StreamAllocate, StreamClose, StreamCloseWritten, StreamCreate, StreamFsync, StreamOpen,
        StreamRandomRead, StreamRandomWrite, StreamRead, StreamReopen, StreamRewrite, StreamWrite,
    };
    let backend = subject.backend();
    if !declares(
        backend.as_ref(),
        &[StreamCreate, StreamOpen, StreamReopen, StreamAllocate, StreamCloseWritten],
    ) {
        return;
    }
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    let block = |operation, number: u64| Request { offset: number * 1000, ..request(operation, 3, 1000) };
    session.must_fail(request(StreamOpen, 3, 0), ErrorClass::NotFound);
    session.must_fail(request(StreamReopen, 3, 0), ErrorClass::NotFound);
    session.must(request(StreamCreate, 3, 0));
    session.must(request(StreamAllocate, 3, 3000));
    (0..3).for_each(|number| assert_eq!(session.must(block(StreamWrite, number)), 1000));
    session.must(request(StreamFsync, 3, 0));
    session.must(request(StreamCloseWritten, 3, 0));
    session.must(request(Stat, 3, 3000));
    // The first block last: it must leave the others where they are.
    session.must(request(StreamReopen, 3, 0));
    [2, 0].into_iter().for_each(|number| assert_eq!(session.must(block(StreamRandomWrite, number)), 1000));
    assert_eq!(session.must(block(StreamRewrite, 1)), 1000);
    session.must(request(StreamCloseWritten, 3, 0));
    session.must(request(Stat, 3, 3000));
    session.must(request(StreamOpen, 3, 0));
    [1, 0].into_iter().for_each(|number| assert_eq!(session.must(block(StreamRandomRead, number)), 1000));
    assert_eq!(session.must(block(StreamRead, 2)), 1000);
    session.must(request(StreamClose, 3, 0));
    assert!(!session.ask(request(StreamClose, 3, 0)).is_ok(), "nothing is open");
    // Made anew it is empty, also if less of it is taken.
    session.must(request(StreamCreate, 3, 0));
    session.must(block(StreamWrite, 0));
    session.must(request(StreamCloseWritten, 3, 0));
    session.must(request(Stat, 3, 1000));
}

/// Requests about a copy have its key, and name by the other what it is a copy of.
fn a_stream_that_is_open_is_copied_block_by_block(subject: &Subject<'_>, form: Form) {
    use Operation::{
        Read, Stat, StreamClose, StreamCloseWritten, StreamCompare, StreamCopy, StreamCreate, StreamFsync,
        StreamOpen, StreamWrite,
    };
    let backend = subject.backend();
    if !declares(backend.as_ref(), &[StreamCreate, StreamOpen, StreamCopy, StreamCompare]) {
        return;
    }
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    let block = |request: Request, number: u64| Request { offset: number * 1000, ..request };
    let of_copy = |operation, bytes| Request { other: object(3), ..request(operation, 4, bytes) };
    session.must(request(StreamCreate, 3, 0));
    (0..3).for_each(|number| assert_eq!(session.must(block(request(StreamWrite, 3, 1000), number)), 1000));
    session.must(request(StreamCloseWritten, 3, 0));
    // The second time it is made anew, and shorter.
    for blocks in [3, 2] {
        session.must(request(StreamOpen, 3, 0));
        session.must(of_copy(StreamCreate, 0));
        for number in 0..blocks {
            assert_eq!(session.must(block(of_copy(StreamCopy, 1000), number)), 1000);
        }
        session.must(of_copy(StreamFsync, 0));
        session.must(of_copy(StreamCloseWritten, 0));
        session.must(request(StreamClose, 3, 0));
        session.must(request(Stat, 4, blocks * 1000));
        assert_eq!(session.must(of_copy(StreamCompare, blocks * 1000)), blocks * 1000);
        session.must_fail(of_copy(StreamCompare, blocks * 1000 + 1), ErrorClass::Short);
    }
    session.must_fail(request(Read, 4, 2000), ErrorClass::Mismatch);
    session.must(request(StreamOpen, 3, 0));
    assert!(!session.ask(of_copy(StreamCopy, 1000)).is_ok(), "no copy is open");
    session.must(of_copy(StreamCreate, 0));
    session.must_fail(block(of_copy(StreamCopy, 1000), 3), ErrorClass::Short);
    session.must(of_copy(StreamCloseWritten, 0));
    session.must(request(StreamClose, 3, 0));
    // What was written to it since is no copy.
    session.must(request(Operation::Create, 4, 2000));
    session.must_fail(of_copy(StreamCompare, 2000), ErrorClass::Mismatch);
}

/// A declared operation works where its conditions are met; any other completes as not supported, also one of trees, which a session in a
/// working place does not have.
fn capabilities_are_honest(subject: &Subject<'_>, form: Form) {
    let backend = subject.backend();
    for operation in Operation::ALL.iter().copied() {
        let backend =
            if declares(backend.as_ref(), &[operation]) { subject.backend() } else { (subject.make)() };
        if backend.create_place(&maker()).is_err() {
            panic!("a place can be made in a target with nothing in it");
        }
        let mut session = Conversation::open(backend.as_ref(), form, &options());
        if declares(backend.as_ref(), &[operation]) && !operation.is_of_trees() {
            let is_made = backend.capabilities().semantics.datasets == Datasets::Made;
            for condition in conditions(operation) {
                if is_made || *condition != Operation::MakeDirectory {
                    session.must(request(*condition, 0, 10));
                }
            }
            if operation == Operation::StreamCopy {
                session.must(Request { other: object(0), ..request(Operation::StreamCreate, 1, 10) });
                session.must(Request { other: object(0), ..request(operation, 1, 10) });
                continue;
            }
            let is_of_two = matches!(operation, Operation::Rename | Operation::CallRename);
            let other = object(u64::from(is_of_two));
            session.must(Request { other, ..request(operation, 0, 10) });
        } else {
            let Completion { code, .. } = session.ask(request(operation, 0, 10));
            assert_eq!(
                code.class(),
                ErrorClass::NotSupported,
                "{operation} is not declared, the answer was {code}"
            );
        }
    }
}

fn conditions(operation: Operation) -> &'static [Operation] {
    match operation {
        Operation::MakeDirectory | Operation::CallMkdir => &[],
        Operation::Create
        | Operation::List
        | Operation::RemoveDirectory
        | Operation::CallCreate
        | Operation::CallReaddir
        | Operation::CallRmdir
        | Operation::StreamWrite
        | Operation::StreamRewrite
        | Operation::StreamRandomWrite
        | Operation::StreamCreate => &[Operation::MakeDirectory],
        Operation::CallRead | Operation::CallClose => {
            &[Operation::MakeDirectory, Operation::Create, Operation::CallOpen]
        }
        Operation::CallWrite | Operation::CallFsync | Operation::CallCloseWritten => {
            &[Operation::MakeDirectory, Operation::CallCreate]
        }
        Operation::StreamFsync | Operation::StreamRead | Operation::StreamRandomRead => {
            &[Operation::MakeDirectory, Operation::StreamWrite]
        }
        Operation::StreamAllocate | Operation::StreamCloseWritten => {
            &[Operation::MakeDirectory, Operation::StreamCreate]
        }
        Operation::StreamClose | Operation::StreamCopy => {
            &[Operation::MakeDirectory, Operation::Create, Operation::StreamOpen]
        }
        _ => &[Operation::MakeDirectory, Operation::Create],
    }
}
