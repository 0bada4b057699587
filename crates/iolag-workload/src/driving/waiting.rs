//! How a task waits: for a moment, for a meeting, for the end of what it asked; and at any time for the order to stop.
//!
//! Nobody polls. One thread beside each worker, its bell, sleeps in shared memory until there is news, and rings in all tasks that
//! wait; a pause has a timer, and a task one for deadlines.
//!
//! Limits: timers count in milliseconds and never fire early; the bell takes some 100 µs, with thousands of tasks the turn of each
//! comes milliseconds later.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use iolag_model::{Clock, Coordinator, Meeting, MonotonicTime, Nanoseconds};
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
pub(super) struct Bell(Arc<Listeners>);

/// What a task hears the bell with.
#[derive(Clone)]
pub(super) struct Hearing(Arc<Listeners>);

/// Who is rung in. A ring uses nobody up: who is written down once is woken by each, also by one that rings while he listens.
#[derive(Default)]
struct Listeners {
    /// The news that the bell rings with now, or has last rung with: a look that costs nothing.
    rung: AtomicU32,
    wakers: Mutex<Vec<Waker>>,
}

impl Listeners {
    fn wakers(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A bell, and who hears it.
pub(super) fn bell() -> (Bell, Hearing) {
    let listeners = Arc::default();
    (Bell(Arc::clone(&listeners)), Hearing(listeners))
}

impl Bell {
    /// Rings with these news. They are told before it rings: who is written down too late to be rung in sees them.
    pub(super) fn ring(&self, news: u32) {
        self.0.rung.store(news, Ordering::Release);
        for waker in self.0.wakers().iter() {
            waker.wake_by_ref();
        }
    }

    /// Rings whenever there is something that clients should look at, until nobody listens any more.
    pub(super) fn ring_for(self, coordinator: &impl Coordinator) {
        let mut seen = 0;
        while Arc::strong_count(&self.0) > 1 {
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

/// Listens to the bell. Whom it wakes is written down only when that is somebody else than before.
struct News {
    listeners: Arc<Listeners>,
    /// Where in the list.
    place: usize,
    wakes: Waker,
    heard: u32,
}

impl News {
    fn of(Hearing(listeners): Hearing) -> Self {
        let wakes = Waker::noop().clone();
        let mut wakers = listeners.wakers();
        let place = wakers.len();
        wakers.push(wakes.clone());
        drop(wakers);
        Self { listeners, place, wakes, heard: 0 }
    }

    /// Ready once for each time that there is news which was not told yet.
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if !self.wakes.will_wake(context.waker()) {
            self.wakes.clone_from(context.waker());
            self.listeners.wakers()[self.place].clone_from(context.waker());
        }
        // After that, so that what is rung meanwhile is seen here or wakes.
        let rung = self.listeners.rung.load(Ordering::Acquire);
        if rung == self.heard {
            return Poll::Pending;
        }
        self.heard = rung;
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// The bell of tokio's `watch` took a waker away when it rang. A task that heard the ring while it went round, and listened again,
    /// lost the new waker to the same ring, and slept through the next one: clients stood still at a meeting.
    #[test]
    fn who_listens_again_while_it_rings_is_rung_in_next_time() {
        const RINGS: u32 = 300_000;
        const PATIENCE: Duration = Duration::from_secs(20);
        let (bell, hearing) = bell();
        let heard = Arc::new(AtomicU32::new(0));
        let hears = Arc::clone(&heard);
        let rings = thread::spawn(move || {
            for ring in 1..=RINGS {
                let rung = std::time::Instant::now();
                bell.ring(ring);
                while hears.load(Ordering::Acquire) < ring {
                    if rung.elapsed() > PATIENCE {
                        // The task would never end.
                        bell.ring(RINGS);
                        return Err(ring);
                    }
                    thread::yield_now();
                }
            }
            Ok(())
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut news = News::of(hearing);
            while news.heard < RINGS {
                poll_fn(|context| news.poll(context)).await;
                heard.store(news.heard, Ordering::Release);
            }
        });
        assert_eq!(rings.join().unwrap(), Ok(()), "nobody heard this ring");
    }
}
