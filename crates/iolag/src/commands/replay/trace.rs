//! The trace that is repeated, read by a child.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use iolag_conduct::{
    Answer, Changing, ExitCode, Failure, Patience, Prepared, ReadToRepeat, ReplayScope, STORE_DEADLINE, ask,
    ask_all_patiently, prepare_skeleton, read_to_repeat,
};
use iolag_model::{Nanoseconds, format_count, one_line};

use crate::args::Common;
use crate::commands::Located;
use crate::commands::runs::opening;
use crate::commands::trace::file;

/// Each copy has all of them in memory.
const CALLS_MAX: u64 = 2_000_000;
/// Making a skeleton may take as long as this, as long as something is made.
const PREPARING: Nanoseconds = Nanoseconds::from_seconds(24 * 3600);

/// A trace by its name.
pub(super) struct Wanted {
    name: String,
    located: Located,
}

impl Wanted {
    /// A run of the store, or a file.
    ///
    /// # Errors
    /// If there is no store to look in.
    pub(super) fn of(name: &str, common: &Common) -> Result<Self, Failure> {
        Ok(Self { name: name.to_owned(), located: Located::of(common)? })
    }

    /// Reads it.
    ///
    /// # Errors
    /// If it is not there, is no trace, or does not answer.
    pub(super) fn read(&self, scope: &ReplayScope, changing: Changing) -> Result<ReadToRepeat, Failure> {
        let read =
            || self.read_here(scope, changing).map_err(|failure| (failure.code as u8, failure.sentence));
        match ask("trace", STORE_DEADLINE, read)? {
            Answer::Given(Ok(read)) => Ok(read),
            Answer::Given(Err((code, sentence))) => {
                Err(Failure { code: ExitCode::from_number(code), sentence })
            }
            Answer::None { age, .. } => Err(Failure::unusable(format!(
                "the trace {} has not been read for {age}",
                one_line(&self.name)
            ))),
        }
    }

    /// Makes a skeleton of it.
    ///
    /// # Errors
    /// As [`Wanted::read`], and if it cannot be made.
    pub(super) fn prepare(&self, directory: &Path) -> Result<Prepared, Failure> {
        let patience = Patience { deadline: STORE_DEADLINE, in_all: PREPARING };
        let mut answers = ask_all_patiently("skeleton", &[()], patience, |(), steps| {
            let made = self.open().and_then(|file| {
                prepare_skeleton(BufReader::new(file), directory, steps).map_err(Failure::unusable)
            });
            made.map_err(|failure| (failure.code as u8, failure.sentence))
        })?;
        match answers.pop() {
            Some(Answer::Given(Ok(prepared))) => Ok(prepared),
            Some(Answer::Given(Err((code, sentence)))) => {
                Err(Failure { code: ExitCode::from_number(code), sentence })
            }
            Some(Answer::None { age, .. }) => Err(Failure::unusable(format!(
                "{} has not been made for {age}; what is there of it is left",
                directory.display()
            ))),
            None => Err(Failure::bug("one question has one answer")),
        }
    }

    fn read_here(&self, scope: &ReplayScope, changing: Changing) -> Result<ReadToRepeat, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| self.unreadable(error);
        let read = read_to_repeat(BufReader::new(self.open()?), scope, changing)
            .map_err(|error| unreadable(&error))?;
        let calls = read.repetition.items();
        if calls > CALLS_MAX {
            return Err(Failure::usage(format!(
                "the trace {} has {} calls to repeat, and at most {} can be: restrict it with --only, or trace a part",
                one_line(&self.name),
                format_count(calls),
                format_count(CALLS_MAX)
            )));
        }
        Ok(read)
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::unusable(format!("cannot read {}: {error}", one_line(&self.name)))
    }

    /// Opens its file.
    fn open(&self) -> Result<File, Failure> {
        if let Some(path) = file::meant(&self.name) {
            return File::open(&path).map_err(|error| self.unreadable(&error));
        }
        let (run, record) = opening::open(&self.located, &self.name)?;
        if record.spec.workload.trace().is_none() {
            let workload = record.spec.workload.name();
            return Err(Failure::usage(format!(
                "iolag replay takes a trace; run {} is a {workload}: iolag trace -- COMMAND makes one",
                record.id
            )));
        }
        let file = run.open_trace().map_err(Failure::unusable)?;
        file.ok_or_else(|| Failure::unusable(format!("of the trace {} nothing was kept", record.id)))
    }
}
