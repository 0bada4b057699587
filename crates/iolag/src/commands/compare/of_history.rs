//! Sides of a history: days that a watch saw, and benchmarks that it remembers. To be called in a process that may hang.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iolag_analysis::compare::{Days, RememberedRun, RememberedRuns, Unit};
use iolag_analysis::history::{LocalTime, blockers_asked};
use iolag_analysis::{RunQuantity, joined};
use iolag_backend::redact;
use iolag_conduct::{Failure, absolute};
use iolag_model::{Fingerprint, ProbeId, Series, WallSpan, counted, one_line};
use iolag_store::history::{Access, History, HistoryError};

use crate::args::{HistoryPlace, HistorySide};
use crate::commands::history::access::{Chosen, failure, here};
use crate::commands::history::moment::Here;
use crate::commands::history::reading::local_time;
use crate::commands::history::source::blockers;
use crate::commands::runs::selection::{FoundRun, are_near};

/// Of more targets some are named.
const TARGETS_TOLD_MOST: usize = 5;

/// What a history has of a side: either may be compared, never both together.
#[derive(Debug, Clone, Default)]
pub struct Remembered {
    days: Vec<Unit>,
    /// How many days are none because too little of them was watched.
    partial: usize,
    runs: Vec<RememberedRun>,
}

/// What is asked of histories.
#[derive(Debug, Clone, Copy)]
pub struct HistoryWanted<'a> {
    /// Which one.
    pub place: &'a HistoryPlace,
    /// When all sides begin and end that do not say so.
    pub times: (Option<&'a str>, Option<&'a str>),
    /// What is compared of days.
    pub quantities: &'a [RunQuantity],
}

/// Reads a side.
///
/// # Errors
/// If there is no such history, or nothing of the target in that time.
pub fn read(side: &HistorySide, name: &str, wanted: &HistoryWanted<'_>) -> Result<Remembered, Failure> {
    let chosen = Chosen::new(wanted.place)?;
    let here = here();
    let since = side.since.as_deref().or(wanted.times.0);
    let span = here.span(since, side.until.as_deref().or(wanted.times.1));
    let span = span.map_err(|error| Failure::usage(format!("{name}{}: {error}", borrowed(side, wanted))))?;
    let mut history = chosen.open(Access::ReadOnly)?;
    let known: Vec<Series> = history.series().map_err(failure)?.into_iter().filter(is_comparable).collect();
    let meant = meant(&known, side.target.as_deref(), &chosen.shown())?;
    let covered = covered(history.as_mut(), &meant, span).map_err(failure)?;
    let Some(covered) = covered else {
        let ever = self::covered(history.as_mut(), &meant, WallSpan::ALL).map_err(failure)?;
        return Err(Failure::unusable(nothing_then(name, &chosen.shown(), ever, &here)));
    };
    let local = local_time(&here.zone, covered.begin, covered.end);
    let reading = Reading { local: &local, span, quantities: wanted.quantities };
    reading.read(history.as_mut(), &meant).map_err(failure)
}

/// The ends of a side that are those of all.
fn borrowed(side: &HistorySide, wanted: &HistoryWanted<'_>) -> &'static str {
    let is_borrowed = |own: &Option<String>, of_all: Option<&str>| own.is_none() && of_all.is_some();
    match (is_borrowed(&side.since, wanted.times.0), is_borrowed(&side.until, wanted.times.1)) {
        (false, false) => "",
        (true, false) => " with --since",
        (false, true) => " with --until",
        (true, true) => " with --since and --until",
    }
}

/// Durations and benchmarks; what else a history has is neither fast nor slow.
fn is_comparable(series: &Series) -> bool {
    !series.key.is_of_host() && (series.kind.is_duration() || series.kind.is_of_runs())
}

/// The series of a target, which may be a relative path.
fn meant<'a>(known: &'a [Series], target: Option<&str>, place: &str) -> Result<Vec<&'a Series>, Failure> {
    let Some(target) = target else { return Ok(known.iter().collect()) };
    let path = absolute(Path::new(target));
    let is_meant = |series: &&Series| series.key.target == target || Path::new(&series.key.target) == path;
    let meant: Vec<&Series> = known.iter().filter(is_meant).collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let targets: BTreeSet<&str> = known.iter().map(|series| series.key.target.as_str()).collect();
    let near = targets.iter().find(|known| are_near(known, target)).copied();
    let told = match (near, targets.len()) {
        (Some(near), _) => format!("the nearest is {}", one_line(&redact(near))),
        (None, 0) => "it has nothing that could be compared".to_owned(),
        (None, count) => {
            let mut told: Vec<String> =
                targets.iter().take(TARGETS_TOLD_MOST).map(|target| one_line(&redact(target))).collect();
            if count > TARGETS_TOLD_MOST {
                told.push(format!("{} more", count - TARGETS_TOLD_MOST));
            }
            format!("it has {}", joined(told))
        }
    };
    Err(Failure::unusable(format!("the history {place} has no target {}; {told}", one_line(&redact(target)))))
}

fn covered(
    history: &mut dyn History,
    series: &[&Series],
    span: WallSpan,
) -> Result<Option<WallSpan>, HistoryError> {
    let mut covered: Option<WallSpan> = None;
    for one in series {
        let own = history.covered(&one.key, span)?;
        covered = match (covered, own) {
            (Some(all), Some(own)) => {
                Some(WallSpan { begin: all.begin.min(own.begin), end: all.end.max(own.end) })
            }
            (all, own) => all.or(own),
        };
    }
    Ok(covered)
}

fn nothing_then(name: &str, place: &str, ever: Option<WallSpan>, here: &Here) -> String {
    let Some(WallSpan { begin, end }) = ever else {
        return format!("{name}: the history {place} has nothing that could be compared");
    };
    let local = local_time(&here.zone, begin, end);
    let day = |moment| local.at(moment).day;
    format!(
        "{name}: the history {place} has no day of it in that time, only from {} to {}: choose a time that begins and ends there",
        day(begin),
        day(end)
    )
}

struct Reading<'a> {
    local: &'a LocalTime,
    span: WallSpan,
    quantities: &'a [RunQuantity],
}

impl Reading<'_> {
    fn read(&self, history: &mut dyn History, meant: &[&Series]) -> Result<Remembered, HistoryError> {
        let configurations: BTreeMap<_, _> =
            history.configurations()?.into_iter().map(|one| (one.key, one)).collect();
        let outages = history.outages(self.span)?;
        let mut days = Days::new(self.local, self.span, self.quantities, &configurations);
        let mut runs = RememberedRuns::new(self.local, &configurations);
        for series in meant {
            let columns = history.samples(&series.key, self.span)?;
            if series.kind.is_of_runs() {
                runs.add(series, &columns);
            } else {
                let asked = blockers_asked(&columns);
                days.add(series, &columns, &blockers(history, series, &asked, (self.span, &outages))?);
            }
        }
        let (days, partial) = days.finish();
        Ok(Remembered { days, partial, runs: runs.finish() })
    }
}

/// Whether days are compared: where all sides have some. Benchmarks are compared with stored runs, too.
pub fn are_days_compared<'a>(sides: impl Iterator<Item = Option<&'a Remembered>>) -> bool {
    let mut sides = sides;
    sides.all(|side| side.is_some_and(|remembered| !remembered.days.is_empty()))
}

/// Of which workload the benchmarks are that are meant: the one that was asked for, else those of the stored runs beside them, else the one that all
/// of these sides have; none if they have none in common.
///
/// # Errors
/// If there is no such one, or the sides have several in common: how to choose.
pub fn workloads_meant(
    sides: &[(&str, &Remembered)],
    stored: &[&FoundRun],
    asked: Option<&str>,
) -> Result<BTreeSet<String>, Failure> {
    let known: Vec<_> =
        sides.iter().map(|(_, side)| side.workloads()).filter(|own| !own.is_empty()).collect();
    if let Some(asked) = asked {
        let all: BTreeSet<&str> = known.iter().flatten().copied().collect();
        if all.contains(asked) {
            return Ok(BTreeSet::from([asked.to_owned()]));
        }
        let has = if all.is_empty() { String::new() } else { format!(", but those of {}", listed(all)) };
        return Err(Failure::unusable(format!(
            "the history has no benchmarks of {} of these sides{has}",
            one_line(asked)
        )));
    }
    if !stored.is_empty() {
        return Ok(stored.iter().map(|run| run.record.spec.workload.name().to_owned()).collect());
    }
    let Some((first, others)) = known.split_first() else { return Ok(BTreeSet::new()) };
    let common: BTreeSet<&str> =
        first.iter().copied().filter(|one| others.iter().all(|own| own.contains(one))).collect();
    if common.len() > 1 {
        let names = joined(sides.iter().map(|(name, _)| (*name).to_owned()).collect());
        let choices: Vec<String> = common.iter().map(|one| format!("--workload {one}")).collect();
        return Err(Failure::usage(format!(
            "{names} have benchmarks of {}, which are not compared with each other: choose {}",
            listed(common),
            choices.join(" or ")
        )));
    }
    Ok(common.into_iter().map(str::to_owned).collect())
}

fn listed(names: BTreeSet<&str>) -> String {
    joined(names.into_iter().map(str::to_owned).collect())
}

impl Remembered {
    /// Of which workloads its benchmarks are.
    fn workloads(&self) -> BTreeSet<&str> {
        self.runs.iter().map(|one| one.unit.workload.as_str()).collect()
    }

    /// The units of a side, and what is to be known of them besides. Runs that are stored, too, stand by themselves and have their names, so that none is on both sides.
    pub fn units(
        self,
        name: &str,
        takes_days: bool,
        meant: &BTreeSet<String>,
        stored: &[&FoundRun],
    ) -> (Vec<Unit>, Vec<String>) {
        let mut told = Vec::new();
        if takes_days || self.runs.is_empty() {
            if !self.runs.is_empty() {
                told.push(format!("{name} has benchmarks, too, which are not compared with days"));
            }
            if self.partial > 0 {
                let days = counted(self.partial as u64, "day", "days");
                told.push(format!("{name} is compared without {days}, less than half of which was watched"));
            }
            return (self.days, told);
        }
        let ids: BTreeMap<ProbeId, &FoundRun> =
            stored.iter().map(|run| (ProbeId(Fingerprint::of(run.record.id.as_str())), *run)).collect();
        let is_meant = |unit: &Unit| meant.contains(&unit.workload);
        let has_some = self.runs.iter().any(|one| is_meant(&one.unit));
        let others: BTreeSet<&str> =
            self.workloads().into_iter().filter(|one| has_some && !meant.contains(*one)).collect();
        if stored.is_empty() && !others.is_empty() {
            told.push(format!("{name} has benchmarks of {}, too, which are not compared", listed(others)));
        }
        let own = self.runs.into_iter().filter(|one| !has_some || is_meant(&one.unit));
        let (stored, others): (Vec<RememberedRun>, Vec<RememberedRun>) =
            own.partition(|one| ids.contains_key(&one.run));
        let named = stored.into_iter().filter_map(|one| {
            let found = ids.get(&one.run)?;
            Some(Unit { name: found.record.id.to_string(), ..one.unit })
        });
        (named.chain(RememberedRun::by_day(others)).collect(), told)
    }
}
