//! Stamps: what a probe's child says of itself, in one page that the watch reads at any moment.
//!
//! Times are monotonic nanoseconds, zero where something has not happened. An end is stored after what belongs to it, so who
//! sees the end sees all of it. Where the page lies on a tmpfs, a later watch reads it too.

use std::mem::offset_of;
use std::os::fd::BorrowedFd;

use iolag_keeper::{KeeperError, MadeOfWords, SharedWords, Word, start_ticks};
use iolag_model::{Clock, FailureCode, MonotonicTime, Nanoseconds, Progress};
use iolag_workload::{PartEnding, PartRecorder, TaskError};

use crate::probe::process::ProcessIdentity;
use iolag_directory::Origin;

/// What stands in the page. A watch of another version may read it: every word keeps its place.
#[derive(Debug)]
#[repr(C)]
struct Page {
    /// When the place was open.
    opened: Word,
    /// When it was prepared.
    prepared: Word,
    /// Number of its mount, plus one.
    mount: Word,
    /// When preparing failed.
    failed: Word,
    /// Why.
    failure: Word,
    sentence_bytes: Word,
    /// Its guard's process id.
    guard: Word,
    /// When that was started, in clock ticks since boot.
    guard_ticks: Word,
    /// Whether the place was made.
    made: Word,
    /// Why preparing failed, or what a command said last.
    sentence: [Word; 52],
    /// When the task may have begun to wait for something else than its place.
    left_place: Word,
    /// When the place answered last.
    answered: Word,
    /// Operations done and of how many, 32 bits each.
    done: Word,
    parts: [Part; PARTS_MAX],
}

#[derive(Debug)]
#[repr(C)]
struct Part {
    begin: Word,
    end: Word,
    failure: Word,
    /// With [`HAS_STATUS`] if there is one.
    exit_status: Word,
    processor: [Word; 2],
    resident_bytes_max: Word,
    /// NaN: none.
    value: Word,
}

// SAFETY: nothing but words, and `#[repr(C)]`.
unsafe impl MadeOfWords for Page {}

const _: () = assert!(size_of::<Page>() == 4096 && size_of::<Part>() == 64);
const _: () = assert!(offset_of!(Page, left_place) == 61 * 8 && offset_of!(Page, parts) == 64 * 8);

const HAS_STATUS: u64 = 1 << 32;
const SENTENCE_BYTES_MAX: usize = offset_of!(Page, left_place) - offset_of!(Page, sentence);

/// The most parts that a task may have.
pub const PARTS_MAX: usize = 56;

/// The page of one probe.
#[derive(Debug, Clone)]
pub struct Stamps {
    page: SharedWords<Page>,
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
        Ok(Self { page: SharedWords::new()? })
    }

    /// A page in a file on a tmpfs; what is stamped there already is kept.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn in_file(file: BorrowedFd<'_>) -> Result<Self, KeeperError> {
        Ok(Self { page: SharedWords::in_file(file)? })
    }

    /// The child's side.
    pub const fn recorder<C: Clock>(&self, clock: C) -> StampRecorder<'_, C> {
        StampRecorder { stamps: self, clock }
    }

    /// When the child had opened the task's place.
    pub fn opened(&self) -> Option<MonotonicTime> {
        moment(&self.page.opened)
    }

    /// When the child had prepared the task.
    pub fn prepared(&self) -> Option<MonotonicTime> {
        moment(&self.page.prepared)
    }

    /// The kernel's number of the mount on which the place truly is.
    pub fn mount_number(&self) -> Option<u64> {
        self.page.mount.load().checked_sub(1)
    }

    /// When the task's place is known to have answered last: to whoever opened and prepared it, or to an operation that is over.
    pub fn answered(&self) -> Option<MonotonicTime> {
        let Page { opened, prepared, answered, .. } = &*self.page;
        let told = [opened, prepared, answered].map(moment);
        // A part begins when what was before it is over.
        let parts = (0..PARTS_MAX).map(|part| self.part(part));
        let of_parts = parts.flat_map(|part| [part.begin, part.end.map(|(at, _)| at)]);
        told.into_iter().chain(of_parts).flatten().max()
    }

    /// How many of how many operations are over, where the task counts them.
    pub fn progress(&self) -> Option<Progress> {
        let word = self.page.done.load();
        (word != 0).then_some(Progress { done: (word >> 32) as u32, of: word as u32 })
    }

    /// Whether what the task waits for need not be its place.
    pub fn has_left_place(&self) -> bool {
        moment(&self.page.left_place).is_some()
    }

    /// Whether the place had to be made, and with it everything in it.
    pub(crate) fn origin(&self) -> Origin {
        if self.page.made.load() == 0 { Origin::Found } else { Origin::Made }
    }

    /// Why the task could not begin.
    pub fn preparation_failure(&self) -> Option<PreparationFailure> {
        let at = moment(&self.page.failed)?;
        let failure = FailureCode(self.page.failure.load() as u16);
        Some(PreparationFailure { at, failure, sentence: self.sentence() })
    }

    /// What a command that failed said last.
    pub fn said(&self) -> Option<String> {
        moment(&self.page.failed).is_none().then(|| self.sentence()).filter(|line| !line.is_empty())
    }

    fn sentence(&self) -> String {
        let bytes = (self.page.sentence_bytes.load() as usize).min(SENTENCE_BYTES_MAX);
        let text = self.page.sentence.iter().flat_map(|word| word.load().to_le_bytes());
        let text: Vec<u8> = text.take(bytes).collect();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Whether the child said how the whole task ended, or why it could not begin.
    pub fn has_ended(&self) -> bool {
        self.part(0).end.is_some() || self.preparation_failure().is_some()
    }

    /// The process that clears up after the task's programs, if it has one: as long as it lives, so does one of them.
    pub fn guard(&self) -> Option<ProcessIdentity> {
        let id = u32::try_from(self.page.guard.load()).ok().filter(|id| *id != 0)?;
        Some(ProcessIdentity { id, start_ticks: self.page.guard_ticks.load() })
    }

    /// What is known of a part; nothing of one beyond [`PARTS_MAX`].
    pub fn part(&self, part: usize) -> PartStamp {
        let Some(part) = self.page.parts.get(part) else { return PartStamp::default() };
        let end = moment(&part.end).map(|at| {
            let (status, value) = (part.exit_status.load(), f64::from_bits(part.value.load()));
            let ending = PartEnding {
                failure: FailureCode(part.failure.load() as u16),
                exit_status: (status & HAS_STATUS != 0).then_some(status as u32 as i32),
                processor: part.processor.each_ref().map(|word| Nanoseconds(word.load())),
                resident_bytes_max: part.resident_bytes_max.load(),
                value: (!value.is_nan()).then_some(value),
            };
            (at, ending)
        });
        PartStamp { begin: moment(&part.begin), end }
    }

    /// When the whole task began.
    pub fn begun(&self) -> Option<MonotonicTime> {
        moment(&self.page.parts[0].begin)
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
}

fn moment(word: &Word) -> Option<MonotonicTime> {
    Some(word.load()).filter(|moment| *moment != 0).map(MonotonicTime)
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
        self.stamps.page.made.store(u64::from(origin == Origin::Made));
        self.stamps.page.mount.store(mount_number.map_or(0, |number| number + 1));
        self.stamps.page.opened.store(self.clock.now().0);
    }

    /// The task is ready to begin.
    pub fn prepared(&self) {
        self.stamps.page.prepared.store(self.clock.now().0);
    }

    /// The task cannot begin.
    pub fn failed(&self, error: &TaskError) {
        self.store_sentence(&error.message);
        self.stamps.page.failure.store(u64::from(error.failure.0));
        self.stamps.page.failed.store(self.clock.now().0);
    }

    fn store_sentence(&self, text: &str) {
        let page = &self.stamps.page;
        let text = &text.as_bytes()[..text.floor_char_boundary(SENTENCE_BYTES_MAX)];
        for (word, bytes) in page.sentence.iter().zip(text.chunks(size_of::<u64>())) {
            let mut padded = [0; size_of::<u64>()];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(padded));
        }
        page.sentence_bytes.store(text.len() as u64);
    }
}

impl<C: Clock> PartRecorder for StampRecorder<'_, C> {
    fn begin(&mut self, part: usize) {
        // What was counted before belongs to another part.
        self.stamps.page.done.store(0);
        if let Some(part) = self.stamps.page.parts.get(part) {
            part.begin.store(self.clock.now().0);
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
        self.stamps.page.done.store(u64::from(done) << 32 | u64::from(of));
        self.stamps.page.answered.store(self.clock.now().0);
    }

    fn left_place(&mut self) {
        self.stamps.page.left_place.store(self.clock.now().0);
    }

    fn guarded(&mut self, guard: u32) {
        // One that is gone already guards nothing.
        let Some(ticks) = start_ticks(guard) else { return };
        self.stamps.page.guard_ticks.store(ticks);
        self.stamps.page.guard.store(u64::from(guard));
    }
}

impl<C: Clock> StampRecorder<'_, C> {
    /// Stores an end; one before its begin is the begin.
    fn end_at(&self, part: usize, ending: PartEnding, at: MonotonicTime) {
        let Some(part) = self.stamps.page.parts.get(part) else { return };
        let status = ending.exit_status.map_or(0, |status| HAS_STATUS | u64::from(status as u32));
        part.failure.store(u64::from(ending.failure.0));
        part.exit_status.store(status);
        part.processor[0].store(ending.processor[0].0);
        part.processor[1].store(ending.processor[1].0);
        part.resident_bytes_max.store(ending.resident_bytes_max);
        part.value.store(ending.value.unwrap_or(f64::NAN).to_bits());
        part.end.store(at.0.max(part.begin.load()));
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
