//! The schedule of probes: what is executed when, what happens at a deadline, and what is remembered of it.
//!
//! A watch is one process that cannot hang (the keeper's side) and many short-lived children that may: one per probe, one
//! that writes the history, one that looks up circumstances. docs/watch.md says what is promised.
//!
//! Each folder uses those above it in this list, and none below:
//!
//! - `agenda`: what begins when, what a deadline means, what is skipped because of whom; pure.
//! - `world`: the host: mounts, clocks, load, and the lists of configurations and outages.
//! - `memory`: what outlives the process: runtime directory, spool, ledger, status file, and the historian who empties the spool.
//! - `probe`: the children that may hang, what they stamp, and what is made of it.
//! - `targets`: where each target lies, under which circumstances, and whether it answers.
//! - `run`: the watch under way.

mod agenda;
mod memory;
mod observer;
mod plan;
mod probe;
mod run;
mod targets;
mod worker;
mod world;

pub use agenda::probe_state::{Deadlines, ProbeState, Step};
pub use agenda::schedule::{Round, Schedule};
pub use agenda::subjects::{MountKey, Provision, Restraint, Slot, Subject};
pub use agenda::{Action, Agenda, Surveyor, WatchLimit};
pub use memory::historian::{Recall, Recollection};
pub use memory::runtime::{Backing, RuntimeDirectory, RuntimeError};
pub use memory::runtime_search::{FoundRuntime, MemoryPlaces};
pub use memory::spool::{Keeping, Spool, SpoolLimits, SpoolLosses};
pub use memory::status_file::{PublishedStatus, STATUS_VERSION, publish, read_status, read_status_below};
pub use observer::{Unobserved, WatchObserver};
pub use plan::{
    AtDeadline, FactSource, Location, Mounted, PlannedCovariate, PlannedFact, PlannedTask, WatchPlan,
    WatchTarget,
};
pub use probe::checkpoint::probes_left;
pub use probe::place::Place;
pub use probe::process::{ProbeProcess, ProcessEnd, ProcessIdentity};
pub use probe::samples::{Fate, ProbeDescription, samples, skipped};
pub use probe::stamps::{PARTS_MAX, PartStamp, PreparationFailure, StampRecorder, Stamps};
pub use probe::start::start_task;
pub use run::watch::{Callbacks, Watch, WatchEnd, WatchIdentity, WatchSummary};
pub use targets::first_contact::FirstContact;
pub use targets::target_mounts::{missing_mounts, mount_keys};
pub use worker::{Worker, WorkerState};
pub use world::clocks::{ClockChange, ClockWatch};
pub use world::configurations::{Configurations, configuration_key};
pub use world::mounts::{MountIdentity, MountTable};
pub use world::outages::{OpenOutage, Outages, ended_by_reboot};
pub use world::surroundings::{SurroundingsMeter, SurroundingsStart};
