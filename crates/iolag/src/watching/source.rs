//! The text of a configuration, and what is read of it: errors name its line.

use iolag_model::{Nanoseconds, parse_duration};
use iolag_watch::Mounted;
use iolag_workload::TaskOutput;
use toml::Spanned;

use super::document::{DocumentError, TaskTable, Text};

/// Shortest period and deadline that make sense: a probe's process alone takes milliseconds.
pub const SHORTEST: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// A file with its text.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name.
    pub file: &'a str,
    /// What it says.
    pub text: &'a str,
}

impl Source<'_> {
    pub fn duration(&self, text: &Text) -> Result<Nanoseconds, DocumentError> {
        let duration = parse_duration(text.get_ref()).map_err(|error| self.error(text, error.to_string()))?;
        if duration < SHORTEST {
            return Err(
                self.error(text, format!("{:?} is too short: expected at least {SHORTEST}", text.get_ref()))
            );
        }
        Ok(duration)
    }

    pub fn output(&self, table: &TaskTable) -> Result<TaskOutput, DocumentError> {
        match table.output.as_ref().map(|text| (text, text.get_ref().as_str())) {
            None | Some((_, "discard")) => Ok(TaskOutput::Discard),
            Some((_, "terminal")) => Ok(TaskOutput::Terminal),
            Some((text, other)) => {
                Err(self.error(text, format!("{other:?} is no output: expected \"discard\" or \"terminal\"")))
            }
        }
    }

    pub fn mounted(&self, text: Option<&Text>) -> Result<Mounted, DocumentError> {
        let Some(text) = text else { return Ok(Mounted::Required) };
        match text.get_ref().as_str() {
            "required" => Ok(Mounted::Required),
            "any" => Ok(Mounted::Any),
            other => {
                Err(self.error(text, format!("{other:?} is unknown here: expected \"required\" or \"any\"")))
            }
        }
    }

    /// An error without a place of its own.
    pub fn nothing(&self, message: String) -> DocumentError {
        DocumentError::at(self.file, self.text, 0..0, message)
    }

    pub fn error<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> DocumentError {
        DocumentError::at(self.file, self.text, at.span(), message)
    }
}
