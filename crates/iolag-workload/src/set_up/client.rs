//! One copy of the set-up.
//!
//! ```text
//! precreate: its part of the tree | benchmark: its calls, in its own order, then its payload, if it has one | cleanup: wait for the others
//! ```
//! An open is followed by a read to the end and a close. What is not there is looked for as [`Request::ABSENT`].

use std::sync::Arc;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{Meeting, MonotonicTime, Nanoseconds, Operation, SetUpSpec, StageIndex};

use super::order::{Call, LookedFor, Order, maker_of};
use crate::processors::{ProcessorClocks, ProcessorMeter, ProcessorTimes};
use crate::{Client, CountsFrom, Done, Step};

const PRECREATE: StageIndex = StageIndex(0);
const BENCHMARK: StageIndex = StageIndex(1);
const CLEANUP: StageIndex = StageIndex(2);

/// One copy.
#[derive(Debug)]
pub struct SetUpClient<P> {
    rank: u32,
    directories: u32,
    files: u64,
    file_bytes: u64,
    kill_after: Option<Nanoseconds>,
    spec: SetUpSpec,
    order: Order,
    state: State,
    /// What the processors do for its calls.
    processors: ProcessorMeter<P>,
    /// When its first call started.
    began: Option<MonotonicTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// This stage comes next.
    Before(StageIndex),
    Entering(StageIndex),
    /// Makes this directory, or so many of its files less one were made.
    Making {
        dataset: u32,
        made: u64,
    },
    /// So many calls were made.
    Calling(usize),
    /// The same, and this file is open.
    Reading(usize, ObjectKey),
    /// The same, and it was read.
    Closing(usize, ObjectKey),
    /// All calls were made, or its time is up: the stage ends with this.
    Ending(Step),
    /// It is set up, and its payload comes next.
    Computing,
    Waiting,
    Over,
}

impl<P: ProcessorClocks> SetUpClient<P> {
    /// The copy with this rank, of a run with this seed.
    pub fn new(spec: &SetUpSpec, rank: u32, seed: u64, processors: Arc<ProcessorTimes<P>>) -> Self {
        Self {
            rank,
            directories: spec.directories,
            files: spec.files,
            file_bytes: spec.file_bytes,
            kill_after: spec.kill_after_ns,
            order: Order::new(spec, rank, seed),
            spec: spec.clone(),
            state: State::Before(PRECREATE),
            processors: ProcessorMeter::new(processors),
            began: None,
        }
    }

    /// Makes the next directory of its own, or its next file.
    fn make(&mut self, mut dataset: u32, made: u64) -> Step {
        while dataset < self.directories && maker_of(&self.spec, dataset, self.rank) != self.rank {
            dataset += 1;
        }
        if dataset == self.directories {
            self.state = State::Before(BENCHMARK);
            return Step::End;
        }
        let is_last = made == self.files;
        self.state = match is_last {
            true => State::Making { dataset: dataset + 1, made: 0 },
            false => State::Making { dataset, made: made + 1 },
        };
        let key = |index| ObjectKey { rank: self.rank, dataset, index };
        execute(match made.checked_sub(1) {
            None => Request::new(Operation::MakeDirectory, key(0), 0),
            Some(index) => Request::new(Operation::Create, key(index), self.file_bytes),
        })
    }

    fn call(&mut self, made: usize) -> Step {
        let look = |operation, LookedFor { key, is_there }| {
            execute(Request::new(operation, key, if is_there { 0 } else { Request::ABSENT }))
        };
        match self.order.call(made) {
            None => self.end(Step::End),
            Some(Call::Stat(what)) => {
                self.state = State::Calling(made + 1);
                look(Operation::CallStat, what)
            }
            Some(Call::Open(what)) => {
                self.state = match what.is_there {
                    true => State::Reading(made + 1, what.key),
                    false => State::Calling(made + 1),
                };
                look(Operation::CallOpen, what)
            }
        }
    }

    /// Ends its calls so, and says before what the processors did for them.
    fn end(&mut self, step: Step) -> Step {
        let began = self.began.unwrap_or(MonotonicTime(0));
        match self.processors.end(usize::from(BENCHMARK.0), began) {
            Some(note) => {
                self.state = State::Ending(step);
                Step::Note(note)
            }
            None => self.leave_calls(step),
        }
    }

    const fn leave_calls(&mut self, step: Step) -> Step {
        self.state = match step {
            Step::End if self.spec.terms.payload_command.is_some() => State::Computing,
            _ => State::Before(CLEANUP),
        };
        step
    }

    /// How long it may take, if it has taken that long.
    fn is_up(&self, now: MonotonicTime) -> Option<Nanoseconds> {
        let is_working = matches!(self.state, State::Calling(_) | State::Reading(..) | State::Closing(..));
        self.kill_after
            .filter(|limit| is_working && self.began.is_some_and(|began| now.since(began) >= *limit))
    }
}

const fn execute(request: Request) -> Step {
    Step::Execute { request, intended: None }
}

impl<P: ProcessorClocks> Client for SetUpClient<P> {
    #[inline]
    fn next(&mut self, now: MonotonicTime) -> Step {
        if let Some(limit) = self.is_up(now) {
            return self.end(Step::TimeOut { limit });
        }
        match self.state {
            State::Before(stage) => {
                self.state = State::Entering(stage);
                Step::Begin { stage, value: 0 }
            }
            State::Making { dataset, made } => self.make(dataset, made),
            State::Calling(made) => self.call(made),
            State::Reading(made, key) => {
                self.state = State::Closing(made, key);
                execute(Request::new(Operation::CallRead, key, self.file_bytes))
            }
            State::Closing(made, key) => {
                self.state = State::Calling(made);
                execute(Request::new(Operation::CallClose, key, 0))
            }
            State::Ending(step) => self.leave_calls(step),
            State::Computing => {
                self.state = State::Before(CLEANUP);
                execute(Request::new(Operation::Payload, ObjectKey::default(), 0))
            }
            State::Waiting => {
                self.state = State::Over;
                Step::End
            }
            // Asked without having met: the run is over for everybody.
            State::Entering(_) | State::Over => Step::Finished,
        }
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        if matches!(self.state, State::Calling(_) | State::Reading(..)) {
            self.began.get_or_insert(done.start);
        }
        // What could not be opened is neither read nor closed.
        if let State::Reading(made, _) = self.state
            && request.operation == Operation::CallOpen
            && !done.completion.is_ok()
        {
            self.state = State::Calling(made);
        }
    }

    fn met(&mut self, _meeting: &Meeting, _now: MonotonicTime) {
        self.state = match self.state {
            State::Entering(PRECREATE) => State::Making { dataset: 0, made: 0 },
            State::Entering(BENCHMARK) => State::Calling(0),
            _ => State::Waiting,
        };
    }

    /// A job that waits for a processor waits.
    fn stage_counts_from(&self) -> CountsFrom {
        CountsFrom::Meeting(Nanoseconds::ZERO)
    }

    fn starts(&mut self) {
        if matches!(self.state, State::Calling(_) | State::Reading(..)) {
            self.processors.start(usize::from(BENCHMARK.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use iolag_backend::Completion;
    use iolag_model::{FailureCode, JobTerms, SetUpPreset, Waiting};

    use crate::Workload;

    fn spec(stats: u64, opens: u64) -> SetUpSpec {
        SetUpSpec {
            preset: None,
            stats,
            opens,
            misses_per_million: 250_000,
            open_misses_per_million: None,
            like: None,
            directories: 4,
            files: 3,
            shared_per_million: 500_000,
            file_bytes: 10,
            terms: JobTerms::NONE,
            kill_after_ns: None,
        }
    }

    /// A processor that works a nanosecond each time that it is asked.
    #[derive(Debug, Default)]
    struct Ticking(AtomicU64);

    impl ProcessorClocks for Ticking {
        fn of_thread(&self) -> Nanoseconds {
            Nanoseconds(self.0.fetch_add(1, Ordering::Relaxed))
        }

        fn of_others(&self) -> Nanoseconds {
            Nanoseconds::ZERO
        }
    }

    /// All requests of a copy by stage, each of which takes so long and ends so; and its last steps of each stage.
    fn requests(
        spec: &SetUpSpec,
        rank: u32,
        took: u64,
        answer: impl Fn(&Request) -> Completion,
    ) -> (BTreeMap<u16, Vec<Request>>, Vec<Step>) {
        let mut client = SetUpClient::new(spec, rank, 7, ProcessorTimes::new(3, Ticking::default()));
        let (mut is_first, mut noted, mut begin) = (false, 0, MonotonicTime(0));
        let (mut all, mut ends, mut stage, mut now) = (BTreeMap::new(), Vec::new(), 0, MonotonicTime(5));
        loop {
            match client.next(now) {
                Step::Begin { stage: begun, .. } => {
                    stage = begun.0;
                    let meeting = Meeting { values: [].into(), begin: now, waiting: Waiting::Actively };
                    client.met(&meeting, now);
                    (is_first, begin) = (true, now);
                }
                Step::Note(note) => {
                    assert_eq!((note.sample.operation(), stage), (Operation::ProcessorTime, 1));
                    assert_eq!((note.sample.start, note.sample.duration), (begin, Nanoseconds(1)));
                    noted += 1;
                }
                Step::Execute { request, intended: None } => {
                    if std::mem::take(&mut is_first) {
                        client.starts();
                    }
                    all.entry(stage).or_insert_with(Vec::new).push(request);
                    let (start, end) = (now, now.after(Nanoseconds(took)));
                    client.completed(&request, &Done { completion: answer(&request), start, end });
                    now = end;
                }
                Step::Finished => {
                    assert_eq!(noted, 1, "what the processors did is said once");
                    return (all, ends);
                }
                end => ends.push(end),
            }
        }
    }

    fn count(requests: &[Request], operation: Operation) -> u64 {
        requests.iter().filter(|request| request.operation == operation).count() as u64
    }

    const FINE: fn(&Request) -> Completion = |_| Completion::ok(0);

    #[test]
    fn a_copy_makes_exactly_the_calls_of_the_study() {
        let (stats, opens) = SetUpPreset::Lhcb.counts();
        let spec =
            SetUpSpec { misses_per_million: 800_000, directories: 40, files: 100, ..spec(stats, opens) };
        let (all, ends) = requests(&spec, 3, 1, FINE);
        let calls = &all[&1];
        assert_eq!((count(calls, Operation::CallStat), count(calls, Operation::CallOpen)), (110_765, 17_868));
        // A fifth of 17 868, to the nearest.
        for operation in [Operation::CallRead, Operation::CallClose] {
            assert_eq!(count(calls, operation), 3574);
        }
        assert_eq!(calls.len() as u64, spec.calls());
        assert_eq!(ends, [Step::End; 3]);
        let recorded = all.values().map(Vec::len).sum::<usize>() as u64 + 4;
        assert!(spec.samples_per_client().unwrap() >= recorded);
    }

    #[test]
    fn every_copy_asks_the_same_of_what_all_share_and_of_its_own_in_another_order() {
        let spec = spec(400, 80);
        let copies: Vec<_> = (0..3).map(|rank| requests(&spec, rank, 1, FINE).0).collect();
        let made: BTreeSet<ObjectKey> = copies
            .iter()
            .flat_map(|all| all.get(&0).into_iter().flatten())
            .filter(|request| request.operation == Operation::Create)
            .map(|request| request.key)
            .collect();
        assert_eq!(made.len() as u64, spec.objects_needed(3), "two directories of all and two of each");
        let asked = |rank: usize| -> Vec<(Operation, ObjectKey, bool)> {
            let anonymous = |key: ObjectKey| ObjectKey {
                rank: u32::from(key.rank == rank as u32 && key.dataset > 1),
                ..key
            };
            copies[rank][&1]
                .iter()
                .map(|request| (request.operation, anonymous(request.key), request.bytes == Request::ABSENT))
                .collect()
        };
        let sorted = |rank| {
            let mut asked = asked(rank);
            asked.sort();
            asked
        };
        assert_ne!(asked(0), asked(1));
        assert_eq!((sorted(0), sorted(1)), (sorted(1), sorted(2)));
        for request in copies.iter().flat_map(|all| &all[&1]) {
            assert_eq!(made.contains(&request.key), request.bytes != Request::ABSENT, "{request:?}");
        }
        let misses = copies[0][&1].iter().filter(|request| request.bytes == Request::ABSENT);
        assert_eq!(misses.count(), 100 + 20);
    }

    #[test]
    fn what_cannot_be_opened_is_neither_read_nor_closed() {
        let refuse = |request: &Request| match request.operation {
            Operation::CallOpen => Completion::failed(FailureCode::from_errno(5)),
            _ => Completion::ok(0),
        };
        let calls = &requests(&spec(10, 10), 0, 1, refuse).0[&1];
        assert_eq!((count(calls, Operation::CallOpen), count(calls, Operation::CallRead)), (10, 0));
        assert_eq!(calls.len(), 20);
    }

    #[test]
    fn a_copy_is_ended_when_its_time_is_up() {
        let limit = Nanoseconds(50);
        let spec = SetUpSpec { kill_after_ns: Some(limit), misses_per_million: 0, ..spec(100, 0) };
        let (all, ends) = requests(&spec, 0, 10, FINE);
        assert_eq!((all[&1].len(), ends), (5, vec![Step::End, Step::TimeOut { limit }, Step::End]));
        let slow_enough = SetUpSpec { kill_after_ns: Some(Nanoseconds(1001)), ..spec };
        assert_eq!(requests(&slow_enough, 0, 10, FINE).1, [Step::End; 3]);
    }

    #[test]
    fn who_is_set_up_computes_and_who_was_ended_does_not() {
        let terms = JobTerms { payload_command: Some("sleep 1".to_owned()), ..JobTerms::NONE };
        let spec = SetUpSpec { terms, misses_per_million: 0, ..spec(20, 0) };
        let (all, ends) = requests(&spec, 0, 10, FINE);
        let operations: Vec<Operation> = all[&1].iter().map(|request| request.operation).collect();
        assert_eq!(operations[..20], [Operation::CallStat; 20]);
        assert_eq!((&operations[20..], ends.len()), (&[Operation::Payload][..], 3));
        let deadlines = spec.deadlines(Nanoseconds(5));
        assert_eq!(
            (deadlines[0].operation, deadlines[0].deadline_ns.0),
            (Some(Operation::Payload), u64::MAX)
        );
        let limit = Some(Nanoseconds(50));
        let ended = requests(&SetUpSpec { kill_after_ns: limit, ..spec }, 0, 10, FINE).0;
        assert_eq!(count(&ended[&1], Operation::Payload), 0);
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let refused = |spec: SetUpSpec| spec.validate(4).unwrap_err().to_string();
        assert!(spec(1, 0).validate(4).is_ok() && spec(0, 1).validate(4).is_ok());
        assert_eq!(refused(spec(0, 0)), "the number of calls of a copy is 0, it must be at least 1");
        let more = refused(SetUpSpec { misses_per_million: 1_000_001, ..spec(1, 1) });
        assert!(more.ends_with("reduce --miss"), "{more}");
        let deep = refused(SetUpSpec { files: 1 << 40, ..spec(1, 1) });
        assert!(deep.contains("files in a directory"), "{deep}");
        assert!(refused(SetUpSpec { file_bytes: 1 << 40, ..spec(1, 1) }).contains("--file-size"));
    }
}
