//! What a watch is given, and how it went.

use iolag_keeper::Signals;
use iolag_model::{Anchor, Nanoseconds, Outage, ProbeStatus};
use iolag_workload::{ProbeTask, TaskSpec};

use crate::memory::historian::{Recall, Recalling, Remember};
use crate::targets::first_contact::FirstContact;
use crate::targets::lookups::Facts;
use crate::{Configurations, RuntimeDirectory, Spool, WatchPlan};

/// What children of the watch do for it: closures of the caller, which knows tasks, facts and histories.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    /// Makes a task; called in the watch too, to learn its parts, so it must touch nothing. The second argument is a seed.
    pub probe_task: &'a dyn Fn(&TaskSpec, u64) -> Box<dyn ProbeTask>,
    /// Looks up the configuration of a target; may hang.
    pub facts: &'a Facts<'a>,
    /// Makes the history if it is missing and says what it knows, or in a sentence why it could not; may hang.
    pub recall: &'a Recalling<'a>,
    /// Writes records into the history, or says in a sentence why it could not; may hang, and may be given the same records again.
    pub remember: &'a Remember<'a>,
}

/// Who watches.
#[derive(Debug, Clone)]
pub struct WatchIdentity {
    /// The kernel's id of this boot.
    pub boot_id: String,
    /// Version of iolag.
    pub iolag_version: String,
    /// Where the history is, secrets removed; for the status.
    pub history: String,
    /// For jitter and order.
    pub seed: u64,
    /// How long writing the history may take.
    pub history_deadline: Nanoseconds,
    /// Whether the history has said what it knows, which then stands below; else it is asked while the watch runs.
    pub recall: Recall,
    /// The configurations that held last, so that a change since then is noticed.
    pub configurations: Configurations,
    /// Outages that the history does not know to be over. Those of other hosts are left alone.
    pub open_outages: Vec<Outage>,
}

/// A watch that is ready to run.
pub struct Watch<'a> {
    /// What is watched.
    pub plan: &'a WatchPlan,
    /// What its children do.
    pub callbacks: Callbacks<'a>,
    /// Its runtime directory, held.
    pub runtime: &'a RuntimeDirectory,
    /// Its spool.
    pub spool: &'a mut Spool,
    /// The signals that end it.
    pub signals: &'a Signals,
    /// Who watches.
    pub identity: &'a WatchIdentity,
    /// What is known of the targets because somebody has gone there already.
    pub contacts: Vec<FirstContact>,
    /// Reads the clocks: [`Anchor::take`]. Only wall-clock times depend on it; whatever it says, the monotonic clock is the real one.
    pub anchors: &'a dyn Fn() -> Anchor,
}

/// Why a watch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEnd {
    /// The rounds that were asked for are over.
    RoundsDone,
    /// SIGINT or SIGTERM.
    Stopped,
    /// SIGHUP: the caller may read its configuration again and go on.
    HungUp,
}

/// How a watch went.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchSummary {
    /// Why it ended.
    pub end: WatchEnd,
    /// Rounds begun.
    pub rounds: u64,
    /// Probes that could not be ended or are waited for; the next watch goes on with them.
    pub left_behind: Vec<ProbeStatus>,
    /// Records that the history does not have yet; they are in the spool.
    pub waiting_records: usize,
    /// Why the history could not be written.
    pub history_trouble: Option<String>,
    /// Whether the history has said what it knows.
    pub recall: Recall,
    /// The configurations that hold now: for a watch that goes on with another plan.
    pub configurations: Configurations,
}
