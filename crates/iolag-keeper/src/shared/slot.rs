//! The in-flight slot: what a client is doing right now, for the keeper to see without asking.
//!
//! ```text
//! line 0, what the client touches at every operation  line 1, touched rarely
//!   start_ns   0 = nothing in flight                    arrived    number of the last meeting arrived at
//!   attempt                                             noted      by the writer: its working place is known to a clean-up
//!   intended_ns                                         role       what the client is there for
//!   operation | stage << 8                              values[2]  brought to meetings, by parity of their number
//!   stop       by the keeper: end before the next       standing   expected, or given up by the keeper
//!   head       of its ring: samples recorded            occupied   until when its measurer may be silent besides
//!   activity   meeting, pausing, ended, …               lag        how late its worker's timer was
//!   thread     kernel's id of the client's thread
//!   process                                             due        when that is due next, 0 without a heart
//! ```
//! Of thousands of clients each line that one touches has left the processor's cache when it is touched again: that is why they are few.
//! A reader takes `start_ns`, then the rest, then `start_ns` and `attempt` again: if they differ it looks later.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use iolag_model::{Activity, AttemptId, MonotonicTime, Nanoseconds, Operation, Role, StageIndex};

use super::ring::LINE;

#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Slot {
    start_ns: AtomicU64,
    attempt: AtomicU64,
    intended_ns: AtomicU64,
    operation_and_stage: AtomicU32,
    pub(crate) stop: AtomicU32,
    head: AtomicU64,
    activity: AtomicU32,
    thread: AtomicU32,
    process: AtomicU32,
    _rest_of_lines: [u32; 19],
    pub(crate) arrived: AtomicU32,
    pub(crate) standing: AtomicU32,
    pub(crate) noted: AtomicU32,
    role: AtomicU32,
    pub(crate) values: [AtomicU64; 2],
    pub(crate) occupied_until: AtomicU64,
    /// The worst since the keeper looked, plus 1.
    lag_ns: AtomicU64,
    due_ns: AtomicU64,
}

const _: () = {
    assert!(size_of::<Slot>() == 2 * LINE && offset_of!(Slot, arrived) == LINE);
    assert!(
        offset_of!(Slot, _rest_of_lines) < 64,
        "what is touched at every operation is in one line of the smallest kind"
    );
};

/// `standing`: the others wait for this client at meetings.
pub(crate) const EXPECTED: u32 = 0;
/// `standing`: the keeper has given this client up.
pub(crate) const GIVEN_UP: u32 = 1;

/// An operation in flight, as the keeper sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Which attempt.
    pub attempt: AttemptId,
    /// What was asked.
    pub operation: Operation,
    /// In which stage.
    pub stage: StageIndex,
    /// When it should have started.
    pub intended: MonotonicTime,
    /// Since when it is in flight.
    pub start: MonotonicTime,
}

impl Slot {
    /// Where in it the counter of the client's ring is.
    pub(crate) const HEAD: usize = offset_of!(Slot, head);

    #[inline]
    pub(crate) fn announce(
        &self,
        attempt: AttemptId,
        operation: Operation,
        stage: StageIndex,
        intended: MonotonicTime,
    ) {
        // The end of the last operation must be seen before the next attempt is: else the keeper could take this attempt's name
        // with the other's start. On x86 this costs nothing.
        fence(Ordering::Release);
        self.attempt.store(attempt.0, Ordering::Relaxed);
        self.intended_ns.store(intended.0, Ordering::Relaxed);
        self.operation_and_stage.store(operation as u32 | u32::from(stage.0) << 8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn begin(&self, start: MonotonicTime) {
        self.start_ns.store(start.0, Ordering::Release);
    }

    #[inline]
    pub(crate) fn end(&self) {
        self.start_ns.store(0, Ordering::Release);
    }

    pub(crate) fn set_activity(&self, activity: Activity) {
        self.activity.store(activity as u32, Ordering::Release);
    }

    pub(crate) fn activity(&self) -> Activity {
        Activity::from_code(self.activity.load(Ordering::Acquire))
    }

    /// Sets what the client is there for, and says what it was there for before.
    pub(crate) fn set_role(&self, role: Role) -> Role {
        Role::from_code(self.role.swap(role as u32, Ordering::SeqCst))
    }

    pub(crate) fn role(&self) -> Role {
        Role::from_code(self.role.load(Ordering::Relaxed))
    }

    pub(crate) fn beat(&self, lag: Nanoseconds, next: MonotonicTime) {
        self.lag_ns.fetch_max(lag.0.saturating_add(1), Ordering::Relaxed);
        self.due_ns.store(next.0, Ordering::Release);
    }

    pub(crate) fn heart_ends(&self) {
        self.due_ns.store(0, Ordering::Release);
    }

    pub(crate) fn take_lag(&self) -> Option<Nanoseconds> {
        self.lag_ns.swap(0, Ordering::Relaxed).checked_sub(1).map(Nanoseconds)
    }

    pub(crate) fn overdue(&self, now: MonotonicTime) -> Option<Nanoseconds> {
        let due = self.due_ns.load(Ordering::Acquire);
        (due != 0 && due <= now.0).then(|| now.since(MonotonicTime(due)))
    }

    pub(crate) fn set_thread(&self, process: u32, thread: u32) {
        self.process.store(process, Ordering::Relaxed);
        self.thread.store(thread, Ordering::Release);
    }

    /// Process and thread; 0 before the client has begun.
    pub(crate) fn thread(&self) -> (u32, u32) {
        let thread = self.thread.load(Ordering::Acquire);
        (self.process.load(Ordering::Relaxed), thread)
    }

    /// The last announced attempt, in flight or not: it moves on as long as the client does.
    pub(crate) fn progress(&self) -> u64 {
        self.attempt.load(Ordering::Relaxed)
    }

    pub(crate) fn in_flight(&self) -> Option<InFlight> {
        let start = self.start_ns.load(Ordering::Acquire);
        if start == 0 {
            return None;
        }
        let attempt = self.attempt.load(Ordering::Acquire);
        let intended = self.intended_ns.load(Ordering::Acquire);
        let word = self.operation_and_stage.load(Ordering::Acquire);
        let unchanged =
            self.start_ns.load(Ordering::Acquire) == start && self.attempt.load(Ordering::Acquire) == attempt;
        let operation = Operation::from_code(word as u8)?;
        let start = MonotonicTime(start);
        let intended = if intended == 0 { start } else { MonotonicTime(intended) };
        let stage = StageIndex((word >> 8) as u16);
        unchanged.then_some(InFlight { attempt: AttemptId(attempt), operation, stage, intended, start })
    }
}
