//! What the one loop needs from whoever keeps its samples and its company: the keeper's shared memory in earnest, plain
//! vectors in tests. Defined here, because the loop and the shared memory know nothing of each other.

use std::sync::Arc;

use crate::{AttemptId, Detail, MonotonicTime, Nanoseconds, Operation, Sample, StageIndex};

/// One client's place for samples and for its operation in flight.
///
/// Protocol per operation, by one thread: [`Recorder::has_room`], [`Recorder::announce`], (clock), [`Recorder::begin`],
/// (the operation), (clock), [`Recorder::record`]. Only `begin` stands between the two readings of the clock, and it is one
/// store. None of them allocates, locks or blocks.
///
/// The full-ring rule: a client without room waits *between* operations, and then records that it waited and how long.
/// Nothing is ever dropped. [`Recorder::RESERVE`] places are kept for what must still be recorded when a client is
/// stopped while it waits.
pub trait Recorder {
    /// Places for samples that `has_room` keeps back.
    const RESERVE: usize = 16;

    /// What is announced, begun and recorded from now on is in this lane: one of several operations that the client has in
    /// flight. The first lane, 0, is the one that a client is in which never says so.
    fn set_lane(&mut self, lane: u32);

    /// Whether the next operation's samples fit, the reserve left alone, and what all lanes may have in flight.
    fn has_room(&mut self) -> bool;

    /// Says which attempt comes next; it is not in flight yet.
    fn announce(
        &mut self,
        attempt: AttemptId,
        operation: Operation,
        stage: StageIndex,
        intended: MonotonicTime,
    );

    /// The announced attempt is in flight since `start`.
    fn begin(&mut self, start: MonotonicTime);

    /// The attempt has ended: it is no longer in flight, and this is what happened.
    fn record(&mut self, sample: Sample);

    /// Adds a text to an attempt. Not for the hot path: it may wait a second for room.
    fn record_detail(&mut self, detail: &Detail);

    /// As [`Recorder::record_detail`], but without room the text is counted as lost at once: for a thread that other clients
    /// share.
    fn offer_detail(&mut self, detail: &Detail);

    /// Says what the client is doing when it is not executing, so that waiting on purpose is not taken for a stall.
    fn set_activity(&mut self, activity: Activity);
}

/// What a client is doing. The number stands in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Activity {
    /// Its thread has not begun.
    Unstarted = 0,
    /// Between two operations, or in one.
    Working = 1,
    /// It waits for the other clients.
    Meeting = 2,
    /// It waits for room in its ring.
    Full = 3,
    /// It thinks, or waits for the intended start.
    Pausing = 4,
    /// It will do nothing more.
    Ended = 5,
    /// As [`Activity::Working`], but it ends its operations at their deadlines itself: the keeper waits a little longer.
    Asking = 6,
}

impl Activity {
    /// The activity with this number; an unknown number counts as working, which is watched most closely.
    pub const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::Unstarted,
            2 => Self::Meeting,
            3 => Self::Full,
            4 => Self::Pausing,
            5 => Self::Ended,
            6 => Self::Asking,
            _ => Self::Working,
        }
    }
}

/// What clients agree on: when to stop, and where to wait for each other. Clients meet those of their own role
/// ([`crate::Role`]) only.
pub trait Coordinator: Sync {
    /// Whether this client is to stop before its next operation: the run was interrupted, or the client was given up.
    fn is_stopped(&self, rank: u32) -> bool;

    /// Stops every client: one of them cannot go on, so that the others would wait for it in vain.
    fn stop_all(&self);

    /// The others no longer wait for this client from `now` on, and it stops as soon as it looks.
    fn give_up(&self, rank: u32, now: MonotonicTime);

    /// Tells the others that this client has arrived, and returns at once. The one who completes the meeting opens it and
    /// says when all begin.
    fn arrive(&self, arrival: Arrival);

    /// Whether the meeting of this client and those of its role is open, with everybody's values; `None` as long as somebody
    /// is missing.
    fn meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>>;

    /// Blocks until the meeting is open or the client is stopped (then `None`). Only for drivers that may block.
    fn wait_for_meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>>;

    /// Blocks until something has happened that a client should look at (a meeting is open, somebody is to stop), at most
    /// 100 ms. Returns the number of the news, which changes with them; `seen` is the one that the caller has looked after.
    fn wait_for_news(&self, seen: u32) -> u32;

    /// The worker of this client, its first, is alive; its timer was so late, and will be due next at this moment. Who watches no
    /// generator forgets it.
    fn beat(&self, _rank: u32, _lag: Nanoseconds, _next: MonotonicTime) {}

    /// Nothing beats any more for the worker of this client.
    fn heart_ends(&self, _rank: u32) {}
}

/// A client at a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The client's rank.
    pub rank: u32,
    /// Which of its meetings, from 1.
    pub number: u32,
    /// What it tells the others.
    pub value: u64,
    /// The present moment.
    pub now: MonotonicTime,
    /// How long the client needs to notice that the meeting is open.
    pub notice: Nanoseconds,
}

/// An open meeting: everyone who was expected has arrived. Its values are shared, since thousands of clients read them at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meeting {
    /// The values by rank; `None` for clients that were given up before they arrived, and for those of another role. Load
    /// clients have the first ranks.
    pub values: Arc<[Option<u64>]>,
    /// When all begin with what comes next: the same moment for all, in the near future when the meeting opens.
    pub begin: MonotonicTime,
    /// How to wait for that moment.
    pub waiting: Waiting,
}

/// How clients wait for the moment at which all begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The last stretch actively: each has a processor.
    Actively,
    /// Asleep to the end: there are more clients than processors, and who spins keeps others from being woken.
    Asleep,
}

impl Meeting {
    /// The greatest value, 0 if nobody came.
    pub fn maximum(&self) -> u64 {
        self.values.iter().flatten().copied().max().unwrap_or(0)
    }
}
