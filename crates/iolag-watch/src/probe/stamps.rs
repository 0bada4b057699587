//! Stamps: what a probe's child says of itself, in one page that the watch reads at any moment.
//!
//! ```text
//! word 0  when the place was open       1  when it was prepared        2  number of its mount, plus one
//!      3  when preparing failed         4  why                         5  bytes of the sentence from word 9 on: why, or what a command said last
//!      6  its guard's process id        7  when that was started, in clock ticks since boot
//!      8  whether the place was made   61  when the task may have begun to wait for something else than its place
//!     62  when the place answered last 63  operations done and of how many (32 bits each)
//! word 64 + 8 × part:  begin, end, failure, exit status (bit 32: there is one), user, system, resident, value (NaN: none)
//! ```
//! Times are monotonic nanoseconds, zero where something has not happened. An end is stored after what belongs to it, so who
//! sees the end sees all of it. Where the page lies on a tmpfs, a later watch reads it too.

use std::os::fd::BorrowedFd;

use iolag_keeper::{KeeperError, SharedWords, start_ticks};
use iolag_model::{Clock, FailureCode, MonotonicTime, Nanoseconds, Progress};
use iolag_workload::{PartEnding, PartRecorder, TaskError};

use crate::probe::process::ProcessIdentity;
use iolag_directory::Origin;

const WORDS: usize = 512;
const OPENED: usize = 0;
const PREPARED: usize = 1;
const MOUNT: usize = 2;
const FAILED: usize = 3;
const FAILURE: usize = 4;
const SENTENCE_BYTES: usize = 5;
const GUARD: usize = 6;
const GUARD_TICKS: usize = 7;
const MADE: usize = 8;
const SENTENCE: usize = 9;
const SENTENCE_BYTES_MAX: usize = (LEFT_PLACE - SENTENCE) * size_of::<u64>();
const LEFT_PLACE: usize = 61;
const ANSWERED: usize = 62;
const DONE: usize = 63;
const PARTS: usize = 64;
const PART_WORDS: usize = 8;
const HAS_STATUS: u64 = 1 << 32;

/// The most parts that a task may have.
pub const PARTS_MAX: usize = (WORDS - PARTS) / PART_WORDS;

/// The page of one probe.
#[derive(Debug, Clone)]
pub struct Stamps {
    words: SharedWords,
}

/// What is known of one part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartStamp {
    /// When it began, if it has.
    pub begin: Option<MonotonicTime>,
    /// When and how it ended, if it has.
    pub end: Option<(MonotonicTime, PartEnding)>,
}

/// Why a task could not even begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparationFailure {
    /// When that was known.
    pub at: MonotonicTime,
    /// Why.
    pub failure: FailureCode,
    /// The same for people.
    pub sentence: String,
}

impl Stamps {
    /// A page in anonymous memory: it goes with the processes that know it.
    ///
    /// # Errors
    /// If the kernel has no memory for it.
    pub fn new() -> Result<Self, KeeperError> {
        Ok(Self { words: SharedWords::new(WORDS)? })
    }

    /// A page in a file on a tmpfs; what is stamped there already is kept.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn in_file(file: BorrowedFd<'_>) -> Result<Self, KeeperError> {
        Ok(Self { words: SharedWords::in_file(file, WORDS)? })
    }

    /// The child's side.
    pub const fn recorder<C: Clock>(&self, clock: C) -> StampRecorder<'_, C> {
        StampRecorder { stamps: self, clock }
    }

    /// When the child had opened the task's place.
    pub fn opened(&self) -> Option<MonotonicTime> {
        self.moment(OPENED)
    }

    /// When the child had prepared the task.
    pub fn prepared(&self) -> Option<MonotonicTime> {
        self.moment(PREPARED)
    }

    /// The kernel's number of the mount on which the place truly is.
    pub fn mount_number(&self) -> Option<u64> {
        self.words.load(MOUNT).checked_sub(1)
    }

    /// When the task's place is known to have answered last: to whoever opened and prepared it, or to an operation that is over.
    pub fn answered(&self) -> Option<MonotonicTime> {
        let told = [OPENED, PREPARED, ANSWERED].map(|word| self.moment(word));
        // A part begins when what was before it is over.
        let parts = (0..PARTS_MAX).map(|part| self.part(part));
        let of_parts = parts.flat_map(|part| [part.begin, part.end.map(|(at, _)| at)]);
        told.into_iter().chain(of_parts).flatten().max()
    }

    /// How many of how many operations are over, where the task counts them.
    pub fn progress(&self) -> Option<Progress> {
        let word = self.words.load(DONE);
        (word != 0).then_some(Progress { done: (word >> 32) as u32, of: word as u32 })
    }

    /// Whether what the task waits for need not be its place.
    pub fn has_left_place(&self) -> bool {
        self.moment(LEFT_PLACE).is_some()
    }

    /// Whether the place had to be made, and with it everything in it.
    pub(crate) fn origin(&self) -> Origin {
        if self.words.load(MADE) == 0 { Origin::Found } else { Origin::Made }
    }

    /// Why the task could not begin.
    pub fn preparation_failure(&self) -> Option<PreparationFailure> {
        let at = self.moment(FAILED)?;
        let failure = FailureCode(self.words.load(FAILURE) as u16);
        Some(PreparationFailure { at, failure, sentence: self.sentence() })
    }

    /// What a command that failed said last.
    pub fn said(&self) -> Option<String> {
        (self.moment(FAILED).is_none()).then(|| self.sentence()).filter(|line| !line.is_empty())
    }

    fn sentence(&self) -> String {
        let bytes = (self.words.load(SENTENCE_BYTES) as usize).min(SENTENCE_BYTES_MAX);
        let text: Vec<u8> = (0..bytes.div_ceil(size_of::<u64>()))
            .flat_map(|word| self.words.load(SENTENCE + word).to_le_bytes())
            .take(bytes)
            .collect();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Whether the child said how the whole task ended, or why it could not begin.
    pub fn has_ended(&self) -> bool {
        self.part(0).end.is_some() || self.preparation_failure().is_some()
    }

    /// The process that clears up after the task's programs, if it has one: as long as it lives, so does one of them.
    pub fn guard(&self) -> Option<ProcessIdentity> {
        let id = u32::try_from(self.words.load(GUARD)).ok().filter(|id| *id != 0)?;
        Some(ProcessIdentity { id, start_ticks: self.words.load(GUARD_TICKS) })
    }

    /// What is known of a part; nothing of one beyond [`PARTS_MAX`].
    pub fn part(&self, part: usize) -> PartStamp {
        if part >= PARTS_MAX {
            return PartStamp::default();
        }
        let base = PARTS + part * PART_WORDS;
        let load = |offset| self.words.load(base + offset);
        let end = self.moment(base + 1).map(|at| {
            let value = f64::from_bits(load(7));
            let ending = PartEnding {
                failure: FailureCode(load(2) as u16),
                exit_status: (load(3) & HAS_STATUS != 0).then_some(load(3) as u32 as i32),
                processor: [Nanoseconds(load(4)), Nanoseconds(load(5))],
                resident_bytes_max: load(6),
                value: (!value.is_nan()).then_some(value),
            };
            (at, ending)
        });
        PartStamp { begin: self.moment(base), end }
    }

    /// When the whole task began.
    pub fn begun(&self) -> Option<MonotonicTime> {
        self.moment(PARTS)
    }

    /// The part that is in flight: the one that began last and has not ended.
    pub fn in_flight(&self, parts: usize) -> Option<usize> {
        (0..parts.min(PARTS_MAX))
            .map(|part| (self.part(part), part))
            .filter(|(stamp, _)| stamp.end.is_none())
            .filter_map(|(stamp, part)| Some((stamp.begin?, part)))
            .max()
            .map(|(_, part)| part)
    }

    fn moment(&self, word: usize) -> Option<MonotonicTime> {
        Some(self.words.load(word)).filter(|moment| *moment != 0).map(MonotonicTime)
    }
}

/// Stamps begins and ends by a clock.
#[derive(Debug)]
pub struct StampRecorder<'a, C> {
    stamps: &'a Stamps,
    clock: C,
}

impl<C: Clock> StampRecorder<'_, C> {
    /// The place is open, on the mount with this number, if that is known.
    pub(crate) fn opened(&self, mount_number: Option<u64>, origin: Origin) {
        self.stamps.words.store(MADE, u64::from(origin == Origin::Made));
        self.stamps.words.store(MOUNT, mount_number.map_or(0, |number| number + 1));
        self.stamps.words.store(OPENED, self.clock.now().0);
    }

    /// The task is ready to begin.
    pub fn prepared(&self) {
        self.stamps.words.store(PREPARED, self.clock.now().0);
    }

    /// The task cannot begin.
    pub fn failed(&self, error: &TaskError) {
        let words = &self.stamps.words;
        self.store_sentence(&error.message);
        words.store(FAILURE, u64::from(error.failure.0));
        words.store(FAILED, self.clock.now().0);
    }

    fn store_sentence(&self, text: &str) {
        let words = &self.stamps.words;
        let text = &text.as_bytes()[..text.floor_char_boundary(SENTENCE_BYTES_MAX)];
        for (word, bytes) in text.chunks(size_of::<u64>()).enumerate() {
            let mut padded = [0; size_of::<u64>()];
            padded[..bytes.len()].copy_from_slice(bytes);
            words.store(SENTENCE + word, u64::from_le_bytes(padded));
        }
        words.store(SENTENCE_BYTES, text.len() as u64);
    }
}

impl<C: Clock> PartRecorder for StampRecorder<'_, C> {
    fn begin(&mut self, part: usize) {
        // What was counted before belongs to another part.
        self.stamps.words.store(DONE, 0);
        if part < PARTS_MAX {
            let word = PARTS + part * PART_WORDS;
            self.stamps.words.store(word, self.clock.now().0);
        }
    }

    fn end(&mut self, part: usize, ending: PartEnding) {
        self.end_at(part, ending, self.clock.now());
    }

    fn end_ago(&mut self, part: usize, ending: PartEnding, ago: Nanoseconds) {
        let now = self.clock.now();
        self.end_at(part, ending, MonotonicTime(now.0.saturating_sub(ago.0)));
    }

    fn said(&mut self, line: &str) {
        self.store_sentence(line);
    }

    fn answered(&mut self, done: u32, of: u32) {
        self.stamps.words.store(DONE, u64::from(done) << 32 | u64::from(of));
        self.stamps.words.store(ANSWERED, self.clock.now().0);
    }

    fn left_place(&mut self) {
        self.stamps.words.store(LEFT_PLACE, self.clock.now().0);
    }

    fn guarded(&mut self, guard: u32) {
        // One that is gone already guards nothing.
        let Some(ticks) = start_ticks(guard) else { return };
        self.stamps.words.store(GUARD_TICKS, ticks);
        self.stamps.words.store(GUARD, u64::from(guard));
    }
}

impl<C: Clock> StampRecorder<'_, C> {
    /// Stores an end; one before its begin is the begin.
    fn end_at(&self, part: usize, ending: PartEnding, at: MonotonicTime) {
        if part >= PARTS_MAX {
            return;
        }
        let base = PARTS + part * PART_WORDS;
        let at = MonotonicTime(at.0.max(self.stamps.words.load(base)));
        let store = |offset, value| self.stamps.words.store(base + offset, value);
        store(2, u64::from(ending.failure.0));
        store(3, ending.exit_status.map_or(0, |status| HAS_STATUS | u64::from(status as u32)));
        store(4, ending.processor[0].0);
        store(5, ending.processor[1].0);
        store(6, ending.resident_bytes_max);
        store(7, ending.value.unwrap_or(f64::NAN).to_bits());
        store(1, at.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::SimulatedClock;

    #[test]
    fn the_watch_sees_what_the_child_stamps() {
        let stamps = Stamps::new().unwrap();
        let clock = SimulatedClock::starting_at(MonotonicTime(10));
        let mut recorder = stamps.recorder(clock.clone());
        assert_eq!((stamps.opened(), stamps.begun(), stamps.in_flight(3)), (None, None, None));
        assert_eq!(stamps.origin(), Origin::Found);
        recorder.opened(Some(0), Origin::Made);
        assert_eq!(stamps.origin(), Origin::Made);
        recorder.prepared();
        clock.advance(Nanoseconds(5));
        recorder.begin(0);
        recorder.begin(1);
        assert_eq!(stamps.mount_number(), Some(0));
        assert_eq!((stamps.begun(), stamps.in_flight(3)), (Some(MonotonicTime(15)), Some(1)));
        clock.advance(Nanoseconds(5));
        let ending = PartEnding {
            failure: FailureCode::EXIT,
            exit_status: Some(-2),
            processor: [Nanoseconds(3), Nanoseconds(4)],
            resident_bytes_max: 5,
            value: Some(-0.5),
        };
        recorder.end(1, ending);
        assert_eq!(stamps.part(1).end, Some((MonotonicTime(20), ending)));
        assert_eq!(stamps.in_flight(3), Some(0));
        recorder.end(0, PartEnding::default());
        assert_eq!(stamps.part(0).end, Some((MonotonicTime(20), PartEnding::default())));
        assert_eq!(stamps.in_flight(3), None);
        assert_eq!(stamps.part(2), PartStamp::default());
    }

    #[test]
    fn the_last_answer_of_the_place_and_what_is_done_are_seen() {
        let stamps = Stamps::new().unwrap();
        let clock = SimulatedClock::starting_at(MonotonicTime(10));
        let mut recorder = stamps.recorder(clock.clone());
        assert_eq!((stamps.answered(), stamps.progress(), stamps.has_left_place()), (None, None, false));
        recorder.opened(Some(1), Origin::Made);
        clock.advance(Nanoseconds(5));
        recorder.answered(3499, 3500);
        assert_eq!(stamps.progress(), Some(Progress { done: 3499, of: 3500 }));
        clock.advance(Nanoseconds(5));
        recorder.prepared();
        assert_eq!(stamps.answered(), Some(MonotonicTime(20)));
        recorder.begin(0);
        assert_eq!(stamps.progress(), None, "another part has its own");
        recorder.left_place();
        assert!(stamps.has_left_place());
    }

    #[test]
    fn an_end_that_is_only_certain_later_is_stamped_where_it_was() {
        let stamps = Stamps::new().unwrap();
        let clock = SimulatedClock::starting_at(MonotonicTime(100));
        let mut recorder = stamps.recorder(clock.clone());
        recorder.begin(0);
        recorder.begin(1);
        clock.advance(Nanoseconds(80));
        recorder.end_ago(0, PartEnding::default(), Nanoseconds(50));
        recorder.end_ago(1, PartEnding::default(), Nanoseconds(5000));
        let end = |part| stamps.part(part).end.map(|(at, _)| at);
        assert_eq!((end(0), end(1)), (Some(MonotonicTime(130)), Some(MonotonicTime(100))));
    }

    #[test]
    fn a_guard_is_known_by_its_number_and_its_start() {
        let stamps = Stamps::new().unwrap();
        let mut recorder = stamps.recorder(SimulatedClock::starting_at(MonotonicTime(1)));
        recorder.guarded(u32::MAX >> 1);
        assert_eq!(stamps.guard(), None, "there is no such process");
        let own = std::process::id();
        recorder.guarded(own);
        let ticks = start_ticks(own).unwrap();
        assert_eq!(stamps.guard(), Some(ProcessIdentity { id: own, start_ticks: ticks }));
    }

    #[test]
    fn a_failure_to_prepare_comes_with_its_sentence_however_long() {
        let stamps = Stamps::new().unwrap();
        assert_eq!(stamps.preparation_failure(), None);
        let error = TaskError { failure: FailureCode::from_errno(28), message: "x".repeat(5000) };
        stamps.recorder(SimulatedClock::starting_at(MonotonicTime(9))).failed(&error);
        let failure = stamps.preparation_failure().unwrap();
        assert_eq!((failure.at, failure.failure.errno()), (MonotonicTime(9), Some(28)));
        assert_eq!(failure.sentence, "x".repeat(SENTENCE_BYTES_MAX));
    }

    #[test]
    fn parts_beyond_the_page_are_dropped_not_written_elsewhere() {
        let stamps = Stamps::new().unwrap();
        let mut recorder = stamps.recorder(SimulatedClock::starting_at(MonotonicTime(1)));
        recorder.begin(PARTS_MAX);
        recorder.end(PARTS_MAX, PartEnding::default());
        assert_eq!(stamps.in_flight(usize::MAX), None);
    }
}
