//! Workloads, tasks, pacers and the one loop that drives clients.
//!
//! A workload is a [`Client`]: a state machine without I/O that says what comes next and is told what happened. The loop
//! ([`ClientLoop`]) exists once; how a thread drives it ([`drive_blocking`]) and how a task does ([`run_async_clients`]) differ in how they wait.

mod beside;
mod caches;
mod check;
mod driving;
mod metadata;
mod payload;
mod ping;
mod processors;
mod replay;
mod set_up;
mod spec_error;
mod stream;
mod tasks;
mod trace;
mod tree;
mod workload;

pub use beside::client::{Asks, BystanderClient, Keeps};
pub use beside::load::LoadClient;
pub use beside::session::{BystanderSession, Own};
pub use beside::spec::validate_bystander;
pub use caches::CachesClient;
pub use check::client::{CheckClient, CheckShare, LISTED_DIRECTORY};
pub use check::group::{CheckAbilities, CheckTasks};
pub use check::holdings::place_removal;
pub use check::spec::{ROUNDS_MAX, check_bytes_of_servers};
pub use check::turns::CheckTurns;
pub use driving::blocking::drive_blocking;
pub use driving::client::{Client, CountsFrom, Done, Note, Step};
pub use driving::client_loop::{ClientLoop, DriveEnd, DriveOptions};
pub use driving::lanes::drive_lanes;
pub use driving::many_clients::{DriveError, IfNotOpen, Job, Opened, can_unshare, run_process, run_threads};
pub use driving::pacer::Pacer;
pub use driving::workers::{Workers, run_async_clients};
pub use metadata::accounting::Accounting;
pub use metadata::batch::BatchClient;
pub use metadata::mixed::MetadataClient;
pub use metadata::options::{MetadataOptions, MetadataVariant};
pub use metadata::sharing::{SelfReadShare, Sharing, recommended_offset};
pub use metadata::validation::validate_positions;
pub use payload::{PayloadAsker, PayloadEnd, PayloadProgram, PayloadServer, PayloadSession};
pub use ping::client::{Contact, Doing, Obstacle, Pace, PingClient, PingSchedule, unsent_number};
pub use ping::probe_session::{PROBED, Part, ProbeSession, ProbedObject};
pub use processors::{ProcessorClocks, ProcessorTimes};
pub use replay::{CopyClients, MapRoot, Paths, ReplayCopy, ReplayPace, buffer_bytes, run_copy};
pub use set_up::client::SetUpClient;
pub use spec_error::SpecError;
pub use stream::client::{Copies, CopyPlace, StreamClient};
pub use stream::ledger::{StreamFault, StreamLedger};
pub use stream::spec::PROGRAM_GRACE;
pub use tasks::{
    CREATED_FILE_BYTES, Compiler, Cp, Language, PartEnding, PartRecorder, ProbeTask, ServerPlace, ServerTask,
    TaskError, TaskLimit, TaskLimits, TaskOptions, TaskOutput, TaskSession, TaskSpec, allow_core_dumps,
    become_a_users_program, find_compiler, probe_task, remove_probe_files, withhold_core_dumps,
};
pub use tree::client::{Names, TreeClient, TreeTurns};
pub use workload::{Workload, longest_for, workload};
