//! What the probes of a place come to.

use serde::{Deserialize, Serialize};

use super::SeenPlace;
use crate::{Nanoseconds, TraceActivityKind};

/// Who may take the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Who says what the numbers of users and groups are called: files, LDAP, sssd.
    NameService,
    /// This machine: its kernel, its processors, what waits here to be sent, and a disk of its own.
    Client,
    /// The way to the server and back.
    Network,
    /// Who answers for the file system: a server, or the process behind a file system in user space.
    Server,
    /// Looking for names that are not there; whoever answers that.
    LookUps,
    /// The command's own work on a processor.
    Processor,
    /// Waiting for what is no storage: time, networks, pipes, terminals, and what the command has started.
    Elsewhere,
}

/// Of what the time is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Reading the directory and the attributes of its names for the first time.
    First,
    /// `ls -l`, the names having been asked about before.
    LongListing,
}

/// What is missing to tell more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// `ls -l` took longer than `ls -n` only sometimes: not often enough to be no accident.
    Steadiness,
    /// The file system counts nothing that iolag can read.
    Counters,
    /// Its counters could not be read, or not be subtracted: a sentence.
    CountersUnread(String),
    /// Others asked the same file system so much meanwhile that its counters say little of us.
    Others,
    /// More requests than one were under way at the same time: they are divided as all of them are.
    Overlap,
    /// Its counters count calls of programs, not requests to servers.
    Requests,
    /// How long the way to the server takes is not known: why.
    Way(String),
    /// The kernel does not tell in which function a process waits.
    Functions,
}

/// From what the time of a part was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartReason {
    /// The difference between `ls -l` and `ls -n`.
    Difference,
    /// Requests that waited here before they were sent, and after they were answered; the program's own work.
    Queue {
        /// Of it, until requests were sent.
        queue_ns: Nanoseconds,
        /// How many requests.
        requests: u64,
    },
    /// The way to the server, as often as there were requests.
    Way {
        /// Once.
        connect_ns: Nanoseconds,
        /// How many requests.
        requests: u64,
    },
    /// What requests took from being sent to being answered, less the way if that is known.
    RoundTrip {
        /// In all.
        round_trip_ns: Nanoseconds,
        /// How many requests.
        requests: u64,
    },
    /// It was seen to wait for the process that serves the file system.
    ServingProcess {
        /// In which function of the kernel.
        function: String,
        /// In so many of the looks.
        found: u64,
        /// Of so many.
        looks: u64,
    },
    /// What is left on a file system of this machine.
    OwnMachine,
    /// Look-ups of a command that found nothing.
    Absent {
        /// How many.
        absent: u64,
        /// Of so many look-ups.
        look_ups: u64,
        /// How long they took, over all tasks.
        tasks_ns: Nanoseconds,
    },
    /// Calls of a command that ask a name service, and its files.
    NameCalls {
        /// How many.
        calls: u64,
    },
    /// Time between the calls of a command in which it used a processor.
    Worked,
    /// Time between the calls of a command in which it used none.
    BetweenCalls,
    /// What a command waited for, and how long; most first.
    Waited(Vec<(TraceActivityKind, Nanoseconds)>),
    /// What is left.
    Rest,
}

/// A part of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Whose; if it is more than one, these cannot be told apart, and if it is none, nothing is known.
    pub layers: Vec<Layer>,
    /// How much.
    pub time_ns: Nanoseconds,
    /// Of the whole.
    pub share: f64,
    /// The mount that it is of; nothing where all is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
    /// From what that is known.
    pub reason: PartReason,
    /// What is missing to tell more.
    pub lack: Option<Lack>,
}

/// What `ls -l` against `ls -n` says of the name service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameServiceWord {
    /// `ls -l` took longer every time.
    TakesTime,
    /// It took longer at the first time only: either the name service's answers are kept since, or something else happened then.
    OnlyFirst,
    /// It took longer sometimes.
    CannotTell,
    /// It took no longer.
    TakesNone,
}

/// The times of the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameTimes {
    /// The middle of `ls -l`.
    pub names_ns: Nanoseconds,
    /// The middle of `ls -n`.
    pub numbers_ns: Nanoseconds,
    /// The middle of the differences; zero if `ls -n` took longer.
    pub difference_ns: Nanoseconds,
    /// How many pairs.
    pub pairs: u64,
    /// In how many `ls -l` took longer.
    pub longer: u64,
    /// In how many `ls -l` was ended before its end.
    pub cut_off: u64,
    /// What that means.
    pub word: NameServiceWord,
}

/// What the second time says of caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheWord {
    /// The second time took far less: what was asked is kept.
    Kept,
    /// The second time took as long: everything is asked anew.
    NotKept,
    /// Neither, or too little time to tell.
    CannotTell,
}

/// The first time against the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caches {
    /// The first time.
    pub first_ns: Nanoseconds,
    /// The second.
    pub again_ns: Nanoseconds,
    /// Requests to the server at the first time, where the client counts them.
    pub first_requests: Option<u64>,
    /// At the second.
    pub again_requests: Option<u64>,
    /// What that means.
    pub word: CacheWord,
}

/// What an explanation comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExplanationWord {
    /// Nothing was slow.
    NotSlow,
    /// Most of the time is one part's.
    Because,
    /// No part has most of the time.
    Divided,
    /// Of most of the time nothing is known.
    CannotTell,
}

/// Why a place is slow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What was seen.
    pub seen: SeenPlace,
    /// What it comes to.
    pub word: ExplanationWord,
    /// Of what the time is divided.
    pub subject: Subject,
    /// How long that took.
    pub took_ns: Nanoseconds,
    /// Where the time went; most first.
    pub parts: Vec<Part>,
    /// The name service.
    pub names: NameTimes,
    /// Caches.
    pub caches: Caches,
}
