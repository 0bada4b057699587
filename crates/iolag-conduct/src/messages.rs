//! What the three roles tell each other besides samples: one JSON object per line.

use std::path::PathBuf;

use iolag_analysis::Summaries;
use iolag_backend::{Backend as _, BackendError, Place, PosixBackend, TagTable};
use iolag_keeper::{Exchange, Inbox, Messenger, Outbox};
use iolag_model::{
    Calibration, Detail, FileSystem, Nanoseconds, PlaceIdentity, PlaceMaker, RunRecord, TreeRecord, Trust,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::placed::Placed;

/// A directory as a scout found it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DirectoryFacts {
    /// Absolute, without symbolic links.
    pub path: PathBuf,
    /// What it lies on.
    pub file_system: FileSystem,
    /// How long finding that out took.
    pub contact_ns: Nanoseconds,
    /// How long a request takes there, at the least.
    pub pace_ns: Nanoseconds,
}

/// What a scout answers: facts, or one sentence why not.
pub type ScoutAnswer = Result<DirectoryFacts, String>;

/// From a measurer to the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromMeasurer {
    /// From now on a working place may be there, whatever becomes of who makes it.
    Placing(Placed),
    /// A working place was made or found.
    Placed(Placed),
    /// Setting a target up, its working place included, has ended or was given up after so long.
    SetUp {
        /// Which target of the run.
        target: u16,
        /// How long it took.
        took: Nanoseconds,
        /// What became of it.
        outcome: SetUpOutcome,
    },
    /// The working place was removed by who made it, but for what is told at the end.
    Removed {
        /// Which target of the run.
        target: u16,
    },
    /// What measuring costs.
    Calibrated(Calibration),
    /// Something to know about how the numbers came about, for example which compiler was found.
    Remark(String),
    /// Something to know before trusting the numbers.
    Doubt(Trust),
    /// This target cannot be measured.
    Failed {
        /// Which target of the run.
        target: u16,
        /// One sentence.
        sentence: String,
    },
    /// All clients have ended.
    Ended(MeasurerEnd),
}

/// What became of setting a target up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SetUpOutcome {
    /// It can be measured.
    Ready,
    /// The time was over, or the user wanted the run to end.
    CutShort,
}

/// What a measurer knows at its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MeasurerEnd {
    /// How far each client got.
    pub positions: Vec<u64>,
    /// What ended the run early, and what the check of the working set found wrong, as sentences; empty if all was as expected.
    pub faults: Vec<String>,
    /// What was found in a tree, and made of it.
    pub tree: Option<TreeRecord>,
    /// How many datasets were counted for that.
    pub datasets_counted: u64,
    /// Objects of which nobody knows whether they are there: what made or removed them was cut off.
    pub unknown_objects: u64,
    /// What is to be known before trusting the numbers, and was not before the end.
    pub doubts: Vec<Trust>,
    /// Whether the measurer has removed the working places itself, but for what it says is left.
    pub removed: bool,
    /// What could not be removed, with reasons.
    pub leftovers: Vec<String>,
}

/// From the keeper to the writer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ToWriter {
    /// A working place exists now: note it for clean-up, and say so to its clients.
    Placed(Placed),
    /// Every working place that was noted is removed again.
    Removed,
    /// Everything is measured: this is the final record.
    Finish(Box<RunRecord>),
}

/// From the writer to the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromWriter {
    /// The run directory and the spool are there.
    Ready {
        /// The run directory.
        run: PathBuf,
        /// The spool's directory.
        spool: PathBuf,
        /// Which directory holds the store's runs.
        store: Option<PlaceIdentity>,
    },
    /// It is working, not hanging.
    Alive,
    /// The run is stored.
    Done(Box<Stored>),
    /// It cannot go on.
    Failed(String),
}

/// A run as it was stored.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored {
    /// The record with its parts.
    pub record: RunRecord,
    /// The summary of its samples.
    pub summaries: Summaries,
    /// Detail records.
    pub details: Vec<Detail>,
}

/// Sends a message to the keeper; if the keeper is gone there is nobody to tell.
pub fn tell<M: Serialize>(outbox: &Outbox, message: &M) {
    if let Ok(line) = serde_json::to_vec(message) {
        // The keeper's end is noticed by whoever must act on it.
        let _ = outbox.send(&line);
    }
}

/// Tells the keeper of a working place that was made or found, and the user what there is to know about it.
pub fn tell_placed(outbox: &Outbox, target: u16, mut place: Place) {
    let remark = place.remark.take();
    tell(outbox, &FromMeasurer::Placed(Placed::of(target, place)));
    remark.into_iter().for_each(|remark| tell(outbox, &FromMeasurer::Remark(remark)));
}

/// Makes a working place in a directory, which the keeper knows of from before it is there.
///
/// # Errors
/// If it cannot be made.
pub fn make_place(
    target: u16,
    (path, name): (&str, &str),
    maker: &PlaceMaker,
    outbox: &Outbox,
) -> Result<PosixBackend, BackendError> {
    let (path, name) = (path.to_owned(), name.to_owned());
    let backend = PosixBackend::new(path.clone().into(), &name)?;
    let token = Some(maker.token);
    let placing = Placed { target, path, name, identity: None, token, file_system: None };
    tell(outbox, &FromMeasurer::Placing(placing));
    tell_placed(outbox, target, backend.create_place(maker)?);
    Ok(backend)
}

/// Tags for the sessions of a measurer. Their numbers are the run's, whichever process asks, and their names are where the keeper finds
/// them, also those of who is killed.
pub fn tags_of_run(exchange: &Exchange) -> TagTable {
    let exchange = exchange.clone();
    TagTable::new(move |kind, name| exchange.tag(kind, name))
}

/// Sends a message to a child.
pub fn order<M: Serialize>(child: &mut Messenger, message: &M) {
    if let Ok(line) = serde_json::to_vec(message) {
        child.send(&line);
    }
}

/// The messages that have come from a child. A line that is no message is a child's bug; it is left out.
pub fn heard<M: DeserializeOwned>(child: &mut Messenger) -> Vec<M> {
    child.receive().iter().filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The next message from the keeper.
pub fn told<M: DeserializeOwned>(inbox: &mut Inbox) -> Option<M> {
    inbox.receive().and_then(|line| serde_json::from_slice(&line).ok())
}
