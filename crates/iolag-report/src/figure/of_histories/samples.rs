//! The samples of a series as points, marks and ribbons over time.

use iolag_analysis::history::{HistoryAxis, Ribbons, STATE_BELOW, SeriesFigure};
use iolag_model::Outcome;

use super::choice::Line;
use crate::figure::drawings::cloud::middle_ns;
use crate::figure::drawings::density::DensityGrid;
use crate::figure::paper::sheet::Panel;
use crate::figure::scene::shapes::Paint;

/// Moment since the begin and duration in ns, and state, of every sample that is kept one by one.
fn samples<'a>(series: &'a SeriesFigure, axis: &'a HistoryAxis) -> impl Iterator<Item = (f64, f64, u8)> + 'a {
    let points = &series.points;
    let moments = points.time_steps.0.iter().scan(0_u64, |at, step| {
        *at += u64::from(*step);
        Some(*at as f64 * axis.time_unit_ns as f64)
    });
    let rows = moments.zip(&points.bucket.0).zip(&points.state.0);
    rows.filter_map(|((moment, bucket), state)| Some((moment, middle_ns(&axis.lowest_ns, *bucket)?, *state)))
}

/// Those that ended, whose duration is known.
pub(crate) fn points_of<'a>(
    series: &'a SeriesFigure,
    axis: &'a HistoryAxis,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let ended = |state: u8| state == Outcome::Ok as u8 || state == Outcome::Late as u8;
    samples(series, axis).filter(move |(.., state)| ended(*state)).map(|(moment, ns, _)| (moment, ns))
}

/// The longest of every stretch of a ribbon.
pub(crate) fn longest_of<'a>(
    series: &'a SeriesFigure,
    axis: &'a HistoryAxis,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let stretches = series.ribbons.iter().flat_map(move |ribbons| {
        let filled = ribbons.count.0.iter().zip(&ribbons.max.0).enumerate();
        let count = ribbons.count.0.len();
        filled.map(move |(column, (samples, max))| (middle_of(column, count, axis), *samples, *max))
    });
    stretches
        .filter(|(_, samples, _)| *samples > 0)
        .filter_map(|(moment, _, max)| Some((moment, middle_ns(&axis.lowest_ns, max)?)))
}

fn middle_of(column: usize, columns: usize, axis: &HistoryAxis) -> f64 {
    (column as f64 + 0.5) / columns.max(1) as f64 * axis.span_ns as f64
}

/// Calls `mark` with state, moment and count of everything that did not simply succeed.
pub(crate) fn for_each_mark(series: &SeriesFigure, axis: &HistoryAxis, mut mark: impl FnMut(u8, f64, u64)) {
    for (moment, _, state) in samples(series, axis).filter(|(.., state)| *state != Outcome::Ok as u8) {
        mark(state, moment, 1);
    }
    for marks in series.ribbons.iter().flat_map(|ribbons| &ribbons.marks) {
        let columns = marks.count.0.len();
        for (column, count) in marks.count.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            mark(marks.state, middle_of(column, columns, axis), u64::from(*count));
        }
    }
}

/// Whether something was shorter than the clock could tell.
pub(crate) const fn has_below(line: &Line<'_>) -> bool {
    line.series.by_attempt.below_count > 0
}

/// Number of the state of what was shorter than the clock could tell.
pub(crate) const BELOW: u8 = STATE_BELOW;

/// Shortest and longest duration of lines in ns: where something was below the resolution, from that on. 0.1 s is always to be
/// seen from below, so that what is fast looks fast.
pub(crate) fn range_of(lines: &[Line<'_>]) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for line in lines {
        let curve = &line.series.by_attempt;
        if let (Some(first), Some(last)) = (curve.amount.0.first(), curve.amount.0.last()) {
            let resolution = line.series.resolution_ns as f64;
            low = low.min(if has_below(line) { resolution } else { 0.9 * f64::from(*first) });
            high = high.max(f64::from(*last));
        }
        if let Some(end) = curve.end {
            // Where nothing ended there is but a bound: what people would call fast is shown, too.
            low = low.min(if curve.amount.0.is_empty() { 5e7 } else { end.from });
            high = high.max(end.from);
        }
    }
    if low < f64::INFINITY { (low.max(1.0), (high * 1.05).max(2e8)) } else { (1e6, 1e11) }
}

/// Paints a ribbon: 5 to 95 % light, the middle half dark, the median darkest.
pub(crate) fn paint_ribbon(
    panel: &Panel<'_>,
    grid: &mut DensityGrid,
    ribbons: &Ribbons,
    axis: &HistoryAxis,
    paint: Paint,
) {
    let mut opacities = grid.counts();
    let columns = ribbons.count.0.len();
    let layers = [
        (&ribbons.p5, &ribbons.p95, 0.2),
        (&ribbons.p25, &ribbons.p75, 0.45),
        (&ribbons.median, &ribbons.median, 1.0),
    ];
    for (from, to, opacity) in layers {
        for column in (0..columns).filter(|column| ribbons.count.0[*column] > 0) {
            let edge = |share: usize| panel.x.position(share as f64 / columns as f64 * axis.span_ns as f64);
            let up = |bucket: u16| middle_ns(&axis.lowest_ns, bucket).map_or(0.0, |ns| panel.y.position(ns));
            let (left, bottom) = grid.pixel(edge(column), up(from.0[column]));
            let (right, top) = grid.pixel(edge(column + 1), up(to.0[column]));
            for x in left..=right {
                for y in top.min(bottom)..=bottom {
                    let place = &mut opacities[grid.index((x, y))];
                    *place = place.max(opacity);
                }
            }
        }
    }
    grid.blend(&opacities, paint, |opacity| opacity);
}
