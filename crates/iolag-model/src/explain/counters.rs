//! What the client of a file system counted while something was asked of it.

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// Requests of one kind that the client of NFS or Lustre sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestTimes {
    /// What was asked: GETATTR, READDIRPLUS, `mds_getattr`.
    pub name: String,
    /// Requests that came to their end.
    pub requests: u64,
    /// How often one had to be sent again; Lustre does not count it.
    pub resent: u64,
    /// From being made until being sent, over all requests; Lustre does not count it.
    pub queue_ns: Nanoseconds,
    /// From being sent until being answered, over all requests.
    pub round_trip_ns: Nanoseconds,
    /// From being made until being done with, over all requests; of Lustre from being sent.
    pub execute_ns: Nanoseconds,
}

/// Calls of one kind that the Lustre client handled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTimes {
    /// Which call: getattr, `inode_permission`.
    pub name: String,
    /// How many.
    pub calls: u64,
    /// How long they took in all; Lustre before 2.13 does not count it.
    pub took_ns: Option<Nanoseconds>,
}

/// What a file system's client counted of a stretch of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Requests to the servers of NFS or Lustre.
    Requests(Vec<RequestTimes>),
    /// Calls of programs, where of Lustre only these may be read: how many requests they made is not in it.
    Calls(Vec<CallTimes>),
    /// It counts, and what it counted is not known: why, in a sentence.
    Unknown(String),
    /// A file system without counters.
    Nothing,
}
