//! What conformance cannot ask of every queue: pieces, a full disk, a request that hangs, and a system that forbids it.

use iolag_fixtures::{FuseCall, FuseMount, TmpfsMount};
use iolag_model::{ClientId, ErrorClass};
use tempfile::tempdir;

use super::*;
use crate::{Backend, ObjectKey, PosixBackend, WORKING_NAME};

const FOR_EVER: MonotonicTime = MonotonicTime(u64::MAX);

fn backend(target: &std::path::Path) -> PosixBackend {
    let backend = PosixBackend::new(target.to_owned(), WORKING_NAME).unwrap();
    backend.create_place(&crate::conformance::maker()).unwrap();
    backend
}

fn open(backend: &PosixBackend, lanes: u32, bytes_max: u64) -> Option<Box<dyn LaneSession>> {
    if let Some(code) = ring_refusal() {
        iolag_fixtures::skip(&iolag_fixtures::current_test(), &format!("no io_uring: {code}"));
        return None;
    }
    let options = SessionOptions::new(ClientId(0), 0, 1, bytes_max);
    Some(backend.open_lanes(&options, lanes).unwrap().unwrap())
}

fn request(operation: Operation, offset: u64, bytes: u64) -> Request {
    Request { offset, ..Request::new(operation, ObjectKey::default(), bytes) }
}

fn ask(session: &mut dyn LaneSession, request: Request) -> Completion {
    session.prepare(0, &request);
    session.submit(0, &request);
    session.await_any(FOR_EVER).unwrap().1
}

fn must(session: &mut dyn LaneSession, operation: Operation) {
    assert!(ask(session, request(operation, 0, 0)).is_ok(), "{operation}");
}

#[test]
fn a_block_longer_than_the_buffer_is_moved_in_pieces() {
    let target = tempdir().unwrap();
    let backend = backend(target.path());
    let Some(mut session) = open(&backend, 2, 4096) else { return };
    let session = session.as_mut();
    must(session, Operation::MakeDirectory);
    must(session, Operation::StreamCreate);
    assert_eq!(ask(session, request(Operation::StreamWrite, 0, 10_000)), Completion::ok(10_000));
    must(session, Operation::StreamCloseWritten);
    must(session, Operation::StreamOpen);
    assert_eq!(ask(session, request(Operation::StreamRead, 0, 10_000)), Completion::ok(10_000));
    let short = ask(session, request(Operation::StreamRead, 5000, 10_000));
    assert_eq!((short.bytes, short.code), (5000, FailureCode::SHORT));
    assert_eq!(ask(session, request(Operation::StreamRead, 0, 0)), Completion::ok(0), "asks for nothing");
}

#[test]
fn a_block_of_a_file_that_is_not_open_fails() {
    let target = tempdir().unwrap();
    let backend = backend(target.path());
    let Some(mut session) = open(&backend, 1, 4096) else { return };
    let read = ask(session.as_mut(), request(Operation::StreamRead, 0, 4096));
    assert_eq!(read.code.class(), ErrorClass::NotFound);
    let fsync = ask(session.as_mut(), request(Operation::StreamFsync, 0, 0));
    assert_eq!(fsync.code.class(), ErrorClass::NotFound);
}

#[test]
fn a_full_disk_fails_the_blocks_that_it_does_not_take() {
    let Some(small) = TmpfsMount::new(1 << 20) else { return };
    let backend = backend(small.path());
    let Some(mut session) = open(&backend, 4, 64 << 10) else { return };
    let session = session.as_mut();
    must(session, Operation::MakeDirectory);
    must(session, Operation::StreamCreate);
    let mut done = Vec::new();
    for number in 0..40_u64 {
        let lane = (number % 4) as u32;
        if number >= 4 {
            done.push(session.await_any(FOR_EVER).unwrap());
        }
        // Ends may come in another order; whichever lane is free takes the next.
        let lane = done.last().map_or(lane, |(lane, _)| *lane);
        let block = request(Operation::StreamWrite, number * (64 << 10), 64 << 10);
        session.prepare(lane, &block);
        session.submit(lane, &block);
    }
    done.extend((0..4).map(|_| session.await_any(FOR_EVER).unwrap()));
    let (taken, refused): (Vec<_>, Vec<_>) = done.into_iter().partition(|(_, end)| end.is_ok());
    assert!(taken.len() > 8 && refused.len() > 8, "{} {}", taken.len(), refused.len());
    assert!(refused.iter().all(|(_, end)| end.code.class() == ErrorClass::NoSpace && end.bytes < 64 << 10));
    must(session, Operation::StreamCloseWritten);
}

#[test]
fn a_request_that_hangs_holds_up_no_other_is_waited_for_as_long_as_was_said_and_outlives_its_session() {
    let backing = tempdir().unwrap();
    let Some(fuse) = FuseMount::start(backing.path()) else { return };
    let backend = backend(fuse.path());
    let Some(mut session) = open(&backend, 2, 4096) else { return };
    must(session.as_mut(), Operation::MakeDirectory);
    must(session.as_mut(), Operation::StreamCreate);
    assert!(ask(session.as_mut(), request(Operation::StreamWrite, 0, 4096)).is_ok());
    must(session.as_mut(), Operation::StreamCloseWritten);
    must(session.as_mut(), Operation::StreamOpen);
    fuse.hang(FuseCall::Read, "*");
    let read = request(Operation::StreamRead, 0, 4096);
    session.prepare(1, &read);
    session.submit(1, &read);
    let soon = || MonotonicClock.now().after(Nanoseconds::from_milliseconds(20));
    assert_eq!(session.await_any(soon()), None);
    must(session.as_mut(), Operation::Stat);
    assert_eq!(session.await_any(soon()), None);
    fuse.answer(FuseCall::Read, "*");
    // Its buffer stays the kernel's.
    drop(session);
    fuse.release();
}

#[test]
fn a_system_that_forbids_it_is_known_and_says_so() {
    let target = tempdir().unwrap();
    let backend = backend(target.path());
    let refused = std::thread::spawn(move || {
        iolag_fixtures::forbid(libc::SYS_io_uring_setup).unwrap();
        let options = SessionOptions::new(ClientId(0), 0, 1, 4096);
        let opened = backend.open_lanes(&options, 4).unwrap().map(drop);
        (ring_refusal(), opened.unwrap_err().to_string())
    });
    let (code, sentence) = refused.join().unwrap();
    assert_eq!(code.map(|code| code.class()), Some(ErrorClass::Permission));
    assert!(sentence.starts_with("cannot make an io_uring: "), "{sentence}");
}
