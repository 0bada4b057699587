//! What is asked of the copies of a job once their times are known; what was measured is the same whatever is asked.

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// Terms under which copies are judged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobTerms {
    /// A copy that takes longer than this is told; nothing is done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_ns: Option<Nanoseconds>,
    /// What each copy would compute once it is set up, on a processor of its own: then jobs per hour are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_ns: Option<Nanoseconds>,
    /// What each copy has really run once it was set up, for a shell, without secrets: then its time was measured. What `payload_ns` says goes before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_command: Option<String>,
    /// How many of a million jobs may be lost because they take longer than `judge_ns`, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeouts_at_most_per_million: Option<u32>,
}

impl JobTerms {
    /// Nothing is asked.
    pub const NONE: Self =
        Self { judge_ns: None, payload_ns: None, payload_command: None, timeouts_at_most_per_million: None };

    /// What is said goes before what `usually` is asked.
    #[must_use]
    pub fn or(self, usually: Self) -> Self {
        Self {
            judge_ns: self.judge_ns.or(usually.judge_ns),
            payload_ns: self.payload_ns.or(usually.payload_ns),
            payload_command: self.payload_command.or(usually.payload_command),
            timeouts_at_most_per_million: self
                .timeouts_at_most_per_million
                .or(usually.timeouts_at_most_per_million),
        }
    }

    /// Whether something is known, or to be known, of what each copy computes.
    pub const fn has_payload(&self) -> bool {
        self.payload_ns.is_some() || self.payload_command.is_some()
    }

    /// Why they cannot be, with what to add, if they cannot.
    pub const fn flaw(&self) -> Option<&'static str> {
        match self {
            Self { timeouts_at_most_per_million: Some(_), .. } if !self.has_payload() => Some(
                "--timeouts-at-most is for a number of copies that is advised, which a payload decides: set-up time alone always favours one copy; add --payload 2h",
            ),
            Self { timeouts_at_most_per_million: Some(_), judge_ns: None, .. } => Some(
                "--timeouts-at-most is how many copies may take longer than a limit: say it with --judge 600s",
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_goes_before_what_was_and_shares_without_a_limit_are_refused() {
        let of = |judge: Option<u64>, payload: Option<u64>, share| JobTerms {
            judge_ns: judge.map(Nanoseconds),
            payload_ns: payload.map(Nanoseconds),
            payload_command: None,
            timeouts_at_most_per_million: share,
        };
        assert_eq!(of(Some(1), None, Some(3)).or(of(Some(5), Some(6), None)), of(Some(1), Some(6), Some(3)));
        assert_eq!(of(None, None, None), JobTerms::NONE);
        assert_eq!([of(Some(1), Some(2), Some(3)).flaw(), of(None, Some(2), None).flaw()], [None, None]);
        assert!(of(Some(1), None, Some(3)).flaw().is_some_and(|flaw| flaw.contains("favours one copy")));
        assert!(of(None, Some(1), Some(3)).flaw().is_some_and(|flaw| flaw.ends_with("--judge 600s")));
        let run = JobTerms { payload_command: Some("sleep 1".into()), ..of(Some(1), None, Some(3)) };
        assert_eq!(run.flaw(), None);
        let asked_again = of(None, Some(6), None).or(run);
        assert_eq!(
            (asked_again.payload_ns, asked_again.payload_command.is_some()),
            (Some(Nanoseconds(6)), true)
        );
    }
}
