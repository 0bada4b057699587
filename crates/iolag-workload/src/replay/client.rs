//! One task of a copy: what it does next, and when.
//!
//! ```text
//! the first task: meet the other copies | its items, in order | wait for the other tasks | say what the processors did | its payload, if it has one
//! any other:      begun by a task       | its items, in order
//! ```
//! An item that has to wait for what other tasks do waits in an operation of iolag's own before it ([`Operation::Edge`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iolag_backend::{ObjectKey, Request};
use iolag_model::{Meeting, MonotonicTime, Nanoseconds, Operation, ReplaySpec, ReplayTiming, StageIndex};
use iolag_trace::{Ask, Item};

use super::change;
use super::progress::Over;
use super::session::{ALL_OTHERS, ONLY_WAITS};
use super::shared::Shared;
use crate::processors::{ProcessorClocks, ProcessorMeter, ProcessorTimes};
use crate::{Client, CountsFrom, Done, Step};

/// The stage in which copies make their calls.
const BENCHMARK: StageIndex = StageIndex(0);

/// When what is asked by the tasks of a copy.
#[derive(Debug)]
pub struct ReplayPace {
    timing: ReplayTiming,
    speed: f64,
    /// How long after the others this copy begins.
    delay: Nanoseconds,
    kill_after: Option<Nanoseconds>,
    then: Then,
    /// When it began; 0 before.
    began: AtomicU64,
    /// When its first call started; 0 before.
    first: AtomicU64,
}

impl ReplayPace {
    /// That of the copy with this rank.
    pub fn new(spec: &ReplaySpec, rank: u32) -> Self {
        Self {
            timing: spec.timing,
            speed: spec.speed,
            delay: Nanoseconds(spec.stagger_ns.0.saturating_mul(rank.into())),
            kill_after: spec.kill_after_ns,
            then: spec.terms.payload_command.as_ref().map_or(Then::Nothing, |_| Then::Payload),
            began: AtomicU64::new(0),
            first: AtomicU64::new(0),
        }
    }

    fn began(&self) -> MonotonicTime {
        MonotonicTime(self.began.load(Ordering::Relaxed))
    }

    fn scaled(&self, time: Nanoseconds) -> Nanoseconds {
        Nanoseconds((time.0 as f64 / self.speed) as u64)
    }

    /// When an item is to be done, if that is not at once; the one before it was done at this moment.
    fn intended(&self, item: &Item, since: MonotonicTime) -> Option<MonotonicTime> {
        match self.timing {
            ReplayTiming::Asap => None,
            ReplayTiming::Gaps if item.gap == Nanoseconds::ZERO => None,
            // Waiting for others is a part of it, as it was when the program was traced.
            ReplayTiming::Gaps => Some(since.after(self.scaled(item.gap))),
            ReplayTiming::Exact => Some(self.began().after(self.scaled(item.start))),
        }
    }

    /// How long a copy may take, if it has taken that long.
    fn is_up(&self, now: MonotonicTime) -> Option<Nanoseconds> {
        let limit = self.kill_after?;
        let first = MonotonicTime(self.first.load(Ordering::Relaxed));
        (first.0 > 0 && now.since(first) >= limit).then_some(limit)
    }
}

/// What a copy does when it has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Payload,
}

/// One task.
pub(super) struct ReplayClient<'a, P> {
    task: u32,
    items: &'a [Item],
    shared: &'a Shared<'a>,
    pace: &'a ReplayPace,
    /// Of the first task.
    processors: Option<ProcessorMeter<P>>,
    next: usize,
    /// When its last item was done, or it began.
    since: MonotonicTime,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Entering,
    /// The first item comes next, at this moment.
    Beginning(MonotonicTime),
    /// Items are done.
    Going,
    /// What others do before the next item has been waited for.
    Waited,
    /// All others are waited for.
    Joining,
    /// The stage ends with this.
    Ending(Step),
    /// It has come to its end, and its payload comes next.
    Computing,
    Over,
}

impl<'a, P: ProcessorClocks> ReplayClient<'a, P> {
    pub(super) fn new(
        (task, items): (u32, &'a [Item]),
        shared: &'a Shared<'a>,
        pace: &'a ReplayPace,
        processors: Option<Arc<ProcessorTimes<P>>>,
    ) -> Self {
        let processors = processors.map(ProcessorMeter::new);
        Self { task, items, shared, pace, processors, next: 0, since: MonotonicTime(0), state: State::Before }
    }

    const fn is_first(&self) -> bool {
        self.task == 0
    }

    fn request(&self, operation: Operation, index: u64, bytes: u64) -> Request {
        Request::new(operation, ObjectKey { rank: 0, dataset: self.task, index }, bytes)
    }

    fn edge(&self, index: u64, bytes: u64) -> Step {
        Step::Execute { request: self.request(Operation::Edge, index, bytes), intended: None }
    }

    /// The next item, or what has to be waited for before.
    fn go_on(&mut self, now: MonotonicTime) -> Step {
        let items = self.items;
        while let Some(item) = items.get(self.next) {
            let is_ready = item.after.is_empty() || self.shared.progress.is_done(&item.after);
            let index = self.next as u64;
            if !is_ready && self.state != State::Waited {
                self.state = State::Waited;
                return self.edge(index, ONLY_WAITS);
            }
            let intended = match self.state {
                State::Beginning(moment) => Some(moment),
                _ => self.pace.intended(item, self.since),
            };
            self.state = State::Going;
            let is_nothing = match &item.ask {
                Ask::Wait => intended.is_none(),
                Ask::Execute(closed) => closed.is_empty() && intended.is_none(),
                _ => false,
            };
            if !is_nothing {
                return Step::Execute { request: self.request(operation_of(&item.ask), index, 0), intended };
            }
            self.next += 1;
            self.since = now;
            self.shared.progress.note(self.task, self.next as u32);
        }
        match self.is_first() {
            true => {
                self.state = State::Joining;
                self.edge(ALL_OTHERS, 0)
            }
            false => self.over(),
        }
    }

    fn over(&mut self) -> Step {
        self.state = State::Over;
        Step::Finished
    }

    /// The time is up: the first task says so, the others do nothing more.
    fn time_out(&mut self, limit: Nanoseconds) -> Step {
        self.shared.progress.end(Over::TimeUp);
        if !self.is_first() {
            return self.over();
        }
        self.end(Step::TimeOut { limit })
    }

    /// Ends the stage so, and says before what the processors did in it.
    fn end(&mut self, step: Step) -> Step {
        match self.processors.as_mut().and_then(|meter| meter.end(0, self.pace.began())) {
            Some(note) => {
                self.state = State::Ending(step);
                Step::Note(note)
            }
            None => self.leave(step),
        }
    }

    fn leave(&mut self, step: Step) -> Step {
        self.state = match (step, self.pace.then) {
            (Step::End, Then::Payload) => State::Computing,
            _ => State::Over,
        };
        step
    }
}

impl<P: ProcessorClocks> Client for ReplayClient<'_, P> {
    #[inline]
    fn next(&mut self, now: MonotonicTime) -> Step {
        match self.state {
            State::Before if self.is_first() => {
                self.state = State::Entering;
                Step::Begin { stage: BENCHMARK, value: 0 }
            }
            State::Before => {
                self.since = now;
                self.state = State::Going;
                Step::Enter { stage: BENCHMARK }
            }
            State::Beginning(_) | State::Going | State::Waited | State::Joining => {
                if let Some(limit) = self.pace.is_up(now) {
                    return self.time_out(limit);
                }
                match self.shared.progress.over() {
                    Some(_) if !self.is_first() => return self.over(),
                    // It is about to be told to stop: to finish would be to have come to its end.
                    Some(Over::Lost) => return Step::Pause { until: now },
                    // Another task has seen that the time is up, which it is for this one when that has ended.
                    Some(Over::TimeUp) => return self.edge(ALL_OTHERS, 0),
                    None => {}
                }
                if self.state != State::Joining {
                    return self.go_on(now);
                }
                self.end(Step::End)
            }
            State::Ending(step) => self.leave(step),
            State::Computing => {
                self.state = State::Over;
                let request = self.request(Operation::Payload, ALL_OTHERS, 0);
                Step::Execute { request, intended: None }
            }
            // Asked without having met: the run is over for everybody.
            State::Entering | State::Over => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        if self.pace.kill_after.is_some() && !request.operation.is_of_caches() {
            let _ = self.pace.first.compare_exchange(0, done.start.0, Ordering::Relaxed, Ordering::Relaxed);
        }
        let is_item = request.bytes != ONLY_WAITS && request.key.index == self.next as u64;
        if is_item && !request.operation.is_of_caches() {
            self.next += 1;
            self.since = done.end;
            self.shared.progress.note(self.task, self.next as u32);
        }
    }

    fn met(&mut self, meeting: &Meeting, _now: MonotonicTime) {
        let begin = meeting.begin.after(self.pace.delay);
        self.pace.began.store(begin.0, Ordering::Relaxed);
        self.since = begin;
        self.state = match self.pace.delay {
            Nanoseconds::ZERO => State::Going,
            _ => State::Beginning(begin),
        };
    }

    /// A job that waits for a processor waits.
    fn stage_counts_from(&self) -> CountsFrom {
        CountsFrom::Meeting(self.pace.delay)
    }

    fn starts(&mut self) {
        if let Some(processors) = &mut self.processors {
            processors.start(0);
        }
    }
}

/// As what an item is recorded.
fn operation_of(ask: &Ask) -> Operation {
    match ask {
        Ask::Fork(_) | Ask::Execute(_) | Ask::Wait | Ask::CloseAll(_) => Operation::Edge,
        Ask::Stat(..) | Ask::Statx(..) => Operation::CallStat,
        Ask::Access(..) => Operation::CallAccess,
        Ask::ReadLink(..) => Operation::CallReadlink,
        Ask::Open(..) => Operation::CallOpen,
        Ask::StatFs(_) | Ask::StatFsOf(_) => Operation::CallStatfs,
        Ask::ChangeDirectory(_) | Ask::ChangeDirectoryTo(_) => Operation::CallChdir,
        Ask::TellDirectory => Operation::CallGetcwd,
        Ask::Attributes(_) => Operation::CallFstat,
        Ask::Read(..) | Ask::ReadAt(..) => Operation::CallRead,
        Ask::Seek(..) => Operation::CallSeek,
        Ask::List(..) => Operation::CallGetdents,
        Ask::Map(..) => Operation::CallMmap,
        Ask::Flags(_) | Ask::IsTerminal(_) | Ask::Duplicate(..) => Operation::CallFcntl,
        Ask::Close(_) => Operation::CallClose,
        Ask::Change(change) => change::operation_of(change),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{JobTerms, ReplayCoverage, Waiting};
    use iolag_trace::{After, Repetition};

    use crate::replay::buffers::Buffers;
    use crate::replay::paths::Paths;
    use crate::replay::progress::Progress;

    struct Still;

    impl ProcessorClocks for Still {
        fn of_thread(&self) -> Nanoseconds {
            Nanoseconds::ZERO
        }

        fn of_others(&self) -> Nanoseconds {
            Nanoseconds::ZERO
        }
    }

    fn spec(kill_after_ns: Option<Nanoseconds>) -> ReplaySpec {
        ReplaySpec {
            trace: "x".into(),
            program: None,
            base: "/".into(),
            maps: Vec::new(),
            only: Vec::new(),
            timing: ReplayTiming::Asap,
            speed: 1.0,
            stagger_ns: Nanoseconds::ZERO,
            tasks: 2,
            items_max: 9,
            traced_ns: Nanoseconds::ZERO,
            tracing_ns: Nanoseconds::ZERO,
            coverage: ReplayCoverage::default(),
            terms: JobTerms::NONE,
            kill_after_ns,
            own: None,
        }
    }

    /// A first task whose first call started at the moment 100, asked for its next step at this moment, when the copy is over for this reason.
    fn steps_when_over(why: Over, moments: &[u64]) -> Vec<Step> {
        let items: Vec<Item> = (0..9)
            .map(|_| Item {
                ask: Ask::TellDirectory,
                after: Vec::new(),
                start: Nanoseconds::ZERO,
                gap: Nanoseconds::ZERO,
                errno: 0,
            })
            .collect();
        let paths = Paths::new(Vec::new(), &[]);
        let shared = Shared {
            paths: &paths,
            progress: Progress::new(2),
            buffers: Buffers::new(&Repetition::default(), 0),
            descriptors: Box::new([]),
        };
        let pace = ReplayPace::new(&spec(Some(Nanoseconds(50))), 0);
        let mut client = ReplayClient::<Still>::new((0, &items), &shared, &pace, None);
        assert_eq!(client.next(MonotonicTime(99)), Step::Begin { stage: BENCHMARK, value: 0 });
        let begin = MonotonicTime(100);
        client.met(&Meeting { values: [].into(), begin, waiting: Waiting::Actively }, begin);
        let Step::Execute { request, .. } = client.next(begin) else { panic!("it asks") };
        let done =
            Done { completion: iolag_backend::Completion::ok(0), start: begin, end: MonotonicTime(149) };
        client.completed(&request, &done);
        shared.progress.end(why);
        moments.iter().map(|moment| client.next(MonotonicTime(*moment))).collect()
    }

    #[test]
    fn a_copy_whose_time_is_up_for_another_task_times_out_and_does_not_finish() {
        let steps = steps_when_over(Over::TimeUp, &[149, 150, 151]);
        let Step::Execute { request, .. } = steps[0] else { panic!("it waits: {steps:?}") };
        assert_eq!((request.operation, request.key.index), (Operation::Edge, ALL_OTHERS));
        assert_eq!(steps[1..], [Step::TimeOut { limit: Nanoseconds(50) }, Step::Finished]);
    }

    #[test]
    fn what_a_task_waits_for_others_is_a_part_of_its_own_pause() {
        let item = |gap, after| Item {
            ask: Ask::Wait,
            after,
            start: Nanoseconds::ZERO,
            gap: Nanoseconds(gap),
            errno: 0,
        };
        let items = [item(100, vec![After { task: 1, items: 1 }]), item(10, Vec::new())];
        let paths = Paths::new(Vec::new(), &[]);
        let buffers = Buffers::new(&Repetition::default(), 0);
        let shared = Shared { paths: &paths, progress: Progress::new(2), buffers, descriptors: Box::new([]) };
        let pace = ReplayPace::new(&ReplaySpec { timing: ReplayTiming::Gaps, ..spec(None) }, 0);
        let mut client = ReplayClient::<Still>::new((0, &items), &shared, &pace, None);
        client.next(MonotonicTime(1000));
        let begin = MonotonicTime(1000);
        client.met(&Meeting { values: [].into(), begin, waiting: Waiting::Actively }, begin);
        // It waits for the other task, which takes longer than the pause did.
        let Step::Execute { request, intended: None } = client.next(begin) else { panic!("it waits") };
        let end = |start, end| Done {
            completion: iolag_backend::Completion::ok(0),
            start: MonotonicTime(start),
            end: MonotonicTime(end),
        };
        shared.progress.note(1, 1);
        client.completed(&request, &end(1000, 1250));
        let Step::Execute { request, intended } = client.next(MonotonicTime(1250)) else {
            panic!("it goes on")
        };
        assert_eq!(intended, Some(MonotonicTime(1100)), "which is over");
        client.completed(&request, &end(1250, 1251));
        let Step::Execute { intended, .. } = client.next(MonotonicTime(1251)) else { panic!("it goes on") };
        assert_eq!(intended, Some(MonotonicTime(1261)), "what it computes then is after the waiting");
    }

    #[test]
    fn a_copy_that_has_come_to_its_end_computes() {
        let terms = JobTerms { payload_command: Some("sleep 1".to_owned()), ..JobTerms::NONE };
        let paths = Paths::new(Vec::new(), &[]);
        let buffers = Buffers::new(&Repetition::default(), 0);
        let shared = Shared { paths: &paths, progress: Progress::new(1), buffers, descriptors: Box::new([]) };
        let pace = ReplayPace::new(&ReplaySpec { terms, ..spec(None) }, 0);
        let mut client = ReplayClient::<Still>::new((0, &[]), &shared, &pace, None);
        let now = MonotonicTime(100);
        client.next(now);
        client.met(&Meeting { values: [].into(), begin: now, waiting: Waiting::Actively }, now);
        let steps: Vec<Step> = (0..4).map(|_| client.next(now)).collect();
        let operation = |step| match step {
            Step::Execute { request, .. } => Some(request.operation),
            _ => None,
        };
        assert_eq!(
            [operation(steps[0]), operation(steps[2])],
            [Some(Operation::Edge), Some(Operation::Payload)]
        );
        assert_eq!([steps[1], steps[3]], [Step::End, Step::Finished]);
    }

    #[test]
    fn a_copy_that_has_lost_a_task_waits_to_be_stopped() {
        let until = MonotonicTime(120);
        assert_eq!(steps_when_over(Over::Lost, &[120, 120]), [Step::Pause { until }; 2]);
    }
}
