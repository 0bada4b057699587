//! A client of the load beside which others measure: a client around another one.
//!
//! It says what time of the load it is, waits before the first stage that is measured and after the last, and lets what was made be
//! removed only when nobody measures any more.

use std::sync::Arc;

use iolag_backend::Request;
use iolag_model::{LoadCourse, LoadTime, Meeting, MonotonicTime, Nanoseconds, StageIndex, StageRecord};

use crate::{Client, CountsFrom, Done, Note, Step};

/// Who measures beside the load has so long to remove its own files.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(2);
/// How often it is looked whether they have.
const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// A client of the load.
#[derive(Debug)]
pub struct LoadClient<K, C> {
    inner: K,
    stages: Arc<[StageRecord]>,
    course: C,
    quiet: Nanoseconds,
    state: State,
    progress: Progress,
    /// The stage that the client inside is about to begin, if it is measured; then the one that it is in.
    entering: Option<StageIndex>,
    is_inside: bool,
}

/// How far the client inside is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Making,
    Measured,
    Removing,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The client inside is asked.
    Inside,
    /// Its last stage is over, and it wants to do this.
    Ending(Step),
    /// All are to meet before or after the stages that are measured; then it does this.
    Meeting(LoadTime, Step),
    /// Nobody does anything until this moment.
    Quiet(LoadTime, MonotonicTime, Step),
    /// Who measures beside it ends, at the latest at this moment.
    Leaving(MonotonicTime, Step),
}

impl<K, C: LoadCourse> LoadClient<K, C> {
    /// A client that is quiet so long before and after what is measured.
    pub const fn new(inner: K, stages: Arc<[StageRecord]>, course: C, quiet: Nanoseconds) -> Self {
        let (state, progress) = (State::Inside, Progress::Making);
        Self { inner, stages, course, quiet, state, progress, entering: None, is_inside: false }
    }

    fn is_measured(&self, stage: StageIndex) -> bool {
        let phase = self.stages.iter().find(|known| known.stage == stage).map(|known| known.phase);
        phase.is_some_and(|phase| !phase.is_of_working_set())
    }

    fn leave_stage(&mut self, now: MonotonicTime) {
        if std::mem::take(&mut self.is_inside) {
            self.course.end(now);
        }
    }

    /// What comes of a step of the client inside.
    fn pass(&mut self, step: Step, now: MonotonicTime) -> Step {
        match step {
            Step::End | Step::TimeOut { .. } => self.leave_stage(now),
            Step::Begin { stage, .. } => {
                self.leave_stage(now);
                let is_measured = self.is_measured(stage);
                self.entering = is_measured.then_some(stage);
                match self.progress {
                    Progress::Making if is_measured => {
                        self.progress = Progress::Measured;
                        return self.meet(LoadTime::Before, step);
                    }
                    Progress::Measured if !is_measured => return self.end(step, now),
                    _ => {}
                }
            }
            Step::Finished if self.progress == Progress::Measured => return self.end(step, now),
            _ => {}
        }
        step
    }

    fn end(&mut self, then: Step, now: MonotonicTime) -> Step {
        self.leave_stage(now);
        self.progress = Progress::Removing;
        self.state = State::Ending(then);
        Step::End
    }

    const fn meet(&mut self, time: LoadTime, then: Step) -> Step {
        self.state = State::Meeting(time, then);
        Step::Agree { value: 0 }
    }
}

impl<K: Client, C: LoadCourse> Client for LoadClient<K, C> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        match self.state {
            State::Inside => {
                let step = self.inner.next(now);
                self.pass(step, now)
            }
            State::Ending(then) => self.meet(LoadTime::After, then),
            State::Quiet(_, until, _) if now < until => Step::Pause { until },
            State::Quiet(LoadTime::After, _, then) => {
                self.course.tell(LoadTime::Over, now);
                self.state = State::Leaving(now.after(PATIENCE), then);
                Step::Pause { until: now.after(LOOK) }
            }
            State::Leaving(until, _) if now < until && self.course.beside() > 0 => {
                Step::Pause { until: now.after(LOOK) }
            }
            State::Quiet(_, _, then) | State::Leaving(_, then) => {
                self.state = State::Inside;
                then
            }
            // Asked without having met: the run is over for everybody.
            State::Meeting(..) => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        self.inner.completed(request, done);
    }

    fn asks_again(&self, request: &Request, done: &Done) -> bool {
        self.inner.asks_again(request, done)
    }

    fn explained(&mut self, said: &str) {
        self.inner.explained(said);
    }

    fn stage_counts_from(&self) -> CountsFrom {
        self.inner.stage_counts_from()
    }

    fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
        if let State::Meeting(time, then) = self.state {
            self.course.tell(time, now);
            self.state = State::Quiet(time, now.after(self.quiet), then);
            return;
        }
        if let Some(stage) = self.entering.take() {
            self.is_inside = true;
            self.course.begin(stage, now);
        }
        self.inner.met(meeting, now);
    }

    fn starts(&mut self) {
        self.inner.starts();
    }

    fn last_note(&mut self) -> Option<Note> {
        self.inner.last_note()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::ObjectKey;
    use iolag_model::{Operation, Phase, Waiting};
    use std::sync::Mutex;

    /// Notes what it is told; so many measure beside the load, one fewer at each look.
    #[derive(Default)]
    struct Told {
        said: Mutex<Vec<String>>,
        beside: Mutex<usize>,
    }

    impl Told {
        fn note(&self, what: String) {
            self.said.lock().unwrap().push(what);
        }
    }

    impl LoadCourse for &Told {
        fn tell(&self, time: LoadTime, _now: MonotonicTime) {
            self.note(format!("{time:?}"));
        }

        fn begin(&self, stage: StageIndex, _now: MonotonicTime) {
            self.note(format!("begin {}", stage.0));
        }

        fn end(&self, _now: MonotonicTime) {
            self.note("end".to_owned());
        }

        fn time(&self) -> LoadTime {
            LoadTime::Between
        }

        fn time_at(&self, _moment: MonotonicTime) -> Option<LoadTime> {
            None
        }

        fn beside(&self) -> usize {
            let mut left = self.beside.lock().unwrap();
            *left = left.saturating_sub(1);
            *left
        }
    }

    /// Begins each of its stages, asks once in it, and ends it.
    struct Plain {
        stages: Vec<StageIndex>,
        place: usize,
    }

    impl Client for Plain {
        fn next(&mut self, _now: MonotonicTime) -> Step {
            let (stage, part) = (self.place / 3, self.place % 3);
            self.place += 1;
            match (self.stages.get(stage), part) {
                (None, _) => Step::Finished,
                (Some(stage), 0) => Step::Begin { stage: *stage, value: 0 },
                (Some(_), 1) => {
                    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
                    Step::Execute { request, intended: None }
                }
                _ => Step::End,
            }
        }

        fn completed(&mut self, _request: &Request, _done: &Done) {}
    }

    const QUIET: Nanoseconds = Nanoseconds(1000);

    /// What is told and done, in order, with the moments at which stages begin.
    fn walk(phases: &[Phase], beside: usize) -> Vec<String> {
        let stage = |(stage, phase): (u16, &Phase)| StageRecord {
            stage: StageIndex(stage),
            phase: *phase,
            iteration: 0,
        };
        let stages: Vec<StageRecord> = (0..).zip(phases).map(stage).collect();
        let inner = Plain { stages: stages.iter().map(|stage| stage.stage).collect(), place: 0 };
        let told = Told { beside: Mutex::new(beside), ..Told::default() };
        let mut client = LoadClient::new(inner, stages.into(), &told, QUIET);
        let mut now = MonotonicTime(0);
        loop {
            let meeting = |now| Meeting { values: [Some(0)].into(), begin: now, waiting: Waiting::Asleep };
            match client.next(now) {
                Step::Begin { stage, .. } => {
                    told.note(format!("stage {} at {}", stage.0, now.0));
                    client.met(&meeting(now), now);
                }
                Step::Agree { .. } => client.met(&meeting(now), now),
                Step::Pause { until } => now = until,
                Step::Finished => return told.said.into_inner().unwrap(),
                Step::Execute { .. } => told.note("asks".to_owned()),
                _ => {}
            }
        }
    }

    #[test]
    fn who_measures_beside_it_knows_the_time_and_has_ended_before_anything_is_removed() {
        let expected = [
            "stage 0 at 0",
            "asks",
            "Before",
            "stage 1 at 1000",
            "begin 1",
            "asks",
            "end",
            "stage 2 at 1000",
            "begin 2",
            "asks",
            "end",
            "After",
            "Over",
            // Two looks, 10 ms each.
            "stage 3 at 20002000",
            "asks",
        ];
        assert_eq!(walk(&[Phase::Precreate, Phase::Write, Phase::Read, Phase::Cleanup], 2), expected);
    }

    #[test]
    fn who_hangs_beside_it_is_not_waited_for_for_long_and_a_load_may_end_without_removing() {
        let told = walk(&[Phase::Benchmark], usize::MAX);
        assert_eq!(told, ["Before", "stage 0 at 1000", "begin 0", "asks", "end", "After", "Over"]);
    }
}
