//! What signals say of the end of a watch.

use iolag_keeper::{Awaited, Signals};
use rustix::process::Signal;

use crate::WatchEnd;

const SIGHUP: i32 = Signal::HUP.as_raw();

/// Whether the watch was told to end, and how.
pub(crate) struct StopRequests<'a> {
    signals: &'a Signals,
    end: Option<WatchEnd>,
    is_urgent: bool,
}

/// Whether the watch has just been told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopNews {
    /// For the first time.
    First,
    /// Not, or not for the first time.
    None,
}

impl<'a> StopRequests<'a> {
    /// Nobody has said anything yet.
    pub const fn new(signals: &'a Signals) -> Self {
        Self { signals, end: None, is_urgent: false }
    }

    /// How the watch was told to end, if it was.
    pub const fn end(&self) -> Option<WatchEnd> {
        self.end
    }

    /// Whether the watch is to leave at once.
    pub const fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// What to wait for.
    pub fn awaited(&self) -> Awaited<'_> {
        Awaited::Readable(self.signals.descriptor())
    }

    /// Takes the signals that have come while the watch goes on.
    pub fn listen(&mut self) -> StopNews {
        let before = self.end;
        while let Some(signal) = self.signals.next() {
            let end = if signal == SIGHUP { WatchEnd::HungUp } else { WatchEnd::Stopped };
            // A second stop means: at once. One after a hang-up is the first, and a second hang-up says nothing new.
            self.is_urgent |= (self.end, end) == (Some(WatchEnd::Stopped), WatchEnd::Stopped);
            self.end = match self.end {
                Some(former) if end == WatchEnd::HungUp => Some(former),
                _ => Some(end),
            };
        }
        if before.is_none() && self.end.is_some() { StopNews::First } else { StopNews::None }
    }

    /// Takes those that have come while the watch, which ends like this, writes the history for the last time.
    pub fn listen_while_leaving(&mut self, mut end: WatchEnd) -> WatchEnd {
        while let Some(signal) = self.signals.next() {
            match (end, signal) {
                (WatchEnd::HungUp, SIGHUP) => {}
                (WatchEnd::HungUp, _) => end = WatchEnd::Stopped,
                // A second signal means: leave at once.
                _ => self.is_urgent = true,
            }
        }
        end
    }
}
