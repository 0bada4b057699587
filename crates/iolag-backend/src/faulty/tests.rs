//! Known answers: which operations fail, and how.

use iolag_model::{
    ClientId, ErrorClass, MonotonicTime, Nanoseconds, Operation, SimulatedClock, Verification,
};

use super::*;
use crate::{MemoryBackend, ObjectKey};

const KEY: ObjectKey = ObjectKey { rank: 0, dataset: 0, index: 0 };

struct Fixture {
    clock: SimulatedClock,
    backend: FaultyBackend,
}

impl Fixture {
    fn new(rules: &str) -> Self {
        let clock = SimulatedClock::starting_at(MonotonicTime(1));
        let inner = Box::new(MemoryBackend::new("w"));
        inner.create_place(&crate::conformance::maker()).unwrap();
        let mut session = inner.open_session(&options(0)).unwrap();
        for operation in [Operation::MakeDirectory, Operation::Create] {
            assert!(ask(session.as_mut(), Request::new(operation, KEY, 100)).is_ok());
        }
        let with_end = format!("{rules}:");
        let (parsed, _) = parse_rules(&with_end).unwrap();
        let backend = FaultyBackend::new(rules, parsed.into(), inner, Arc::new(clock.clone()));
        Self { clock, backend }
    }

    /// Classes of `count` answers to this client.
    fn classes(&self, client: u32, operation: Operation, count: usize) -> Vec<ErrorClass> {
        let mut session = self.backend.open_session(&options(client)).unwrap();
        (0..count).map(|_| ask(session.as_mut(), Request::new(operation, KEY, 100)).code.class()).collect()
    }
}

fn options(client: u32) -> SessionOptions {
    SessionOptions {
        verification: Verification::Content,
        ..SessionOptions::new(ClientId(client), 0, 11, 100)
    }
}

fn ask(session: &mut dyn Session, request: Request) -> Completion {
    session.prepare(&request);
    let completion = session.execute(&request);
    session.inspect(&request, completion)
}

#[test]
fn the_nth_matching_operation_fails_and_no_other() {
    use ErrorClass::{NoSpace, None};
    let fixture = Fixture::new("stat:enospc@#3");
    assert_eq!(fixture.classes(0, Operation::Stat, 5), [None, None, NoSpace, None, None]);
    assert_eq!(fixture.classes(0, Operation::Delete, 1), [None]);
}

#[test]
fn a_share_of_the_operations_fails_the_same_ones_for_the_same_seed() {
    let fixture = Fixture::new("eio@0.1");
    let classes = fixture.classes(0, Operation::Stat, 10_000);
    let failed = classes.iter().filter(|class| **class == ErrorClass::InputOutput).count();
    // Binomial with a standard deviation of 30.
    assert!((850..1150).contains(&failed), "{failed}");
    assert_eq!(classes, fixture.classes(0, Operation::Stat, 10_000));
    assert_ne!(classes, fixture.classes(1, Operation::Stat, 10_000));
}

#[test]
fn the_first_rule_counts_and_rules_do_not_shift_each_other() {
    use ErrorClass::{InputOutput, None, Stale};
    let fixture = Fixture::new("eio@#2,estale@#2,estale@#3");
    assert_eq!(fixture.classes(0, Operation::Stat, 4), [None, InputOutput, Stale, None]);
}

#[test]
fn an_error_does_not_reach_the_target_and_a_short_write_does_by_half() {
    let fixture = Fixture::new("delete:eio@1,create:short@#1");
    assert_eq!(fixture.classes(0, Operation::Delete, 1), [ErrorClass::InputOutput]);
    assert_eq!(fixture.classes(0, Operation::Read, 1), [ErrorClass::None]);
    let mut session = fixture.backend.open_session(&options(0)).unwrap();
    let short = Completion::partly(50, FailureCode::SHORT);
    assert_eq!(ask(session.as_mut(), Request::new(Operation::Create, KEY, 100)), short);
    assert!(ask(session.as_mut(), Request::new(Operation::Read, KEY, 50)).is_ok());
    assert_eq!(ask(session.as_mut(), Request::new(Operation::Read, KEY, 100)), short);
}

#[test]
fn a_hang_lasts_exactly_as_long_as_it_says() {
    let fixture = Fixture::new("read:hang=30s@#1");
    let mut session = fixture.backend.open_session(&options(0)).unwrap();
    let request = Request::new(Operation::Read, KEY, 100);
    for expected in [Nanoseconds::from_seconds(30), Nanoseconds::ZERO] {
        session.prepare(&request);
        let start = fixture.clock.now();
        assert_eq!(session.execute(&request), Completion::ok(100));
        assert_eq!(fixture.clock.now().since(start), expected);
    }
}

#[test]
fn the_asynchronous_form_fails_the_same_operations() {
    let fixture = Fixture::new("eio@0.3,read:short@0.5");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let opening = options(0);
    let mut session = runtime.block_on(fixture.backend.open_async_session(&opening).unwrap()).unwrap();
    let request = Request::new(Operation::Read, KEY, 100);
    let classes: Vec<ErrorClass> = (0..200)
        .map(|_| {
            session.prepare(&request);
            let completion = runtime.block_on(session.execute(&request));
            session.inspect(&request, completion).code.class()
        })
        .collect();
    assert_eq!(classes, fixture.classes(0, Operation::Read, 200));
    assert!(classes.contains(&ErrorClass::Short) && classes.contains(&ErrorClass::InputOutput));
}

#[test]
fn a_hang_for_ever_is_ended_by_a_kill_and_leaves_other_tasks_alone() {
    let fixture = Fixture::new("hang@#1");
    // SAFETY: the child makes no use of threads or locks of its parent but the ones it holds itself, and leaves by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        fixture.classes(0, Operation::Stat, 1);
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: `child` is our own child and `status` is writable.
    let (early, killed, ended) = unsafe {
        libc::usleep(50_000);
        let early = libc::waitpid(child, &raw mut status, libc::WNOHANG);
        let killed = libc::kill(child, libc::SIGKILL);
        (early, killed, libc::waitpid(child, &raw mut status, 0))
    };
    assert_eq!((early, killed, ended), (0, 0, child));
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL);

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut session = runtime.block_on(fixture.backend.open_async_session(&options(0)).unwrap()).unwrap();
    let request = Request::new(Operation::Stat, KEY, 0);
    session.prepare(&request);
    let mut execution = session.execute(&request);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(execution.as_mut().poll(&mut context).is_pending());
}
