//! What a file says at its end; what it says at its beginning is in the model.

pub use iolag_model::{TraceAbout as About, TraceAnonymity as Anonymity, TraceOrigin as Origin};
use serde::{Deserialize, Serialize};

use crate::reading::{Clockwork, Reading};

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
