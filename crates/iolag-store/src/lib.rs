//! Run directories: what was measured, kept so that no crash loses more than the block being written.
//!
//! ```text
//! <root>/runs/<RunId>/run.json                        what is known about the run; replaced as a whole
//!                     manifest.json                   what the run created elsewhere, for clean-up
//!                     spool/ring-<n>.spool            while it runs: one per measurer, see [`SpoolWriter`]
//!                     samples-<target>-<n>.parquet    afterwards: what every reader takes as it is, see [`encode`]
//!                     details.parquet                 texts that belong to few samples
//!                     trace.iolag                     of a trace, instead of samples: the calls of a program
//! <root>/baselines/<NAME>.json                        which runs others are compared with
//! ```
//! Invariants: nothing is followed out of a run directory; every file but the spool is replaced as a whole and durable
//! before anything that it makes superfluous is removed; run.json is the only authority on which parts count; there is no
//! index that could disagree with the directories. Directories are 0700, files 0600.
//!
//! Limits: one host writes a run. The format is described in docs/store-format.md.

mod directory;
mod error;
pub mod history;
pub mod import;
mod runs;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use directory::{Directory, DirectoryLock};
pub use error::{Flaw, FlawKind, StoreError};
pub use runs::baseline::{Baseline, BaselineName, BaselineNameError, FoundBaseline};
pub use runs::belonging::is_of_store;
pub use runs::encode::{Encoded, encode};
pub use runs::export::{CSV_HEADER, TextForm};
pub use runs::liveness::{KeeperIdentity, boot_id, host_name};
pub use runs::manifest::{Manifest, ManifestEntry, ManifestKind};
pub use runs::recovery::adopt::{Adopted, Adoption, adopt};
pub use runs::recovery::recover::{Recovered, Recovery, recover, recover_one, recover_run};
pub use runs::retention::{Retention, runs_to_remove};
pub use runs::run_directory::RunDirectory;
pub use runs::scan::{BATCH_ROWS, Samples, Sink, StoredSample};
pub use runs::spool::{Block, Damage, Resumed, SpoolNumber, SpoolReader, SpoolWriter, spools};
pub use runs::store::{Listed, Removal, Store};
