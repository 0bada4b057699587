//! Whether connections are kept.

use serde::{Deserialize, Serialize};

use crate::run::spec::names;

/// Whether a client keeps its connection to a server for its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// As long as the server does.
    #[default]
    #[serde(rename = "reuse")]
    Reused,
    /// Each request has one of its own.
    Fresh,
}
names!(Connections { Reused = "reuse", Fresh = "fresh" });

impl Connections {
    /// Whether they are kept.
    pub const fn are_kept(&self) -> bool {
        matches!(self, Self::Reused)
    }
}
