//! A connection that is worked on by the task which waits for an answer on it, and by no other.
//!
//! Invariants: the task is woken by what comes from outside and by nothing that it does itself. A library hands requests and answers
//! from the one who waits to the one who works through channels, whose wakers would have the task run once more for each, with a look
//! at the system's events between.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// The work on a connection, which ends with it.
pub(crate) struct Driven<W: ?Sized> {
    work: Pin<Box<W>>,
    has_ended: bool,
    quiet: Arc<Quiet>,
    /// Of `quiet`.
    waker: Waker,
    /// Whom that wakes.
    task: Waker,
}

impl<W: Future + ?Sized> Driven<W> {
    pub(crate) fn new(work: Pin<Box<W>>) -> Self {
        let quiet =
            Arc::new(Quiet { state: AtomicU8::new(Quiet::RESTS), task: Mutex::new(Waker::noop().clone()) });
        let waker = Waker::from(Arc::clone(&quiet));
        Self { work, has_ended: false, quiet, waker, task: Waker::noop().clone() }
    }

    /// Waits for the future, and works on the connection meanwhile; `None` if that has ended and nothing will come any more.
    pub(crate) async fn wait_for<T>(&mut self, waited_for: impl Future<Output = T>) -> Option<T> {
        let mut waited_for = pin!(waited_for);
        poll_fn(|context| self.poll(waited_for.as_mut(), context)).await
    }

    /// Whether the other side has ended it. Where nothing rang since the work was done last, there is nothing to look at.
    pub(crate) async fn has_ended(&mut self) -> bool {
        if !self.has_ended && self.quiet.is_quiet() {
            return false;
        }
        poll_fn(|context| {
            self.listen(context);
            // What rings meanwhile is seen by who waits next.
            self.quiet.begin();
            let mut quietly = Context::from_waker(&self.waker);
            self.has_ended = self.has_ended || self.work.as_mut().poll(&mut quietly).is_ready();
            Poll::Ready(self.has_ended)
        })
        .await
    }

    fn poll<T>(
        &mut self,
        mut waited_for: Pin<&mut impl Future<Output = T>>,
        context: &Context<'_>,
    ) -> Poll<Option<T>> {
        // One to send and to receive, and one for what a library does in pieces; who never comes to an end lets others have a turn.
        const ROUNDS: u32 = 4;
        self.listen(context);
        for _ in 0..ROUNDS {
            let was_quiet = self.quiet.begin();
            // Looked at before the work, which then sends what is asked here, and after it.
            let mut quietly = Context::from_waker(&self.waker);
            if let Poll::Ready(came) = waited_for.as_mut().poll(&mut quietly) {
                if !was_quiet {
                    self.quiet.leave_undone();
                }
                return Poll::Ready(Some(came));
            }
            // What rang until now is heard by this.
            self.quiet.begin();
            self.has_ended = self.has_ended || self.work.as_mut().poll(&mut quietly).is_ready();
            match waited_for.as_mut().poll(&mut quietly) {
                Poll::Ready(came) => return Poll::Ready(Some(came)),
                Poll::Pending if self.has_ended => return Poll::Ready(None),
                Poll::Pending => {}
            }
            if self.quiet.rest() {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn listen(&mut self, context: &Context<'_>) {
        if !self.task.will_wake(context.waker()) {
            self.task.clone_from(context.waker());
            self.quiet.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(context.waker());
        }
    }
}

/// Wakes the task, unless it works just now: then it is told at the end of its work.
struct Quiet {
    state: AtomicU8,
    task: Mutex<Waker>,
}

impl Quiet {
    const RESTS: u8 = 0;
    const WORKS: u8 = 1;
    const RUNG: u8 = 2;

    /// What rings from now on is remembered. Whether nothing had rung since the work was begun last.
    fn begin(&self) -> bool {
        self.state.swap(Self::WORKS, Ordering::AcqRel) == Self::WORKS
    }

    /// What rang before the beginning was not heard: as if it had rung now.
    fn leave_undone(&self) {
        self.state.store(Self::RUNG, Ordering::Release);
    }

    /// Whether nothing rang since the beginning.
    fn is_quiet(&self) -> bool {
        self.state.load(Ordering::Acquire) == Self::WORKS
    }

    /// Whether there is nothing more to do.
    fn rest(&self) -> bool {
        self.state.compare_exchange(Self::WORKS, Self::RESTS, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Wake for Quiet {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(Self::RUNG, Ordering::AcqRel) == Self::RESTS {
            self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::AtomicU32;

    use tokio::sync::{mpsc, oneshot};

    use super::*;

    /// Counts how often a task is woken.
    #[derive(Default)]
    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One look at a future by a task, and how often that was woken until now.
    fn look<T>(future: Pin<&mut impl Future<Output = T>>, wakes: &Arc<Wakes>) -> (Poll<T>, u32) {
        let waker = Waker::from(Arc::clone(wakes));
        let polled = future.poll(&mut Context::from_waker(&waker));
        (polled, wakes.0.load(Ordering::Relaxed))
    }

    #[test]
    fn nobody_is_woken_by_what_he_does_himself_and_everybody_by_what_comes_from_outside() {
        let (asks, mut asked) = mpsc::unbounded_channel::<oneshot::Sender<u32>>();
        let (came, mut comes) = mpsc::unbounded_channel::<u32>();
        let mut driven = Driven::new(Box::pin(async move {
            while let Some(answer) = asked.recv().await {
                answer.send(comes.recv().await.unwrap()).unwrap();
            }
        }));
        let wakes = Arc::default();
        for number in 1..=3 {
            let mut answered = pin!(driven.wait_for(async {
                let (answer, is_answered) = oneshot::channel();
                asks.send(answer).unwrap();
                is_answered.await.unwrap()
            }));
            assert_eq!(look(answered.as_mut(), &wakes), (Poll::Pending, number - 1));
            came.send(number).unwrap();
            assert_eq!(look(answered.as_mut(), &wakes), (Poll::Ready(Some(number)), number));
        }
    }

    #[test]
    fn who_never_comes_to_an_end_lets_others_have_a_turn() {
        let mut driven = Driven::<dyn Future<Output = ()>>::new(Box::pin(poll_fn(|context| {
            context.waker().wake_by_ref();
            Poll::Pending
        })));
        let wakes = Arc::default();
        let mut waits = pin!(driven.wait_for(pending::<()>()));
        assert_eq!(look(waits.as_mut(), &wakes), (Poll::Pending, 1));
        assert_eq!(look(waits.as_mut(), &wakes), (Poll::Pending, 2));
    }

    #[test]
    fn an_end_that_nobody_waits_for_is_noticed() {
        let (ends, ended) = oneshot::channel::<()>();
        let mut driven = Driven::new(Box::pin(async move { ended.await.unwrap() }));
        let wakes = Arc::default();
        for _ in 0..2 {
            assert_eq!(look(pin!(driven.wait_for(ready(6))), &wakes).0, Poll::Ready(Some(6)));
            assert_eq!(look(pin!(driven.has_ended()), &wakes), (Poll::Ready(false), 0));
        }
        ends.send(()).unwrap();
        assert_eq!(look(pin!(driven.has_ended()), &wakes), (Poll::Ready(true), 0));
    }

    #[test]
    fn what_came_with_the_end_counts_and_after_it_nothing_is_waited_for() {
        let (answer, is_answered) = oneshot::channel();
        let mut driven = Driven::new(Box::pin(async move { answer.send(5).unwrap() }));
        let wakes = Arc::default();
        assert_eq!(look(pin!(driven.wait_for(is_answered)), &wakes).0, Poll::Ready(Some(Ok(5))));
        assert_eq!(look(pin!(driven.has_ended()), &wakes).0, Poll::Ready(true));
        assert_eq!(look(pin!(driven.wait_for(pending::<()>())), &wakes).0, Poll::Ready(None));
        let mut open = Driven::new(Box::pin(pending::<()>()));
        assert_eq!(look(pin!(open.has_ended()), &wakes).0, Poll::Ready(false));
        assert_eq!(look(pin!(open.wait_for(ready(6))), &wakes).0, Poll::Ready(Some(6)));
    }
}
