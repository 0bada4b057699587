//! What `iolag serve` shows: what is going on right now, first what has not ended, then what ended last, then what was noted.
//!
//! Invariants: ages are computed when the document is made, by the clock of the boot that the probes run in; a history that does
//! not answer takes nothing away but what it alone knows, and the document says since when it is silent.

use iolag_analysis::history::{RunOutcome, SeriesTally, Tallies};
use iolag_model::{
    Event, LastSample, MonotonicTime, Nanoseconds, Outage, Outcome, ProbePhase, ProbeStatus, Progress,
    SeriesKey, TargetState, TargetStatus, WallTime, WatchStatus,
};
use serde::Serialize;

/// Version of the document's form.
pub const LIVE_SCHEMA: u32 = 1;

/// What the document is made from.
#[derive(Debug, Clone, Copy)]
pub struct LiveView<'a> {
    /// The host that answers.
    pub host: &'a str,
    /// Version of iolag.
    pub iolag_version: &'a str,
    /// Now, by the monotonic clock.
    pub now_ns: MonotonicTime,
    /// Now, by the wall clock.
    pub now: WallTime,
    /// The watch.
    pub watch: LiveWatch<'a>,
    /// Where the history is, secrets removed.
    pub history: &'a str,
    /// How long ago the history answered, if it has.
    pub history_age: Option<Nanoseconds>,
    /// Why it does not answer, or cannot be read.
    pub history_trouble: Option<&'a str>,
    /// What was read of it.
    pub reading: Option<LiveReading<'a>>,
}

/// What the runtime directory says of the watch.
#[derive(Debug, Clone, Copy)]
pub enum LiveWatch<'a> {
    /// It runs.
    Runs(&'a WatchStatus),
    /// It is gone; this is the last that it said, of probes in flight those that are still there.
    Ended(&'a WatchStatus),
    /// There has been none since the boot.
    None,
    /// Its status cannot be read, and why.
    Unknown(&'a str),
}

/// What was read of the history.
#[derive(Debug, Clone, Copy)]
pub struct LiveReading<'a> {
    /// Counts.
    pub tallies: &'a Tallies,
    /// Recent outages and those that last.
    pub outages: &'a [Outage],
    /// Recent events.
    pub events: &'a [Event],
}

/// Whatever a probe does, after so long people have turned to something else.
const LONG: Nanoseconds = Nanoseconds::from_seconds(10);

/// What is shown, as pages and as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveDocument {
    /// [`LIVE_SCHEMA`].
    pub schema: u32,
    /// The host that answers.
    pub host: String,
    /// Version of iolag.
    pub iolag_version: String,
    /// When this was made.
    pub now: WallTime,
    /// The watch.
    pub watch: LiveWatchState,
    /// Probes that have not ended, oldest first.
    pub in_flight: Vec<LiveProbe>,
    /// The user's targets, while a watch runs.
    pub targets: Vec<TargetStatus>,
    /// The last end of each series.
    pub last: Vec<LiveLast>,
    /// Outages: those that last, then those that are over, the latest first.
    pub outages: Vec<Outage>,
    /// Events, the latest first.
    pub events: Vec<Event>,
    /// Counts by series.
    pub series: Vec<LiveSeries>,
    /// The history.
    pub history: LiveHistory,
}

impl LiveDocument {
    /// What is wrong with which place, the gravest first: as in `/archive is not mounted for 3 min 00 s; /scratch has not answered for 57.0 s;
    /// /home: list has not come back for 12.0 s.`; `None` if nothing is. A task that is waited for proves nothing of its place, so that
    /// nothing else is said of that.
    pub fn unanswered(&self) -> Option<String> {
        let mut silent: Vec<&TargetStatus> =
            self.targets.iter().filter(|target| target.since.is_some()).collect();
        silent.sort_by_key(|target| (std::cmp::Reverse(target.state), target.since));
        let state_in_words = |target: &&TargetStatus| {
            let age = self.now.since(target.since.unwrap_or(self.now));
            match target.state {
                TargetState::NotMounted => format!("{} is not mounted for {age}", target.name),
                _ => format!("{} has not answered for {age}", target.name),
            }
        };
        let mut words: Vec<String> = silent.iter().map(state_in_words).collect();
        let is_silent = |name: &str| silent.iter().any(|target| target.name == name);
        words.extend(self.waited_for(is_silent));
        (!words.is_empty()).then(|| format!("{}.", words.join("; ")))
    }

    /// The places that are waited for, the longest first, each with the task that has been waited for longest.
    fn waited_for(&self, is_told: impl Fn(&str) -> bool) -> Vec<String> {
        let is_late = |probe: &&LiveProbe| probe.phase != ProbePhase::InFlight || probe.age_ns >= LONG;
        let mut late: Vec<&LiveProbe> = self.in_flight.iter().filter(is_late).collect();
        late.sort_by_key(|probe| std::cmp::Reverse(probe.age_ns));
        let mut places: Vec<&str> = Vec::new();
        late.retain(|probe| {
            let is_new = !is_told(&probe.series.target) && !places.contains(&probe.series.target.as_str());
            places.push(&probe.series.target);
            is_new
        });
        let words = late.iter().map(|probe| {
            let place = if probe.series.is_of_host() { "the host" } else { &probe.series.target };
            format!("{place}: {} has not come back for {}", probe.series.task, probe.age_ns)
        });
        words.collect()
    }
}

/// How the watch stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveWatchState {
    /// `runs`, `ended`, `none` or `unknown`.
    pub state: &'static str,
    /// Its process.
    pub process: Option<u32>,
    /// When it began.
    pub begin: Option<WallTime>,
    /// When it last said something.
    pub written: Option<WallTime>,
    /// Rounds begun.
    pub rounds: Option<u64>,
    /// How long until its next round begins.
    pub next_round_in_ns: Option<Nanoseconds>,
    /// Records that wait for the history.
    pub waiting_records: Option<u64>,
    /// Why it could not write the history, or why nothing is known of it.
    pub trouble: Option<String>,
}

/// A probe that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveProbe {
    /// Its series.
    pub series: SeriesKey,
    /// The part of the task that is in flight.
    pub part: String,
    /// Its process.
    pub process: u32,
    /// When it started.
    pub start: WallTime,
    /// Its age.
    pub age_ns: Nanoseconds,
    /// Its deadline, if that is known.
    pub deadline_ns: Option<Nanoseconds>,
    /// Where it stands.
    pub phase: ProbePhase,
    /// What it waits for, as the kernel says; may be empty.
    pub waits_in: String,
    /// How far it has come, if it counts that.
    pub progress: Option<Progress>,
}

/// The last end of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveLast {
    /// Which series.
    pub series: SeriesKey,
    /// When it started.
    pub start: WallTime,
    /// How long it took.
    pub duration_ns: Nanoseconds,
    /// What was read, for a covariate.
    pub value: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

/// What a series has counted up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the outcomes of a run")]
pub struct LiveSeries {
    /// Which series.
    pub series: SeriesKey,
    /// Deadline of its probes, zero if unknown.
    pub deadline_ns: Nanoseconds,
    pub ok: u64,
    pub error: u64,
    pub timeout: u64,
    pub skipped: u64,
}

/// How the history stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveHistory {
    /// Where it is, secrets removed.
    pub place: String,
    /// How long ago it answered, if it has.
    pub age_ns: Option<Nanoseconds>,
    /// Why it does not answer, or cannot be read.
    pub trouble: Option<String>,
    /// Whether it has been read to its end once: counts are shown from then on.
    pub is_read: bool,
}

/// What is going on.
pub fn live_document(view: &LiveView<'_>) -> LiveDocument {
    let status = match view.watch {
        LiveWatch::Runs(status) => Some(status),
        _ => None,
    };
    let in_flight = match view.watch {
        LiveWatch::Runs(status) | LiveWatch::Ended(status) => status.in_flight.as_slice(),
        LiveWatch::None | LiveWatch::Unknown(_) => &[],
    };
    LiveDocument {
        schema: LIVE_SCHEMA,
        host: view.host.to_owned(),
        iolag_version: view.iolag_version.to_owned(),
        now: view.now,
        watch: watch_state(view),
        in_flight: in_flight.iter().map(|probe| live_probe(probe, view)).collect(),
        targets: status.map_or(&[][..], |status| &status.targets).to_vec(),
        last: last_ends(status, view.reading),
        outages: outages(status, view.reading),
        events: view.reading.map_or(&[][..], |reading| reading.events).iter().rev().cloned().collect(),
        series: view.reading.iter().flat_map(|reading| reading.tallies.series()).map(live_series).collect(),
        history: LiveHistory {
            place: view.history.to_owned(),
            age_ns: view.history_age,
            trouble: view.history_trouble.map(str::to_owned),
            is_read: view.reading.is_some(),
        },
    }
}

fn watch_state(view: &LiveView<'_>) -> LiveWatchState {
    let (state, status, trouble) = match view.watch {
        LiveWatch::Runs(status) => ("runs", Some(status), status.history_trouble.clone()),
        LiveWatch::Ended(status) => ("ended", Some(status), status.history_trouble.clone()),
        LiveWatch::None => ("none", None, None),
        LiveWatch::Unknown(why) => ("unknown", None, Some(why.to_owned())),
    };
    let runs = status.filter(|_| state == "runs");
    LiveWatchState {
        state,
        process: runs.map(|status| status.process),
        begin: status.map(|status| status.begin),
        written: status.map(|status| status.written),
        rounds: status.map(|status| status.rounds),
        next_round_in_ns: runs.map(|status| status.next_round_ns.since(view.now_ns)),
        waiting_records: status.map(|status| status.waiting_records),
        trouble,
    }
}

fn live_probe(probe: &ProbeStatus, view: &LiveView<'_>) -> LiveProbe {
    let tally =
        view.reading.and_then(|reading| reading.tallies.series().find(|tally| tally.key == probe.series));
    LiveProbe {
        series: probe.series.clone(),
        part: probe.part.clone(),
        process: probe.process,
        start: probe.start,
        age_ns: view.now_ns.since(probe.start_ns),
        deadline_ns: tally.map(|tally| tally.deadline_ns).filter(|deadline| *deadline > Nanoseconds::ZERO),
        phase: probe.phase,
        waits_in: probe.waits_in.clone(),
        progress: probe.progress,
    }
}

/// What the watch says, and of other series what the history knows.
fn last_ends(status: Option<&WatchStatus>, reading: Option<LiveReading<'_>>) -> Vec<LiveLast> {
    let said = status.map_or(&[][..], |status| &status.last);
    let is_said = |key: &SeriesKey| said.iter().any(|last| last.series == *key);
    let stored = reading.into_iter().flat_map(|reading| reading.tallies.series());
    let stored = stored.filter_map(|tally| tally.last.as_ref()).filter(|last| !is_said(&last.series));
    let mut all: Vec<&LastSample> = said.iter().chain(stored).collect();
    all.sort_by(|left, right| left.series.cmp(&right.series));
    let live = |last: &LastSample| LiveLast {
        series: last.series.clone(),
        start: last.start,
        duration_ns: last.duration_ns,
        value: last.value,
        outcome: last.outcome,
    };
    all.into_iter().map(live).collect()
}

fn outages(status: Option<&WatchStatus>, reading: Option<LiveReading<'_>>) -> Vec<Outage> {
    let said = status.map_or(&[][..], |status| &status.outages);
    let is_said =
        |one: &Outage| said.iter().any(|other| (other.probe, &other.host) == (one.probe, &one.host));
    let stored = reading.map_or(&[][..], |reading| reading.outages);
    let mut all: Vec<Outage> =
        said.iter().chain(stored.iter().filter(|outage| !is_said(outage))).cloned().collect();
    all.sort_by_key(|outage| (outage.end.is_some(), std::cmp::Reverse(outage.begin)));
    all
}

fn live_series(tally: &SeriesTally) -> LiveSeries {
    LiveSeries {
        series: tally.key.clone(),
        deadline_ns: tally.deadline_ns,
        ok: tally.runs(RunOutcome::Ok),
        error: tally.runs(RunOutcome::Error),
        timeout: tally.runs(RunOutcome::Timeout),
        skipped: tally.runs(RunOutcome::Skipped),
    }
}
