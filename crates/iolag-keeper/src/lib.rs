//! The process that cannot hang: children, deadlines, orphans, and the shared memory that samples come through.
//!
//! A hung file system cannot be measured by the process that has to tell about it. The *keeper* owns the terminal, the
//! signals and the deadlines, and touches no target, home, store or name service. *Measurers* run the clients, and may hang.
//! The *writer* drains what they measured, and may hang too. All three share an [`Exchange`]. docs/measurement.md has the table of
//! who notices what, who cleans up, and what is kept.

mod adopted;
mod child;
mod coordinator;
mod detail_ring;
mod error;
mod evidence;
mod family;
mod layout;
mod memory;
mod messenger;
pub mod mounts;
mod ring;
mod room;
mod sealed;
mod separation;
mod signals;
mod sleeps;
mod slot;
mod strays;
mod waiting;
mod watch;
mod words;

pub use adopted::Adopted;
pub use child::{Child, Consumption, Ending, Orphanage};
pub use coordinator::SharedCoordinator;
pub use detail_ring::DetailReader;
pub use error::KeeperError;
pub use evidence::{Halt, evidence, evidence_of_all, halt, processor_use, start_ticks};
pub use family::{descendants, members_of_session};
pub use layout::{Exchange, KeeperRing, SharedRecorder};
pub use memory::SharedMemory;
pub use messenger::{Inbox, Messenger, Outbox};
pub use ring::{RingFull, RingProducer, RingReader};
pub use room::Room;
pub use sealed::{Residence, move_into_memory, take_arguments};
pub use separation::leave_inheritance;
pub use signals::{Signals, outlive_file_size_limit};
pub use sleeps::Sleeps;
pub use slot::InFlight;
pub use strays::reap_strays;
pub use waiting::{Awaited, wait_for_any};
pub use watch::{Hang, HangWatch};
pub use words::SharedWords;
