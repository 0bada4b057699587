//! Findings about levels: when they changed, how long they lasted, and with which event.
//!
//! A level that is over is told with its end: "since" is said only of what lasts. One that came back to where it was is one finding (see
//! [`crate::history::changes::spells`]), and so are levels of several series of a host that begin, and end, at the same time.

use iolag_model::{Event, EventSource};

use super::drifts::{FELT_SECONDS, findings_of_drifts};
use crate::finding::of_histories::{EventBeside, HistoryFinding, HistoryFound, LevelEnd, LevelFound};
use crate::finding::{Saying, Severity};
use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::change_point::ChangePoint;
use crate::history::changes::direction::Direction;
use crate::history::changes::event_matching::{EventMatch, EventPlace, concerns, place_of_event};
use crate::history::changes::moment::ChangeMoment;
use crate::history::changes::spells::spells_of;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::timed_values::Quantity;

/// What is this many times slower is serious.
const SERIOUS_RATIO: f64 = 2.0;

impl LevelFound {
    /// The change with which it ended, and when; absent if it lasts.
    pub const fn ending(&self) -> Option<(&ChangePoint, ChangeMoment)> {
        match &self.end {
            LevelEnd::Lasts => None,
            LevelEnd::Next(change, moment) | LevelEnd::Back { change, moment, .. } => Some((change, *moment)),
        }
    }

    /// Whether begin and end, if it has one, are known to a few periods.
    pub fn is_dated(&self) -> bool {
        let is_dated = |moment: ChangeMoment| matches!(moment, ChangeMoment::At(_));
        is_dated(self.moment) && self.ending().is_none_or(|(_, moment)| is_dated(moment))
    }

    /// Whether both say the same of their series, but for numbers and moments of the same day.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        let event = |one: &Self| one.event.as_ref().map(|event| event.text.clone());
        let moments = |one: &Self| (one.moment, one.ending().map(|(_, moment)| moment));
        self.direction == other.direction
            && self.ends_as(other)
            && event(self) == event(other)
            // Where no moment is known, the samples beside it are said, and others must have the same.
            && (self.is_dated() && other.is_dated() || moments(self) == moments(other))
    }

    fn ends_as(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.end) == std::mem::discriminant(&other.end)
    }

    /// How far the level moved: the logarithm of the ratio, or how far ranks moved where no ratio is known.
    fn size(&self) -> f64 {
        let by_rank = (self.change.greater_after - 0.5).abs();
        self.change.ratio.value.filter(|ratio| *ratio > 0.0).map_or(by_rank, |ratio| ratio.ln().abs())
    }

    /// What nobody feels is no warning, however much slower it is; what is over, and left nothing behind, is no news that is serious, nor is what may be
    /// no slower at all by the interval of its factor.
    fn severity(&self) -> Severity {
        let change = &self.change;
        // Of runs nobody asks whether their attempts are felt by themselves: many of them are somebody's job.
        let is_felt = match self.direction.quantity {
            Quantity::Duration => change.median_after.max(change.p95_after) >= FELT_SECONDS,
            _ => true,
        };
        if !self.direction.is_slower() || !is_felt {
            return Severity::Note;
        }
        let slowdown = |after: f64, before: f64| match self.direction.is_up {
            true => after / before,
            false => before / after,
        };
        let is_over = self
            .ending()
            .is_some_and(|(next, _)| slowdown(next.median_after, change.median_before) < SERIOUS_RATIO);
        match change.ratio.value {
            Some(ratio)
                if slowdown(ratio, 1.0) >= SERIOUS_RATIO
                    && !is_over
                    && change.ratio.excludes_none() != Some(false) =>
            {
                Severity::Serious
            }
            _ => Severity::Warning,
        }
    }
}

pub(crate) fn findings_of_changes(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = levels(analysis);
    findings.extend(findings_of_drifts(analysis));
    findings
}

/// A level of a series.
struct Level<'a> {
    of: &'a SeriesAnalysis,
    found: LevelFound,
}

impl<'a> Level<'a> {
    /// Those of a series, in the order of time.
    fn all_of(of: &'a SeriesAnalysis, events: &[Event]) -> Vec<Self> {
        let spells = spells_of(&of.changes);
        let is_end_of_spell =
            |index: &usize| index.checked_sub(1).is_some_and(|begin| spells.contains(&begin));
        let moment = |change: &ChangePoint| of.summary.moment_of(change);
        let level = |index: usize| {
            let change = of.changes[index];
            let end = match of.changes.get(index + 1) {
                None => LevelEnd::Lasts,
                Some(next) if spells.contains(&index) => LevelEnd::Back {
                    change: *next,
                    moment: moment(next),
                    event: event_beside(of, index + 1, events),
                    is_last: index + 2 == of.changes.len(),
                },
                Some(next) => LevelEnd::Next(*next, moment(next)),
            };
            let found = LevelFound {
                direction: Direction { quantity: of.summary.quantity, is_up: change.greater_after > 0.5 },
                change,
                moment: moment(&change),
                end,
                event: event_beside(of, index, events),
                tolerance_ns: of.events.tolerance_ns,
            };
            Self { of, found }
        };
        (0..of.changes.len()).filter(|index| !is_end_of_spell(index)).map(level).collect()
    }

    /// Whether it is of the same host, and begins and ends at the same time.
    fn is_together_with(&self, other: &Self) -> bool {
        let have_one_end = match (self.found.ending(), other.found.ending()) {
            (None, None) => true,
            (Some((one, _)), Some((other, _))) => is_near(one, other),
            _ => false,
        };
        self.of.summary.series.key.host == other.of.summary.series.key.host
            && is_near(&self.found.change, &other.found.change)
            && have_one_end
    }
}

fn is_near(one: &ChangePoint, other: &ChangePoint) -> bool {
    let between = one.first_after.since(one.last_before);
    let apart = other.first_after.since(one.first_after).max(one.first_after.since(other.first_after));
    apart.0 <= 4 * between.0
}

/// The event next to the change of a series with this index, if one was matched with it.
fn event_beside(of: &SeriesAnalysis, index: usize, events: &[Event]) -> Option<EventBeside> {
    let change = &of.changes[index];
    let EventMatch { event, chance, .. } =
        of.events.matched.iter().find(|matched| matched.change == index)?;
    let event = events.iter().find(|one| one.id == *event)?;
    let moment = of.summary.moment_of(change);
    let is_other = |other: &&Event| {
        other.id != event.id
            && other.source != EventSource::Journal
            && concerns(other, &of.summary.series.key)
            && place_of_event(change, moment, other) == EventPlace::Within
    };
    let others = match moment {
        ChangeMoment::At(_) => 0,
        ChangeMoment::Between(_) => events.iter().filter(is_other).count() as u64,
    };
    let place = place_of_event(change, moment, event);
    Some(EventBeside { text: event.text.clone(), place, others, chance: *chance })
}

/// Levels that begin and end at the same time on the same host are one finding.
fn levels(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let of_series = analysis.series.iter().filter(|of| of.summary.series.key.part.is_empty());
    let mut all: Vec<Level> = of_series.flat_map(|of| Level::all_of(of, &analysis.events)).collect();
    let host = |one: &Level| one.of.summary.series.key.host.clone();
    all.sort_by_key(|one| (host(one), one.found.ending().is_some(), one.found.change.first_after));
    all.chunk_by(Level::is_together_with).map(|together| finding(together, analysis)).collect()
}

fn finding(together: &[Level], analysis: &HistoryAnalysis) -> HistoryFinding {
    let mut ordered: Vec<&Level> = together.iter().collect();
    ordered.sort_by(|one, other| other.found.size().total_cmp(&one.found.size()));
    let Level { of, found } = ordered[0];
    let key = &of.summary.series.key;
    let others = ordered[1..].iter().map(|other| &other.of.summary.series.key).filter(|other| *other != key);
    let (begin, end) = match found.ending() {
        None => (found.change.last_before, found.change.first_after),
        Some((next, _)) => (found.change.first_after, next.first_after),
    };
    let finding = HistoryFinding::new(HistoryFound::Level(found.clone()), found.severity());
    let finding = finding.of(std::iter::once(key).chain(others)).during(begin, end).sized(found.size());
    HistoryFinding { saying: saying(together, analysis), ..finding }
}

/// What these levels of one time say together with others of the same day, if they all go the same way in one place.
fn saying(together: &[Level], analysis: &HistoryAnalysis) -> Option<Saying> {
    let key = |one: &Level| one.of.summary.series.key.clone();
    let first = &together[0];
    let first_key = key(first);
    let alike = |one: &Level| {
        one.found.direction == first.found.direction
            && one.found.ends_as(&first.found)
            && analysis.place_of(&one.of.summary.series.key) == analysis.place_of(&first_key)
    };
    if !together.iter().all(alike) {
        return None;
    }
    let number = |one: &Level| one.found.direction.number(&one.found.change.ratio);
    let amounts: Option<Vec<f64>> = together.iter().map(number).collect();
    Some(Saying { subjects: together.iter().map(key).collect(), amounts: amounts? })
}
