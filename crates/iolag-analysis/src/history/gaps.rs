//! When nobody watched: gaps in the record, which are no good times but unknown ones.
//!
//! A gap is a time of more than three periods without any sample of any task of a host, skipped slots included. The period is the least of these tasks, or
//! what most of the spacings nearby are at most, if that is longer: a record may be denser later, or come in bursts. Sessions tell whether
//! iolag ran all the same (then it was stopped from working, by suspend or by a clock that was stepped) or not. Imported durations count as
//! tasks where they are regular: of an import that is not (transfers, logged as they come) no period is known, and silence tells nothing.
//!
//! Limits: spacings nearby can only make the period longer. A record that is denser for less than half of its samples has its gaps told by the longer
//! spacing, in the dense part too; and of five gaps of about one length within forty spacings none is told, since they may be how it is watched.

use iolag_model::{Nanoseconds, SeriesKind, WallTime, WatchSession};
use serde::{Deserialize, Serialize};

use super::amounts::Amounts;
use super::observed::usual_spacing;

/// Periods without a sample that make a gap.
pub(super) const PERIODS_LEAST: u64 = 3;

/// Spacings that are looked at before and after one.
const NEAR: usize = 20;

/// A time without samples of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Which host.
    pub host: String,
    /// When the last sample before it was due.
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
#[serde(rename_all = "kebab-case")]
pub enum GapRecord {
    /// That of a watch, which may be one of imports beside it.
    Watched,
    /// Everything of this host was imported.
    Imported,
}

impl Gap {
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

/// Gaps of all hosts in the order of hosts and time. Covariates, imported values, imports without a period and parts of tasks are not looked at.
pub(super) fn find_gaps(whole: &[Amounts], sessions: &[WatchSession]) -> Vec<Gap> {
    let is_probed = |one: &Amounts| matches!(one.series.kind, SeriesKind::Task | SeriesKind::Control);
    let is_regular = |one: &Amounts| {
        one.series.kind == SeriesKind::ImportedDuration && one.series.period_ns > Nanoseconds::ZERO
    };
    let regular: Vec<&Amounts> = whole.iter().filter(|one| is_probed(one) || is_regular(one)).collect();
    let mut hosts: Vec<&str> = regular.iter().map(|one| one.series.key.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
        .into_iter()
        .flat_map(|host| {
            let of_host = || regular.iter().filter(|one| one.series.key.host == host);
            let is_watched = of_host().any(|one| is_probed(one));
            let record = if is_watched { GapRecord::Watched } else { GapRecord::Imported };
            gaps_of((host, record), &of_host().map(|one| one.intended()).collect::<Vec<_>>(), sessions)
        })
        .collect()
}

fn gaps_of((host, record): (&str, GapRecord), all: &[&[WallTime]], sessions: &[WatchSession]) -> Vec<Gap> {
    let spacings = all.iter().filter_map(|intended| usual_spacing(intended));
    let Some(period) = spacings.filter(|period| period.0 > 0).min() else { return Vec::new() };
    let mut moments: Vec<WallTime> = all.concat();
    moments.sort_unstable();
    let spacing = |index: usize| moments[index + 1].since(moments[index]);
    let long = (0..moments.len().saturating_sub(1)).filter_map(|index| {
        let is_long = |period: Nanoseconds| spacing(index).0 > PERIODS_LEAST * period.0;
        let period = is_long(period).then(|| period.max(usual_near(&moments, index)))?;
        is_long(period).then_some((index, period))
    });
    long.map(|(index, period)| {
        let (length, begin) = (spacing(index), moments[index]);
        let middle = begin.after(Nanoseconds(length.0 / 2));
        let ran = |session: &WatchSession| {
            session.host == host && session.begin <= middle && middle <= session.last_seen
        };
        Gap {
            host: host.to_owned(),
            begin,
            end: moments[index + 1],
            rounds: (length.0 / period.0).saturating_sub(1),
            is_watched: sessions.iter().any(ran),
            record,
        }
    })
    .collect()
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

    use super::super::weighting::Blockers;
    use super::*;
    use crate::history::samples::{columns_of, series_of};

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

    #[test]
    fn what_another_series_of_the_host_covers_is_no_gap() {
        let series = [every_quarter("/home", (0..20).chain(40..60)), every_quarter("/scratch", 0..60)];
        assert!(find_gaps(&series, &[]).is_empty());
        assert!(find_gaps(&[], &[]).is_empty());
        assert!(find_gaps(&[every_quarter("/home", 0..1)], &[]).is_empty());
    }
}
