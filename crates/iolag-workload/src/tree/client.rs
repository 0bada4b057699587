//! One client of a tree.
//!
//! ```text
//! walk: the first reads all directories, the others wait | each phase: the names in turn, in the order in which they were found
//! ```
//! Clients share the names: each takes the next one that nobody has taken. A failure is data, and the next name comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iolag_backend::{ObjectKey, Request, Tree};
use iolag_model::{Meeting, MonotonicTime, Nanoseconds, Operation, Phase, StageRecord, TreeSpec};

use crate::processors::{ProcessorClocks, ProcessorMeter, ProcessorTimes};
use crate::{Client, Done, Step};

/// What a client has to know of a tree.
pub trait Names: Send {
    /// Whether there are directories that were not read.
    fn is_to_be_walked(&self) -> bool;
    /// Ends the walk.
    fn end_walk(&self);
    /// How many names there are, once the walk has ended.
    fn number(&self) -> u64;
    /// Whether the name with this number is asked for at all.
    fn is_asked(&self, number: u64) -> bool;
    /// Whether the name with this number is a regular file.
    fn is_file(&self, number: u64) -> bool;
}

impl Names for Arc<Tree> {
    fn is_to_be_walked(&self) -> bool {
        Tree::is_to_be_walked(self)
    }

    fn end_walk(&self) {
        Tree::end_walk(self);
    }

    fn number(&self) -> u64 {
        self.names()
    }

    fn is_asked(&self, number: u64) -> bool {
        Tree::is_asked(self, number)
    }

    fn is_file(&self, number: u64) -> bool {
        Tree::is_file(self, number)
    }
}

/// How many names have been taken in each stage, by all clients.
#[derive(Debug, Clone)]
pub struct TreeTurns(Arc<[AtomicU64]>);

impl TreeTurns {
    /// Of so many stages, in none of which a name has been taken.
    pub fn new(stages: usize) -> Self {
        Self((0..stages).map(|_| AtomicU64::new(0)).collect())
    }

    fn take(&self, stage: usize) -> u64 {
        self.0[stage].fetch_add(1, Ordering::Relaxed)
    }
}

/// One client.
#[derive(Debug)]
pub struct TreeClient<N, P> {
    rank: u32,
    time_limit_ns: Option<Nanoseconds>,
    names: N,
    turns: TreeTurns,
    stages: Arc<[StageRecord]>,
    processors: ProcessorMeter<P>,
    /// The stage that is next, or goes on.
    place: usize,
    state: State,
    begin: MonotonicTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Entering,
    InNames,
    /// Attributes were told of this name, which is summed next.
    Told(u64),
    Ending,
}

impl<N: Names, P: ProcessorClocks> TreeClient<N, P> {
    /// The client with this rank.
    pub fn new(
        spec: &TreeSpec,
        rank: u32,
        (names, turns): (N, TreeTurns),
        stages: Arc<[StageRecord]>,
        processors: Arc<ProcessorTimes<P>>,
    ) -> Self {
        Self {
            rank,
            time_limit_ns: spec.time_limit_ns,
            names,
            turns,
            stages,
            processors: ProcessorMeter::new(processors),
            place: 0,
            state: State::Before,
            begin: MonotonicTime(0),
        }
    }

    fn ask(&self, operation: Operation, number: u64) -> Step {
        let stage = self.stages.get(self.place).map_or(0, |stage| stage.stage.0);
        let key = ObjectKey { rank: self.rank, dataset: stage.into(), index: number };
        let bytes = if operation == Operation::TreeRead { Request::TO_THE_END } else { 0 };
        Step::Execute { request: Request::new(operation, key, bytes), intended: None }
    }

    /// The next directory or name, or the end of the stage.
    fn go_on(&mut self, now: MonotonicTime) -> Step {
        let is_up = self.time_limit_ns.is_some_and(|limit| now.since(self.begin) >= limit);
        let phase = self.stages.get(self.place).map(|stage| stage.phase);
        let next = match phase {
            _ if is_up => None,
            Some(Phase::Walk) => {
                (self.rank == 0 && self.names.is_to_be_walked()).then_some((Operation::TreeList, 0))
            }
            Some(Phase::Sum) => self.take(Names::is_file).map(|number| (Operation::TreeRead, number)),
            _ => self.take(Names::is_asked).map(|number| (Operation::TreeStat, number)),
        };
        match next {
            Some((operation, number)) => {
                if phase == Some(Phase::Combined) && self.names.is_file(number) {
                    self.state = State::Told(number);
                }
                self.ask(operation, number)
            }
            None => {
                if phase == Some(Phase::Walk) && self.rank == 0 {
                    self.names.end_walk();
                }
                self.end()
            }
        }
    }

    /// The next name that nobody has taken and that is such a one.
    fn take(&self, is_meant: fn(&N, u64) -> bool) -> Option<u64> {
        let all = self.names.number();
        loop {
            let number = self.turns.take(self.place);
            if number >= all || is_meant(&self.names, number) {
                return (number < all).then_some(number);
            }
        }
    }

    fn end(&mut self) -> Step {
        self.state = State::Ending;
        match self.processors.end(self.place, self.begin) {
            Some(note) => Step::Note(note),
            None => self.leave_stage(),
        }
    }

    const fn leave_stage(&mut self) -> Step {
        self.place += 1;
        self.state = State::Before;
        Step::End
    }
}

impl<N: Names, P: ProcessorClocks> Client for TreeClient<N, P> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        match self.state {
            State::Before => match self.stages.get(self.place) {
                Some(stage) => {
                    self.state = State::Entering;
                    Step::Begin { stage: stage.stage, value: 0 }
                }
                None => Step::Finished,
            },
            State::InNames => self.go_on(now),
            State::Told(number) => {
                self.state = State::InNames;
                self.ask(Operation::TreeRead, number)
            }
            State::Ending => self.leave_stage(),
            // Asked without having met: the run is over for everybody.
            State::Entering => Step::Finished,
        }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}

    fn met(&mut self, _meeting: &Meeting, now: MonotonicTime) {
        self.begin = now;
        self.state = State::InNames;
    }

    fn starts(&mut self) {
        self.processors.start(self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;
    use iolag_model::Waiting;
    use std::cell::Cell;

    /// Directories to read, and then a directory, a file and a mount point, again and again.
    struct Made {
        left: Cell<u64>,
        names: u64,
    }

    impl Names for Made {
        fn is_to_be_walked(&self) -> bool {
            let left = self.left.get();
            self.left.set(left.saturating_sub(1));
            left > 0
        }

        fn end_walk(&self) {
            self.left.set(0);
        }

        fn number(&self) -> u64 {
            self.names
        }

        fn is_asked(&self, number: u64) -> bool {
            number % 3 != 2
        }

        fn is_file(&self, number: u64) -> bool {
            number % 3 == 1
        }
    }

    struct Still;

    impl ProcessorClocks for Still {
        fn of_thread(&self) -> Nanoseconds {
            Nanoseconds(5)
        }

        fn of_others(&self) -> Nanoseconds {
            Nanoseconds(5)
        }
    }

    fn clients(spec: &TreeSpec, number: u32) -> Vec<TreeClient<Made, Still>> {
        let stages: Arc<[StageRecord]> = spec.stages().into();
        let turns = TreeTurns::new(stages.len());
        let processors = ProcessorTimes::new(stages.len(), Still);
        let client = |rank| {
            let names = Made { left: Cell::new(3), names: 7 };
            TreeClient::new(spec, rank, (names, turns.clone()), Arc::clone(&stages), Arc::clone(&processors))
        };
        (0..number).map(client).collect()
    }

    /// What clients ask that take turns, each operation taking one of the clock.
    fn asked(spec: &TreeSpec, number: u32) -> Vec<Vec<String>> {
        let mut clients = clients(spec, number);
        let mut told = vec![Vec::new(); clients.len()];
        let mut moment = MonotonicTime(0);
        let mut over = 0;
        while over < clients.len() {
            over = 0;
            for (client, told) in clients.iter_mut().zip(&mut told) {
                match client.next(moment) {
                    Step::Execute { request, .. } => {
                        moment = moment.after(Nanoseconds(1));
                        told.push(format!("{} {}", request.operation, request.key.index));
                    }
                    Step::Begin { stage, .. } => {
                        told.push(format!("begin {}", stage.0));
                        let values = [Some(0)].into();
                        client.met(&Meeting { values, begin: moment, waiting: Waiting::Asleep }, moment);
                    }
                    Step::Note(_) => {}
                    Step::End => told.push("end".to_owned()),
                    Step::Finished => over += 1,
                    other => panic!("{other:?}"),
                }
            }
        }
        told
    }

    #[test]
    fn one_client_walks_and_does_each_phase_with_all_names_that_it_is_for() {
        let told = asked(&TreeSpec::default(), 1).concat().join(", ");
        let expected = "begin 0, tree.list 0, tree.list 0, tree.list 0, end, \
                        begin 1, tree.stat 0, tree.stat 1, tree.stat 3, tree.stat 4, tree.stat 6, end, \
                        begin 2, tree.read 1, tree.read 4, end";
        assert_eq!(told, expected);
        let combined = TreeSpec { phases: vec![Phase::Combined], ..TreeSpec::default() };
        let told = asked(&combined, 1).concat().join(", ");
        let expected = "begin 1, tree.stat 0, tree.stat 1, tree.read 1, tree.stat 3, tree.stat 4, tree.read 4, tree.stat 6, end";
        assert!(told.ends_with(expected), "{told}");
    }

    #[test]
    fn several_clients_share_the_names_and_the_first_walks() {
        let told = asked(&TreeSpec::default(), 3);
        let of = |operation: &str| -> Vec<Vec<&String>> {
            told.iter().map(|told| told.iter().filter(|one| one.starts_with(operation)).collect()).collect()
        };
        assert_eq!(of("tree.list").iter().map(Vec::len).collect::<Vec<_>>(), [3, 0, 0]);
        let mut stats = of("tree.stat").concat();
        stats.sort();
        assert_eq!(stats, ["tree.stat 0", "tree.stat 1", "tree.stat 3", "tree.stat 4", "tree.stat 6"]);
        assert!(of("tree.stat").iter().all(|stats| stats.len() < 5));
        assert_eq!(of("tree.read").concat().len(), 2);
    }

    #[test]
    fn a_phase_ends_with_the_first_operation_after_its_time_and_the_walk_too() {
        let spec = TreeSpec { time_limit_ns: Some(Nanoseconds(2)), ..TreeSpec::default() };
        let told = asked(&spec, 1).concat().join(", ");
        let expected = "begin 0, tree.list 0, tree.list 0, end, begin 1, tree.stat 0, tree.stat 1, end, \
                        begin 2, tree.read 1, tree.read 4, end";
        assert_eq!(told, expected);
    }
}
