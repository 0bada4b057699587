//! By what records are known.

use serde::{Deserialize, Serialize};

/// One scheduled execution of one task, unique on its host: the wall-clock second in which its watch started in the upper 40 bits, then
/// a number counted from there in 12, then a tag of the watch in 12. Those of one watch ascend; nothing else follows from their order. A run of which values are
/// remembered has a fingerprint of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(transparent)]
pub struct ProbeId(#[serde(with = "super::digits")] pub u64);

/// Identifies a configuration: a hash of its facts, the same on every host with the same facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigurationKey(#[serde(with = "super::digits")] pub u64);
