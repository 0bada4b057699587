//! Progress on standard error: a line that is redrawn on a terminal, nothing where there is none; messages in any case.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iolag_keeper::Exchange;
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds, RunRecord, counted, format_duration};

use crate::announcing::announcement;
use crate::args::Common;
use crate::output;
use iolag_conduct::{Attendance, Attendant, Round};
use iolag_workload::workload;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How far a run is, by what is known about its length.
#[derive(Debug, Clone, Copy)]
enum Extent {
    /// So many samples are expected.
    Samples(u64),
    /// It takes so long.
    Time(Nanoseconds),
    /// Not known.
    Unknown,
}

/// Whether progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
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
    end: Option<MonotonicTime>,
    working_name: String,
}

impl Progress {
    /// Progress of something that is over at `end`.
    pub fn until(end: MonotonicTime, common: &Common) -> Self {
        Self { end: Some(end), ..Self::of_bench(String::new(), common) }
    }

    /// Progress of a bench in the directory `working_name`.
    pub fn of_bench(working_name: String, common: &Common) -> Self {
        Self {
            bar: ProgressBar::hidden(),
            extent: Extent::Unknown,
            start: MonotonicClock.now(),
            verbosity: if common.quiet { Verbosity::Quiet } else { Verbosity::Normal },
            end: None,
            working_name,
        }
    }

    fn show(&mut self, extent: Extent) {
        let length = match extent {
            Extent::Samples(samples) => Some(samples),
            Extent::Time(time) => Some(time.0 / 1_000_000),
            Extent::Unknown => None,
        };
        self.extent = extent;
        self.bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
        self.bar.set_draw_target(match self.verbosity {
            Verbosity::Normal => ProgressDrawTarget::stderr_with_hz(5),
            Verbosity::Quiet => ProgressDrawTarget::hidden(),
        });
        let template = if length.is_some() { "{bar:30} {percent:>3} % {msg}" } else { "{spinner} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
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

/// A line on the terminal of this process on which a child counts, whose own standard error is no terminal.
pub struct Counter {
    terminal: Option<File>,
}

impl Counter {
    /// To be made before the child. Shows nothing where there is no terminal, or no progress is wanted.
    pub fn new(common: &Common) -> Self {
        let errors = std::io::stderr();
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_shown = !common.quiet && !is_dumb && errors.is_terminal();
        let terminal = is_shown.then(|| errors.as_fd().try_clone_to_owned().ok()).flatten();
        Self { terminal: terminal.map(File::from) }
    }

    /// As in `3 of 8 runs read`.
    pub fn show(&self, done: usize, all: usize, what: &str) {
        self.write(&format!("\r\x1b[2K{done} of {all} {what}"));
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.write("\r\x1b[2K");
    }

    /// A terminal that stands still is not waited for.
    fn write(&self, text: &str) {
        let Some(terminal) = &self.terminal else { return };
        let mut awaited = [PollFd::new(terminal, PollFlags::OUT)];
        if poll(&mut awaited, Some(&Timespec::default())) == Ok(1) {
            // What is not shown is no error.
            let _ = (&*terminal).write_all(text.as_bytes());
        }
    }
}

impl Attendant for Progress {
    /// Says what will be done before it begins.
    fn announce(&mut self, record: &RunRecord, root: &Path) {
        announcement(record, root, &self.working_name).iter().for_each(|sentence| self.say(sentence));
        let samples = || workload(&record.spec.workload).samples_expected(record.spec.clients);
        self.show(match self.end {
            Some(end) => Extent::Time(end.since(MonotonicClock.now())),
            None => samples().map_or(Extent::Unknown, Extent::Samples),
        });
    }

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
