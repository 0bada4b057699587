//! Caches made cold or warm before a stage: a client around another one.
//!
//! ```text
//! begin the stage | the first: drop or warm, look; the others wait | agree | the stage of the client inside begins
//! ```
//! What is done before the others go on is in the samples of the stage, as what iolag itself did: it counts in no rate. The client
//! inside learns of the stage's meeting when all begin.

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{CacheState, Meeting, MonotonicTime, Operation, StageIndex, StageRecord};

use crate::{Client, CountsFrom, Done, Note, Step};

/// A client in front of which caches are made what they are to be.
#[derive(Debug)]
pub struct CachesClient<K> {
    inner: K,
    stages: Arc<[StageRecord]>,
    caches: CacheState,
    rank: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The client inside is asked.
    Inside,
    /// It wants to begin a stage before which something is done.
    Beginning,
    /// The stage has begun, with this meeting; so many requests have been made.
    Making(Meeting, usize),
    /// All wait until that is done.
    Agreeing(Meeting),
}

impl<K> CachesClient<K> {
    /// The client with this rank; the first does it for all.
    pub const fn new(inner: K, rank: u32, caches: CacheState, stages: Arc<[StageRecord]>) -> Self {
        Self { inner, stages, caches, rank, state: State::Inside }
    }

    fn is_done_before(&self, stage: StageIndex) -> bool {
        let phase = self.stages.iter().find(|known| known.stage == stage).map(|known| known.phase);
        phase.is_some_and(|phase| self.caches.is_made_before(phase))
    }

    fn operation(&self, made: usize) -> Option<Operation> {
        let make = match self.caches {
            CacheState::Asis => return None,
            CacheState::Cold => Operation::CachesDrop,
            CacheState::Warm => Operation::CachesWarm,
        };
        let all = [make, Operation::CachesResident, Operation::CachesHeld];
        all.get(made).copied().filter(|_| self.rank == 0)
    }
}

impl<K: Client> Client for CachesClient<K> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        match &mut self.state {
            State::Inside => match self.inner.next(now) {
                Step::Begin { stage, value } if self.is_done_before(stage) => {
                    self.state = State::Beginning;
                    Step::Begin { stage, value }
                }
                step => step,
            },
            State::Making(meeting, made) => {
                let (meeting, made) = (meeting.clone(), *made);
                match self.operation(made) {
                    Some(operation) => {
                        self.state = State::Making(meeting, made + 1);
                        let request = Request::new(operation, ObjectKey::default(), 0);
                        Step::Execute { request, intended: None }
                    }
                    None => {
                        self.state = State::Agreeing(meeting);
                        Step::Agree { value: 0 }
                    }
                }
            }
            // Asked without having met: the run is over for everybody.
            State::Beginning | State::Agreeing(_) => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        if matches!(self.state, State::Inside) {
            self.inner.completed(request, done);
        }
    }

    fn asks_again(&self, request: &Request, done: &Done) -> bool {
        matches!(self.state, State::Inside) && self.inner.asks_again(request, done)
    }

    fn explained(&mut self, said: &str) {
        if matches!(self.state, State::Inside) {
            self.inner.explained(said);
        }
    }

    fn stage_counts_from(&self) -> CountsFrom {
        self.inner.stage_counts_from()
    }

    fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
        match std::mem::replace(&mut self.state, State::Inside) {
            State::Beginning => self.state = State::Making(meeting.clone(), 0),
            // The values of the stage, and the moment at which all really begin.
            State::Agreeing(begun) => {
                let meeting = Meeting { values: begun.values, ..meeting.clone() };
                self.inner.met(&meeting, now);
            }
            State::Inside | State::Making(..) => self.inner.met(meeting, now),
        }
    }

    fn starts(&mut self) {
        if matches!(self.state, State::Inside) {
            self.inner.starts();
        }
    }

    fn last_note(&mut self) -> Option<Note> {
        self.inner.last_note()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::Completion;
    use iolag_model::{Phase, Waiting};

    /// Begins two stages and asks once in each; notes what it is told.
    #[derive(Default)]
    struct Plain {
        place: u32,
        told: Vec<String>,
    }

    impl Client for Plain {
        fn next(&mut self, _now: MonotonicTime) -> Step {
            self.place += 1;
            match self.place {
                1 => Step::Begin { stage: StageIndex(0), value: 5 },
                3 => Step::Begin { stage: StageIndex(1), value: 6 },
                2 | 4 => {
                    let request = Request::new(Operation::Stat, ObjectKey::default(), 0);
                    Step::Execute { request, intended: None }
                }
                _ => Step::Finished,
            }
        }

        fn completed(&mut self, request: &Request, _done: &Done) {
            self.told.push(request.operation.to_string());
        }

        fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
            self.told.push(format!("{:?} at {}, begins {}", meeting.values, now.0, meeting.begin.0));
        }
    }

    fn walk(rank: u32, wish: CacheState) -> (Vec<String>, Vec<String>) {
        let stage = |stage, phase| StageRecord { stage: StageIndex(stage), phase, iteration: 0 };
        let stages = Arc::from([stage(0, Phase::Precreate), stage(1, Phase::Benchmark)]);
        let mut client = CachesClient::new(Plain::default(), rank, wish, stages);
        let mut asked = Vec::new();
        for moment in 0..30 {
            let now = MonotonicTime(moment);
            let meeting =
                |value| Meeting { values: [Some(value)].into(), begin: now, waiting: Waiting::Asleep };
            match client.next(now) {
                Step::Execute { request, .. } => {
                    asked.push(request.operation.to_string());
                    client.completed(&request, &Done { completion: Completion::ok(0), start: now, end: now });
                }
                Step::Begin { stage, value } => {
                    asked.push(format!("begin {}", stage.0));
                    client.met(&meeting(value), now);
                }
                Step::Agree { value } => {
                    asked.push("agree".to_owned());
                    client.met(&meeting(value), now);
                }
                Step::Finished => return (asked, client.inner.told),
                other => panic!("{other:?}"),
            }
        }
        panic!("it does not come to an end")
    }

    #[test]
    fn the_first_makes_caches_cold_before_what_is_measured_and_the_others_wait_for_it() {
        let (asked, told) = walk(0, CacheState::Cold);
        let make = ["caches.drop", "caches.resident", "caches.held", "agree"];
        assert_eq!(asked, [&["begin 0", "stat", "begin 1"], &make[..], &["stat"]].concat());
        // The client inside begins when all do, with what they told each other of the stage.
        assert_eq!(told, ["[Some(5)] at 0, begins 0", "stat", "[Some(6)] at 6, begins 6", "stat"]);
        let (asked, told_other) = walk(1, CacheState::Cold);
        assert_eq!(asked, ["begin 0", "stat", "begin 1", "agree", "stat"]);
        assert_eq!(told_other.len(), told.len());
        assert_eq!(walk(0, CacheState::Warm).0[3], "caches.warm");
    }

    #[test]
    fn as_they_are_nothing_is_done() {
        assert_eq!(walk(0, CacheState::Asis).0, ["begin 0", "stat", "begin 1", "stat"]);
    }
}
