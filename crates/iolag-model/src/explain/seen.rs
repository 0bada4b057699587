//! What the probes of a place saw.

use serde::{Deserialize, Serialize};

use super::Counted;
use crate::{FileSystem, Nanoseconds};

/// How often `ls -l` and `ls -n` are run in turns: if the one takes longer in each pair, that happens by chance in 1 of 32 cases.
pub const LIST_PAIRS: usize = 5;

/// The function of a process that waits where the kernel does not tell in which.
pub const UNKNOWN_FUNCTION: &str = "?";

/// In which functions of the kernel a process waited, looked up at regular intervals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// How often it was looked.
    pub looks: u64,
    /// In which function it waited, and how many of the looks found it there; most first.
    pub functions: Vec<(String, u64)>,
}

impl Waits {
    /// One more look; nothing if it did not wait.
    pub fn add(&mut self, function: Option<&str>) {
        self.looks += 1;
        let Some(function) = function else { return };
        self.count(function, 1);
    }

    /// The looks of both.
    pub fn join(&mut self, other: &Self) {
        self.looks += other.looks;
        other.functions.iter().for_each(|(function, looks)| self.count(function, *looks));
    }

    /// In how many of the looks it was found in such a function.
    pub fn found_in(&self, is_such: impl Fn(&str) -> bool) -> u64 {
        self.functions.iter().filter(|(function, _)| is_such(function)).map(|(_, looks)| looks).sum()
    }

    fn count(&mut self, function: &str, looks: u64) {
        match self.functions.iter_mut().find(|(name, _)| name == function) {
            Some((_, mine)) => *mine += looks,
            None => self.functions.push((function.to_owned(), looks)),
        }
        self.functions.sort_by_key(|(_, looks)| std::cmp::Reverse(*looks));
    }
}

/// Whether a probe came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeEnd {
    /// It did.
    Ended,
    /// It was ended when its time was up: it would have taken longer.
    CutOff,
}

/// One probe, as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// How long it took.
    pub took_ns: Nanoseconds,
    /// Whether it came to its end.
    pub end: ProbeEnd,
    /// How long it used a processor.
    pub processor_ns: Nanoseconds,
    /// What the file system's client counted meanwhile.
    pub counted: Counted,
    /// Where it waited.
    pub waits: Waits,
}

/// Who answers what is asked of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServedBy {
    /// This machine, with a device of its own or out of memory.
    ThisMachine,
    /// A process on this machine: FUSE. What that waits for, the kernel does not know.
    Process,
    /// Servers elsewhere.
    Servers,
    /// Not known of this type.
    Unknown,
}

/// `ls -l` and `ls -n` of the same names, one right after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListPair {
    /// `ls -l`, which asks the name service who the owners are.
    pub names: Probed,
    /// `ls -n`, which does not.
    pub numbers: Probed,
}

/// How long it takes to open a connection to the server: once to the server's kernel and back, nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connecting {
    /// The middle of several.
    Took(Nanoseconds),
    /// It was tried, or could not be: why not, in a few words.
    Unknown(String),
    /// There is no server, or it is not known who it is.
    NoServer,
}

/// What the probes of a directory saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenPlace {
    /// The directory, absolute, without symbolic links.
    pub directory: String,
    /// What it lies on.
    pub file_system: FileSystem,
    /// Who answers for it.
    pub served_by: ServedBy,
    /// How many names were asked about; of a large or slow directory these are not all.
    pub names: u64,
    /// Reading the directory and the attributes of these names for the first time.
    pub first: Probed,
    /// Once more, at once.
    pub again: Probed,
    /// In the order in which they were run.
    pub pairs: Vec<ListPair>,
    /// What an `ls` that asks nothing of the place takes.
    pub start_ns: Nanoseconds,
    /// The way to the server.
    pub connecting: Connecting,
}
