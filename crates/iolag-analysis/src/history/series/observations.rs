//! Two ways to weigh what a series tells, as types that do not mix.
//!
//! - **By attempt**: each probe that was started counts once. It answers: how long does the task take?
//! - **By time**: each scheduled slot counts once. A slot that was skipped because an earlier probe had not
//!   ended is given what was left of that probe, from the slot to its end: who had asked at that moment would
//!   have waited at least so long (the correction for coordinated omission of HdrHistogram, here from the
//!   true end instead of from the period). Such an observation is *imputed* and counted as such. It answers:
//!   how long does somebody wait who comes at any time?
//!
//! Fifteen-minute probes that hang for two hours are 1 attempt and 8 slots. Estimators are generic over the
//! weighting, so comparing one with the other does not compile.
//!
//! Invariants: observations stand in the order of their moments; no amount is NaN; merging does not depend on
//! the order. A failed attempt has no duration and is counted apart ([`LeftOut`]).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::marker::PhantomData;

use iolag_model::{
    HistoryColumns, HistorySample, Nanoseconds, Outage, OutageEnding, Outcome, ProbeId, Series, WallSpan,
    WallTime,
};
use serde::{Deserialize, Serialize};

use super::timed_values::Quantity;
use super::timed_values::quantity_of;
use crate::history::changes::change_point::ChangePoint;
use crate::statistics::dependence::regimes::Regimes;
use crate::statistics::dependence::worth::EffectiveSampleSize;
use crate::statistics::knowledge::Knowledge;

/// What counts once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Each attempt.
    ByAttempt,
    /// Each scheduled slot.
    ByTime,
}

/// The type of a weighting.
pub trait Weight: Debug + Clone + Copy + PartialEq {
    /// Which one.
    const WEIGHTING: Weighting;
}

/// Each attempt counts once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByAttempt;

impl Weight for ByAttempt {
    const WEIGHTING: Weighting = Weighting::ByAttempt;
}

/// Each scheduled slot counts once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByTime;

impl Weight for ByTime {
    const WEIGHTING: Weighting = Weighting::ByTime;
}

/// Whether an observation was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// An attempt said so.
    Measured,
    /// Concluded from the probe because of which the slot was skipped.
    Imputed,
}

/// What one attempt or slot tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// When it was due.
    pub at: WallTime,
    /// Seconds, or the unit of the series; a bound unless `knowledge` is exact.
    pub amount: f64,
    /// How much is known of the amount.
    pub knowledge: Knowledge,
    /// Whether it was measured.
    pub origin: Origin,
}

impl Observation {
    /// A total order: by moment, then by everything else, so that merged observations stand in one order
    /// whatever came first.
    fn order(&self, other: &Self) -> Ordering {
        let rest = |one: &Self| (one.knowledge, one.origin);
        let by_moment = self.at.cmp(&other.at).then(self.amount.total_cmp(&other.amount));
        by_moment.then_with(|| rest(self).cmp(&rest(other)))
    }
}

/// What has no amount and is therefore not among the observations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Attempts that failed.
    pub failed: u64,
    /// Samples without a value, in series of values.
    pub without_value: u64,
    /// Slots that were skipped: all of them by attempt; by time those of which the blocking probe is not
    /// known.
    pub skipped: u64,
}

/// Observations of one quantity under one weighting, in the order of their moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Observations<W> {
    quantity: Quantity,
    list: Vec<Observation>,
    left_out: LeftOut,
    /// One step of the clock, in seconds; 0 where amounts have none.
    step_seconds: f64,
    /// Places at which the level changed: what is asked of dependence is asked between them.
    changes: Vec<usize>,
    weight: PhantomData<W>,
}

impl Observations<ByAttempt> {
    /// What the attempts of a series tell: durations of tasks, values of the others.
    pub fn by_attempt(series: &Series, columns: &HistoryColumns) -> Self {
        Self::of_rows(series, columns, 0..columns.len())
    }

    /// The same of some rows only.
    pub(crate) fn of_rows(
        series: &Series,
        columns: &HistoryColumns,
        rows: impl Iterator<Item = usize>,
    ) -> Self {
        let mut observations = Self::of_series(series);
        observations.list.reserve_exact(rows.size_hint().0);
        rows.for_each(|row| observations.add_attempt(series, columns, row));
        observations.sorted()
    }
}

impl Observations<ByTime> {
    /// What the scheduled slots of a series tell. `blockers` know when the probes ended because of which
    /// slots were skipped.
    pub fn by_time(series: &Series, columns: &HistoryColumns, blockers: &Blockers) -> Self {
        let imputed: Vec<Observation> = blockers.imputed(series, columns).collect();
        Self::of_time(series, columns, &imputed)
    }

    /// The same where it is known already what skipped slots tell.
    pub(crate) fn of_time(series: &Series, columns: &HistoryColumns, imputed: &[Observation]) -> Self {
        let mut observations = Self::of_series(series);
        observations.list.reserve_exact(columns.len());
        for row in 0..columns.len() {
            observations.add_attempt(series, columns, row);
        }
        observations.list.extend_from_slice(imputed);
        observations.left_out.skipped -= imputed.len() as u64;
        observations.sorted()
    }
}

impl<W: Weight> Observations<W> {
    /// Of a list made elsewhere, in any order. Amounts that are no numbers are left out.
    pub fn new(quantity: Quantity, list: impl IntoIterator<Item = Observation>) -> Self {
        let mut observations = Self::empty(quantity);
        for observation in list {
            if observation.amount.is_finite() {
                observations.list.push(observation);
            } else {
                observations.left_out.without_value += 1;
            }
        }
        observations.sorted()
    }

    fn empty(quantity: Quantity) -> Self {
        let left_out = LeftOut::default();
        Self {
            quantity,
            list: Vec::new(),
            left_out,
            step_seconds: 0.0,
            changes: Vec::new(),
            weight: PhantomData,
        }
    }

    fn of_series(series: &Series) -> Self {
        let step_seconds = if series.kind.is_duration() { series.resolution_ns.as_seconds() } else { 0.0 };
        Self { step_seconds, ..Self::empty(quantity_of(series)) }
    }

    /// One step of the clock that they were measured with, in seconds; 0 if that is not known, or they are no durations.
    pub(crate) const fn step_seconds(&self) -> f64 {
        self.step_seconds
    }

    fn add_attempt(&mut self, series: &Series, columns: &HistoryColumns, row: usize) {
        let outcome = columns.outcome[row];
        if outcome == Outcome::Skipped {
            self.left_out.skipped += 1;
            return;
        }
        if outcome == Outcome::Error {
            self.left_out.failed += 1;
            return;
        }
        let (amount, knowledge) = if series.kind.is_duration() {
            reading(columns.duration_ns[row], outcome, series.resolution_ns)
        } else {
            (columns.value[row], Knowledge::Exactly)
        };
        if amount.is_finite() {
            let at = columns.intended[row];
            self.list.push(Observation { at, amount, knowledge, origin: Origin::Measured });
        } else {
            self.left_out.without_value += 1;
        }
    }

    /// The same, knowing these changes of level, in the order of time.
    pub(crate) fn with_changes(mut self, changes: &[ChangePoint]) -> Self {
        self.changes = changes.iter().flat_map(|change| self.places(change)).collect();
        self.changes.dedup();
        self
    }

    /// Where the level before ends, and where the one after begins.
    fn places(&self, change: &ChangePoint) -> [usize; 2] {
        let until = |last: WallTime| self.list.partition_point(|one| one.at <= last);
        let place = until(change.last_before);
        [change.began.map_or(place, |began| until(began.before(Nanoseconds(1))).min(place)), place]
    }

    /// Those between these changes, in the order of time, without what changed little by little. What was left out has no moment any more: it is not
    /// counted here.
    pub(crate) fn between(&self, changes: &[ChangePoint]) -> Vec<Self> {
        let places: Vec<[usize; 2]> = changes.iter().map(|change| self.places(change)).collect();
        let firsts = std::iter::once(0).chain(places.iter().map(|place| place[1]));
        let ends = places.iter().map(|place| place[0]).chain([self.list.len()]);
        firsts.zip(ends).map(|(first, end)| self.part(first, end.max(first))).collect()
    }

    fn part(&self, first: usize, end: usize) -> Self {
        let list = self.list[first..end].to_vec();
        let inside = self.changes.iter().filter(|place| (first + 1..end).contains(*place));
        let changes = inside.map(|place| place - first).collect();
        Self { list, changes, step_seconds: self.step_seconds, ..Self::empty(self.quantity) }
    }

    /// The places of these changes.
    pub(crate) fn changes(&self) -> &[usize] {
        &self.changes
    }

    fn sorted(mut self) -> Self {
        // As a rule they are; sorting asks for room.
        if !self.list.is_sorted_by(|one, next| Observation::order(one, next).is_le()) {
            self.list.sort_by(Observation::order);
        }
        self
    }

    /// Which weighting.
    pub const fn weighting(&self) -> Weighting {
        W::WEIGHTING
    }

    /// What the amounts are.
    pub const fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// The observations, in the order of their moments.
    pub fn list(&self) -> &[Observation] {
        &self.list
    }

    /// What is not among them.
    pub const fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Those within a span. What was left out has no moment any more: it is not counted here.
    pub fn within(&self, span: WallSpan) -> Self {
        let first = self.list.partition_point(|one| one.at < span.begin);
        let end = self.list.partition_point(|one| one.at < span.end).max(first);
        self.part(first, end)
    }

    /// Those of both, with no change of level known, or `None` if their quantities differ.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Option<Self> {
        if self.quantity != other.quantity {
            return None;
        }
        self.list.extend(other.list);
        // Places among others are none among both.
        self.changes.clear();
        self.step_seconds = self.step_seconds.max(other.step_seconds);
        self.left_out.failed += other.left_out.failed;
        self.left_out.without_value += other.left_out.without_value;
        self.left_out.skipped += other.left_out.skipped;
        Some(self.sorted())
    }

    /// What ranks are made of, in order of time: everything below the resolution shares one, and so does what had not ended.
    pub(crate) fn ordered(&self) -> Vec<f64> {
        let amount = |one: &Observation| match one.knowledge {
            Knowledge::AtMost => f64::NEG_INFINITY,
            Knowledge::Exactly => one.amount,
            Knowledge::AtLeast => f64::INFINITY,
        };
        self.list.iter().map(amount).collect()
    }

    /// What they are worth under autocorrelation of their ranks, in order of time; everything below the
    /// resolution shares a rank.
    pub fn sample_size(&self) -> EffectiveSampleSize {
        Regimes::of(&self.ordered(), &self.changes).sample_size()
    }
}

/// A duration in seconds and what is known of it. What had not ended is a lower bound even below the clock's
/// resolution.
fn reading(duration: Nanoseconds, outcome: Outcome, resolution: Nanoseconds) -> (f64, Knowledge) {
    if outcome.is_censored() {
        (duration.as_seconds(), Knowledge::AtLeast)
    } else if duration < resolution {
        (resolution.as_seconds(), Knowledge::AtMost)
    } else {
        (duration.as_seconds(), Knowledge::Exactly)
    }
}

/// When the probes of one host ended, as far as is known: what skipped slots are imputed from.
///
/// A blocker may belong to another series than the slot (one probe at a time per mount), so every series of
/// the host should be added. Only a probe of the same target tells what a user would have waited there: a slot that was
/// skipped because the watch was busy with another target is left out.
#[derive(Debug, Clone, Default)]
pub struct Blockers {
    host: String,
    /// By probe and target: imported probes of different targets may share a number.
    ends: BTreeMap<(ProbeId, String), End>,
    /// What outages tell of probes.
    outages: BTreeMap<ProbeId, End>,
    /// Probes whose outages last.
    open: BTreeSet<ProbeId>,
    /// Every probe of which the target is known.
    known: BTreeSet<ProbeId>,
    /// Those that may be asked for; absent: any.
    asked: Option<BTreeSet<ProbeId>>,
}

/// When a probe ended.
#[derive(Debug, Clone, Copy)]
struct End {
    at: WallTime,
    knowledge: Knowledge,
}

impl End {
    /// A probe has several parts, and a killed one may outlive its deadline: the latest end counts; of two equal ones the
    /// one that is an end and not a bound.
    fn latest(self, other: Self) -> Self {
        let is_later = other.at > self.at || (other.at == self.at && other.knowledge == Knowledge::Exactly);
        if is_later { other } else { self }
    }
}

impl Blockers {
    /// None known yet of this host.
    pub fn of_host(host: impl Into<String>) -> Self {
        Self { host: host.into(), ..Self::default() }
    }

    /// None known yet of this host, to be asked only for the blockers of the slots in these columns. Years of probes that were in
    /// nobody's way need not be remembered.
    pub(crate) fn of_slots<'a>(
        host: impl Into<String>,
        slots: impl IntoIterator<Item = &'a HistoryColumns>,
    ) -> Self {
        let skipped = |columns: &'a HistoryColumns| {
            let rows = columns.outcome.iter().zip(&columns.blocker);
            rows.filter(|(outcome, _)| **outcome == Outcome::Skipped).map(|(_, blocker)| *blocker)
        };
        let asked = slots.into_iter().flat_map(skipped).collect();
        Self { host: host.into(), asked: Some(asked), ..Self::default() }
    }

    /// Adds the probes of a series, unless it is another host's. Only those that may block are remembered:
    /// all that were started.
    pub fn add_series(&mut self, series: &Series, columns: &HistoryColumns) {
        if series.key.host != self.host {
            return;
        }
        for row in 0..columns.len() {
            let probe = columns.probe[row];
            if self.asked.as_ref().is_none_or(|asked| asked.contains(&probe)) {
                let attempt = (columns.start[row], columns.duration_ns[row], columns.outcome[row]);
                self.add_attempt(probe, &series.key.target, attempt);
            }
        }
    }

    /// Adds a sample of a probe, unless it is another host's.
    pub fn add_sample(&mut self, sample: &HistorySample) {
        if sample.series.host == self.host {
            let attempt = (sample.start, sample.duration_ns, sample.outcome);
            self.add_attempt(sample.probe, &sample.series.target, attempt);
        }
    }

    fn add_attempt(
        &mut self,
        probe: ProbeId,
        target: &str,
        (start, duration, outcome): (WallTime, Nanoseconds, Outcome),
    ) {
        if outcome == Outcome::Skipped {
            return;
        }
        let knowledge = if outcome.is_censored() { Knowledge::AtLeast } else { Knowledge::Exactly };
        let end = End { at: start.after(duration), knowledge };
        self.known.insert(probe);
        let key = (probe, target.to_owned());
        self.ends.entry(key).and_modify(|known| *known = known.latest(end)).or_insert(end);
    }

    /// Adds what an outage tells of the probe that found it: who waited, waited until it was over; at least
    /// so long if it did not end by itself, or lasts.
    pub fn add_outage(&mut self, outage: &Outage) {
        if outage.host != self.host {
            return;
        }
        let Some(end) = outage.end else {
            self.open.insert(outage.probe);
            return;
        };
        let recovered = outage.ending == Some(OutageEnding::Recovered);
        let knowledge = if recovered { Knowledge::Exactly } else { Knowledge::AtLeast };
        let end = End { at: end, knowledge };
        self.outages.entry(outage.probe).and_modify(|known| *known = known.latest(end)).or_insert(end);
    }

    /// What the slots of a series tell that were skipped.
    pub(crate) fn imputed(
        &self,
        series: &Series,
        columns: &HistoryColumns,
    ) -> impl Iterator<Item = Observation> {
        let is_skipped = |row: &usize| columns.outcome[*row] == Outcome::Skipped;
        let rows = (0..columns.len()).filter(is_skipped).filter(|_| series.kind.is_duration());
        let last = columns.intended.last().copied().unwrap_or_default();
        let target = &series.key.target;
        rows.filter_map(move |row| self.rest(columns.blocker[row], (columns.intended[row], last), target))
    }

    /// What was left of `blocker` at `slot` for `target`; `None` if it is not known, was over by then, or was another's. What lasts, lasts
    /// until `last` at least.
    fn rest(
        &self,
        blocker: ProbeId,
        (slot, last): (WallTime, WallTime),
        target: &str,
    ) -> Option<Observation> {
        let own = self.ends.get(&(blocker, target.to_owned())).copied();
        let open = self.open.contains(&blocker).then_some(End { at: last, knowledge: Knowledge::AtLeast });
        let outage = self.outages.get(&blocker).copied().or(open);
        let End { at: end, knowledge } = match (own, outage) {
            (Some(own), Some(outage)) => own.latest(outage),
            (Some(own), None) => own,
            (None, Some(outage)) if !self.known.contains(&blocker) => outage,
            (None, _) => return None,
        };
        let rest = end.since(slot);
        (rest > Nanoseconds::ZERO).then(|| Observation {
            at: slot,
            amount: rest.as_seconds(),
            knowledge,
            origin: Origin::Imputed,
        })
    }
}
