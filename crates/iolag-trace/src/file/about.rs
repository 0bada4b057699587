//! What a file says of itself, at its beginning and at its end.

use serde::{Deserialize, Serialize};

use crate::reading::{Clockwork, Reading};

/// What is known before the first call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// Where the trace is from.
    pub origin: Origin,
    /// The program, without its arguments; of text, nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The version of strace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strace: Option<String>,
    /// Whether names are those of the program.
    pub anonymity: Anonymity,
}

/// Where a trace is from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A command that iolag ran under strace.
    Captured,
    /// Processes that strace was attached to.
    Attached,
    /// Text that somebody else had strace write.
    #[default]
    Text,
}

/// Whether the names in a trace are those that the program asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anonymity {
    /// They are.
    #[default]
    Named,
    /// Each is replaced by another of the same length.
    Anonymised,
}

/// What is known after the last call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ending {
    /// Calls in the file.
    pub calls: u64,
    /// Edges in the file.
    pub edges: u64,
    /// When it began, in ns since 1970, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_realtime_ns: Option<u64>,
    /// What its times are made of: `none`, `of-day`, `unix`, `since-last`.
    pub clock: String,
    /// Calls of which the end was not seen.
    pub unfinished: u64,
    /// Lines that were not strace's, or not whole.
    pub foreign: u64,
    /// Tasks of which it is not certain who began them.
    pub guessed: u64,
}

impl Ending {
    /// Of a trace that was made of text; the writer counts what it wrote.
    pub fn of(reading: &Reading) -> Self {
        let clock = match reading.clockwork {
            Clockwork::None => "none",
            Clockwork::OfDay => "of-day",
            Clockwork::Unix => "unix",
            Clockwork::SinceLast => "since-last",
        };
        Self {
            calls: reading.calls,
            edges: 0,
            began_realtime_ns: reading.began,
            clock: clock.to_owned(),
            unfinished: reading.unfinished,
            foreign: reading.foreign,
            guessed: reading.guessed,
        }
    }
}
