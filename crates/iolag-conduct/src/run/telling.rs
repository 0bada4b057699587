//! Who is told what happens while a run lasts: progress for a benchmark, a line per probe for a ping.

use std::collections::BTreeMap;
use std::path::Path;

use iolag_keeper::{Exchange, Hang};
use iolag_model::{Anchor, ClientRecord, MonotonicTime, RunRecord, Sample};

use crate::run::measurer::Measurer;

/// The keeper's voice while a run lasts. Never blocks, and touches no file system.
pub trait Attendant {
    /// This run will be kept in the store at `root`, and begins.
    fn announce(&mut self, _record: &RunRecord, _root: &Path) {}

    /// Measuring begins.
    fn begin(&mut self, _now: MonotonicTime) {}

    /// Looks at everything, some 20 times a second.
    fn look(&mut self, round: &Round<'_>) -> Attendance;

    /// Tells a sentence.
    fn say(&mut self, message: &str);

    /// The user told to end, in this way.
    fn stopping(&mut self, how: &str) {
        self.say(&format!("{how}: stopping, cleaning up and reporting; once more to leave at once"));
    }

    /// An operation has passed its deadline, or has ended after all; `name` says which client's, and where.
    fn hang(&mut self, hang: &Hang, name: &str) {
        self.say(&match hang {
            Hang::Began { sample, .. } => {
                format!("{name} hangs: {} has not answered for {}", sample.operation(), sample.duration)
            }
            Hang::Stalled { sample, .. } => format!(
                "{name} hangs: preparing (between two operations) has not answered for {}",
                sample.duration
            ),
            Hang::Ended { .. } => format!("{name}: the hung operation has ended"),
        });
    }

    /// A working place was made: the first contact has been answered.
    fn placed(&mut self) {}

    /// This is the last that is known of an attempt that has not ended.
    fn unfinished(&mut self, _sample: &Sample) {}

    /// What the keeper has to record and no client will. Asked after every look, and for the last time when all measurers are gone.
    fn records(&mut self, _now: MonotonicTime) -> Vec<Sample> {
        Vec::new()
    }

    /// Nothing more will be measured.
    fn finish(&mut self, exchange: &Exchange, now: MonotonicTime);

    /// What the run lacks, as a sentence fragment, though everything in it ended as it had to. Asked after [`Attendant::finish`].
    fn shortfall(&self) -> Option<String> {
        None
    }
}

/// Nobody: the run goes on until it is over by itself.
impl Attendant for () {
    fn look(&mut self, _round: &Round<'_>) -> Attendance {
        Attendance::GoOn
    }

    fn say(&mut self, _message: &str) {}

    fn finish(&mut self, _exchange: &Exchange, _now: MonotonicTime) {}
}

/// What an attendant sees.
pub struct Round<'a> {
    /// The shared memory.
    pub exchange: &'a Exchange,
    /// The measurers.
    pub measurers: &'a [Measurer],
    /// The present moment, by all clocks.
    pub anchor: Anchor,
}

/// What an attendant wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attendance {
    /// Nothing.
    GoOn,
    /// The run is over, whatever still hangs.
    Over,
}

/// A number says nothing to a user: where the client works does, which is one directory of several that a measurer may have.
pub(super) fn names_of_clients(record: &RunRecord) -> BTreeMap<u32, String> {
    let named = |client: &ClientRecord| {
        let target = record.shown_name(client.target);
        (client.client.0, format!("client {} in {target}", client.client.0))
    };
    record.clients.iter().map(named).collect()
}

/// The same of a client that may have hung in one of two targets: of the one in which that was, or of both.
pub(super) fn name_of_client(
    names: &BTreeMap<u32, String>,
    hung_in: &BTreeMap<u32, String>,
    client: u32,
) -> String {
    match (hung_in.get(&client), names.get(&client)) {
        (Some(place), _) => format!("client {client} in {place}"),
        (None, Some(name)) => name.clone(),
        (None, None) => format!("client {client}"),
    }
}
