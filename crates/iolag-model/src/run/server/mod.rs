//! A server that was measured, as it was greeted.

mod connections;

pub use connections::Connections;

use serde::{Deserialize, Serialize};

use crate::{Nanoseconds, Operation};

/// A server at the first contact.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Its software, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What protects the connection, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<String>,
    /// What operations mean there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<String>,
    /// The parts of coming to the first answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ContactPart>,
}

/// A part of a first contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactPart {
    /// What it was.
    pub operation: Operation,
    /// How long it took.
    pub duration_ns: Nanoseconds,
}
