//! How to touch a storage system.
//!
//! A [`Backend`] knows one kind of target; a [`Session`] is one client's connection to it. Everything that a client asks
//! goes through [`Session::execute`]: timing, injected faults, replay and conformance all see the same [`Request`].
//!
//! Invariants: between `prepare` and `inspect` nothing but the operation happens, no name is made, no buffer filled,
//! nothing allocated by iolag. A failed operation is a [`Completion`] with a code; a [`BackendError`] means that the
//! harness itself cannot go on.

mod absence;
mod backend;
mod blocking;
mod blocks;
pub mod conformance;
mod content;
mod delayed;
mod faulty;
mod held_back;
#[cfg(feature = "http")]
mod http;
mod memory;
#[cfg(feature = "mongodb")]
mod mongo;
mod names;
mod paged;
mod posix;
#[cfg(feature = "postgres")]
mod postgres;
mod redact;
mod request;
#[cfg(feature = "s3")]
mod s3;
mod semantics;
#[cfg(any(feature = "http", feature = "mongodb", feature = "postgres"))]
mod servers;
mod tags;
mod target;
mod wrapper;

pub use absence::{expecting_absence, expecting_absence_in};
pub use backend::{
    AsyncExecution, AsyncOpening, AsyncSession, Backend, BackendError, CacheMaker, Capabilities, CopyProgram,
    Copying, Description, Greeting, InTree, Inventory, LaneSession, Leftover, OtherPlace, Place,
    ProgramFailure, Session, SessionOptions,
};
pub use blocking::Blocking;
pub use blocks::Blocks;
pub use iolag_model::{Datasets, MARKS_MAX, Mark};
pub use memory::MemoryBackend;
pub use names::NameTable;
pub use posix::{
    CacheLook, DropMethod, PlaceCaches, PosixBackend, PosixSession, Tree, WORKING_NAME, ring_refusal,
    token_name,
};
pub use redact::{HIDDEN, redact, redact_argument, redact_command, redact_line};
pub use request::{Completion, ObjectKey, Request};
pub use semantics::{
    Descriptors, FullDataset, MissingDelete, ObjectNames, PlaceProof, Queue, Semantics, SessionOpening,
};
pub use tags::TagTable;
pub use target::Target;
