//! How a task waits: for a moment, for a meeting, for the end of what it asked; and at any time for the order to stop.
//!
//! Nobody polls. One thread beside each worker, its bell, sleeps in shared memory until there is news, and rings in all tasks that
//! wait; a pause has a timer, and a task one for deadlines.
//!
//! Limits: timers count in milliseconds and never fire early; the bell takes some 100 µs, with thousands of tasks the turn of each
//! comes milliseconds later.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

use iolag_model::{Clock, Coordinator, Meeting, MonotonicTime, Nanoseconds};
use tokio::sync::watch;
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// How something that was asked came to an end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending<T> {
    /// With an answer.
    Completed(T),
    /// It had none at its deadline.
    PastDeadline,
    /// It had none when the client was told to stop.
    Stopped,
}

/// Rings in all tasks that listen.
pub(super) struct Bell {
    rings: watch::Sender<u32>,
    rung: Arc<AtomicU32>,
}

/// What a task hears the bell with.
#[derive(Clone)]
pub(super) struct Hearing {
    rings: watch::Receiver<u32>,
    /// The news that the bell rings with now, or has last rung with: a look that costs nothing.
    rung: Arc<AtomicU32>,
}

/// A bell, and who hears it.
pub(super) fn bell() -> (Bell, Hearing) {
    let ((sends, rings), rung) = (watch::channel(0), Arc::default());
    (Bell { rings: sends, rung: Arc::clone(&rung) }, Hearing { rings, rung })
}

impl Bell {
    /// Rings with these news. They are told before it rings: who looks in between listens, and is rung in.
    pub(super) fn ring(&self, news: u32) {
        self.rung.store(news, Ordering::Release);
        self.rings.send_replace(news);
    }

    /// Rings whenever there is something that clients should look at, until nobody listens any more.
    pub(super) fn ring_for(self, coordinator: &impl Coordinator) {
        let mut seen = 0;
        while !self.rings.is_closed() {
            let news = coordinator.wait_for_news(seen);
            if news != seen {
                seen = news;
                self.ring(news);
            }
        }
    }
}

/// What one client's task waits with.
pub(super) struct Waiter<N, C> {
    pub(super) coordinator: N,
    pub(super) clock: C,
    rank: u32,
    news: News,
    alarm: Alarm,
    origin: (MonotonicTime, Instant),
    /// How many requests in a row were answered at once.
    unbroken: u32,
}

impl<N: Coordinator, C: Clock> Waiter<N, C> {
    /// Within the runtime that will run the task.
    pub(super) fn new(coordinator: N, clock: C, rank: u32, hearing: Hearing) -> Self {
        // In this order a timer is late by what lies between the two readings, and never early.
        let origin = (clock.now(), Instant::now());
        Self {
            coordinator,
            clock,
            rank,
            news: News::of(hearing),
            alarm: Alarm { timer: Box::pin(sleep_until(origin.1)), set: None },
            origin,
            unbroken: 0,
        }
    }

    fn instant(&self, moment: MonotonicTime) -> Instant {
        self.origin.1 + moment.since(self.origin.0).as_duration()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.coordinator.is_stopped(self.rank)
    }

    /// Lets the others of the worker have their turn, if this one's requests never make it wait: between two of them, before the
    /// runtime does it within one.
    pub(super) async fn take_turns(&mut self) {
        // A task may do 128 things of the runtime's before it has to yield; a small request is a handful.
        const REQUESTS: u32 = 16;
        if self.unbroken >= REQUESTS {
            self.unbroken = 0;
            tokio::task::yield_now().await;
        }
    }

    /// Until this moment, or the order to stop.
    pub(super) async fn until(&mut self, moment: MonotonicTime) {
        if self.clock.now() >= moment {
            return;
        }
        let mut timer = pin!(sleep_until(self.instant(moment)));
        poll_fn(|context| {
            if timer.as_mut().poll(context).is_ready() || self.is_told_to_stop(context) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Until the meeting is open; `None` if the client is told to stop.
    pub(super) async fn meeting(&mut self, number: u32) -> Option<Arc<Meeting>> {
        loop {
            if let Some(meeting) = self.coordinator.meeting(self.rank, number) {
                return Some(meeting);
            }
            if self.is_stopped() {
                return None;
            }
            poll_fn(|context| self.news.poll(context)).await;
        }
    }

    /// How this ends, which was begun at `start` and may take `deadline`: what is completed wins.
    ///
    /// The alarm is looked at only when the first look has found no answer, so what answers at once does not pay for it.
    pub(super) async fn end_of<T>(
        &mut self,
        mut future: Pin<&mut (dyn Future<Output = T> + Send + '_)>,
        start: MonotonicTime,
        deadline: Nanoseconds,
    ) -> Ending<T> {
        let due = start.after(deadline);
        self.unbroken += 1;
        poll_fn(|context| {
            if let Poll::Ready(answer) = future.as_mut().poll(context) {
                return Poll::Ready(Ending::Completed(answer));
            }
            self.unbroken = 0;
            if self.is_past(due, context) {
                Poll::Ready(Ending::PastDeadline)
            } else if self.is_told_to_stop(context) {
                Poll::Ready(Ending::Stopped)
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// Whether it is that late; else the alarm wakes the task by then.
    fn is_past(&mut self, due: MonotonicTime, context: &mut Context<'_>) -> bool {
        let now = self.clock.now();
        if now >= due {
            return true;
        }
        let wakes = context.waker();
        if self.alarm.set.as_ref().is_some_and(|(at, set)| now < *at && *at <= due && set.will_wake(wakes)) {
            return false;
        }
        let instant = self.instant(due);
        self.alarm.timer.as_mut().reset(instant);
        self.alarm.set = Some((due, wakes.clone()));
        // What the answer has used up of the task's budget must not keep the timer from knowing whom to wake.
        pin!(unconstrained(self.alarm.timer.as_mut())).poll(context).is_ready()
    }

    fn is_told_to_stop(&mut self, context: &mut Context<'_>) -> bool {
        loop {
            if self.is_stopped() {
                return true;
            }
            if self.news.poll(context).is_pending() {
                return false;
            }
        }
    }
}

/// The timer of deadlines. It is not moved for each request: it wakes the task at the deadline for which it was set, and is then set
/// for the one that counts by then. Nearly all requests have ended long before, and touch no timer.
struct Alarm {
    timer: Pin<Box<Sleep>>,
    /// When it wakes whom.
    set: Option<(MonotonicTime, Waker)>,
}

/// Listens to the bell. What waits for it is made anew only when it has rung, and asked only when it has, or when somebody else
/// than before is to be woken.
struct News {
    next: Pin<Box<dyn Future<Output = watch::Receiver<u32>>>>,
    rung: Arc<AtomicU32>,
    heard: u32,
    wakes: Waker,
}

impl News {
    fn of(hearing: Hearing) -> Self {
        let Hearing { rings, rung } = hearing;
        Self { next: Box::pin(next(rings)), rung, heard: 0, wakes: Waker::noop().clone() }
    }

    /// Ready once for each time that there is news which was not told yet.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.rung.load(Ordering::Acquire) == self.heard && self.wakes.will_wake(context.waker()) {
            return Poll::Pending;
        }
        match pin!(unconstrained(self.next.as_mut())).poll(context) {
            Poll::Ready(rings) => {
                self.heard = *rings.borrow();
                self.next = Box::pin(next(rings));
                self.wakes = Waker::noop().clone();
                Poll::Ready(())
            }
            Poll::Pending => {
                self.wakes.clone_from(context.waker());
                Poll::Pending
            }
        }
    }
}

async fn next(mut rings: watch::Receiver<u32>) -> watch::Receiver<u32> {
    if rings.changed().await.is_err() {
        // Nobody will ring any more.
        std::future::pending::<()>().await;
    }
    rings
}
