//! Known answers: how long an operation takes behind a delay.

use std::task::Poll;

use iolag_model::{ClientId, MonotonicClock, MonotonicTime, Operation, SimulatedClock};

use super::*;
use crate::{MemoryBackend, ObjectKey};

fn options(client: u32) -> SessionOptions {
    SessionOptions::new(ClientId(client), 0, 3, 0)
}

fn delayed(delays: &str, clock: Arc<dyn Clock>) -> DelayedBackend {
    let latencies = Arc::new(parse_latencies(delays).unwrap());
    let backend = DelayedBackend::new(delays, latencies, Box::new(MemoryBackend::new("w")), clock);
    backend.create_place(&crate::conformance::maker()).unwrap();
    backend
}

/// Durations of `count` stats by this client, as the loop would measure them.
fn durations_ns(delays: &str, client: u32, count: usize) -> Vec<u64> {
    durations_in(delays, options(client), count)
}

fn durations_in(delays: &str, options: SessionOptions, count: usize) -> Vec<u64> {
    let clock = SimulatedClock::starting_at(MonotonicTime(1));
    let backend = delayed(delays, Arc::new(clock.clone()));
    let mut session = backend.open_session(&options).unwrap();
    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
    (0..count)
        .map(|_| {
            session.prepare(&request);
            let start = clock.now();
            session.execute(&request);
            clock.now().since(start).0
        })
        .collect()
}

#[test]
fn five_milliseconds_are_exactly_five_milliseconds_under_a_simulated_clock() {
    assert_eq!(durations_ns("5ms", 0, 3), [5_000_000; 3]);
    assert_eq!(durations_ns("5ms,stat=7us", 0, 2), [7_000; 2]);
    assert_eq!(durations_ns("create=5ms", 0, 2), [0; 2]);
}

#[test]
fn five_milliseconds_are_never_less_in_real_time() {
    let clock = MonotonicClock;
    let backend = delayed("5ms", Arc::new(clock));
    let mut session = backend.open_session(&options(0)).unwrap();
    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
    session.prepare(&request);
    let start = clock.now();
    session.execute(&request);
    assert!(clock.now().since(start) >= Nanoseconds::from_milliseconds(5));
}

#[test]
fn the_asynchronous_form_waits_without_blocking_the_others() {
    let backend = delayed("5ms", Arc::new(MonotonicClock));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
    let open = |client| runtime.block_on(backend.open_async_session(&options(client)).unwrap()).unwrap();
    let mut sessions: Vec<_> = (0..200).map(open).collect();
    let start = MonotonicClock.now();
    let pending_at_first = runtime.block_on(async {
        let mut executions = Vec::new();
        for session in &mut sessions {
            session.prepare(&request);
            executions.push(session.execute(&request));
        }
        let mut pending_at_first = None;
        std::future::poll_fn(|context| {
            executions.retain_mut(|execution| execution.as_mut().poll(context).is_pending());
            pending_at_first.get_or_insert(executions.len());
            if executions.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        pending_at_first
    });
    assert_eq!(pending_at_first, Some(200), "a delay that blocks is over when the poll returns");
    assert!(MonotonicClock.now().since(start) >= Nanoseconds::from_milliseconds(5));
}

#[test]
fn delays_repeat_for_a_client_and_differ_between_clients() {
    let first = durations_ns("1ms~exp", 0, 100);
    assert_eq!(first, durations_ns("1ms~exp", 0, 100));
    assert_ne!(first, durations_ns("1ms~exp", 1, 100));
}

#[test]
fn delays_of_requests_in_flight_pass_beside_each_other() {
    let clock = SimulatedClock::starting_at(MonotonicTime(1));
    let backend = delayed("5ms", Arc::new(clock.clone()));
    let mut session = backend.open_lanes(&options(0), 4).unwrap().unwrap();
    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
    let submit = |session: &mut dyn LaneSession, lane| {
        session.prepare(lane, &request);
        session.submit(lane, &request);
    };
    (0..4).for_each(|lane| submit(session.as_mut(), lane));
    let mut ends = Vec::new();
    for again in [true, false] {
        for _ in 0..4 {
            let (lane, _) = session.await_any(MonotonicTime(u64::MAX)).unwrap();
            ends.push(clock.now().since(MonotonicTime(1)));
            if again {
                submit(session.as_mut(), lane);
            }
        }
    }
    assert_eq!(
        ends,
        [[5; 4], [10; 4]].concat().into_iter().map(Nanoseconds::from_milliseconds).collect::<Vec<_>>()
    );
}

#[test]
fn each_repetition_has_delays_of_its_own_and_the_first_those_of_its_seed() {
    let of = |repetition| durations_in("5ms~exp", SessionOptions { repetition, ..options(0) }, 20);
    assert_eq!(of(0), durations_ns("5ms~exp", 0, 20));
    assert_eq!(of(1), of(1));
    assert_ne!(of(0), of(1));
    assert_ne!(of(1), of(2));
}
