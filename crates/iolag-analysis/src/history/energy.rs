//! The energy distance between what came before a moment and what came after (Székely and Rizzo; E-divisive of Matteson and James
//! 2014), fast enough for a year of samples.
//!
//! For samples `X` (n values) and `Y` (m values) on a line, `2 E|X-Y| - E|X-X'| - E|Y-Y'| = 2 ∫ (F - G)²`. Values are sorted into at most
//! [`CELLS_MOST`] cells of about equal count, each standing for its median, so that the integral is a sum over cells: exact where there
//! are no more different values than cells, and a scan of all splits is linear in the number of values. The statistic is
//! `Q = n m / (n + m)` times the distance.
//!
//! Of more than [`SPLITS_MOST`] places every so many is tried first, and then each around the best of these: all values count in every
//! split that is tried.

/// Cells into which values are sorted.
pub const CELLS_MOST: usize = 48;

/// Places that are tried one by one: a year of samples every 15 minutes has fewer.
const SPLITS_MOST: usize = 65_536;
/// Places that are tried first where there are more.
const SPLITS_FIRST: usize = 16_384;

/// A split and its statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// First place of the second part.
    pub at: usize,
    /// n m / (n + m) times the energy distance of the two parts; 0 or greater.
    pub statistic: f64,
}

/// Values as the cells that they lie in.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    cell: Vec<u8>,
    /// Root of the width between a cell's representative and the next.
    root_widths: Vec<f64>,
}

impl Cells {
    /// Sorts finite values into cells.
    pub(crate) fn of(values: &[f64], cells_most: usize) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut distinct = sorted.clone();
        distinct.dedup();
        let bounds = if distinct.len() <= cells_most { distinct } else { quantiles(&sorted, cells_most) };
        // A value belongs to the last bound that it reaches.
        let cell_of = |value: f64| bounds.partition_point(|bound| *bound <= value).saturating_sub(1);
        let mut members = vec![Vec::new(); bounds.len()];
        for &value in &sorted {
            members[cell_of(value)].push(value);
        }
        let representatives: Vec<f64> = members.iter().map(|cell| cell[cell.len() / 2]).collect();
        Self {
            cell: values.iter().map(|value| cell_of(*value) as u8).collect(),
            root_widths: representatives.windows(2).map(|pair| (pair[1] - pair[0]).sqrt()).collect(),
        }
    }

    /// The best split of the places from `first` up to `end`, at least `least` values on both sides; `None` if there is no room or
    /// nothing varies. Of equal splits the earliest.
    pub(crate) fn best_split(&self, first: usize, end: usize, least: usize) -> Option<Split> {
        let least = least.max(1);
        if end < first + 2 * least {
            return None;
        }
        let whole = Whole::of(self, first, end);
        let places = first + least..=end - least;
        let count = end - first;
        if count <= SPLITS_MOST {
            return whole.best_of(places);
        }
        let step = count.div_ceil(SPLITS_FIRST);
        let near = whole.best_of(places.clone().step_by(step))?.at;
        let around = near.saturating_sub(step).max(*places.start())..=(near + step).min(*places.end());
        whole.best_of(around)
    }

    /// Blocks of `block` values from `first` up to `end`, a last shorter one belonging to its predecessor, each as its deviation
    /// from the whole: sums of these vectors are all that the statistic needs.
    pub(crate) fn blocks(&self, first: usize, end: usize, block: usize) -> Blocks {
        let cells = self.root_widths.len();
        let n = end - first;
        let count = (n / block).max(1);
        let mut counts = vec![vec![0.0; cells + 1]; count];
        let mut sizes = vec![0.0; count];
        for (index, cell) in self.cell[first..end].iter().enumerate() {
            let of = (index / block).min(count - 1);
            counts[of][usize::from(*cell)] += 1.0;
            sizes[of] += 1.0;
        }
        let mut shares = vec![0.0; cells];
        for of_block in &mut counts {
            let mut sum = 0.0;
            for (cell, share) in shares.iter_mut().enumerate() {
                sum += of_block[cell];
                of_block[cell] = sum;
                *share += sum / n as f64;
            }
            of_block.truncate(cells);
        }
        for (of_block, size) in counts.iter_mut().zip(&sizes) {
            for ((value, share), width) in of_block.iter_mut().zip(&shares).zip(&self.root_widths) {
                *value = (*value - size * share) * width;
            }
        }
        Blocks { deviations: counts, sizes }
    }
}

/// A stretch of places that is to be split.
struct Whole<'a> {
    cells: &'a Cells,
    first: usize,
    count: f64,
    /// Share of the values that lie in each cell or below; all of them, which needs no saying, left out.
    shares: Vec<f64>,
}

impl<'a> Whole<'a> {
    fn of(cells: &'a Cells, first: usize, end: usize) -> Self {
        let mut total = vec![0.0; cells.root_widths.len() + 1];
        cells.cell[first..end].iter().for_each(|cell| total[usize::from(*cell)] += 1.0);
        let count = (end - first) as f64;
        let mut sum = 0.0;
        let shares = total[..cells.root_widths.len()]
            .iter()
            .map(|of_cell| {
                sum += of_cell;
                sum / count
            })
            .collect();
        Self { cells, first, count, shares }
    }

    /// The best of these places, which ascend.
    fn best_of(&self, places: impl Iterator<Item = usize>) -> Option<Split> {
        let mut before_by_cell = vec![0.0; self.shares.len() + 1];
        let mut passed = self.first;
        let mut best: Option<Split> = None;
        for at in places {
            for cell in &self.cells.cell[passed..at] {
                before_by_cell[usize::from(*cell)] += 1.0;
            }
            passed = at;
            let before = (at - self.first) as f64;
            let (mut left, mut distance) = (0.0, 0.0);
            for ((of_cell, share), width) in
                before_by_cell.iter().zip(&self.shares).zip(&self.cells.root_widths)
            {
                left += of_cell;
                let apart = (left - before * share) * width;
                distance += apart * apart;
            }
            let statistic = 2.0 * self.count / (before * (self.count - before)) * distance;
            if best.is_none_or(|best| statistic > best.statistic * (1.0 + 1e-12)) {
                best = Some(Split { at, statistic });
            }
        }
        best.filter(|split| split.statistic > 0.0)
    }
}

/// The first value of each of `cells` parts of equal count, without repetition.
fn quantiles(sorted: &[f64], cells: usize) -> Vec<f64> {
    let mut bounds: Vec<f64> = (0..cells).map(|part| sorted[part * sorted.len() / cells]).collect();
    bounds.dedup();
    bounds
}

/// Blocks of values, to be put in any order.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    deviations: Vec<Vec<f64>>,
    sizes: Vec<f64>,
}

/// A stretch of blocks: from the first up to, not including, the second.
pub(crate) type Window = (usize, usize);

impl Blocks {
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The greatest statistic of any split between blocks within any of the windows, the blocks standing in this order, at least
    /// `least` values on both sides.
    pub(crate) fn greatest(&self, order: &[usize], windows: &[Window], least: f64) -> f64 {
        let cells = self.deviations.first().map_or(0, Vec::len);
        // Sums of all blocks before each place, so that every window is a difference.
        let mut sums = vec![0.0; (order.len() + 1) * cells];
        let mut counts = vec![0.0; order.len() + 1];
        for (place, &block) in order.iter().enumerate() {
            let (before, after) = sums.split_at_mut((place + 1) * cells);
            let before = &before[place * cells..];
            for ((sum, before), deviation) in after.iter_mut().zip(before).zip(&self.deviations[block]) {
                *sum = before + deviation;
            }
            counts[place + 1] = counts[place] + self.sizes[block];
        }
        let at = |place: usize| &sums[place * cells..(place + 1) * cells];
        let mut greatest: f64 = 0.0;
        for &(first, end) in windows {
            let n = counts[end] - counts[first];
            for split in first + 1..end {
                let before = counts[split] - counts[first];
                if before < least || n - before < least {
                    continue;
                }
                let distance = apart(at(first), at(split), at(end), before / n);
                greatest = greatest.max(2.0 * n / (before * (n - before)) * distance);
            }
        }
        greatest
    }
}

/// Squared length of `(split - first) - share × (end - first)`.
fn apart(first: &[f64], split: &[f64], end: &[f64], share: f64) -> f64 {
    let mut distance = 0.0;
    for ((first, split), end) in first.iter().zip(split).zip(end) {
        let apart = (split - first) - share * (end - first);
        distance += apart * apart;
    }
    distance
}

/// Windows over `count` blocks at several scales: the whole, halves that overlap by half, quarters, and so on, as long as a window has at
/// least `least` blocks (a deterministic form of the intervals of Kovács and others 2023). A change that is undone later shows in a
/// window that ends before.
pub(crate) fn windows_over(count: usize, least: usize) -> Vec<Window> {
    let mut windows = vec![(0, count)];
    let mut parts = 2;
    while count / parts >= least.max(2) {
        let length = count as f64 / parts as f64;
        windows.extend((0..2 * parts - 1).map(|half| {
            let first = (half as f64 * length / 2.0).round() as usize;
            (first, ((first as f64 + length).round() as usize).min(count))
        }));
        parts *= 2;
    }
    windows
}

/// The best split of a sequence into two parts of at least `least` values by energy distance.
pub fn energy_split(values: &[f64], least: usize) -> Option<Split> {
    Cells::of(values, CELLS_MOST).best_split(0, values.len(), least)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition: sums over all pairs.
    fn statistic(values: &[f64], at: usize) -> f64 {
        let (left, right) = values.split_at(at);
        let mean = |one: &[f64], other: &[f64]| {
            let sum: f64 = one.iter().flat_map(|a| other.iter().map(move |b| (a - b).abs())).sum();
            sum / (one.len() * other.len()) as f64
        };
        let (n, m) = (left.len() as f64, right.len() as f64);
        n * m / (n + m) * (2.0 * mean(left, right) - mean(left, left) - mean(right, right))
    }

    #[test]
    fn windows_cover_all_scales() {
        assert_eq!(windows_over(12, 12), [(0, 12)]);
        assert_eq!(windows_over(24, 12), [(0, 24), (0, 12), (6, 18), (12, 24)]);
        assert!(windows_over(365, 24).iter().all(|(first, end)| first < end && *end <= 365));
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values: Vec<f64> = (0..1000)
            .map(|index| f64::from(index * 7919 % 101) + if index < 700 { 0.0 } else { 60.0 })
            .collect();
        let split = energy_split(&values, 5).unwrap();
        assert!(split.at.abs_diff(700) <= 2, "{split:?}");
        assert_eq!(energy_split(&[1.0; 100], 5), None);
        assert_eq!(energy_split(&[1.0, 2.0, 3.0], 2), None);
    }

    #[test]
    fn of_very_many_places_the_best_is_found_as_well() {
        let n = 3 * SPLITS_MOST;
        for step in [n / 3 + 17, n / 2, n - 5000] {
            let values: Vec<f64> = (0..n)
                .map(|index| (index * 7919 % 1009) as f64 + if index < step { 0.0 } else { 300.0 })
                .collect();
            let cells = Cells::of(&values, CELLS_MOST);
            let found = cells.best_split(0, n, 5).unwrap();
            let exact = Whole::of(&cells, 0, n).best_of(5..=n - 5).unwrap();
            assert_eq!(found, exact);
            assert!(found.at.abs_diff(step) < 50, "{found:?} {step}");
        }
        assert_eq!(energy_split(&vec![2.0; n], 5), None);
    }

    proptest! {
        #[test]
        fn the_statistic_is_that_of_the_definition(values in prop::collection::vec(-5_i32..15, 4..40)) {
            let values: Vec<f64> = values.into_iter().map(|value| f64::from(value) / 3.0).collect();
            let best = (1..values.len()).map(|at| statistic(&values, at)).fold(0.0, f64::max);
            let found = energy_split(&values, 1).map_or(0.0, |split| {
                assert!((split.statistic - statistic(&values, split.at)).abs() < 1e-9);
                split.statistic
            });
            prop_assert!((found - best).abs() < 1e-9);
        }

        #[test]
        fn blocks_of_one_give_the_same(values in prop::collection::vec(-5_i32..15, 4..40)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let cells = Cells::of(&values, CELLS_MOST);
            let order: Vec<usize> = (0..values.len()).collect();
            let blocks = cells.blocks(0, values.len(), 1);
            let greatest = blocks.greatest(&order, &[(0, values.len())], 2.0);
            let found = cells.best_split(0, values.len(), 2).map_or(0.0, |split| split.statistic);
            prop_assert!((greatest - found).abs() < 1e-9);
        }
    }
}
