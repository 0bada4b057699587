//! What differs between kinds of targets, as a backend declares it; the conformance suite asks whether it is true.

use iolag_model::Datasets;

/// What differs between kinds of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Semantics {
    /// What deleting an object that is not there gives.
    pub missing_delete: MissingDelete,
    /// Whether datasets exist by themselves.
    pub datasets: Datasets,
    /// What removing a dataset does that has objects in it.
    pub full_dataset: FullDataset,
    /// How a working place is known for the run's own: without it nothing is removed.
    pub place: PlaceProof,
    /// What a client's thread may do with the process's descriptors.
    pub descriptors: Descriptors,
    /// How its sessions are opened.
    pub opening: SessionOpening,
    /// Which objects it can be asked for.
    pub objects: ObjectNames,
    /// Whether a session can have several requests in flight at once.
    pub queue: Queue,
}

impl Semantics {
    /// Those of a directory.
    pub const OF_DIRECTORIES: Self = Self {
        missing_delete: MissingDelete::NotFound,
        datasets: Datasets::Made,
        full_dataset: FullDataset::Kept,
        place: PlaceProof::Identity,
        descriptors: Descriptors::Private,
        opening: SessionOpening::Blocking,
        objects: ObjectNames::Numbered,
        queue: Queue::Kernel,
    };
}

/// What deleting an object that is not there gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingDelete {
    /// An error of class not found.
    NotFound,
    /// Success.
    Succeeds,
}

/// What removing a dataset does that has objects in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullDataset {
    /// It fails with class not empty, and everything is kept.
    Kept,
    /// They are removed with it.
    RemovedWithContent,
    /// Datasets are not removed at all.
    NotRemovable,
}

/// How a working place is known for the run's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceProof {
    /// Nobody else can reach it, and it ends with this process.
    Process,
    /// It has an identity of its own besides its name, and the token in it.
    Identity,
    /// By an object in it, named after the token, that holds the run's id: the place is nothing but a common beginning of names.
    Marker,
}

/// What a client's thread may do with the process's descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptors {
    /// Leave the common table for one of its own, in which nothing of the process is open: a session opens everything that it uses. Clients that
    /// are tasks always share it.
    Private,
    /// It uses what the process has opened.
    Shared,
}

/// How sessions are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionOpening {
    /// By a thread, which waits.
    Blocking,
    /// Also by a task, so many at once; a server's queue of connections is finite.
    Asynchronous {
        /// At once by one worker, at most.
        at_once: u32,
    },
}

/// Which objects can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectNames {
    /// Those of its working place, by rank, dataset and index.
    Numbered,
    /// Also those that have a name of their own: see [`ObjectKey::named`](crate::ObjectKey::named).
    AlsoNamed,
}

/// Where the requests wait that a session has in flight at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Nowhere: a session has one.
    None,
    /// In this process.
    Process,
    /// In the kernel (`io_uring(7)`), which may forbid it: [`ring_refusal`](crate::ring_refusal).
    Kernel,
}
