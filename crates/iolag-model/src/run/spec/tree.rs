//! The tree: what is done with files that are there already, and what there was.

use serde::{Deserialize, Serialize};

use crate::{Nanoseconds, Phase, StageIndex};

/// Parameters of `iolag bench tree`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeSpec {
    /// What is done with the files, one after the other; before it the tree is walked.
    pub phases: Vec<Phase>,
    /// A phase ends with the first operation that ends after so long, the walk too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ns: Option<Nanoseconds>,
}

impl Default for TreeSpec {
    fn default() -> Self {
        Self { phases: vec![Phase::Stat, Phase::Sum], time_limit_ns: None }
    }
}

/// What a run found in a tree, and made of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRecord {
    /// What the walk found.
    pub found: TreeNames,
    /// What came of each stage in which something was done with files, in their order.
    pub stages: Vec<TreeStage>,
}

/// Names in a tree, but that of itself, by what is behind them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeNames {
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links, which nobody follows.
    pub links: u64,
    /// Pipes, sockets and devices, which nobody opens.
    pub special: u64,
    /// Directories on which something else is mounted, which nobody enters or asks for.
    pub mount_points: u64,
    /// Directories that could not be read to their end; they are among the directories, unless it is the tree itself.
    pub unread_directories: u64,
}

impl TreeNames {
    /// Those that are asked for.
    pub const fn asked(&self) -> u64 {
        self.files + self.directories + self.links + self.special
    }
}

/// What came of a stage, over all clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeStage {
    /// Which.
    pub stage: StageIndex,
    /// Names whose attributes were told.
    pub names: u64,
    /// Bytes that the regular files among them have, by their attributes.
    pub size_bytes: u64,
    /// Files that were read to their end.
    pub files: u64,
    /// Bytes that were read of them.
    pub bytes: u64,
    /// The sum, without carry, of a number for each of these files, made of its path in the tree and the CRC-32 of what it has: equal for
    /// equal trees, in whichever order they were read.
    #[serde(with = "hexadecimal")]
    pub checksum: u64,
    /// Files that became longer or shorter while they were read, or are other than they say.
    pub changed: u64,
    /// Files whose access time the reading may have set: who may do without that is their owner, and the superuser.
    pub access_times: u64,
}

impl TreeStage {
    /// The two together.
    pub const fn and(self, other: Self) -> Self {
        Self {
            stage: self.stage,
            names: self.names + other.names,
            size_bytes: self.size_bytes + other.size_bytes,
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
            checksum: self.checksum.wrapping_add(other.checksum),
            changed: self.changed + other.changed,
            access_times: self.access_times + other.access_times,
        }
    }
}

/// Sixteen digits: readers of JSON take long numbers for fractions.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{number:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_did_adds_up_in_any_order_and_is_stored_as_it_is() {
        let one = TreeStage { stage: StageIndex(2), files: 1, checksum: u64::MAX, ..TreeStage::default() };
        let other = TreeStage { stage: StageIndex(2), bytes: 7, checksum: 3, ..TreeStage::default() };
        assert_eq!(one.and(other), other.and(one));
        let both = one.and(other);
        assert_eq!((both.files, both.bytes, both.checksum), (1, 7, 2));
        let text = serde_json::to_string(&both).unwrap();
        assert!(text.contains(r#""checksum":"0000000000000002""#), "{text}");
        assert_eq!(serde_json::from_str::<TreeStage>(&text).unwrap(), both);
    }
}
