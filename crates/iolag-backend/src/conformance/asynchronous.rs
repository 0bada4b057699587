//! Rules about what only asynchronous sessions can do: be opened many at once, be asked and not waited for.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use iolag_model::{Clock, ErrorClass, MonotonicClock, Operation};
use tokio::task::yield_now;

use super::conversation::{Conversation, Form, Subject, options, request, runtime};
use super::marks::lie_within;
use crate::{Request, SessionOpening};

/// So often a request is polled at most before it is dropped.
const POLLS_MAX: usize = 8;

/// Nobody waits longer for what another holds up.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(subject: &Subject<'_>) {
    sessions_open_beside_each_other(subject);
    an_execution_that_is_not_polled_asks_nothing(subject);
    a_dropped_execution_leaves_a_session_that_can_be_dropped(subject);
}

/// What was asked for comes, though others that were begun before are not waited for, and one was dropped.
fn sessions_open_beside_each_other(subject: &Subject<'_>) {
    let declared = subject.semantics().opening;
    let SessionOpening::Asynchronous { at_once } = declared else { return };
    let backend = subject.backend();
    drop(Conversation::with_dataset(backend.as_ref(), Form::Blocking));
    let options = options();
    let open = || backend.open_async_session(&options).expect("a backend that has this form has it always");
    let mut openings: Vec<_> = (0..at_once.min(8)).map(|_| open()).collect();
    runtime().block_on(async {
        let mut sessions = Vec::new();
        let mut begun = Vec::new();
        for mut opening in openings.drain(..) {
            match polled(opening.as_mut(), 1).await {
                Some(opened) => sessions.push(opened),
                None => begun.push(opening),
            }
        }
        // Dropping cancels: it holds up nobody either.
        drop((begun.len() > 1).then(|| begun.remove(0)));
        while let Some(opening) = begun.pop() {
            let opened = tokio::time::timeout(PATIENCE, opening).await;
            sessions.push(opened.unwrap_or_else(|_| {
                panic!("{declared:?} is declared, and no session opens as long as another is being opened")
            }));
        }
        for (index, session) in (0..).zip(sessions) {
            let mut session = session.expect("an asynchronous session opens in a place that was made");
            let create = request(Operation::Create, index, 1);
            session.prepare(&create);
            let created = session.execute(&create).await;
            assert!(
                created.is_ok(),
                "{create:?} by session {index} must succeed, the answer was {}",
                created.code
            );
        }
    });
}

/// A driver makes it before it reads the clock.
fn an_execution_that_is_not_polled_asks_nothing(subject: &Subject<'_>) {
    let backend = subject.backend();
    let mut witness = Conversation::with_dataset(backend.as_ref(), Form::Asynchronous);
    witness.must(request(Operation::Create, 1, 1));
    for unasked in [request(Operation::Create, 0, 1), request(Operation::Delete, 1, 0)] {
        give_up(Conversation::open(backend.as_ref(), Form::Asynchronous, &options()), &unasked, 0);
        let found = [0, 1].map(|index| witness.ask(request(Operation::Stat, index, 1)).code.class());
        assert_eq!(
            found,
            [ErrorClass::NotFound, ErrorClass::None],
            "{unasked:?} was never polled, and objects 0 and 1 are missing and there no more"
        );
    }
}

/// Its object is unknown then; everything else is as ever, and clean-up removes it if it is there.
fn a_dropped_execution_leaves_a_session_that_can_be_dropped(subject: &Subject<'_>) {
    let backend = subject.backend();
    let mut others = Conversation::with_dataset(backend.as_ref(), Form::Asynchronous);
    for operation in [Operation::Create, Operation::Read, Operation::Delete] {
        for polls in 1..=POLLS_MAX {
            others.must(request(Operation::Create, 0, 3901));
            others.must(request(Operation::Create, 1, 3901));
            let session = Conversation::open(backend.as_ref(), Form::Asynchronous, &options());
            let has_ended = give_up(session, &request(operation, 0, 3901), polls);
            let left = others.ask(request(Operation::Stat, 0, 3901)).code.class();
            assert!(
                matches!(left, ErrorClass::None | ErrorClass::NotFound | ErrorClass::Mismatch),
                "{operation} was dropped after {polls} polls, its object is {left}"
            );
            assert_eq!(others.must(request(Operation::Read, 1, 3901)), 3901);
            if has_ended {
                break;
            }
        }
    }
    drop(others);
    let leftovers = backend.remove_place().expect("clean-up reaches its target");
    assert!(leftovers.is_empty(), "clean-up after dropped requests left {leftovers:?}");
}

/// Asks, polls so often, and drops both. Whether there was an answer.
fn give_up(session: Conversation, request: &Request, polls: usize) -> bool {
    let Conversation::Asynchronous(mut session, runtime) = session else { return true };
    session.prepare(request);
    let begin = MonotonicClock.now();
    let has_ended = runtime.block_on(async {
        let mut execution = session.execute(request);
        let has_ended = polled(execution.as_mut(), polls).await.is_some();
        drop(execution);
        // What it has left to a task of its own happens here.
        yield_now().await;
        has_ended
    });
    lie_within(session.marks(), [begin, MonotonicClock.now()], request.operation);
    let _ = session.message();
    has_ended
}

/// What came of it, if it came at the first so many polls.
async fn polled<T>(mut future: Pin<&mut (dyn Future<Output = T> + Send + '_)>, times: usize) -> Option<T> {
    for _ in 0..times {
        let look = std::future::poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        });
        if let Some(answer) = look.await {
            return Some(answer);
        }
        yield_now().await;
    }
    None
}
