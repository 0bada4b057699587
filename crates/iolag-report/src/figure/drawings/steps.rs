//! The curve of a distribution: steps with a band, and an end where nothing more is known.

use crate::figure::paper::sheet::Panel;
use crate::figure::scene::shapes::{Align, Dash, Paint, Stroke};

/// Of more curves bands hide each other.
pub(crate) const BANDS_MAX: usize = 3;
/// Points of all curves and bands of one panel, or of all panels of a history.
pub(crate) const POINTS_MAX: usize = 8_000;

/// A distribution: where each step is, and the share from there on.
pub(crate) struct Steps {
    pub(crate) share: Vec<(f64, f64)>,
    /// Lower and upper end of the band, step by step.
    pub(crate) band: [Vec<f64>; 2],
    /// From where on nothing is known of what did not end.
    pub(crate) open_from_ns: Option<f64>,
    pub(crate) start: Start,
}

/// What is known before the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Nothing ended earlier.
    Zero,
    /// The first step was shorter than the clock could tell.
    Below,
}

impl Steps {
    /// Every n-th step, n being the least that leaves at most so many; the first and the last stay.
    pub(crate) fn thinned(self, steps_max: usize) -> Self {
        let (last, every) = (self.share.len().saturating_sub(1), self.share.len().div_ceil(steps_max.max(2)));
        let is_kept = |index: usize| index.is_multiple_of(every.max(1)) || index == last;
        fn kept<T>(all: Vec<T>, is_kept: impl Fn(usize) -> bool) -> Vec<T> {
            all.into_iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, one)| one).collect()
        }
        Self { share: kept(self.share, is_kept), band: self.band.map(|end| kept(end, is_kept)), ..self }
    }

    /// Shortest and longest duration in ns, waits that did not end included.
    pub(crate) fn durations<'a>(all: impl Iterator<Item = &'a Self>) -> Option<(f64, f64)> {
        let known = all.flat_map(|steps| steps.share.iter().map(|(ns, _)| *ns).chain(steps.open_from_ns));
        known.filter(|ns| ns.is_finite()).map(|ns| ns.max(1.0)).fold(None, |range, ns| {
            let (low, high) = range.unwrap_or((ns, ns));
            Some((f64::min(low, ns), f64::max(high, ns)))
        })
    }

    /// The band, from `begin` on with these ends.
    pub(crate) fn draw_band(&self, panel: &Panel<'_>, begin: [(f64, f64); 2], paint: Paint) {
        let [low, high] = &self.band;
        let ends = |shares: &[f64]| -> Vec<(f64, f64)> {
            self.share.iter().zip(shares).map(|((ns, _), share)| (*ns, *share)).collect()
        };
        let mut outline = corners(&ends(high), begin[1]);
        outline.extend(corners(&ends(low), begin[0]).into_iter().rev());
        panel.area(outline, paint.with_opacity(0.18));
    }

    /// The curve, and what is known of its ends; `mark` stands where it ends while something goes on.
    pub(crate) fn draw(&self, panel: &Panel<'_>, stroke: Stroke, mark: &str) {
        let (begin, end) = panel.x.ends();
        let last = self.share.last().map_or((begin, 0.0), |step| *step);
        let dots = |opacity| Stroke { paint: stroke.paint.with_opacity(opacity), dash: Dash::Dots, ..stroke };
        match (self.start, self.share.first()) {
            (Start::Below, Some(first)) => {
                panel.line([(begin, first.1), *first], dots(1.0));
                panel.line(corners(&self.share[1..], *first), stroke);
            }
            _ => panel.line(corners(&self.share, (begin, 0.0)), stroke),
        }
        let Some(open_from) = self.open_from_ns else {
            return;
        };
        panel.line([last, (end, last.1)], dots(0.6));
        let (x, y) = panel.place(open_from.max(last.0), last.1);
        panel.label(mark, (x, y - stroke.width * 2), Align::Middle);
    }
}

/// The corners of a step function that begins at a place.
pub(crate) fn corners(steps: &[(f64, f64)], begin: (f64, f64)) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(2 * steps.len() + 1);
    let mut before = begin.1;
    corners.push(begin);
    for (ns, share) in steps {
        corners.extend([(*ns, before), (*ns, *share)]);
        before = *share;
    }
    corners
}
