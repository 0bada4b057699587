//! The spool: append-only files, one per measurer and one of the keeper, that survive the end of any process.
//!
//! Blocks mix the samples of all clients of a measurer; a sample names its own. A file `ring-<n>.spool` (the name is as old as
//! version 1.0, which had one for each client's ring) is a sequence of blocks, each a multiple of 4096 bytes and at most 1 MiB, so that direct I/O
//! can write it as it is. A block counts if its checksum is right; the first that is not ends the file.
//!
//! A block is its `block::Header`, whose own checksum lets a pass skip payloads; `count` samples of 48 bytes, or detail records; then
//! zeros up to a multiple of 4096, which no checksum covers and which mean nothing.
//!
//! Limits: a power failure may lose what was appended since the last [`SpoolWriter::sync`]; the end of a process may not.

mod block;
mod reader;
mod writer;

pub use reader::{Block, Damage, SpoolReader};
pub use writer::{Resumed, SpoolWriter};

use crate::{Directory, StoreError};

/// Number of a spool: that of the measurer whose samples it takes, the keeper's being the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpoolNumber(pub u32);

impl SpoolNumber {
    /// The name of its file in the spool directory.
    pub fn file_name(self) -> String {
        format!("ring-{}.spool", self.0)
    }

    /// The spool whose file has this name.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let number = name.strip_prefix("ring-")?.strip_suffix(".spool")?.parse().ok()?;
        // Only the one spelling: "ring-007.spool" is not ours.
        (Self(number).file_name() == name).then_some(Self(number))
    }
}

/// The spools that have a file in this directory, in ascending order.
///
/// # Errors
/// If the directory cannot be read.
pub fn spools(directory: &Directory) -> Result<Vec<SpoolNumber>, StoreError> {
    let names = directory.names()?;
    let mut spools: Vec<_> = names.iter().filter_map(|name| SpoolNumber::from_file_name(name)).collect();
    spools.sort();
    Ok(spools)
}
