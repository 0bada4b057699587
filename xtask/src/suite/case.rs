//! A test that can be run by itself, whatever it is written in.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::rules::{self, Again};

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// `PROGRAM::TEST`, where PROGRAM is `package::target` in Rust.
    pub name: String,
    /// What it is a part of, for the table of times.
    pub program: String,
    /// How it is started.
    pub launch: Launch,
    /// When it is ended.
    pub limit: Duration,
    /// Whether it is run again after it has failed.
    pub again: Again,
}

/// How a test is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it begins.
    pub directory: PathBuf,
    /// What is added to the environment.
    pub environment: Vec<(&'static str, OsString)>,
    /// What stands in its output if it has really run: a name that is mistyped is no failure for any harness.
    pub proof: Option<&'static str>,
}

impl Case {
    /// A test under the rules for its name.
    pub fn new(program: &str, test: &str, launch: Launch) -> Self {
        let name = format!("{program}::{test}");
        let (limit, again) = (rules::limit(&name), rules::again(&name));
        Self { name, program: program.to_owned(), launch, limit, again }
    }

    /// Whether somebody who asks for `wanted` means this test: its name, or a part of it that does not begin or end within a word.
    pub fn is_meant_by(&self, wanted: &str) -> bool {
        let is_edge = |neighbour: Option<char>| neighbour.is_none_or(|letter| !letter.is_alphanumeric());
        !wanted.is_empty()
            && self.name.match_indices(wanted).any(|(start, _)| {
                is_edge(self.name[..start].chars().next_back())
                    && is_edge(self.name[start + wanted.len()..].chars().next())
            })
    }
}
