//! A run: what was to be done, and what is known about it besides its samples.

mod arrival;
mod beside;
mod caches;
mod campaign;
mod deadlines;
pub mod ending;
mod environment;
mod format;
mod generator;
mod host;
mod memory_course;
mod record;
mod server;
mod spec;
mod stream;

pub use arrival::{Arrivals, WhenLate};
pub use beside::{
    BesideRecord, BystanderSpec, BystanderStage, BystanderTask, LoadCourse, LoadTime, Standpoint,
};
pub use caches::CacheState;
pub use campaign::{CampaignPlan, Order, PutBack, SideRecord, Stopping};
pub use deadlines::{DeadlineRule, Deadlines, OnError};
pub use environment::{Calibration, Environment, FileSystem, MemoryState, Pressure};
pub use format::{FormatError, FormatVersion, RUN_FORMAT, RUN_FORMAT_WITH_PING, RUN_FORMAT_WITH_TRACES};
pub use generator::{GeneratorLimit, GeneratorRecord, HeartbeatRecord, MarkedSpan, MeasurerRecord};
pub use host::{ClockOffset, HostRecord, HostView};
pub use memory_course::{MEMORY_LOOKS_MAX, MemoryCourse, MemoryLook};
pub use record::{
    ClientRecord, ContactEnd, ContactRecord, PartRecord, Rescue, RunRecord, RunState, StageRecord, TagKind,
    TagRecord, TargetRecord, Trust,
};
pub use server::{Connections, ContactPart, ServerRecord};
pub use spec::*;
pub use stream::{Allocation, CopyEnd, CopyWith, StreamEngine, StreamFsync, StreamIo, StreamSpec};
