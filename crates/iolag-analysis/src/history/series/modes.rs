//! Separated modes: a task that is either fast or slow, as in study 000, where 20 % of the listings took 0.01
//! s and the rest 1.3 s or more: a cache and the penalty of missing it.
//!
//! A split has to pass all of these:
//! 1. Hartigan's dip of the logarithms is significant at 1 % for the effective number of attempts.
//! 2. There is a valley: a smooth density falls to at most half of the lower of the peaks on its sides.
//!    Smoothing begins coarse and becomes finer until there is such a valley, but not finer than half of
//!    Silverman's rule of thumb.
//! 3. Each side holds at least 2 % and five attempts.
//! 4. The medians of the sides differ by a factor of two at least.
//!
//! Each side is then looked at in the same way, up to [`MODES_MOST`] modes. What had not ended is in no mode:
//! a deadline is not the storage's doing.
//!
//! A clock that counts in steps makes every step a peak. Amounts are therefore spread evenly over their step,
//! and what lies below the resolution over as wide a range below it (down to a microsecond) as it takes to be
//! no denser than what lies just above.
//!
//! Limit: a change of level in the middle of the history also makes two modes, but then attempts follow each
//! other closely, count little, and the change is told as a change.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::observations::{ByAttempt, Observations};
use super::timed_values::Quantity;
use crate::statistics::dip::{dip_critical, dip_statistic};
use crate::statistics::knowledge::Knowledge;

/// Attempts before modes are looked for.
pub const MODES_ATTEMPTS: usize = 30;
/// No more modes than these are told apart.
pub const MODES_MOST: usize = 4;

const SHARE_LEAST: f64 = 0.02;
const ATTEMPTS_LEAST: usize = 5;
const RATIO_LEAST: f64 = 2.0;
const VALLEY_MOST: f64 = 0.5;
const CELLS: usize = 512;
/// What lies below the resolution lies above this: nothing that asks a file system is shorter.
const SHORTEST_SECONDS: f64 = 1e-6;

/// One mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Attempts in it.
    pub count: u64,
    /// Their share of all that ended.
    pub share: f64,
    /// The shortest.
    pub low: Estimate,
    /// The median.
    pub median: Estimate,
    /// The longest.
    pub high: Estimate,
}

/// Two or more groups of durations with hardly anything between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Modes {
    /// The modes, fastest first.
    pub modes: Vec<Mode>,
    /// Median of each mode but the first by that of the one before: the price of missing. A lower bound where
    /// the faster median lies below the clock's resolution.
    pub ratios: Vec<f64>,
    /// Hartigan's dip of the logarithms.
    pub dip: f64,
    /// The dip that one in a hundred samples with a single mode exceeds.
    pub dip_critical: f64,
}

/// A duration on the axis on which modes are looked for.
#[derive(Clone, Copy)]
struct Placed {
    /// Logarithm of the duration, spread over its clock step.
    place: f64,
    amount: f64,
    knowledge: Knowledge,
}

/// The modes of these durations; `None` if there is only one, or too little to tell.
pub fn separated_modes(observations: &Observations<ByAttempt>, resolution_seconds: f64) -> Option<Modes> {
    if observations.quantity() != Quantity::Duration {
        return None;
    }
    let placed = placed(observations, resolution_seconds);
    if placed.len() < MODES_ATTEMPTS {
        return None;
    }
    let independent_share = observations.sample_size().ratio();
    let least = ATTEMPTS_LEAST.max((SHARE_LEAST * placed.len() as f64).ceil() as usize);
    let mut borders = Vec::new();
    split(&placed, 0, least, independent_share, &mut borders);
    if borders.is_empty() {
        return None;
    }
    borders.sort_unstable();
    // The widest gaps are kept if there are too many.
    while borders.len() >= MODES_MOST {
        let gap = |at: usize| placed[at].place - placed[at - 1].place;
        let narrowest =
            (0..borders.len()).min_by(|left, right| gap(borders[*left]).total_cmp(&gap(borders[*right])));
        borders.remove(narrowest.unwrap_or_default());
    }
    let places: Vec<f64> = placed.iter().map(|one| one.place).collect();
    let ends = borders.iter().copied().chain([placed.len()]);
    let begins = [0].into_iter().chain(borders.iter().copied());
    let modes: Vec<Mode> =
        begins.zip(ends).map(|(begin, end)| mode_of(&placed[begin..end], placed.len())).collect();
    let ratio = |pair: &[Mode]| Some(pair[1].median.bound()? / pair[0].median.bound()?);
    Some(Modes {
        ratios: modes.windows(2).filter_map(ratio).collect(),
        modes,
        dip: dip_statistic(&places),
        dip_critical: dip_critical(placed.len() as f64 * independent_share),
    })
}

fn mode_of(placed: &[Placed], all: usize) -> Mode {
    let estimate = |one: &Placed| match one.knowledge {
        Knowledge::AtMost => Estimate::Below(one.amount),
        Knowledge::Exactly | Knowledge::AtLeast => Estimate::Exactly(one.amount),
    };
    Mode {
        count: placed.len() as u64,
        share: placed.len() as f64 / all as f64,
        low: estimate(&placed[0]),
        median: estimate(&placed[(placed.len() - 1) / 2]),
        high: estimate(&placed[placed.len() - 1]),
    }
}

/// What ended, ascending on the logarithmic axis, each spread over its clock step.
fn placed(observations: &Observations<ByAttempt>, resolution: f64) -> Vec<Placed> {
    let mut exact: Vec<f64> = Vec::new();
    let mut below: Vec<f64> = Vec::new();
    for one in observations.list() {
        match one.knowledge {
            Knowledge::Exactly => exact.push(one.amount),
            Knowledge::AtMost => below.push(one.amount),
            Knowledge::AtLeast => {}
        }
    }
    exact.sort_unstable_by(f64::total_cmp);
    let mut placed = Vec::with_capacity(exact.len() + below.len());
    for equal in exact.chunk_by(|left, right| left == right) {
        for (index, &amount) in equal.iter().enumerate() {
            let within = resolution * (index as f64 + 0.5) / equal.len() as f64;
            let place = (amount + within).max(f64::MIN_POSITIVE).ln();
            placed.push(Placed { place, amount, knowledge: Knowledge::Exactly });
        }
    }
    spread_below(&mut placed, &below);
    placed.sort_by(|left, right| left.place.total_cmp(&right.place));
    placed
}

/// Places what lies below the resolution: no denser than the tenth of the rest that lies just above, if the
/// range allows.
fn spread_below(placed: &mut Vec<Placed>, below: &[f64]) {
    let Some(limit) = below.iter().copied().max_by(f64::total_cmp) else { return };
    let tenth = (placed.len() / 10).max(1);
    let top = limit.ln();
    let densest = match placed.get(tenth - 1) {
        Some(last) => tenth as f64 / (last.place - top).max(1e-9),
        None => f64::INFINITY,
    };
    let widest = (limit / SHORTEST_SECONDS).ln().max(std::f64::consts::LN_2);
    let width = (below.len() as f64 / densest).clamp(std::f64::consts::LN_2, widest);
    for index in 0..below.len() {
        let place = top - width * (index as f64 + 0.5) / below.len() as f64;
        placed.push(Placed { place, amount: limit, knowledge: Knowledge::AtMost });
    }
}

/// Adds to `borders` where `placed` is split, and where its sides are; `first` is the index of its first
/// element.
fn split(placed: &[Placed], first: usize, least: usize, independent_share: f64, borders: &mut Vec<usize>) {
    if placed.len() < 2 * least || borders.len() >= 2 * MODES_MOST {
        return;
    }
    let places: Vec<f64> = placed.iter().map(|one| one.place).collect();
    if dip_statistic(&places) <= dip_critical(places.len() as f64 * independent_share) {
        return;
    }
    let Some(border) = valley(&places, least) else { return };
    let (fast, slow) = placed.split_at(border);
    let median = |side: &[Placed]| side[(side.len() - 1) / 2].amount;
    if median(slow) < RATIO_LEAST * median(fast) {
        return;
    }
    borders.push(first + border);
    split(fast, first, least, independent_share, borders);
    split(slow, first + border, least, independent_share, borders);
}

/// The index at which the ascending `places` are split best, with at least `least` on either side.
fn valley(places: &[f64], least: usize) -> Option<usize> {
    let (from, to) = (places[0], places[places.len() - 1]);
    let width = (to - from) / CELLS as f64;
    if width <= 0.0 {
        return None;
    }
    let mut counts = vec![0.0; CELLS];
    for place in places {
        counts[(((place - from) / width) as usize).min(CELLS - 1)] += 1.0;
    }
    let finest = (0.5 * rule_of_thumb(places)).max(width);
    let mut bandwidth = (to - from) / 8.0;
    while bandwidth >= finest {
        let density = smoothed(&counts, bandwidth / width);
        if let Some(cell) = deepest(&density, &counts, least as f64) {
            let border = from + (cell as f64 + 0.5) * width;
            let index = places.partition_point(|place| *place < border);
            return (index >= least && places.len() - index >= least).then_some(index);
        }
        bandwidth *= 0.8;
    }
    None
}

/// Silverman's rule of thumb (1986), with the interquartile range only: robust against far points.
fn rule_of_thumb(sorted: &[f64]) -> f64 {
    let at = |q: f64| sorted[(q * (sorted.len() - 1) as f64) as usize];
    0.9 * (at(0.75) - at(0.25)) / 1.34 * (sorted.len() as f64).powf(-0.2)
}

/// Counts smoothed by a normal kernel; `deviation` in cells.
fn smoothed(counts: &[f64], deviation: f64) -> Vec<f64> {
    let reach = ((4.0 * deviation).ceil() as usize).min(counts.len());
    let kernel: Vec<f64> =
        (0..=reach).map(|distance| (-0.5 * (distance as f64 / deviation).powi(2)).exp()).collect();
    let mut density = vec![0.0; counts.len()];
    for (cell, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let (first, last) = (cell.saturating_sub(reach), (cell + reach).min(counts.len() - 1));
        for (offset, place) in density[first..=last].iter_mut().enumerate() {
            *place += count * kernel[(first + offset).abs_diff(cell)];
        }
    }
    density
}

/// The cell in the middle of the deepest valley with at least `least` on either side, if it is deep enough.
fn deepest(density: &[f64], counts: &[f64], least: f64) -> Option<usize> {
    let total: f64 = counts.iter().sum();
    let mut peak_right = vec![0.0; density.len() + 1];
    for cell in (0..density.len()).rev() {
        peak_right[cell] = density[cell].max(peak_right[cell + 1]);
    }
    let (mut before, mut peak_left) = (0.0, 0.0_f64);
    let mut best: Option<(f64, usize, usize)> = None;
    for cell in 0..density.len() {
        let allowed = before >= least && total - before - counts[cell] >= least;
        let depth = density[cell] / peak_left.min(peak_right[cell + 1]);
        if allowed && depth <= VALLEY_MOST {
            best = match best {
                // Cells that are equally empty are one valley.
                Some((deepest, first, last)) if depth == deepest && last + 1 == cell => {
                    Some((deepest, first, cell))
                }
                Some((deepest, ..)) if depth >= deepest => best,
                _ => Some((depth, cell, cell)),
            };
        }
        before += counts[cell];
        peak_left = peak_left.max(density[cell]);
    }
    best.map(|(_, first, last)| usize::midpoint(first, last))
}
