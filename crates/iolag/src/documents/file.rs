//! A file of the user's, read by a child with a deadline.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use iolag_conduct::{Answer, Failure, ask};
use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

use super::Source;

/// How long reading it, or searching `$PATH` for what it names, may take.
pub const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(15);
/// More is nothing that somebody wrote.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A file with its permissions; empty if there is none.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UserFile {
    /// Its path, for errors.
    pub name: String,
    /// What it says.
    pub text: String,
    mode: u32,
}

/// What a file is to its reader, and what to look at if it cannot be read.
#[derive(Debug, Clone, Copy)]
pub struct Purpose {
    /// What it is called.
    pub noun: &'static str,
    /// What helps, as a fragment of a sentence.
    pub advice: &'static str,
}

impl UserFile {
    /// Reads it.
    ///
    /// # Errors
    /// If it cannot be read, or its file system does not answer.
    pub fn read(path: &Path, Purpose { noun, advice }: Purpose) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let read = || -> Result<Self, String> {
            let metadata = path.metadata().map_err(|error| error.to_string())?;
            let size = metadata.len();
            if size > FILE_BYTES_MAX {
                return Err(format!("it has {size} bytes, which is no {noun}"));
            }
            let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
            let mut text = String::new();
            // A device or a pipe has no size.
            file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
            if text.len() as u64 > FILE_BYTES_MAX {
                return Err(format!("it has more than {FILE_BYTES_MAX} bytes, which is no {noun}"));
            }
            Ok(Self { name: name.clone(), text, mode: metadata.mode() })
        };
        match ask("scout", DEADLINE, read)? {
            Answer::Given(Ok(file)) => Ok(file),
            Answer::Given(Err(error)) => {
                Err(Failure::usage(format!("cannot read the {noun} {name}: {error}; {advice}")))
            }
            Answer::None { age, .. } => Err(Failure::unusable(format!(
                "the {noun} {name} has not been read for {age}: its file system does not answer"
            ))),
        }
    }

    /// What it says, with its name for errors.
    pub fn source(&self) -> Source<'_> {
        Source { file: &self.name, text: &self.text }
    }

    /// What to tell the user of a password in it, if others may read it.
    pub fn exposure(&self, noun: &str) -> Option<String> {
        const OF_OTHERS: u32 = 0o044;
        (self.mode & OF_OTHERS != 0).then(|| {
            format!(
                "the {noun} {name} holds a password, and others may read it (mode {:o}): keep them out with: chmod 600 {name}",
                self.mode & 0o7777,
                name = self.name
            )
        })
    }

    /// What to tell the user of commands in it, if others may write it.
    pub fn openness(&self, noun: &str) -> Option<String> {
        const BY_OTHERS: u32 = 0o022;
        (self.mode & BY_OTHERS != 0).then(|| {
            format!(
                "the {noun} {name} says what is executed, and others may write it (mode {:o}): keep them out with: chmod go-w {name}",
                self.mode & 0o7777,
                name = self.name
            )
        })
    }
}
