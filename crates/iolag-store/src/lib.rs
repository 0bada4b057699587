//! Run directories: what was measured, kept so that no crash loses more than the block being written.
//!
//! ```text
//! <root>/runs/<RunId>/run.json                        what is known about the run; replaced as a whole
//!                     manifest.json                   what the run created elsewhere, for clean-up
//!                     spool/ring-<n>.spool            while it runs: one per measurer, see [`SpoolWriter`]
//!                     samples-<target>-<n>.parquet    afterwards: what every reader takes as it is, see [`encode`]
//!                     details.parquet                 texts that belong to few samples
//! ```
//! Invariants: nothing is followed out of a run directory; every file but the spool is replaced as a whole and durable
//! before anything that it makes superfluous is removed; run.json is the only authority on which parts count; there is no
//! index that could disagree with the directories. Directories are 0700, files 0600.
//!
//! Limits: one host writes a run. The format is described in docs/store-format.md.

mod adopt;
mod directory;
mod encode;
mod error;
mod export;
mod finish;
pub mod history;
pub mod history_samples;
pub mod import;
mod liveness;
mod manifest;
mod part;
mod prune;
mod recover;
mod rescue;
mod run_directory;
mod scan;
mod spool;
mod store;
mod tidy;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use adopt::{Adopted, Adoption, adopt};
pub use directory::{Directory, DirectoryLock};
pub use encode::{Encoded, encode};
pub use error::{Flaw, FlawKind, StoreError};
pub use export::{CSV_HEADER, TextForm};
pub use liveness::{KeeperIdentity, boot_id};
pub use manifest::{Manifest, ManifestEntry, ManifestKind};
pub use prune::{Retention, runs_to_remove};
pub use recover::{Recovered, Recovery, recover, recover_one, recover_run};
pub use run_directory::RunDirectory;
pub use scan::{BATCH_ROWS, Samples, Sink, StoredSample};
pub use spool::{Block, Damage, Resumed, SpoolNumber, SpoolReader, SpoolWriter, spools};
pub use store::{Listed, Removal, Store};
