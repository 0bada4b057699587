//! The schedule of probes: what is executed when, what happens at a deadline, and what is remembered of it.
//!
//! A watch is one process that cannot hang (the keeper's side) and many short-lived children that may: one per probe, one
//! that writes the history, one that looks up circumstances. docs/watch.md says what is promised.

mod agenda;
mod canary;
mod clocks;
mod configurations;
mod contact;
mod deadlines;
mod describing;
mod errand;
mod flight;
mod health;
mod hidden_root;
mod historian;
mod kept;
mod ledger;
mod lookups;
mod memory;
mod moments;
mod mounts;
mod names;
mod observer;
mod outages;
mod place;
mod plan;
mod probing;
mod process;
mod published;
mod resuming;
mod room;
mod run;
mod runtime;
mod samples;
mod schedule;
mod showing;
mod spool;
mod stamps;
mod surroundings;
mod targets;
mod whereabouts;

pub use agenda::{Action, Agenda, MountKey, Provision, Restraint, Slot, Subject, Surveyor, WatchLimit};
pub use clocks::{ClockChange, ClockWatch};
pub use configurations::{Configurations, configuration_key};
pub use contact::FirstContact;
pub use deadlines::{Deadlines, ProbeState, Step};
pub use historian::{Recall, Recollection};
pub use memory::{FoundRuntime, MemoryPlaces};
pub use mounts::{MountIdentity, MountTable};
pub use observer::{Unobserved, WatchObserver};
pub use outages::{OpenOutage, Outages, ended_by_reboot};
pub use place::Place;
pub use plan::{AtDeadline, Mounted, PlannedCovariate, PlannedTask, WatchPlan, WatchTarget};
pub use process::{KeptProcess, ProbeProcess, ProcessEnd, start_task};
pub use published::{PublishedStatus, STATUS_VERSION, probes_left, publish, read_status, read_status_below};
pub use run::{Errands, Watch, WatchEnd, WatchIdentity, WatchSummary};
pub use runtime::{Backing, RuntimeDirectory, RuntimeError};
pub use samples::{Fate, ProbeDescription, samples, skipped};
pub use schedule::{Round, Schedule};
pub use spool::{Keeping, Spool, SpoolLimits, SpoolLosses};
pub use stamps::{PARTS_MAX, PartStamp, PreparationFailure, StampRecorder, Stamps};
pub use surroundings::{SurroundingsMeter, SurroundingsStart};
pub use targets::{missing_mounts, mount_keys};
