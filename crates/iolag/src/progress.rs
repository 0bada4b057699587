//! Progress on standard error: a line that is redrawn on a terminal, nothing where there is none; messages in any case.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iolag_keeper::Exchange;
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds, counted, format_duration};

use crate::output;
use iolag_conduct::{Attendance, Attendant, Round};

/// How far a run is, by what is known about its length.
#[derive(Debug, Clone, Copy)]
pub enum Extent {
    /// So many samples are expected.
    Samples(u64),
    /// It takes so long.
    Time(Nanoseconds),
    /// Not known.
    Unknown,
}

/// Whether progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Progress and messages.
    Normal,
    /// Neither.
    Quiet,
}

/// The keeper's voice while a run lasts.
pub struct Progress {
    bar: ProgressBar,
    extent: Extent,
    start: MonotonicTime,
    verbosity: Verbosity,
}

impl Progress {
    /// Progress of something that starts soon.
    pub fn new(extent: Extent, verbosity: Verbosity) -> Self {
        let length = match extent {
            Extent::Samples(samples) => Some(samples),
            Extent::Time(time) => Some(time.0 / 1_000_000),
            Extent::Unknown => None,
        };
        let target = match verbosity {
            Verbosity::Normal => ProgressDrawTarget::stderr_with_hz(5),
            Verbosity::Quiet => ProgressDrawTarget::hidden(),
        };
        let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.set_draw_target(target);
        let template = if length.is_some() { "{bar:30} {percent:>3} % {msg}" } else { "{spinner} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self { bar, extent, start: MonotonicClock.now(), verbosity }
    }

    fn remaining(&self, done: u64, elapsed: Nanoseconds) -> String {
        const SURE_AFTER: Duration = Duration::from_secs(1);
        match self.bar.length() {
            Some(length) if done > 0 && elapsed.as_duration() > SURE_AFTER => {
                let left = elapsed.as_seconds() * (length.saturating_sub(done)) as f64 / done as f64;
                format!("about {} left", format_duration(Nanoseconds((left * 1e9) as u64)))
            }
            _ => format!("{} so far", format_duration(elapsed)),
        }
    }
}

impl Attendant for Progress {
    fn begin(&mut self, now: MonotonicTime) {
        self.start = now;
    }

    /// Redraws the line.
    fn look(&mut self, round: &Round<'_>) -> Attendance {
        let samples = round.exchange.samples_recorded();
        let elapsed = round.anchor.monotonic_ns.since(self.start);
        let done = match self.extent {
            Extent::Samples(_) => samples,
            Extent::Time(_) => elapsed.0 / 1_000_000,
            Extent::Unknown => 0,
        };
        self.bar.set_position(done.min(self.bar.length().unwrap_or(u64::MAX)));
        self.bar.set_message(format!(
            "{}, {}",
            counted(samples, "operation", "operations"),
            self.remaining(done, elapsed)
        ));
        Attendance::GoOn
    }

    /// Prints a message above the line.
    fn say(&mut self, message: &str) {
        if self.verbosity == Verbosity::Normal {
            self.bar.suspend(|| output::complain(message));
        }
    }

    /// Removes the line.
    fn finish(&mut self, _exchange: &Exchange, _now: MonotonicTime) {
        self.bar.finish_and_clear();
    }
}
