//! When nobody watched: gaps in the record, which are no good times but unknown ones.
//!
//! A gap is a time of more than three periods without any sample of any task of a host, skipped slots included, and without an attempt that lasts. The
//! period is the least of these tasks, or what most of the spacings nearby are at most, if that is longer: a record may be denser later, or come in
//! bursts. Sessions tell whether iolag ran all the same (then it was stopped from working, by suspend or by a clock that was stepped) or not. Imported
//! durations count as tasks where they are regular: of an import that is not (transfers, logged as they come) no period is known, and silence tells
//! nothing. Each log is written by a script of its own, so that what is imported has gaps of its target, or of one task, too: those that are none of
//! the host, or of the target.
//!
//! Limits: spacings nearby can only make the period longer. A record that is denser for less than half of its samples has its gaps told by the longer
//! spacing, in the dense part too; and of five gaps of about one length within forty spacings none is told, since they may be how it is watched.

use std::collections::BTreeMap;

use iolag_model::{Nanoseconds, SeriesKind, WallTime, WatchSession};
use serde::{Deserialize, Serialize};

use crate::history::series::kept_amounts::Amounts;
use crate::history::series::timed_values::usual_spacing;

/// Periods without a sample that make a gap.
pub(crate) const PERIODS_LEAST: u64 = 3;

/// Spacings that are looked at before and after one.
const NEAR: usize = 20;

/// A time without samples of a host, or of a part of what was imported of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Gap {
    /// Which host.
    pub host: String,
    /// Which target; empty if nothing of the host has samples.
    #[serde(default)]
    pub target: String,
    /// Which task; empty if nothing of the target has samples.
    #[serde(default)]
    pub task: String,
    /// When the last sample before it was due; its end, if it lasted longer than a period.
    pub begin: WallTime,
    /// When the first sample after it was due.
    pub end: WallTime,
    /// Rounds that are missing.
    pub rounds: u64,
    /// Whether a watch is known to have run at its middle.
    pub is_watched: bool,
    /// What has no samples.
    pub record: GapRecord,
}

/// Whose record a gap is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum GapRecord {
    /// That of a watch, which may be one of imports beside it.
    Watched,
    /// Everything of this host, target or task was imported.
    Imported,
}

impl Gap {
    /// How long it is.
    pub fn length(&self) -> Nanoseconds {
        self.end.since(self.begin)
    }

    /// Of what nothing is known: `login1`, `/home on login1`, `list on /home on login1`.
    pub fn place(&self) -> String {
        let parts = [&*self.task, &*self.target, &*self.host];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" on ")
    }

    /// Why there are no samples, as far as that is known.
    pub const fn why(&self) -> &'static str {
        match (self.record, self.is_watched) {
            (GapRecord::Imported, _) => "what was imported holds no sample of that time",
            (GapRecord::Watched, true) => {
                "iolag ran all the same: the machine was suspended, or its clock was stepped"
            }
            (GapRecord::Watched, false) => "no watch ran",
        }
    }
}

/// The time of all gaps, that of several at once counting once.
pub fn time_in_gaps(gaps: &[Gap]) -> Nanoseconds {
    let mut spans: Vec<(WallTime, WallTime)> = gaps.iter().map(|gap| (gap.begin, gap.end)).collect();
    spans.sort_unstable();
    let mut counted_until = WallTime(i64::MIN);
    let added = spans.into_iter().map(|(begin, end)| {
        let begin = begin.max(counted_until);
        counted_until = counted_until.max(end);
        if end > begin { end.since(begin).0 } else { 0 }
    });
    Nanoseconds(added.sum())
}

/// Gaps in the order of hosts, targets, tasks and time. Covariates, imported values, imports without a period and parts of tasks are not looked at.
pub(crate) fn find_gaps(whole: &[Amounts], sessions: &[WatchSession]) -> Vec<Gap> {
    let is_probed = |one: &Amounts| matches!(one.series.kind, SeriesKind::Task | SeriesKind::Control);
    let is_regular = |one: &Amounts| {
        one.series.kind == SeriesKind::ImportedDuration && one.series.period_ns > Nanoseconds::ZERO
    };
    let regular = || whole.iter().filter(|one| is_probed(one) || is_regular(one));
    let mut found: Vec<Gap> = Vec::new();
    for level in [Level::Host, Level::Target, Level::Task] {
        let mut places: BTreeMap<[&str; 3], Vec<&Amounts>> = BTreeMap::new();
        for one in regular().filter(|one| level == Level::Host || is_regular(one)) {
            places.entry(level.place(one)).or_default().push(one);
        }
        let of_level: Vec<Gap> = places
            .into_iter()
            .flat_map(|(place, series)| {
                let is_watched = series.iter().any(|one| is_probed(one));
                let record = if is_watched { GapRecord::Watched } else { GapRecord::Imported };
                let told = found.iter().filter(move |gap| is_within(place, gap)).collect::<Vec<_>>();
                gaps_of(place, record, &series, sessions)
                    .into_iter()
                    .filter(move |(gap, period)| is_new(gap, *period, &told))
            })
            .map(|(gap, _)| gap)
            .collect();
        found.extend(of_level);
    }
    found.sort_by(|one, other| order(one).cmp(&order(other)));
    found
}

fn order(gap: &Gap) -> (&str, &str, &str, WallTime) {
    (&gap.host, &gap.target, &gap.task, gap.begin)
}

/// How much of a host's record is looked at at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Host,
    Target,
    Task,
}

impl Level {
    /// Host, target and task, empty where all are meant.
    fn place(self, one: &Amounts) -> [&str; 3] {
        let key = &one.series.key;
        match self {
            Self::Host => [&key.host, "", ""],
            Self::Target => [&key.host, &key.target, ""],
            Self::Task => [&key.host, &key.target, &key.task],
        }
    }
}

fn is_within([host, target, _]: [&str; 3], gap: &Gap) -> bool {
    gap.host == host && (gap.target.is_empty() || gap.target == target)
}

/// Whether more of a gap than what is none by itself is outside of those that are told already.
fn is_new(gap: &Gap, period: Nanoseconds, told: &[&Gap]) -> bool {
    let overlaps = told.iter().map(|wider| {
        let (begin, end) = (wider.begin.max(gap.begin), wider.end.min(gap.end));
        if end > begin { end.since(begin).0 } else { 0 }
    });
    gap.length().0.saturating_sub(overlaps.sum()) > PERIODS_LEAST * period.0
}

/// Gaps with the period by which they are some.
fn gaps_of(
    [host, target, task]: [&str; 3],
    record: GapRecord,
    all: &[&Amounts],
    sessions: &[WatchSession],
) -> Vec<(Gap, Nanoseconds)> {
    let spacings = all.iter().filter_map(|one| usual_spacing(one.intended()));
    let Some(period) = spacings.filter(|period| period.0 > 0).min() else { return Vec::new() };
    let mut moments: Vec<WallTime> = all.iter().flat_map(|one| one.intended()).copied().collect();
    moments.sort_unstable();
    let lasting = Lasting::of(all, period);
    let begin = |index: usize| lasting.known_until(moments[index]);
    let spacing = |index: usize| moments[index + 1].since(begin(index));
    let long = (0..moments.len().saturating_sub(1)).filter_map(|index| {
        let is_long = |period: Nanoseconds| spacing(index).0 > PERIODS_LEAST * period.0;
        let period = is_long(period).then(|| period.max(usual_near(&moments, index)))?;
        is_long(period).then_some((index, period))
    });
    long.map(|(index, period)| {
        let (length, begin) = (spacing(index), begin(index));
        let middle = begin.after(Nanoseconds(length.0 / 2));
        let ran = |session: &WatchSession| {
            session.host == host && session.begin <= middle && middle <= session.last_seen
        };
        let gap = Gap {
            host: host.to_owned(),
            target: target.to_owned(),
            task: task.to_owned(),
            begin,
            end: moments[index + 1],
            rounds: (length.0 / period.0).saturating_sub(1),
            is_watched: sessions.iter().any(ran),
            record,
        };
        (gap, period)
    })
    .collect()
}

/// Attempts that took longer than a period: as long as one lasts, that is known.
struct Lasting {
    /// When each was due, and until when one of them and those before lasted, in the order of time.
    until: Vec<(WallTime, WallTime)>,
}

impl Lasting {
    fn of(all: &[&Amounts], period: Nanoseconds) -> Self {
        let mut until: Vec<(WallTime, WallTime)> =
            all.iter().flat_map(|one| one.lasting_longer_than(period)).collect();
        until.sort_unstable();
        let mut latest = WallTime(i64::MIN);
        for (_, end) in &mut until {
            latest = latest.max(*end);
            *end = latest;
        }
        Self { until }
    }

    /// Until when is known what was under way at `moment`: that moment itself, if nothing was that lasted.
    fn known_until(&self, moment: WallTime) -> WallTime {
        let before = self.until.partition_point(|(due, _)| *due <= moment);
        let until = before.checked_sub(1).map(|last| self.until[last].1);
        until.map_or(moment, |until| until.max(moment))
    }
}

/// What most of the spacings around this one are at most.
fn usual_near(moments: &[WallTime], index: usize) -> Nanoseconds {
    let near = &moments[index.saturating_sub(NEAR)..moments.len().min(index + NEAR + 2)];
    let mut spacings: Vec<Nanoseconds> = near.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    let most = spacings.len() * 4 / 5;
    *spacings.select_nth_unstable(most).1
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use iolag_model::{HistoryColumns, Outcome, SessionEnd};

    use super::*;
    use crate::history::series::observations::Blockers;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    fn every_quarter(target: &str, slots: impl Iterator<Item = i64>) -> Amounts {
        let columns: HistoryColumns = columns_of(slots.map(|slot| (slot * 900, 5, Outcome::Ok)));
        Amounts::of(&series_of(target, "list"), Cow::Owned(columns), &Blockers::default())
    }

    fn session(begin: i64, last_seen: i64) -> WatchSession {
        WatchSession {
            host: "login1".to_owned(),
            boot_id: String::new(),
            begin: WallTime::from_seconds(begin * 900),
            last_seen: WallTime::from_seconds(last_seen * 900),
            end: SessionEnd::Open,
            iolag_version: String::new(),
        }
    }

    #[test]
    fn missing_rounds_are_gaps_and_skipped_ones_are_not() {
        let series = [every_quarter("/home", (0..20).chain(30..50).chain(52..60))];
        let gaps = find_gaps(&series, &[session(0, 20), session(30, 60)]);
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        assert_eq!((gaps[0].begin, gaps[0].rounds), (WallTime::from_seconds(19 * 900), 10));
        assert!(!gaps[0].is_watched);
        assert!(find_gaps(&series, &[session(0, 60)])[0].is_watched);
    }

    #[test]
    fn what_was_usual_at_the_time_is_no_gap() {
        let hourly = (0..600).map(|hour| 4 * hour);
        let denser = every_quarter("/home", hourly.chain(2400..3400).chain(3410..3600));
        let gaps = find_gaps(&[denser], &[]);
        assert_eq!(gaps.len(), 1, "{gaps:?}");
        assert_eq!((gaps[0].begin, gaps[0].rounds), (WallTime::from_seconds(3399 * 900), 10));
        // Four in an hour, and nothing for the rest of the day.
        let bursts = (0..60).flat_map(|day| (0..4).map(move |slot| 96 * day + slot));
        assert_eq!(find_gaps(&[every_quarter("/home", bursts)], &[]), []);
    }

    #[test]
    fn an_import_has_gaps_where_it_is_regular() {
        let gaps = |period_seconds: u64| {
            let mut imported = every_quarter("/home", (0..20).chain(40..60));
            imported.series.kind = SeriesKind::ImportedDuration;
            imported.series.period_ns = Nanoseconds::from_seconds(period_seconds);
            find_gaps(&[imported], &[])
        };
        assert_eq!(gaps(900).len(), 1);
        assert_eq!(gaps(900)[0].why(), "what was imported holds no sample of that time");
        assert!(gaps(0).is_empty(), "transfers, logged as they come");
    }

    fn imported(target: &str, slots: impl Iterator<Item = i64>) -> Amounts {
        let mut imported = every_quarter(target, slots);
        imported.series.kind = SeriesKind::ImportedDuration;
        imported.series.period_ns = Nanoseconds::from_seconds(900);
        imported
    }

    #[test]
    fn a_log_has_gaps_of_its_own_beside_another_that_has_none() {
        let series = [imported("/home", (0..20).chain(40..60)), imported("/scratch", 0..60)];
        let gaps = find_gaps(&series, &[]);
        assert_eq!(gaps.iter().map(Gap::place).collect::<Vec<_>>(), ["/home on login1"]);
        assert_eq!((gaps[0].rounds, gaps[0].record), (20, GapRecord::Imported));
        // A script that does one after the other stops all of them, which is told once.
        let mut copy = imported("/home", (0..20).chain(40..60));
        copy.series.key.task = "copy".to_owned();
        let [home, scratch] = series;
        let together = find_gaps(&[home.clone(), copy.clone(), scratch], &[]);
        assert_eq!(together.iter().map(Gap::place).collect::<Vec<_>>(), ["/home on login1"]);
        assert_eq!(find_gaps(&[home, copy.clone()], &[])[0].place(), "login1");
        let all = find_gaps(&[imported("/home", 0..60), copy], &[]);
        assert_eq!(all.iter().map(Gap::place).collect::<Vec<_>>(), ["copy on /home on login1"]);
    }

    #[test]
    fn a_hole_that_is_wider_in_one_log_is_told_of_that_too_and_counted_once() {
        let series = [imported("/home", (0..20).chain(60..90)), imported("/scratch", (0..20).chain(40..90))];
        let gaps = find_gaps(&series, &[]);
        let places: Vec<String> = gaps.iter().map(Gap::place).collect();
        assert_eq!(places, ["login1", "/home on login1"]);
        assert_eq!(time_in_gaps(&gaps), Nanoseconds::from_seconds(41 * 900));
    }

    #[test]
    fn while_an_attempt_lasts_that_is_known() {
        let slots = |hung_seconds: u64| {
            let of = |slot: i64, milliseconds, outcome| (slot * 900, milliseconds, outcome);
            let before = (0..20).map(move |slot| of(slot, 5, Outcome::Ok));
            let hung = std::iter::once(of(20, hung_seconds * 1000, Outcome::Hung));
            let columns: HistoryColumns =
                columns_of(before.chain(hung).chain((40..60).map(move |slot| of(slot, 5, Outcome::Ok))));
            let series = imported("/home", std::iter::empty()).series;
            find_gaps(&[Amounts::of(&series, Cow::Owned(columns), &Blockers::default())], &[])
        };
        assert_eq!(slots(20 * 900), []);
        let gaps = slots(10 * 900);
        assert_eq!((gaps[0].begin, gaps[0].rounds), (WallTime::from_seconds(30 * 900), 9));
    }

    #[test]
    fn what_another_series_of_the_host_covers_is_no_gap() {
        let series = [every_quarter("/home", (0..20).chain(40..60)), every_quarter("/scratch", 0..60)];
        assert!(find_gaps(&series, &[]).is_empty());
        assert!(find_gaps(&[], &[]).is_empty());
        assert!(find_gaps(&[every_quarter("/home", 0..1)], &[]).is_empty());
    }
}
