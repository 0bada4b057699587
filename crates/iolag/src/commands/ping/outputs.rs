//! Where the lines of a ping go.

use std::io::Stdout;
use std::path::Path;

use iolag_model::{Nanoseconds, RunRecord};

use super::json_lines::{JsonLines, Line};
use crate::announcing::of_ping;
use crate::commands::watch::terminal::Lines;
use crate::output;

/// Where the lines go.
pub struct Outputs {
    /// When probes are due and what they are, for who wants to be told before the first one.
    pub announced: Option<String>,
    /// For people; without, standard output is for JSON.
    pub text: Option<Lines<Stdout>>,
    /// For programs.
    pub json: Option<JsonLines>,
}

impl Outputs {
    /// Tells what is about to begin.
    pub fn announce(&self, record: &RunRecord, root: &Path) {
        let told = self.announced.iter().flat_map(|probes| of_ping(record, probes, root));
        told.for_each(|sentence| output::complain(&sentence));
    }

    /// A line for people.
    pub fn line(&mut self, line: &str) {
        if let Some(text) = &mut self.text {
            text.line(line);
        }
    }

    /// A line for people that the next one replaces.
    pub fn in_place(&mut self, line: &str) {
        if let Some(text) = &mut self.text {
            text.in_place(line);
        }
    }

    /// A line for programs, made only if they read any.
    pub fn json<'a>(&mut self, line: impl FnOnce() -> Line<'a>) {
        if let Some(json) = &mut self.json {
            json.line(&line());
        }
    }

    /// Whether who reads lines for programs has as many before them as can wait.
    pub fn is_full(&self) -> bool {
        self.json.as_ref().is_some_and(JsonLines::is_full)
    }

    /// Hands on what waits; whether nobody reads any more.
    pub fn are_gone(&mut self) -> bool {
        if let Some(json) = &mut self.json {
            json.write(Nanoseconds::ZERO);
        }
        self.text.as_ref().is_some_and(Lines::is_gone) || self.json.as_ref().is_some_and(JsonLines::is_gone)
    }
}
