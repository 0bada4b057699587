//! What is remembered, one type per kind of record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Batch, BatchId, ConfigurationKey, Outage, ProbeId, Series, SeriesKey, WallTime};
use crate::{FailureCode, Nanoseconds, Outcome};

/// What happened to one part of one probe. Identified by series, probe and batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistorySample {
    /// Which series.
    pub series: SeriesKey,
    /// Which probe. For imports: the position in time, so that importing twice changes nothing.
    pub probe: ProbeId,
    /// The import that brought it; a watch's has none, nor has what iolag 0.1 imported. Of the samples of a probe the one of the
    /// greatest batch that was not undone counts, and one without a batch where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
    /// When it was scheduled to start.
    pub intended: WallTime,
    /// When it started; for a skipped one, when it was due.
    pub start: WallTime,
    /// How long it took; for a censored one, a lower bound. Zero for a skipped one.
    pub duration_ns: Nanoseconds,
    /// What was read, for series of values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    pub failure: FailureCode,
    /// Exit status of the program, if there was one and it exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// The probe because of which this one was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<ProbeId>,
    /// Under which configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationKey>,
    /// Processor time of the task and everything it started: user and system, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_ns: Option<[u64; 2]>,
    /// Largest resident size, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident_bytes_max: Option<u64>,
    /// What else went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Surroundings>,
}

impl HistorySample {
    /// One that started when it was scheduled, and of which nothing more is known.
    pub const fn new(
        series: SeriesKey,
        probe: ProbeId,
        start: WallTime,
        duration_ns: Nanoseconds,
        outcome: Outcome,
    ) -> Self {
        Self {
            series,
            probe,
            batch: None,
            intended: start,
            start,
            duration_ns,
            value: None,
            outcome,
            failure: FailureCode::NONE,
            exit_status: None,
            blocker: None,
            configuration: None,
            processor_ns: None,
            resident_bytes_max: None,
            surroundings: None,
        }
    }

    /// Whether this sample replaces `other`, which has the same series and probe: what says how it ended replaces what says that it
    /// had not, a later end replaces an earlier judgement, and a greater age replaces a smaller one.
    pub fn supersedes(&self, other: &Self) -> bool {
        (Self::knowledge(self.outcome), self.duration_ns)
            > (Self::knowledge(other.outcome), other.duration_ns)
    }

    /// How much an outcome knows, for the rule above; also used by the stores in their own language.
    pub const fn knowledge(outcome: Outcome) -> u8 {
        match outcome {
            Outcome::Skipped => 0,
            Outcome::Hung => 1,
            Outcome::Timeout | Outcome::Interrupted => 2,
            Outcome::Ok | Outcome::Error | Outcome::Late | Outcome::Retried => 3,
        }
    }
}

/// What else went on, from /proc. Load average contains tasks that wait for storage, so it grows with hangs by construction:
/// runnable and blocked tasks and pressure are kept apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Load averages of 1, 5 and 15 minutes at the end, in thousandths.
    pub load_milli: [u32; 3],
    /// Runnable tasks at the end.
    pub runnable: u32,
    /// Tasks in uninterruptible sleep at the end.
    pub blocked: u32,
    /// Time in which some task stalled for a processor, during the probe, in µs; absent without PSI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_cpu_us: Option<u64>,
    /// The same for block I/O, some and full, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_io_us: Option<[u64; 2]>,
    /// The same for memory, some and full, in µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_memory_us: Option<[u64; 2]>,
}

/// The circumstances under which samples are taken, as facts by name: `kernel`, `mount options`, `file system`, `sssd`, `nscd`, `client version`.
/// Identified by host, target and key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Hash of the facts.
    pub key: ConfigurationKey,
    /// Which host.
    pub host: String,
    /// Which target; empty for the host alone.
    pub target: String,
    /// When it was first seen there.
    pub first_seen: WallTime,
    /// The facts.
    pub facts: BTreeMap<String, String>,
}

impl Configuration {
    /// The fact that tells benchmarks of other options apart: a fingerprint of all that was to be done.
    pub const OPTIONS: &str = "options";

    /// What stands before the name of a label in the fact that a run of a benchmark had it.
    pub const LABEL: &str = "label ";

    /// The same of a coordinate, which tells its run from others of a campaign.
    pub const COORDINATE: &str = "coordinate ";

    /// Facts that a watch finds out itself and whose names are no kinds of facts (those have a colon).
    pub const LOOKED_UP: [&str; 9] = [
        "kernel",
        "processors",
        "smt",
        "file-system",
        "directory",
        "mount-source",
        "mount-point",
        "mount-options",
        "daemons",
    ];

    /// Whether users may say the fact of this name of their hosts: it is none that iolag finds out itself.
    pub fn is_given(name: &str) -> bool {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        name.chars().all(is_plain) && name != Self::OPTIONS && !Self::LOOKED_UP.contains(&name)
    }

    /// The options of a benchmark; absent of what a watch found.
    pub fn options(&self) -> Option<&str> {
        self.facts.get(Self::OPTIONS).map(String::as_str)
    }

    /// The labels of the runs of a benchmark, with their values.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named(Self::LABEL)
    }

    /// The coordinates of the runs of a benchmark, with their values.
    pub fn coordinates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.named(Self::COORDINATE)
    }

    fn named(&self, kind: &'static str) -> impl Iterator<Item = (&str, &str)> {
        let named = move |(fact, value)| Some((str::strip_prefix(fact, kind)?, value));
        self.facts.iter().map(|(fact, value)| (fact.as_str(), value.as_str())).filter_map(named)
    }

    /// Whether what differs between them is a change: runs with other coordinates are other series.
    pub fn is_of_same(&self, other: &Self) -> bool {
        let is_same_place = (&self.host, &self.target) == (&other.host, &other.target);
        is_same_place && self.coordinates().eq(other.coordinates())
    }
}

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum EventSource {
    /// Somebody's `iolag note`.
    Note,
    /// A change of configuration that iolag saw.
    Configuration,
    /// Imported from a list.
    List,
    /// Imported from the system's journal.
    Journal,
    /// iolag itself: started, stopped, could not write.
    Watch,
}

/// Whether an event is to be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventState {
    /// It is.
    #[default]
    Holds,
    /// Somebody took it back, for good.
    Removed,
}

impl EventState {
    /// For serde.
    fn holds(&self) -> bool {
        *self == Self::Holds
    }
}

/// An annotation in time. Identified by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Hexadecimal; for imported events a hash of the content, so that importing twice changes nothing.
    pub id: String,
    /// When, or when it began.
    pub begin: WallTime,
    /// When it ended, if it lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<WallTime>,
    /// Which host it concerns; empty for all.
    pub host: String,
    /// Which target it concerns; empty for all.
    pub target: String,
    /// Where it comes from.
    pub source: EventSource,
    /// A word to group by: `node failure`, `file system`; may be empty.
    pub kind: String,
    /// What happened.
    pub text: String,
    /// Ticket or page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Who says so.
    pub author: String,
    /// When it was last edited, if it was: the later edition counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revised: Option<WallTime>,
    /// Whether it is to be shown.
    #[serde(default, skip_serializing_if = "EventState::holds")]
    pub state: EventState,
    /// An import that brought it. One that came in several, or also without one, counts until all of them are undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchId>,
}

impl Event {
    /// Something at a moment that concerns all hosts and targets, without an id, a kind, a text or an author.
    pub const fn of_all(source: EventSource, begin: WallTime) -> Self {
        Self {
            id: String::new(),
            begin,
            end: None,
            host: String::new(),
            target: String::new(),
            source,
            kind: String::new(),
            text: String::new(),
            link: None,
            author: String::new(),
            revised: None,
            state: EventState::Holds,
            batch: None,
        }
    }
}

/// From some moment on a target has another name, and what is remembered under the former one is its past. Identified by host, former name
/// and moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// Which host.
    pub host: String,
    /// The name that the target had.
    pub old: String,
    /// The name that it has.
    pub new: String,
    /// When that was said: of several about one name all hold, one after the other.
    pub at: WallTime,
    /// Who said so.
    pub author: String,
}

/// What was seen of a probe at a deadline. Identified by host, probe and moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Which host.
    pub host: String,
    /// Which probe.
    pub probe: ProbeId,
    /// When it was gathered.
    pub at: WallTime,
    /// State, wait channel, system call and, where permitted, stack of its processes; or how its command failed.
    pub text: String,
}

impl Evidence {
    /// Before how a command failed, in the text.
    const FAILED: &str = "failed with ";

    /// The text of a command that failed with this status (none if a signal ended it) and `said` so last.
    pub fn text_of_failure(exit_status: Option<i32>, said: &str) -> String {
        let how = exit_status.map_or_else(|| "a signal".to_owned(), |status| format!("exit status {status}"));
        format!("{}{how}: {said}", Self::FAILED)
    }

    /// `exit status 2: no such project`, if this is how a command failed.
    pub fn failure(&self) -> Option<&str> {
        self.text.strip_prefix(Self::FAILED)
    }
}

/// How a session of watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnd {
    /// It goes on, or was killed: `last_seen` says until when it is known to have lived.
    Open,
    /// It was told to stop.
    Stopped,
}

/// A time in which somebody was watching, so that missing slots are told from slots nobody cared for. Identified by host and begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchSession {
    /// Which host.
    pub host: String,
    /// Its boot.
    pub boot_id: String,
    /// When it began.
    pub begin: WallTime,
    /// When it was last known to live.
    pub last_seen: WallTime,
    /// How it ended.
    pub end: SessionEnd,
    /// Version of iolag.
    pub iolag_version: String,
}

/// Anything that is remembered. Exports and spools are these as JSON, one to a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum HistoryRecord {
    /// A series.
    Series(Series),
    /// A sample.
    Sample(HistorySample),
    /// A configuration.
    Configuration(Configuration),
    /// An event.
    Event(Event),
    /// An outage.
    Outage(Outage),
    /// Evidence.
    Evidence(Evidence),
    /// A session of watching.
    Session(WatchSession),
    /// An import.
    Batch(Batch),
    /// Another name of a target.
    Rename(Rename),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(outcome: Outcome, duration_ns: u64) -> HistorySample {
        HistorySample::new(SeriesKey::default(), ProbeId(1), WallTime(0), Nanoseconds(duration_ns), outcome)
    }

    #[test]
    fn what_knows_more_wins_whatever_comes_first() {
        let order = [
            sample(Outcome::Hung, 10),
            sample(Outcome::Hung, 20),
            sample(Outcome::Timeout, 15),
            sample(Outcome::Late, 900),
        ];
        for (index, earlier) in order.iter().enumerate() {
            assert!(!earlier.supersedes(earlier));
            for later in &order[index + 1..] {
                assert!(later.supersedes(earlier) && !earlier.supersedes(later), "{later:?} {earlier:?}");
            }
        }
    }

    #[test]
    fn a_record_is_one_line_of_json_and_comes_back() {
        let record = HistoryRecord::Sample(sample(Outcome::Ok, 7));
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.starts_with(r#"{"record":"sample","series":{"host":"""#), "{line}");
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<HistoryRecord>(&line).unwrap(), record);
    }
}
