//! Time against copies over the runs of a campaign: study 002, figure 3.

use iolag_model::RunId;
use serde::{Deserialize, Serialize};

use super::line::{CopiesLine, CopiesShape, Spread, copies_line, mean};
use super::of_run::CopiesRun;
use super::time::{CopiesTime, median_of_copies};
use super::waits::WaitsFor;

/// The times of one side or target against the number of copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesFigure {
    /// Side, or target as the user named it.
    pub target: String,
    /// Each run, by copies, then run.
    pub points: Vec<CopiesPoint>,
    /// Each number of copies.
    pub levels: Vec<CopiesLevel>,
    /// The line through the runs of blocks in which every time is known; absent for one number of copies, or without such a block.
    pub line: Option<CopiesLine>,
    /// The first number of copies of which some times are only known from below.
    pub missing: Option<SlowestMissing>,
}

/// Runs of one number of copies whose times are the longest, and not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowestMissing {
    /// How many copies.
    pub copies: u32,
    /// How many runs have a known time.
    pub known: u64,
    /// How many there are.
    pub runs: u64,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesPoint {
    /// How many copies it had.
    pub copies: u32,
    /// Which.
    pub run: RunId,
    /// The stretch of its campaign.
    pub block: u32,
    /// What a copy took.
    pub time: CopiesTime,
}

/// The runs of one number of copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopiesLevel {
    /// How many copies.
    pub copies: u32,
    /// How many runs.
    pub runs: u64,
    /// Mean over the runs; absent if of one only a bound is known.
    pub mean_ns: Option<f64>,
    /// Its 95 % interval, of at least three runs.
    pub interval_ns: Option<[f64; 2]>,
    /// For what the copies waited, if that is known.
    pub waits_for: Option<WaitsFor>,
}

/// The times of these runs, a curve for each side or target in the order in which they come.
pub fn copies_figures<'a>(runs: impl IntoIterator<Item = CopiesRun<'a>>) -> Vec<CopiesFigure> {
    let mut figures: Vec<CopiesFigure> = Vec::new();
    let runs: Vec<CopiesRun<'a>> = runs.into_iter().collect();
    for run in &runs {
        let Some(time) = median_of_copies(run.times) else { continue };
        let place = figures.iter().position(|figure| figure.target == run.target).unwrap_or_else(|| {
            let (target, points, levels) = (run.target.to_owned(), Vec::new(), Vec::new());
            figures.push(CopiesFigure { target, points, levels, line: None, missing: None });
            figures.len() - 1
        });
        let point = CopiesPoint { copies: run.copies, run: run.id.clone(), block: run.block, time };
        figures[place].points.push(point);
    }
    for figure in &mut figures {
        figure.points.sort_by(|left, right| (left.copies, &left.run).cmp(&(right.copies, &right.run)));
        let of_level = |points: &[CopiesPoint]| {
            let is_of_level =
                |run: &&CopiesRun<'_>| (run.target, run.copies) == (&*figure.target, points[0].copies);
            level(points, WaitsFor::of(&runs.iter().filter(is_of_level).copied().collect::<Vec<_>>()))
        };
        figure.levels =
            figure.points.chunk_by(|left, right| left.copies == right.copies).map(of_level).collect();
        figure.missing = figure.points.chunk_by(|left, right| left.copies == right.copies).find_map(missing);
        figure.line = line_through(figure).map(|line| match figure.missing {
            Some(_) => CopiesLine { shape: CopiesShape::SlowestMissing, ..line },
            None => line,
        });
    }
    figures
}

fn level(points: &[CopiesPoint], waits_for: Option<WaitsFor>) -> CopiesLevel {
    let known: Vec<f64> = points.iter().filter_map(|point| known(point.time)).collect();
    let is_known = known.len() == points.len();
    CopiesLevel {
        copies: points[0].copies,
        runs: points.len() as u64,
        mean_ns: is_known.then(|| mean(known.iter().copied())),
        interval_ns: Spread::of(&known).filter(|_| is_known).map(Spread::interval),
        waits_for,
    }
}

fn missing(points: &[CopiesPoint]) -> Option<SlowestMissing> {
    let known = points.iter().filter(|point| !point.time.is_at_least).count();
    let of = |known| SlowestMissing { copies: points[0].copies, known, runs: points.len() as u64 };
    (known < points.len()).then(|| of(known as u64))
}

fn line_through(figure: &CopiesFigure) -> Option<CopiesLine> {
    let levels: Vec<u32> = figure.levels.iter().map(|level| level.copies).collect();
    let mut numbers: Vec<u32> = figure.points.iter().map(|point| point.block).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let time = |block, copies| {
        let is_it = |point: &&CopiesPoint| (point.block, point.copies) == (block, copies);
        known(figure.points.iter().rfind(is_it)?.time)
    };
    let whole = |block: &u32| levels.iter().map(|copies| time(*block, *copies)).collect::<Option<Vec<f64>>>();
    let blocks: Vec<Vec<f64>> = numbers.iter().filter_map(whole).collect();
    copies_line(&levels.iter().map(|copies| f64::from(*copies)).collect::<Vec<_>>(), &blocks)
}

fn known(time: CopiesTime) -> Option<f64> {
    (!time.is_at_least).then_some(time.median_ns.0 as f64)
}

#[cfg(test)]
mod tests {
    use iolag_model::{ClientId, Nanoseconds, RunState};

    use super::*;
    use crate::run::copies::at_work::CopiesAtWork;
    use crate::run::copies::of_run::Pauses;
    use crate::run::copies::time::{CopyEnding, CopyTime};

    #[test]
    fn a_line_without_the_slowest_runs_says_so_and_is_not_called_straight() {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let each = || (1..=4_u32).flat_map(|block| [1, 2, 4].map(|copies| (block, copies)));
        let time = |(block, copies): (u32, u32)| {
            let is_ended = (block, copies) == (4, 4);
            let ending = if is_ended { CopyEnding::TimedOut } else { CopyEnding::Ended };
            let seconds = if is_ended { 60 } else { u64::from(copies) };
            vec![CopyTime { client: ClientId(0), time_ns: Nanoseconds::from_seconds(seconds), ending }]
        };
        let times: Vec<Vec<CopyTime>> = each().map(time).collect();
        let runs = each().zip(&times).map(|((block, copies), times)| CopiesRun {
            id: &id,
            target: "/afs",
            block,
            copies,
            cpus: 2,
            state: &RunState::Complete,
            times,
            work: CopiesAtWork::default(),
            pauses: Pauses::None,
            full: None,
            payload: None,
        });
        let figure = copies_figures(runs).remove(0);
        assert_eq!(figure.missing, Some(SlowestMissing { copies: 4, known: 3, runs: 4 }));
        let line = figure.line.unwrap();
        assert_eq!((line.blocks, line.shape), (3, CopiesShape::SlowestMissing));
    }
}
