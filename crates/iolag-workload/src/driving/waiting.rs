//! How a task waits: for a moment, for a meeting, for the end of what it asked; and at any time for the order to stop.
//!
//! Nobody polls. One thread of the process, the bell, sleeps in shared memory until there is news, and rings in all tasks that
//! wait; a task has two timers of its own, one for pauses and one for deadlines, which are mostly only moved later.
//!
//! Limits: timers count in milliseconds and never fire early; the bell takes some 100 µs, with thousands of tasks the turn of each
//! comes milliseconds later.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use iolag_model::{Clock, Coordinator, Meeting, MonotonicTime, Nanoseconds};
use tokio::sync::watch;
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

/// Rings whenever there is something that clients should look at, until nobody listens any more.
pub(super) fn ring(coordinator: &impl Coordinator, bell: &watch::Sender<u32>) {
    let mut seen = 0;
    while !bell.is_closed() {
        let news = coordinator.wait_for_news(seen);
        if news != seen {
            seen = news;
            bell.send_replace(news);
        }
    }
}

/// What one client's task waits with.
pub(super) struct Waiter<N, C> {
    pub(super) coordinator: N,
    pub(super) clock: C,
    rank: u32,
    news: News,
    pause: Pin<Box<Sleep>>,
    alarm: Pin<Box<Sleep>>,
    origin: (MonotonicTime, Instant),
    /// How many requests in a row were answered at once.
    unbroken: u32,
}

impl<N: Coordinator, C: Clock> Waiter<N, C> {
    /// Within the runtime that will run the task.
    pub(super) fn new(coordinator: N, clock: C, rank: u32, bell: watch::Receiver<u32>) -> Self {
        // In this order a timer is late by what lies between the two readings, and never early.
        let origin = (clock.now(), Instant::now());
        let timer = || Box::pin(sleep_until(origin.1));
        Self {
            coordinator,
            clock,
            rank,
            news: News::of(bell),
            pause: timer(),
            alarm: timer(),
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
        let instant = self.instant(moment);
        self.pause.as_mut().reset(instant);
        poll_fn(|context| {
            if self.pause.as_mut().poll(context).is_ready() || self.is_told_to_stop(context) {
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
    /// The deadline is set only when the first look has found no answer, so what answers at once does not pay for it.
    pub(super) async fn end_of<T>(
        &mut self,
        mut future: Pin<&mut (dyn Future<Output = T> + Send + '_)>,
        start: MonotonicTime,
        deadline: Nanoseconds,
    ) -> Ending<T> {
        let mut is_set = false;
        self.unbroken += 1;
        poll_fn(|context| {
            if let Poll::Ready(answer) = future.as_mut().poll(context) {
                return Poll::Ready(Ending::Completed(answer));
            }
            if !std::mem::replace(&mut is_set, true) {
                self.unbroken = 0;
                let instant = self.instant(start.after(deadline));
                self.alarm.as_mut().reset(instant);
            }
            if self.alarm.as_mut().poll(context).is_ready() {
                Poll::Ready(Ending::PastDeadline)
            } else if self.is_told_to_stop(context) {
                Poll::Ready(Ending::Stopped)
            } else {
                Poll::Pending
            }
        })
        .await
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

/// Hears the bell. What waits for it is made anew only when it has rung.
struct News {
    next: Pin<Box<dyn Future<Output = watch::Receiver<u32>>>>,
}

impl News {
    fn of(bell: watch::Receiver<u32>) -> Self {
        Self { next: Box::pin(next(bell)) }
    }

    /// Ready once for each time that there is news which was not told yet.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.next.as_mut().poll(context).map(|bell| self.next = Box::pin(next(bell)))
    }
}

async fn next(mut bell: watch::Receiver<u32>) -> watch::Receiver<u32> {
    if bell.changed().await.is_err() {
        // Nobody will ring any more.
        std::future::pending::<()>().await;
    }
    bell
}
