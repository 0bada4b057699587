//! The schedule of probes: what is executed when, what happens at a deadline, and what is remembered of it.
//!
//! A watch is one process that cannot hang (the keeper's side) and many short-lived children that may: one per probe, one
//! that writes the history, one that looks up circumstances. docs/watch.md says what is promised.

mod agenda;
mod memory;
mod observer;
mod plan;
mod probe;
mod run;
mod targets;
mod worker;
mod world;

pub use agenda::deadlines::{Deadlines, ProbeState, Step};
pub use agenda::schedule::{Round, Schedule};
pub use agenda::{Action, Agenda, MountKey, Provision, Restraint, Slot, Subject, Surveyor, WatchLimit};
pub use memory::historian::{Recall, Recollection};
pub use memory::runtime::{Backing, RuntimeDirectory, RuntimeError};
pub use memory::runtime_search::{FoundRuntime, MemoryPlaces};
pub use memory::spool::{Keeping, Spool, SpoolLimits, SpoolLosses};
pub use memory::status_file::{
    PublishedStatus, STATUS_VERSION, probes_left, publish, read_status, read_status_below,
};
pub use observer::{Unobserved, WatchObserver};
pub use plan::{AtDeadline, Mounted, PlannedCovariate, PlannedTask, WatchPlan, WatchTarget};
pub use probe::place::Place;
pub use probe::process::{ProbeProcess, ProcessEnd, ProcessIdentity, start_task};
pub use probe::samples::{Fate, ProbeDescription, samples, skipped};
pub use probe::stamps::{PARTS_MAX, PartStamp, PreparationFailure, StampRecorder, Stamps};
pub use run::running::{Callbacks, Watch, WatchEnd, WatchIdentity, WatchSummary};
pub use targets::first_contact::FirstContact;
pub use targets::target_mounts::{missing_mounts, mount_keys};
pub use world::clocks::{ClockChange, ClockWatch};
pub use world::configurations::{Configurations, configuration_key};
pub use world::mounts::{MountIdentity, MountTable};
pub use world::outages::{OpenOutage, Outages, ended_by_reboot};
pub use world::surroundings::{SurroundingsMeter, SurroundingsStart};
