//! What is known before the first line.

use super::kernel::Kernel;
use crate::state::Opened;
use crate::trace::{PathId, Sharing, Tables};

/// What is known before the first line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beginning {
    /// The directory in which the program was started, or is; without it relative paths stay relative until the text says more.
    pub directory: Option<Vec<u8>>,
    /// The process, if it was there before strace was.
    pub process: Option<StandingProcess>,
}

/// A process that is there already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingProcess {
    /// The numbers of its threads, its own first.
    pub threads: Vec<u32>,
    /// What it has open.
    pub files: Vec<StandingFile>,
}

/// A file that a process has open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandingFile {
    /// The descriptor.
    pub descriptor: i32,
    /// Its path; nothing if it is no file.
    pub path: Option<Vec<u8>>,
    /// Where the next read or write is, if that is known.
    pub position: Option<u64>,
    /// Whether it stays open when a program is executed.
    pub at_execute: AtExecute,
}

/// What becomes of a descriptor when a program is executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtExecute {
    /// It stays.
    #[default]
    Stays,
    /// It is closed.
    Closes,
}

impl StandingProcess {
    /// Makes its tasks, which share everything, as threads do.
    pub(super) fn stand(&self, directory: Option<PathId>, kernel: &mut Kernel, tables: &mut Tables) {
        let Some((own, others)) = self.threads.split_first() else { return };
        kernel.root(*own, directory, tables);
        let Some(standing) = kernel.standing(*own) else { return };
        for file in &self.files {
            let path = file.path.as_ref().map(|path| tables.paths.number(path));
            let opened = Opened { path, position: file.position };
            kernel.files.open(standing.files, file.descriptor, opened, file.at_execute == AtExecute::Closes);
        }
        for thread in others {
            kernel.fork(*own, *thread, Sharing::THREAD, tables);
        }
    }
}
