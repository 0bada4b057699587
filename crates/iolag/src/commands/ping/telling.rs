//! A line per probe, in words.

use iolag_model::{FailureCode, Nanoseconds, Outcome, Sample, format_duration};

use super::following::{Probed, unsent_attempt};

/// Probes that were not sent, one after the other and for the same reason: a line for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unsent {
    first: u64,
    last: u64,
    blocker: Option<u64>,
    outcome: Outcome,
    code: FailureCode,
}

/// Puts probes into words.
#[derive(Debug)]
pub struct Wording {
    deadline: Nanoseconds,
    unsent: Option<Unsent>,
}

impl Wording {
    /// For probes with this deadline.
    pub const fn new(deadline: Nanoseconds) -> Self {
        Self { deadline, unsent: None }
    }

    /// The lines that a probe completes.
    pub fn lines(&mut self, probed: &Probed) -> Vec<String> {
        if let (Probed::Unsent { number, blocker, sample }, Some(unsent)) = (probed, &mut self.unsent)
            && unsent.last + 1 == *number
            && (unsent.blocker, unsent.outcome, unsent.code) == (*blocker, sample.outcome(), sample.code)
        {
            unsent.last = *number;
            return Vec::new();
        }
        let mut lines: Vec<String> = self.settle().into_iter().collect();
        match probed {
            Probed::Sent { number, sample, parts } => lines.push(self.sent(*number, sample, parts)),
            Probed::Unsent { number, blocker, sample } => {
                let (first, last, blocker) = (*number, *number, *blocker);
                self.unsent =
                    Some(Unsent { first, last, blocker, outcome: sample.outcome(), code: sample.code });
            }
            Probed::Unseen(samples) => {
                lines.push(format!("({samples} samples were not read in time; iolag show has them all)"));
            }
        }
        lines
    }

    /// The line of those that were not sent, when no more of them come.
    pub fn settle(&mut self) -> Option<String> {
        let Unsent { first, last, blocker, outcome, code } = self.unsent.take()?;
        let which = if first == last { first.to_string() } else { format!("{first}..{last}") };
        let is_lost = outcome == Outcome::Skipped;
        Some(match blocker {
            Some(blocker) if code == FailureCode::REMOVAL && is_lost => {
                format!("seq={which} skipped while the removal of the file of seq={blocker} waited")
            }
            Some(blocker) if code == FailureCode::REMOVAL => {
                format!("seq={which} not sent: removing the file of seq={blocker} was not done")
            }
            Some(blocker) if is_lost => format!("seq={which} skipped while seq={blocker} waited"),
            Some(blocker) => format!("seq={which} not sent: seq={blocker} took longer than the interval"),
            None => format!("seq={which} not sent: iolag itself was stopped or got no processor"),
        })
    }

    /// What is told when a probe has passed its deadline and goes on.
    pub fn hung(&self, number: u64, where_: &str) -> String {
        format!("seq={number} no answer within the deadline of {}; {where_}", self.deadline)
    }

    fn sent(&self, number: u64, sample: &Sample, parts: &[Sample]) -> String {
        let took = format_duration(sample.duration);
        let is_contact = sample.attempt == unsent_attempt(0);
        let what = match sample.outcome() {
            Outcome::Late if is_contact => {
                format!("first contact {took}  late: over the deadline of {}", self.deadline)
            }
            Outcome::Ok => timed(&took, parts),
            Outcome::Late => format!("{}  late: over the deadline of {}", timed(&took, parts), self.deadline),
            Outcome::Error | Outcome::Retried => {
                let failed = parts.iter().find(|part| part.outcome() == Outcome::Error);
                let part = failed.map_or_else(String::new, |part| format!(" in {}", part.operation()));
                format!("failed{part} after {took}: {}", sample.code)
            }
            Outcome::Timeout => format!("no answer within the deadline of {}; ended (killed)", self.deadline),
            Outcome::Hung if is_contact => {
                format!("no answer: the first contact has been waiting for {took}")
            }
            Outcome::Hung => format!("hung: not answered when iolag ended, after {took}"),
            Outcome::Interrupted => {
                format!("interrupted after {took} by the end of iolag: neither answered nor lost")
            }
            Outcome::Skipped => "skipped".to_owned(),
        };
        format!("seq={number} {what}")
    }
}

/// `stat 12.0 µs  read 30.0 µs  create 80.0 µs  total 140 µs`.
fn timed(took: &str, parts: &[Sample]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {}  ", part.operation(), format_duration(part.duration)))
        .collect();
    format!("{}total {took}", parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{AttemptId, FailureCode, MonotonicTime, Operation};

    const SECOND: Nanoseconds = Nanoseconds::from_seconds(1);

    fn sample(operation: Operation, outcome: Outcome, milliseconds: u64) -> Sample {
        let duration = Nanoseconds::from_milliseconds(milliseconds);
        Sample::new(AttemptId(7), operation, MonotonicTime(1), MonotonicTime(1), duration)
            .with_outcome(outcome, FailureCode::NONE)
    }

    fn sent(number: u64, outcome: Outcome, milliseconds: u64) -> Probed {
        let parts = match outcome {
            Outcome::Ok | Outcome::Late => [Operation::Stat, Operation::Read, Operation::Create]
                .map(|operation| sample(operation, Outcome::Ok, 2))
                .to_vec(),
            _ => Vec::new(),
        };
        Probed::Sent { number, sample: sample(Operation::Probe, outcome, milliseconds), parts }
    }

    fn unsent(number: u64, blocker: Option<u64>) -> Probed {
        let outcome = if blocker.is_some() { Outcome::Skipped } else { Outcome::Interrupted };
        Probed::Unsent { number, sample: sample(Operation::Probe, outcome, 0), blocker }
    }

    fn outrun(number: u64, blocker: u64) -> Probed {
        let sample = sample(Operation::Probe, Outcome::Interrupted, 1);
        Probed::Unsent { number, sample, blocker: Some(blocker) }
    }

    fn held_up(number: u64, outcome: Outcome) -> Probed {
        let sample = sample(Operation::Probe, outcome, 0).with_outcome(outcome, FailureCode::REMOVAL);
        Probed::Unsent { number, sample, blocker: Some(12) }
    }

    #[test]
    fn every_outcome_has_its_words_and_those_not_sent_have_a_line_together() {
        let mut wording = Wording::new(SECOND);
        let mut failed = sent(9, Outcome::Error, 4);
        if let Probed::Sent { sample: whole, parts, .. } = &mut failed {
            *whole = whole.with_outcome(Outcome::Error, FailureCode(5));
            parts.push(sample(Operation::Read, Outcome::Error, 1));
        }
        let all = [
            sent(1, Outcome::Ok, 6),
            unsent(2, Some(1)),
            unsent(3, Some(1)),
            unsent(4, None),
            sent(5, Outcome::Late, 1_500),
            unsent(6, Some(5)),
            sent(7, Outcome::Timeout, 1_000),
            sent(8, Outcome::Hung, 9_400),
            failed,
            outrun(10, 9),
            outrun(11, 9),
            sent(12, Outcome::Interrupted, 3),
            outrun(13, 12),
            held_up(14, Outcome::Interrupted),
            held_up(15, Outcome::Interrupted),
            held_up(16, Outcome::Skipped),
        ];
        let mut lines: Vec<String> = all.iter().flat_map(|probed| wording.lines(probed)).collect();
        lines.extend(wording.settle());
        let expected = [
            "seq=1 stat 2.00 ms  read 2.00 ms  create 2.00 ms  total 6.00 ms",
            "seq=2..3 skipped while seq=1 waited",
            "seq=4 not sent: iolag itself was stopped or got no processor",
            "seq=5 stat 2.00 ms  read 2.00 ms  create 2.00 ms  total 1.50 s  late: over the deadline of 1.00 s",
            "seq=6 skipped while seq=5 waited",
            "seq=7 no answer within the deadline of 1.00 s; ended (killed)",
            "seq=8 hung: not answered when iolag ended, after 9.40 s",
            "seq=9 failed in read after 4.00 ms: input/output error (errno 5)",
            "seq=10..11 not sent: seq=9 took longer than the interval",
            "seq=12 interrupted after 3.00 ms by the end of iolag: neither answered nor lost",
            "seq=13 not sent: seq=12 took longer than the interval",
            "seq=14..15 not sent: removing the file of seq=12 was not done",
            "seq=16 skipped while the removal of the file of seq=12 waited",
        ];
        assert_eq!(lines, expected);
    }
}
