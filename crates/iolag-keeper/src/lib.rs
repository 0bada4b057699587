//! The process that cannot hang: children, deadlines, orphans, and the shared memory that samples come through.
//!
//! A hung file system cannot be measured by the process that has to tell about it. The *keeper* owns the terminal, the
//! signals and the deadlines, and touches no target, home, store or name service. *Measurers* run the clients, and may hang.
//! The *writer* drains what they measured, and may hang too. All three share an [`Exchange`]. docs/measurement.md has the table of
//! who notices what, who cleans up, and what is kept.

mod children;
mod deadlines;
mod error;
pub mod mounts;
mod sealed;
mod shared;
mod signals;

pub use children::adopted::Adopted;
pub use children::child::{Child, Consumption, Ending, Orphanage};
pub use children::evidence::{
    Doing, Halt, doing, evidence, evidence_of_all, halt, processor_use, start_ticks,
};
pub use children::family::{descendants, members_of_session};
pub use children::messenger::{Inbox, Messenger, Outbox};
pub use children::separation::{leave_inheritance, leave_standard_streams};
pub use children::strays::reap_strays;
pub use children::waiting::{Awaited, wait_for_any};
pub use deadlines::hang_detection::{Hang, HangDetection};
pub use deadlines::sleeps::Sleeps;
pub use error::KeeperError;
pub use sealed::{Residence, move_into_memory, take_arguments};
pub use shared::coordinator::SharedCoordinator;
pub use shared::detail_ring::DetailReader;
pub use shared::layout::Exchange;
pub use shared::memory::SharedMemory;
pub use shared::recorders::{KeeperRing, SharedRecorder};
pub use shared::ring::{RingFull, RingProducer, RingReader};
pub use shared::room::Room;
pub use shared::slot::InFlight;
pub use shared::tags::{TAG_NAMES_BYTES_MAX, TAGS_MAX};
pub use shared::words::{MadeOfWords, SharedWords, Word};
pub use signals::{Signals, outlive_file_size_limit, outlive_quit};
