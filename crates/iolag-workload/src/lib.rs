//! Workloads, tasks, pacers and the one loop that drives clients.
//!
//! A workload is a [`Client`]: a state machine without I/O that says what comes next and is told what happened. The loop
//! ([`ClientLoop`]) exists once; [`drive_blocking`] and [`drive_async`] only differ in how they wait.

mod batch;
mod check;
mod check_time;
mod check_units;
mod client;
mod driver;
mod group;
mod metadata;
mod metadata_accounting;
mod metadata_options;
mod metadata_peers;
mod metadata_script;
mod metadata_sharing;
mod metadata_validation;
mod pacer;
mod ping;
mod probe_session;
mod stages;
mod tasks;

pub use batch::BatchClient;
pub use check::{CheckClient, CheckShare, CheckTasks, LISTED_DIRECTORY};
pub use check_time::{CheckTurns, place_removal};
pub use check_units::{CREATED_FILE_BYTES, bytes_to_write};
pub use client::{Client, Done, Note, Step};
pub use driver::{ClientLoop, DriveEnd, DriveOptions, drive_async, drive_blocking};
pub use group::{DriveError, IfNotOpen, Job, can_unshare, run_async_clients, run_process, run_threads};
pub use metadata::MetadataClient;
pub use metadata_accounting::Accounting;
pub use metadata_options::{MetadataOptions, Variant};
pub use metadata_sharing::{SelfReadShare, Sharing, recommended_offset};
pub use metadata_validation::{
    SpecError, validate, validate_check, validate_metadata, validate_ping, validate_positions,
};
pub use pacer::Pacer;
pub use ping::{Contact, Doing, Obstacle, Pace, PingClient, PingSchedule, unsent_number};
pub use probe_session::{PROBED, Part, ProbeSession};
pub use stages::{
    ROUNDS_MAX, bytes_held, bytes_needed, objects_needed, operations_needed, samples_expected,
    samples_per_client, stages,
};
pub use tasks::{
    Compiler, Language, PartEnding, PartRecorder, ProbeTask, ProbeTaskError, TaskError, TaskLimits,
    TaskOptions, TaskOutput, TaskSession, TaskSpec, allow_core_dumps, become_a_users_program, find_compiler,
    probe_task, remove_probe_files, withhold_core_dumps,
};
