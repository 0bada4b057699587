//! One client that measures beside a load: it asks one thing, in one place, at moments of its own.
//!
//! What comes due while the attempt before has not ended is not asked: it is recorded as skipped, and would have waited at least until that
//! ended. So no slow attempt hides what those after it would have felt, and a place that answers slowly is not asked ever more. It belongs to
//! the stage of the load in which it came due; what came due between two stages, to that in which the attempt in its way was asked.
//!
//! Limits: durations begin when the thread is awake, not when the attempt was intended: waking it takes longer than a local file system
//! does, and how late it was stands in the sample.

use iolag_backend::Request;
use iolag_model::{
    Arrivals, AttemptId, BystanderTask, ErrorClass, FailureCode, LoadCourse, LoadTime, MonotonicTime,
    Nanoseconds, Operation, Outcome, Random, Sample, StageIndex, Standpoint, WhenLate,
};

use super::session::Own;
use crate::{Client, Done, Note, Pacer, Step};

/// How often it looks what time of the load it is.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);

/// A bystander, or a control.
#[derive(Debug)]
pub struct BystanderClient<C> {
    course: C,
    asks: Asks,
    stages: Vec<(LoadTime, StageIndex)>,
    /// The stage that it is in, and when what is due in it.
    entered: Option<(StageIndex, Pacer)>,
    /// When the last attempt began, and when it was free for the next one.
    attempt: [MonotonicTime; 2],
    /// What came due behind it at another time of the load, and is noted in the stage of that.
    due_elsewhere: Option<MonotonicTime>,
    /// Files that it has created so far, and the one that is to be removed.
    created: u64,
    removal: Option<Request>,
    is_over: bool,
}

/// What a bystander asks, where, and when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asks {
    /// What.
    pub task: BystanderTask,
    /// From where.
    pub standpoint: Standpoint,
    /// How often, a second.
    pub rate_per_second: f64,
    /// How long after the beginning of a stage the first is due: not all are to ask at the same moment.
    pub delay: Nanoseconds,
    /// Its own files.
    pub own: Own,
    /// What it has to remove at the end.
    pub keeps: Keeps,
}

/// What is there as long as a bystander measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// Its own file.
    ItsFile,
    /// Nothing: it asks for what others have made.
    Nothing,
}

impl<C: LoadCourse> BystanderClient<C> {
    /// A bystander with these stages, by the time of the load.
    pub const fn new(course: C, asks: Asks, stages: Vec<(LoadTime, StageIndex)>) -> Self {
        Self {
            course,
            asks,
            stages,
            entered: None,
            attempt: [MonotonicTime(0); 2],
            due_elsewhere: None,
            created: 0,
            removal: None,
            is_over: false,
        }
    }

    fn stage_at(&self, time: LoadTime) -> Option<StageIndex> {
        self.stages.iter().find(|(known, _)| *known == time).map(|(_, stage)| *stage)
    }

    fn enter(&mut self, stage: StageIndex, now: MonotonicTime) -> Step {
        let (arrivals, begin) = (Arrivals::Rate(self.asks.rate_per_second), now.after(self.asks.delay));
        let pacer = Pacer::open_schedule(arrivals, WhenLate::Skip, begin, Random::new(1));
        self.entered = Some((stage, pacer));
        Step::Enter { stage }
    }

    fn request(&mut self) -> Request {
        let own = self.asks.own;
        let key = match (self.asks.task, self.asks.standpoint) {
            (BystanderTask::Create, _) => {
                self.created += 1;
                own.created(self.created)
            }
            (_, Standpoint::File) => own.file_of_load(),
            _ => own.kept(),
        };
        Request::new(self.asks.task.operation(), key, own.bytes_of(self.asks.task))
    }

    /// What came due behind the last attempt and is not asked. What came due before that began was missed by a thread that woke up late,
    /// which is not the storage's doing.
    fn skipped(&mut self) -> Option<MonotonicTime> {
        let [began, _] = self.attempt;
        let pacer = &mut self.entered.as_mut()?.1;
        self.due_elsewhere
            .take()
            .or_else(|| std::iter::from_fn(|| pacer.take_skipped()).find(|due| *due >= began))
    }

    fn note(&self, due: MonotonicTime) -> Note {
        let [_, free] = self.attempt;
        let sample = Sample::new(AttemptId(0), self.asks.task.operation(), due, due, free.since(due))
            .with_outcome(Outcome::Skipped, FailureCode::NONE);
        Note { sample, number: None, blocker: None }
    }
}

impl<C: LoadCourse> Client for BystanderClient<C> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        if let Some(request) = self.removal.take() {
            return Step::Execute { request, intended: None };
        }
        if let Some(due) = self.skipped() {
            let stage = self.course.time_at(due).and_then(|time| self.stage_at(time));
            let entered = self.entered.as_mut().map(|(entered, _)| entered);
            if let Some((stage, entered)) = stage.zip(entered).filter(|(stage, entered)| *stage != **entered)
            {
                // The load went on while the attempt waited: who came then came at that time of the load.
                *entered = stage;
                self.due_elsewhere = Some(due);
                return Step::Enter { stage };
            }
            return Step::Note(self.note(due));
        }
        if self.course.time() == LoadTime::Over {
            let keeps = self.asks.keeps == Keeps::ItsFile && self.entered.is_some();
            return match std::mem::replace(&mut self.is_over, true) {
                false if keeps => {
                    let request = Request::new(Operation::Delete, self.asks.own.kept(), 0);
                    Step::Execute { request, intended: None }
                }
                _ => Step::Finished,
            };
        }
        let Some(stage) = self.stage_at(self.course.time()) else {
            return Step::Pause { until: now.after(LOOK) };
        };
        let Some((_, pacer)) = self.entered.as_mut().filter(|(entered, _)| *entered == stage) else {
            return self.enter(stage, now);
        };
        let due = pacer.intended().unwrap_or(now);
        if due > now {
            return Step::Pause { until: due.min(now.after(LOOK)) };
        }
        Step::Execute { request: self.request(), intended: Some(due) }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        if request.operation == Operation::Delete {
            return;
        }
        self.attempt = [done.start, done.end];
        if request.operation == Operation::Create {
            self.removal = Some(Request::new(Operation::Delete, request.key, 0));
        }
        if let Some((_, pacer)) = &mut self.entered {
            pacer.completed(done);
        }
    }

    /// What the load has not made yet, or not any more, is not missing.
    fn asks_again(&self, _request: &Request, done: &Done) -> bool {
        done.completion.code.class() == ErrorClass::NotFound
            && matches!(self.asks.standpoint, Standpoint::File | Standpoint::Directory)
    }

    fn last_note(&mut self) -> Option<Note> {
        self.skipped().map(|due| self.note(due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::Completion;
    use std::sync::Mutex;

    /// A load that is at a time which the test sets, and when it came to be.
    struct At(Mutex<Vec<(MonotonicTime, LoadTime)>>);

    impl At {
        fn new(time: LoadTime) -> Self {
            Self(Mutex::new(vec![(MonotonicTime(0), time)]))
        }
    }

    impl LoadCourse for &At {
        fn tell(&self, time: LoadTime, now: MonotonicTime) {
            self.0.lock().unwrap().push((now, time));
        }

        fn begin(&self, _stage: StageIndex, _now: MonotonicTime) {}

        fn end(&self, _now: MonotonicTime) {}

        fn time(&self) -> LoadTime {
            self.0.lock().unwrap().last().unwrap().1
        }

        fn time_at(&self, moment: MonotonicTime) -> Option<LoadTime> {
            let known = self.0.lock().unwrap();
            known.iter().rev().find(|(begin, _)| *begin <= moment).map(|(_, time)| *time)
        }

        fn beside(&self) -> usize {
            1
        }
    }

    const DURING: LoadTime = LoadTime::During(StageIndex(1));
    const MILLISECOND: u64 = 1_000_000;

    struct Walk<'a> {
        at: &'a At,
        client: BystanderClient<&'a At>,
        now: MonotonicTime,
        stage: Option<StageIndex>,
        /// Stage, operation, outcome and duration in ms of what was asked, or skipped.
        seen: Vec<(u16, Operation, Outcome, u64)>,
    }

    impl<'a> Walk<'a> {
        fn new(at: &'a At, task: BystanderTask, standpoint: Standpoint) -> Self {
            let own = Own { number: 1, rank: 0 };
            let keeps = if standpoint == Standpoint::File { Keeps::Nothing } else { Keeps::ItsFile };
            let asks = Asks { task, standpoint, rate_per_second: 10.0, delay: Nanoseconds::ZERO, own, keeps };
            let stages = vec![(LoadTime::Before, StageIndex(4)), (DURING, StageIndex(5))];
            let (client, now) = (BystanderClient::new(at, asks, stages), MonotonicTime(0));
            Self { at, client, now, stage: None, seen: Vec::new() }
        }

        /// Until this moment each request takes so long, and ends so; whether the client goes on.
        fn until(&mut self, milliseconds: u64, takes: u64, completion: Completion) -> bool {
            while self.now < MonotonicTime(milliseconds * MILLISECOND) {
                match self.client.next(self.now) {
                    Step::Pause { until } => self.now = until,
                    Step::Enter { stage } => self.stage = Some(stage),
                    Step::Note(note) => {
                        let sample = note.sample;
                        let outcome = sample.outcome();
                        self.see(sample.operation(), outcome, sample.duration.0 / MILLISECOND);
                    }
                    Step::Execute { request, intended } => {
                        let start = intended.unwrap_or(self.now);
                        let end = start.after(Nanoseconds(takes * MILLISECOND));
                        let done = Done { completion, start, end };
                        let outcome = match self.client.asks_again(&request, &done) {
                            true => Outcome::Retried,
                            false => Outcome::Ok,
                        };
                        self.see(request.operation, outcome, takes);
                        self.client.completed(&request, &done);
                        self.now = end;
                    }
                    Step::Finished => return false,
                    other => panic!("{other:?}"),
                }
            }
            true
        }

        fn see(&mut self, operation: Operation, outcome: Outcome, milliseconds: u64) {
            self.seen.push((self.stage.unwrap().0, operation, outcome, milliseconds));
        }
    }

    #[test]
    fn it_asks_at_its_rate_while_there_is_a_time_to_measure_and_what_is_due_behind_a_slow_one_is_a_bound() {
        let at = At::new(LoadTime::Between);
        let mut walk = Walk::new(&at, BystanderTask::Stat, Standpoint::File);
        assert!(walk.until(500, 1, Completion::ok(0)));
        assert_eq!(walk.seen, [], "nothing is measured yet");
        walk.at.tell(LoadTime::Before, walk.now);
        walk.until(1000, 1, Completion::ok(0));
        assert_eq!(walk.seen, [(4, Operation::Stat, Outcome::Ok, 1); 5]);
        walk.seen.clear();
        walk.at.tell(DURING, walk.now);
        walk.until(2900, 350, Completion::ok(0));
        let slow = (5, Operation::Stat, Outcome::Ok, 350);
        let skipped = |milliseconds| (5, Operation::Stat, Outcome::Skipped, milliseconds);
        let round = [slow, skipped(250), skipped(150), skipped(50)];
        assert_eq!(walk.seen[..8], [round, round].concat());
        walk.at.tell(LoadTime::Over, walk.now);
        assert!(!walk.until(10_000, 1, Completion::ok(0)));
        assert_eq!(walk.seen.last().unwrap().1, Operation::Stat, "the file is none of its own");
    }

    #[test]
    fn what_came_due_behind_an_attempt_is_recorded_also_where_its_stage_is_over_when_it_ends() {
        for after in [LoadTime::Between, LoadTime::Over] {
            let at = At::new(DURING);
            let mut walk = Walk::new(&at, BystanderTask::Stat, Standpoint::File);
            // One attempt of 350 ms, during which the stage ends.
            walk.until(1, 350, Completion::ok(0));
            walk.at.tell(after, walk.now);
            walk.until(400, 1, Completion::ok(0));
            let skipped = |milliseconds| (5, Operation::Stat, Outcome::Skipped, milliseconds);
            assert_eq!(walk.seen[1..], [skipped(250), skipped(150), skipped(50)], "{after:?}");
        }
        let at = At::new(DURING);
        let mut walk = Walk::new(&at, BystanderTask::Stat, Standpoint::File);
        walk.until(1, 350, Completion::ok(0));
        let notes = std::iter::from_fn(|| walk.client.last_note());
        assert_eq!(notes.count(), 3, "also of who is stopped");
    }

    #[test]
    fn what_came_due_behind_an_attempt_belongs_to_the_stage_in_which_it_came_due() {
        let at = At::new(LoadTime::Before);
        let mut walk = Walk::new(&at, BystanderTask::Stat, Standpoint::Directory);
        // One attempt of 550 ms, 150 ms after which the load begins.
        walk.until(1, 550, Completion::ok(0));
        walk.at.tell(DURING, MonotonicTime(150 * MILLISECOND));
        walk.until(650, 1, Completion::ok(0));
        let skipped = |stage, milliseconds| (stage, Operation::Stat, Outcome::Skipped, milliseconds);
        let behind = [skipped(4, 450), skipped(5, 350), skipped(5, 250), skipped(5, 150), skipped(5, 50)];
        assert_eq!(walk.seen[1..6], behind);
        assert_eq!(walk.seen[6..], [(5, Operation::Stat, Outcome::Ok, 1)], "then it asks as before");
    }

    #[test]
    fn what_it_created_it_removes_and_at_the_end_its_own_file() {
        let at = At::new(LoadTime::Before);
        let mut walk = Walk::new(&at, BystanderTask::Create, Standpoint::Sibling);
        walk.until(150, 1, Completion::ok(0));
        walk.at.tell(LoadTime::Over, walk.now);
        assert!(!walk.until(1000, 1, Completion::ok(0)));
        let operations: Vec<_> = walk.seen.iter().map(|seen| seen.1).collect();
        assert_eq!(
            operations,
            [Operation::Create, Operation::Delete, Operation::Create, Operation::Delete, Operation::Delete]
        );
    }

    #[test]
    fn what_the_load_has_not_made_yet_is_missing_only_where_the_load_does_not_make_it() {
        let gone = Completion::failed(FailureCode::from_errno(libc::ENOENT));
        let standpoints = [Standpoint::File, Standpoint::Directory, Standpoint::Sibling];
        let outcomes = standpoints.map(|standpoint| {
            let at = At::new(LoadTime::Before);
            let mut walk = Walk::new(&at, BystanderTask::Stat, standpoint);
            walk.until(50, 1, gone);
            walk.seen[0].2
        });
        assert_eq!(outcomes, [Outcome::Retried, Outcome::Retried, Outcome::Ok]);
    }
}
