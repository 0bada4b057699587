//! Many attempts over time: dots while they can be told apart, beyond that pixels with the longest of every moment as dots.

use std::collections::BTreeMap;

use super::density::DensityGrid;
use crate::figure::paper::sheet::{Panel, Sheet};
use crate::figure::scene::shapes::Paint;

/// More attempts than this are drawn as pixels.
pub(crate) const DOTS_MAX: usize = 6_000;
/// Columns of which the longest attempt is a vector where the others are pixels, over all lines.
const LONGEST_MAX: usize = 2_800;

/// How attempts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Dots,
    Pixels,
}

/// Draws every attempt, at its moment and duration in ns.
pub(crate) fn draw_dots(
    sheet: &Sheet,
    panel: &Panel<'_>,
    points: impl Iterator<Item = (f64, f64)>,
    paint: Paint,
) {
    let points = points.map(|(x, y)| panel.place(x, y)).collect();
    panel.dots(points, sheet.text / 5, paint.with_opacity(0.7));
}

/// Counts attempts in the pixels of a panel.
pub(crate) fn count(
    panel: &Panel<'_>,
    grid: &DensityGrid,
    points: impl Iterator<Item = (f64, f64)>,
    counts: &mut [f32],
) {
    for (moment, ns) in points {
        let pixel = grid.pixel(panel.x.position(moment), panel.y.position(ns));
        counts[grid.index(pixel)] += 1.0;
    }
}

/// The longest attempt of every column of one of so many lines, as dots.
pub(crate) fn draw_longest(
    panel: &Panel<'_>,
    points: impl Iterator<Item = (f64, f64)>,
    paint: Paint,
    lines: usize,
) {
    let columns = (LONGEST_MAX / lines.max(1)) as f64;
    let mut longest: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (moment, ns) in points {
        let column = (panel.x.position(moment) * columns) as u32;
        let kept = longest.entry(column).or_insert((moment, ns));
        if ns > kept.1 {
            *kept = (moment, ns);
        }
    }
    let points = longest.values().map(|(moment, ns)| panel.place(*moment, *ns)).collect();
    panel.dots(points, panel.line_width() * 3 / 2, paint);
}

/// Middle of a bucket in ns, by the shortest of each.
pub(crate) fn middle_ns(lowest_ns: &[u64], bucket: u16) -> Option<f64> {
    let lowest = *lowest_ns.get(usize::from(bucket))? as f64;
    let next = lowest_ns.get(usize::from(bucket) + 1).map_or(lowest, |next| *next as f64);
    Some(lowest.midpoint(next).max(1.0))
}
