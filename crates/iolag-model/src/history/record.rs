//! What is remembered, one type per kind of record.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Batch, BatchId, Series, SeriesKey, WallTime};
use crate::{FailureCode, Nanoseconds, Outcome};

/// One scheduled execution of one task, unique on its host: the wall-clock second in which its watch started in the upper 40 bits, then
/// a number counted from there in 12, then a tag of the watch in 12. Those of one watch ascend; nothing else follows from their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProbeId(#[serde(with = "super::digits")] pub u64);

/// Identifies a configuration: a hash of its facts, the same on every host with the same facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigurationKey(#[serde(with = "super::digits")] pub u64);

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
            Outcome::Ok | Outcome::Error | Outcome::Late => 3,
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

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// How an outage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutageEnding {
    /// The hung probe ended, on the same mount and boot.
    Recovered,
    /// Another mount stood in its place.
    Remounted,
    /// The mount is gone.
    Unmounted,
    /// The machine was started again: boot ids differ.
    Rebooted,
}

/// What a mount did in an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutageKind {
    /// It did not answer within the deadline.
    #[default]
    NoAnswer,
    /// It was not there: nothing was mounted where its targets had been seen on it.
    NotMounted,
}

impl OutageKind {
    /// What is said of a place: `/scratch did not answer`.
    pub const fn verb(self, is_over: bool) -> &'static str {
        match (self, is_over) {
            (Self::NoAnswer, false) => "does not answer",
            (Self::NoAnswer, true) => "did not answer",
            (Self::NotMounted, false) => "is not mounted",
            (Self::NotMounted, true) => "was not mounted",
        }
    }

    /// What is said of a place while it lasts: `/scratch has not answered since …`.
    pub const fn verb_since(self) -> &'static str {
        match self {
            Self::NoAnswer => "has not answered",
            Self::NotMounted => "has not been mounted",
        }
    }

    const fn is_usual(&self) -> bool {
        matches!(self, Self::NoAnswer)
    }
}

/// A time in which a mount did not answer, or was not there. Identified by host and first probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Which host.
    pub host: String,
    /// What the mount did.
    #[serde(default, skip_serializing_if = "OutageKind::is_usual")]
    pub kind: OutageKind,
    /// Mount point, or target if that is not known: for people.
    pub mount: String,
    /// Names of the targets that lie there, as their series have them. None are known of outages that were recorded before this was.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub targets: BTreeSet<String>,
    /// The probe that found it, or a name that no probe has.
    pub probe: ProbeId,
    /// From when on it is known.
    pub begin: WallTime,
    /// When it was over; absent while it lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<WallTime>,
    /// How it ended; absent while it lasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<OutageEnding>,
    /// Slots that were skipped because of it.
    pub skipped: u64,
}

impl Outage {
    /// Whether it concerns this target of a host. Of an outage whose targets nobody knows only the one of its own name is certain.
    pub fn concerns(&self, host: &str, target: &str) -> bool {
        let is_of_target =
            if self.targets.is_empty() { self.mount == target } else { self.targets.contains(target) };
        self.host == host && is_of_target
    }

    /// Whether what concerns this target of its host, or all of them if it is empty, may have to do with it.
    pub fn may_come_with(&self, target: &str) -> bool {
        target.is_empty() || target == self.mount || self.concerns(&self.host, target)
    }

    /// The mount, and the targets there if they have other names: `/mnt/lustre (target scratch)`.
    pub fn place(&self) -> String {
        let targets: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        match targets.as_slice() {
            [] => self.mount.clone(),
            [one] if *one == self.mount => self.mount.clone(),
            [one] => format!("{} (target {one})", self.mount),
            [first @ .., last] if targets.len() <= TARGETS_NAMED_MOST => {
                format!("{} (targets {} and {last})", self.mount, first.join(", "))
            }
            _ => format!(
                "{} (targets {} and {} more)",
                self.mount,
                targets[..TARGETS_NAMED_MOST].join(", "),
                targets.len() - TARGETS_NAMED_MOST
            ),
        }
    }
}

/// Targets that are named with a mount.
const TARGETS_NAMED_MOST: usize = 3;

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
        HistorySample {
            series: SeriesKey::default(),
            probe: ProbeId(1),
            batch: None,
            intended: WallTime(0),
            start: WallTime(0),
            duration_ns: Nanoseconds(duration_ns),
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
    fn an_outage_is_of_targets_and_not_of_what_is_called_alike() {
        let of = |mount: &str, targets: &[&str]| Outage {
            host: "login1".to_owned(),
            kind: OutageKind::NotMounted,
            mount: mount.to_owned(),
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            probe: ProbeId(7),
            begin: WallTime(0),
            end: None,
            ending: None,
            skipped: 0,
        };
        let root = of("/", &["/var/tmp"]);
        assert!(root.concerns("login1", "/var/tmp") && root.may_come_with("/") && root.may_come_with(""));
        assert!(!root.concerns("login1", "/home") && !root.concerns("login2", "/var/tmp"));
        assert!(!root.may_come_with("/home"));
        let places = [
            (of("/home", &[]), "/home"),
            (of("/home", &["/home"]), "/home"),
            (of("/mnt/lustre", &["scratch"]), "/mnt/lustre (target scratch)"),
            (of("/fs", &["/fs", "a"]), "/fs (targets /fs and a)"),
            (of("/fs", &["a", "b", "c"]), "/fs (targets a, b and c)"),
            (of("/fs", &["a", "b", "c", "d", "e"]), "/fs (targets a, b, c and 2 more)"),
        ];
        for (outage, place) in places {
            assert_eq!(outage.place(), place);
        }
        assert_eq!(
            (root.kind.verb(true), root.kind.verb_since()),
            ("was not mounted", "has not been mounted")
        );
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
