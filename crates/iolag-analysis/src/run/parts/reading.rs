//! Counting the parts of requests while samples arrive.
//!
//! The samples of a client are stored in its order, and those of the parts of an attempt right after that of the attempt. A part belongs to
//! the last attempt of its client if it lies within it: where a thread goes on somewhere else in the file, nothing is taken for what it is not.
//!
//! Limit: of the attempts between which two threads divided the file, the parts of one at most for each client are in no count.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use iolag_model::{Nanoseconds, Operation, Outcome, SampleColumns};

use super::part::PartSpent;
use crate::run::grouping::NO_GROUP;

/// The last attempt of a client that succeeded.
#[derive(Debug, Clone, Copy)]
struct LastAttempt {
    place: u32,
    begin_ns: i64,
    end_ns: i64,
}

/// What the parts of the attempts in each place took.
#[derive(Debug, Clone, Default)]
pub(crate) struct PartsReading {
    last: HashMap<i32, LastAttempt>,
    spent: BTreeMap<(u32, Operation), (u64, u64)>,
}

impl PartsReading {
    /// Takes rows of a batch, whose places are known.
    pub(crate) fn take(&mut self, columns: &SampleColumns<'_>, rows: Range<usize>, places: &[u32]) {
        let operations = &columns.operation_code[rows.clone()];
        // Most runs have no parts: they cost these comparisons.
        if !operations.iter().any(|code| may_be_part(*code)) {
            return;
        }
        let (Some(clients), Some(starts)) =
            (columns.client.get(rows.clone()), columns.start_ns.get(rows.clone()))
        else {
            return;
        };
        let (durations, outcomes) = (&columns.duration_ns[rows.clone()], &columns.outcome_code[rows]);
        for (row, &place) in places.iter().enumerate() {
            let (begin_ns, duration_ns) = (starts[row], durations[row].max(0));
            let end_ns = begin_ns.saturating_add(duration_ns);
            match part_of(operations[row]) {
                Some(part) => {
                    let last = self.last.get(&clients[row]);
                    if let Some(last) = last.filter(|last| begin_ns >= last.begin_ns && end_ns <= last.end_ns)
                    {
                        let spent = self.spent.entry((last.place, part)).or_default();
                        *spent = (spent.0 + 1, spent.1 + duration_ns as u64);
                    }
                }
                None if has_succeeded(outcomes[row]) => {
                    self.last.insert(clients[row], LastAttempt { place, begin_ns, end_ns });
                }
                None => {
                    self.last.remove(&clients[row]);
                }
            }
        }
    }

    /// Adds what another one took of other samples.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, (count, total_ns)) in other.spent {
            let spent = self.spent.entry(key).or_default();
            *spent = (spent.0 + count, spent.1 + total_ns);
        }
    }

    /// The parts of each group, by the group of each place.
    pub(crate) fn by_group(&self, group_of_place: &[u32], groups: usize) -> Vec<Vec<PartSpent>> {
        let mut parts = vec![Vec::new(); groups];
        for (&(place, part), &(count, total_ns)) in &self.spent {
            if let Some(group) = group_of_place.get(place as usize).filter(|group| **group != NO_GROUP) {
                parts[*group as usize].push(PartSpent { part, count, total_ns: Nanoseconds(total_ns) });
            }
        }
        parts
    }
}

fn may_be_part(code: i32) -> bool {
    (Operation::CallResolve as i32..=Operation::CallServer as i32).contains(&code)
}

fn part_of(code: i32) -> Option<Operation> {
    let code = u8::try_from(code).ok()?;
    Operation::from_code(code).filter(|operation| operation.is_mark())
}

fn has_succeeded(outcome: i32) -> bool {
    outcome == Outcome::Ok as i32 || outcome == Outcome::Late as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::engine::Engine;
    use crate::run::grouping::Grouping;
    use crate::run::parts::spent::TimeSpent;
    use crate::run::summary::{Precision, Summaries};

    /// Client, operation, outcome, begin and duration of each sample.
    type Row = (i32, Operation, Outcome, i64, i64);

    fn summarised(batches: &[&[Row]]) -> Summaries {
        let engine = || Engine::new(Grouping::default(), Precision::Exact);
        let mut all = engine();
        for rows in batches {
            let mut one = engine();
            one.batch(SampleColumns {
                client: &rows.iter().map(|row| row.0).collect::<Vec<_>>(),
                operation_code: &rows.iter().map(|row| row.1 as i32).collect::<Vec<_>>(),
                outcome_code: &rows.iter().map(|row| row.2 as i32).collect::<Vec<_>>(),
                start_ns: &rows.iter().map(|row| row.3).collect::<Vec<_>>(),
                duration_ns: &rows.iter().map(|row| row.4).collect::<Vec<_>>(),
                ..SampleColumns::default()
            });
            all.merge(one);
        }
        all.finish()
    }

    fn spent(summaries: &Summaries, operation: Operation) -> Option<TimeSpent> {
        TimeSpent::of(summaries.summaries.iter().filter(|summary| summary.key.operation == operation))
    }

    const READ: Operation = Operation::Read;
    const BYTE: Operation = Operation::CallFirstByte;
    const CONNECT: Operation = Operation::CallConnect;

    #[test]
    fn parts_are_those_of_the_attempt_that_they_lie_in() {
        let rows = [
            (1, READ, Outcome::Ok, 100, 50),
            (2, Operation::Create, Outcome::Ok, 100, 900),
            (1, CONNECT, Outcome::Ok, 101, 9),
            (2, BYTE, Outcome::Ok, 100, 400),
            (2, BYTE, Outcome::Ok, 500, 400),
            (1, BYTE, Outcome::Ok, 110, 30),
            (1, READ, Outcome::Ok, 200, 30),
            (1, BYTE, Outcome::Ok, 200, 20),
        ];
        let summaries = summarised(&[&rows]);
        let read = spent(&summaries, READ).unwrap();
        assert_eq!((read.requests, read.whole_ns, read.connect_ns), (1.0, Some(40.0), 4.5));
        assert_eq!((read.first_byte_ns, read.rest_ns(), read.server_ns), (25.0, Some(10.5), None));
        let create = spent(&summaries, Operation::Create).unwrap();
        assert_eq!((create.requests, create.rest_ns()), (2.0, Some(100.0)));
        assert_eq!(spent(&summaries, BYTE), None);
    }

    #[test]
    fn what_failed_and_what_lies_elsewhere_has_no_parts() {
        let rows = [
            (1, READ, Outcome::Ok, 100, 50),
            (1, READ, Outcome::Error, 200, 50),
            (1, BYTE, Outcome::Ok, 200, 20),
            (2, BYTE, Outcome::Ok, 120, 20),
        ];
        assert_eq!(spent(&summarised(&[&rows]), READ), None);
        let foreign = [(1, READ, Outcome::Ok, 100, 50), (1, BYTE, Outcome::Ok, 300, 20)];
        assert_eq!(spent(&summarised(&[&foreign]), READ), None);
    }

    #[test]
    fn threads_add_up() {
        let attempt = |at| [(1, READ, Outcome::Ok, at, 50), (1, BYTE, Outcome::Ok, at, 20)];
        let apart = spent(&summarised(&[&attempt(100), &attempt(200)]), READ);
        let together = spent(&summarised(&[&[attempt(100), attempt(200)].concat()]), READ);
        assert_eq!((apart, apart.unwrap().requests), (together, 1.0));
    }

    #[test]
    fn of_a_bound_no_whole_is_known() {
        let rows = [
            (1, READ, Outcome::Ok, 100, 50),
            (1, BYTE, Outcome::Ok, 100, 20),
            (1, READ, Outcome::Timeout, 200, 1000),
        ];
        let read = spent(&summarised(&[&rows]), READ).unwrap();
        assert_eq!((read.first_byte_ns, read.whole_ns, read.rest_ns()), (20.0, None, None));
    }
}
