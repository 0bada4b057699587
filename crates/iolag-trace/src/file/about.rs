//! What a file says at its beginning and at its end is in the model.

pub use iolag_model::{
    CaptureTime, ProgramEnd, TraceAbout as About, TraceAnonymity as Anonymity, TraceCost as Cost,
    TraceEnding as Ending, TraceNetwork as Network, TraceOrigin as Origin, TracingCost,
};

use crate::reading::{Clockwork, Reading};

impl From<&Reading> for Ending {
    /// Of a trace that was made of text; the writer counts what it wrote.
    fn from(reading: &Reading) -> Self {
        let clock = match reading.clockwork {
            Clockwork::None => "none",
            Clockwork::OfDay => "of-day",
            Clockwork::Unix => "unix",
            Clockwork::SinceLast => "since-last",
        };
        Self {
            calls: reading.calls,
            began_realtime_ns: reading.began,
            clock: clock.to_owned(),
            unfinished: reading.unfinished,
            foreign: reading.foreign,
            guessed: reading.guessed,
            ..Self::default()
        }
    }
}
