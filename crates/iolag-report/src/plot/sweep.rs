//! Rates and durations against what was varied.

use iolag_analysis::figure::{Figures, SweepFigure, SweepFigurePoint, Varied};
use iolag_analysis::{QuantileValue, median_of};
use iolag_model::{counted, format_count};

use super::PlotError;
use super::axis::Axis;
use super::choice::{PALETTE, PlotSelection};
use super::scene::{Align, Dash, Paint, Stroke};
use super::sheet::{Along, AxisTexts, Key, Panel, Sheet};

const LINES_MAX: usize = PALETTE.len();
/// Points of one line; sweeps have a few dozen.
const SIZES_MAX: usize = 300;
/// Rates of which the range is an interval.
const RATES_FOR_RANGE: u64 = 3;

/// A quantile of a point.
type QuantileOf = fn(&SweepFigurePoint) -> QuantileValue;

const QUANTILES: [(&str, Dash, QuantileOf); 3] = [
    ("median", Dash::Solid, |point| point.median.value),
    ("p95", Dash::Strokes, |point| point.p95.value),
    ("p99", Dash::Dots, |point| point.p99.value),
];

pub(super) fn draw(sheet: &mut Sheet, figures: &Figures, selection: &PlotSelection) -> Result<(), PlotError> {
    let varied = figures.sweeps.iter().map(|sweep| sweep.varied).min();
    let wanted = |sweep: &&SweepFigure| {
        Some(sweep.varied) == varied
            && (selection.operations.is_empty() || selection.operations.contains(&sweep.operation))
            && (selection.targets.is_empty() || selection.targets.contains(&sweep.target))
            && (selection.phases.is_empty() || selection.phases.contains(&sweep.phase))
    };
    let mut sweeps: Vec<&SweepFigure> = figures.sweeps.iter().filter(wanted).collect();
    let left_out = sweeps.len().saturating_sub(LINES_MAX);
    sweeps.truncate(LINES_MAX);
    let what = match varied {
        Some(Varied::Objects) => "objects per dataset",
        Some(Varied::Clients) | None => "clients",
    };
    sheet.title(&format!("Rates and durations against {what}"));
    sheet.legend(&keys(sheet, &sweeps));
    sheet.caption(&caption(figures, &sweeps, left_out));
    if sweeps.is_empty() {
        sheet.nothing("There is nothing to draw: these runs do not differ in clients or objects.");
        return Ok(());
    }
    let regions = sheet.rows(2);
    let sizes: Vec<u64> =
        sweeps.iter().flat_map(|sweep| sweep.points.iter().map(|point| point.size)).collect();
    let x = Axis::sizes(&sizes, sheet.labels_across(sheet.free.width()));
    let most =
        sweeps.iter().flat_map(|sweep| &sweep.rates).map(|rate| rate.high_per_second).fold(0.0, f64::max);
    let y = Axis::amount(most, sheet.labels_up(regions[0].height()).min(6));
    let rates = sheet.panel(regions[0], x.clone(), y, AxisTexts { x: "", y: "operations/s" })?;
    sweeps.iter().zip(PALETTE).for_each(|(sweep, paint)| draw_rates(&rates, sweep, paint));
    let (shortest, longest) = durations(&sweeps).unwrap_or((f64::NAN, f64::NAN));
    let y = Axis::durations(shortest, longest, sheet.labels_up(regions[1].height()));
    let times = sheet.panel(regions[1], x, y, AxisTexts { x: what, y: "time taken" })?;
    for (sweep, paint) in sweeps.iter().zip(PALETTE) {
        QUANTILES.iter().for_each(|(_, dash, of)| draw_quantiles(&times, sweep, *of, paint, *dash));
    }
    times.thresholds(Along::Y);
    Ok(())
}

fn keys(sheet: &Sheet, sweeps: &[&SweepFigure]) -> Vec<(Key, String)> {
    if sweeps.is_empty() {
        return Vec::new();
    }
    let targets = sweeps.iter().any(|sweep| sweep.target != sweeps[0].target);
    let fixed = sweeps.iter().any(|sweep| sweep.fixed != sweeps[0].fixed);
    let width = sheet.text / 9;
    let operation = sweeps.iter().zip(PALETTE).map(|(sweep, paint)| {
        let mut name = format!("{} ({})", sweep.operation, sweep.phase);
        if targets {
            name.push_str(&format!(" · {}", sweep.target));
        }
        if fixed {
            name.push_str(&format!(" · {}", format_count(sweep.fixed)));
        }
        (Key::Line(Stroke::solid(paint, width)), name)
    });
    let grey = Paint::opaque(0x55, 0x55, 0x55);
    let quantile = QUANTILES
        .iter()
        .map(|(name, dash, _)| (Key::Line(Stroke { paint: grey, width, dash: *dash }), (*name).to_owned()));
    operation.chain(quantile).collect()
}

fn caption(figures: &Figures, sweeps: &[&SweepFigure], left_out: usize) -> String {
    let runs = figures.runs.len();
    let points: usize = sweeps.iter().map(|sweep| sweep.points.len()).sum();
    let attempts: u64 = figures.runs.iter().map(|run| run.counts.attempts).sum();
    let runs = counted(runs as u64, "run", "runs");
    let points = counted(points as u64, "stage", "stages");
    let mut text = format!("{runs}, {points}; {} in all.", counted(attempts, "attempt", "attempts"));
    if sweeps.iter().flat_map(|sweep| &sweep.rates).any(|rate| rate.count >= RATES_FOR_RANGE) {
        text.push_str(" Bars: range of the rates.");
    }
    if left_out > 0 {
        text.push_str(&format!(
            " {} not drawn: choose by operation or target.",
            counted(left_out as u64, "more operation is", "more operations are")
        ));
    }
    text
}

fn draw_rates(panel: &Panel<'_>, sweep: &SweepFigure, paint: Paint) {
    let width = panel.line_width();
    let stroke = Stroke::solid(paint, width);
    let rates = || sweep.rates.iter().take(SIZES_MAX);
    panel.line(rates().map(|rate| (rate.size as f64, rate.median_per_second)), stroke);
    let dots = rates().map(|rate| panel.place(rate.size as f64, rate.median_per_second)).collect();
    panel.dots(dots, width * 4, paint);
    for rate in rates().filter(|rate| rate.count >= RATES_FOR_RANGE) {
        let size = rate.size as f64;
        panel.line([(size, rate.low_per_second), (size, rate.high_per_second)], stroke);
    }
}

/// The median over runs and iterations of a quantile at one size.
struct AtSize {
    size: f64,
    ns: f64,
    /// Whether one of them is at least that long.
    is_open: bool,
}

fn quantile_by_size(sweep: &SweepFigure, of: QuantileOf) -> Vec<AtSize> {
    let by_size = sweep.points.chunk_by(|left, right| left.size == right.size);
    let at_size = |points: &[SweepFigurePoint]| {
        let values: Vec<f64> = points
            .iter()
            .filter_map(|point| of(point).lower_bound())
            .map(|ns| (ns.0 as f64).max(1.0))
            .collect();
        let is_open = points.iter().any(|point| matches!(of(point), QuantileValue::AtLeast(_)));
        Some(AtSize { size: points[0].size as f64, ns: median_of(&values)?, is_open })
    };
    by_size.filter_map(at_size).take(SIZES_MAX).collect()
}

fn durations(sweeps: &[&SweepFigure]) -> Option<(f64, f64)> {
    let all = sweeps.iter().flat_map(|sweep| {
        QUANTILES.iter().flat_map(|(_, _, of)| quantile_by_size(sweep, *of)).map(|at| at.ns)
    });
    all.fold(None, |range, ns| {
        let (low, high) = range.unwrap_or((ns, ns));
        Some((f64::min(low, ns), f64::max(high, ns)))
    })
}

fn draw_quantiles(panel: &Panel<'_>, sweep: &SweepFigure, of: QuantileOf, paint: Paint, dash: Dash) {
    let width = panel.line_width();
    let values = quantile_by_size(sweep, of);
    panel.line(values.iter().map(|at| (at.size, at.ns)), Stroke { paint, width, dash });
    let dots = values.iter().map(|at| panel.place(at.size, at.ns)).collect();
    panel.dots(dots, width * 3, paint);
    for at in values.iter().filter(|at| at.is_open) {
        let (x, y) = panel.place(at.size, at.ns);
        panel.label("↑", (x, y - width * 2), Align::Middle);
    }
}
