//! Sweeps: rates and durations against clients or the size of the working set, over the runs of a campaign.

use iolag_model::{Operation, Phase, RunId, RunRecord};
use serde::{Deserialize, Serialize};

use crate::{MetadataAnalysis, QuantileEstimate, QuantileValue, median_of};

/// One operation on one target against what was varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SweepFigure {
    /// What was varied.
    pub varied: Varied,
    /// Side, or target as the user named it.
    pub target: String,
    /// What else the points have in common: clients where objects are varied, objects where clients are.
    pub fixed: u64,
    /// The phase.
    pub phase: Phase,
    /// The operation.
    pub operation: Operation,
    /// The points, by size, then run, then iteration.
    pub points: Vec<SweepFigurePoint>,
    /// Per size the median of the rates over runs and iterations, with their range.
    pub rates: Vec<SweepRate>,
}

/// What was varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Varied {
    /// Clients per target.
    Clients,
    /// Objects per dataset at the beginning.
    Objects,
}

/// One stage of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SweepFigurePoint {
    /// Clients or objects.
    pub size: u64,
    /// The run.
    pub run: RunId,
    /// Iteration of the phase, from 0.
    pub iteration: u32,
    /// Operations per second, by the phase time.
    pub per_second: f64,
    /// Median, with its interval.
    pub median: QuantileEstimate,
    /// 95 %, with its interval.
    pub p95: QuantileEstimate,
    /// 99 %, with its interval.
    pub p99: QuantileEstimate,
    /// The longest.
    pub max: QuantileValue,
}

/// Rates at one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SweepRate {
    /// Clients or objects.
    pub size: u64,
    /// How many rates there are.
    pub count: u64,
    /// Their median.
    pub median_per_second: f64,
    /// The least; as an interval it needs at least 3 rates.
    pub low_per_second: f64,
    /// The greatest.
    pub high_per_second: f64,
}

/// A run of a campaign with what was found in it.
#[derive(Debug, Clone, Copy)]
pub struct SweepRun<'a> {
    /// The run.
    pub record: &'a RunRecord,
    /// Its analysis.
    pub analysis: &'a MetadataAnalysis,
}

/// Figures of everything that was varied among these runs: clients, working-set sizes, or both.
pub fn sweep_figures(runs: &[SweepRun<'_>]) -> Vec<SweepFigure> {
    let mut figures: Vec<SweepFigure> = Vec::new();
    for varied in [Varied::Clients, Varied::Objects] {
        for run in runs {
            add_run(&mut figures, varied, *run);
        }
    }
    figures.retain_mut(|figure| {
        figure.points.sort_by(|left, right| {
            (left.size, &left.run, left.iteration).cmp(&(right.size, &right.run, right.iteration))
        });
        figure.rates = figure.points.chunk_by(|left, right| left.size == right.size).map(rate_of).collect();
        figure.rates.len() > 1
    });
    figures.sort_by(|left, right| {
        let key = |figure: &SweepFigure| (figure.varied, figure.phase, figure.operation);
        key(left).cmp(&key(right)).then_with(|| (&left.target, left.fixed).cmp(&(&right.target, right.fixed)))
    });
    figures
}

fn add_run(figures: &mut Vec<SweepFigure>, varied: Varied, run: SweepRun<'_>) {
    let Some(spec) = run.record.spec.workload.metadata() else {
        return;
    };
    // A run of several targets tells their rates together: it is no point of any one of them.
    let [target] = run.record.measured_targets() else {
        return;
    };
    let target = run.record.coordinates.get("side").unwrap_or(&target.name);
    let clients = u64::from(run.record.spec.clients);
    let (size, fixed) = match varied {
        Varied::Clients => (clients, spec.precreated_objects),
        Varied::Objects => (spec.precreated_objects, clients),
    };
    for stage in &run.analysis.stages {
        for row in &stage.rows {
            let operation = row.summary.key.operation;
            let found = figures.iter().position(|figure| {
                figure.varied == varied
                    && figure.target == *target
                    && figure.fixed == fixed
                    && figure.phase == stage.phase
                    && figure.operation == operation
            });
            let figure = found.unwrap_or_else(|| {
                let (target, phase) = (target.clone(), stage.phase);
                let (points, rates) = (Vec::new(), Vec::new());
                figures.push(SweepFigure { varied, target, fixed, phase, operation, points, rates });
                figures.len() - 1
            });
            figures[figure].points.push(SweepFigurePoint {
                size,
                run: run.record.id.clone(),
                iteration: stage.iteration,
                per_second: row.per_second,
                median: row.summary.durations.median,
                p95: row.summary.durations.p95,
                p99: row.summary.durations.p99,
                max: row.summary.durations.max,
            });
        }
    }
}

fn rate_of(points: &[SweepFigurePoint]) -> SweepRate {
    let mut rates: Vec<f64> = points.iter().map(|point| point.per_second).collect();
    rates.sort_unstable_by(f64::total_cmp);
    SweepRate {
        size: points[0].size,
        count: rates.len() as u64,
        median_per_second: median_of(&rates).unwrap_or_default(),
        low_per_second: rates[0],
        high_per_second: rates[rates.len() - 1],
    }
}
