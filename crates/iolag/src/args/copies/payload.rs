//! What each copy computes once it is set up, as it is typed.

use clap::Arg;
use iolag_conduct::{Failure, PayloadCommand};
use iolag_model::{Nanoseconds, parse_duration};

use crate::args::values::parse_period;

/// What `--payload` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadAsked {
    /// It would take so long.
    Takes(Nanoseconds),
    /// This is really run.
    Runs(String),
}

impl PayloadAsked {
    /// How long it would take, if it is not run.
    pub const fn takes(&self) -> Option<Nanoseconds> {
        match self {
            Self::Takes(time) => Some(*time),
            Self::Runs(_) => None,
        }
    }

    /// What is run, if that was said; looked for before anything is measured.
    ///
    /// # Errors
    /// If it is not found: then it was perhaps to be a duration.
    pub fn command(asked: Option<&Self>) -> Result<Option<PayloadCommand>, Failure> {
        match asked {
            Some(Self::Runs(command)) => PayloadCommand::find(command).map(Some),
            Some(Self::Takes(_)) | None => Ok(None),
        }
    }
}

/// Of copies that were measured it is a duration.
pub(crate) fn only_told(payload: Arg) -> Arg {
    payload.value_name("DURATION").help(
        "Say how many copies a node should run, if each computes for so long on a processor once it is set up",
    )
}

/// A duration, or a command.
pub(crate) fn parse_payload(text: &str) -> Result<PayloadAsked, String> {
    match parse_duration(text) {
        Ok(_) => parse_period(text).map(PayloadAsked::Takes),
        Err(_) => Ok(PayloadAsked::Runs(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_a_duration_or_a_command() {
        assert_eq!(parse_payload("2h"), Ok(PayloadAsked::Takes(Nanoseconds::from_seconds(7200))));
        assert_eq!(parse_payload("sleep 2"), Ok(PayloadAsked::Runs("sleep 2".to_owned())));
        assert!(parse_payload("1us").unwrap_err().contains("at least 1ms"));
        let asked = parse_payload("2hh").unwrap();
        let refused = PayloadAsked::command(Some(&asked)).unwrap_err().sentence;
        assert!(refused.contains("is no duration, as in 90s, 10min or 2h"), "{refused}");
        assert_eq!(PayloadAsked::command(Some(&PayloadAsked::Takes(Nanoseconds(1)))).unwrap(), None);
    }
}
