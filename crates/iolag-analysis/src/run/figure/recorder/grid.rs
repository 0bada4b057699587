//! Counts by time and duration while they arrive: fine where memory allows, coarser beyond.
//!
//! Rows are made when they are first needed. When more rows than allowed are held, neighbours are joined
//! everywhere, so that the final fineness depends on the samples only, not on their order: merging equals
//! recording everything (property test).

use crate::HISTOGRAM_BUCKETS;
use crate::figure_column::Column32;
use crate::run::figure::document::distribution::{HeatMap, HeatMapLayer};
use crate::run::figure::document::time_line::{DURATION_ROWS_MAX, Density, DensityLayer, TIME_COLUMNS};

/// Buckets per row at first: 16 rows per octave.
const FINEST_SHIFT: u32 = 2;
/// Buckets per row at last: one row per octave.
const COARSEST_SHIFT: u32 = 6;
/// Columns of the heat map; divides [`TIME_COLUMNS`].
const HEAT_COLUMNS: u32 = 160;
/// Buckets per row of the heat map at least: 4 rows per octave, 13 per decade.
const HEAT_SHIFT: u32 = 4;

/// Column of a moment that is a fraction of the span in units of 2^-32.
#[inline]
pub(crate) const fn column_of(time: u32, columns: u32) -> usize {
    ((time as u64 * columns as u64) >> 32) as usize
}

#[derive(Debug, Clone)]
pub(crate) struct Grid {
    shift: u32,
    rows_max: usize,
    rows: usize,
    /// Rows by layer; a row that was never needed is empty.
    layers: Vec<Vec<Vec<u32>>>,
}

impl Grid {
    pub(crate) fn new(rows_max: usize) -> Self {
        Self { shift: FINEST_SHIFT, rows_max, rows: 0, layers: Vec::new() }
    }

    #[inline]
    pub(crate) fn add(&mut self, layer: usize, time: u32, bucket: usize) {
        let row = bucket >> self.shift;
        if let Some(counts) = self.layers.get_mut(layer).and_then(|rows| rows.get_mut(row))
            && let Some(count) = counts.get_mut(column_of(time, TIME_COLUMNS))
        {
            *count = count.saturating_add(1);
        } else {
            self.row(layer, row)[column_of(time, TIME_COLUMNS)] += 1;
            self.coarsen_to_fit();
        }
    }

    /// The counts of a row, made if needed.
    #[cold]
    fn row(&mut self, layer: usize, row: usize) -> &mut Vec<u32> {
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        let rows = &mut self.layers[layer];
        if rows.is_empty() {
            rows.resize((HISTOGRAM_BUCKETS >> self.shift) + 1, Vec::new());
        }
        if rows[row].is_empty() {
            rows[row] = vec![0; TIME_COLUMNS as usize];
            self.rows += 1;
        }
        &mut rows[row]
    }

    fn coarsen_to_fit(&mut self) {
        while self.rows > self.rows_max && self.shift < COARSEST_SHIFT {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.shift += 1;
        for rows in &mut self.layers {
            let fine = std::mem::take(rows);
            for pair in fine.chunks(2) {
                let mut joined = pair[0].clone();
                if let Some(second) = pair.get(1) {
                    add_all(&mut joined, second);
                }
                rows.push(joined);
            }
        }
        self.rows = self.layers.iter().flatten().filter(|row| !row.is_empty()).count();
    }

    /// Adds everything of `other`, whose layers have the numbers `layer_of` here.
    pub(crate) fn merge(&mut self, mut other: Self, layer_of: &[u16]) {
        while self.shift < other.shift {
            self.coarsen();
        }
        while other.shift < self.shift {
            other.coarsen();
        }
        for (layer, rows) in other.layers.into_iter().enumerate() {
            for (row, counts) in rows.into_iter().enumerate().filter(|(_, counts)| !counts.is_empty()) {
                add_all(self.row(usize::from(layer_of[layer]), row), &counts);
            }
        }
        self.coarsen_to_fit();
    }

    /// The grid with its layers in this order, coarse enough that all of them span at most
    /// [`DURATION_ROWS_MAX`] rows.
    pub(crate) fn density(mut self, layer_order: &[usize]) -> (Density, Self) {
        while self.common_rows() > DURATION_ROWS_MAX as usize {
            self.coarsen();
        }
        let mut layers = Vec::new();
        for (index, &layer) in layer_order.iter().enumerate() {
            let rows = self.layers.get(layer).map_or(&[][..], Vec::as_slice);
            let Some((first, last)) = occupied(rows) else {
                continue;
            };
            let mut counts = Vec::with_capacity((last - first + 1) * TIME_COLUMNS as usize);
            for row in &rows[first..=last] {
                if row.is_empty() {
                    counts.resize(counts.len() + TIME_COLUMNS as usize, 0);
                } else {
                    counts.extend_from_slice(row);
                }
            }
            layers.push(DensityLayer {
                layer: index as u16,
                first_bucket: (first << self.shift) as u16,
                rows: (last - first + 1) as u16,
                counts: Column32(counts),
            });
        }
        (Density { columns: TIME_COLUMNS, buckets_per_row: 1 << self.shift, layers }, self)
    }

    /// The same, coarser in both directions, with the sums of the columns.
    pub(crate) fn heat_map(mut self, layer_order: &[usize]) -> HeatMap {
        while self.shift < HEAT_SHIFT {
            self.coarsen();
        }
        let join = (TIME_COLUMNS / HEAT_COLUMNS) as usize;
        let mut layers = Vec::new();
        for (index, &layer) in layer_order.iter().enumerate() {
            let rows = self.layers.get(layer).map_or(&[][..], Vec::as_slice);
            let Some((first, last)) = occupied(rows) else {
                continue;
            };
            let mut counts = Vec::new();
            let mut totals = vec![0; HEAT_COLUMNS as usize];
            for row in &rows[first..=last] {
                let begin = counts.len();
                counts.extend(row.chunks(join).map(|cells| cells.iter().sum::<u32>()));
                counts.resize(begin + HEAT_COLUMNS as usize, 0);
                add_all(&mut totals, &counts[begin..]);
            }
            layers.push(HeatMapLayer {
                layer: index as u16,
                first_bucket: (first << self.shift) as u16,
                rows: (last - first + 1) as u16,
                counts: Column32(counts),
                totals: Column32(totals),
            });
        }
        HeatMap { columns: HEAT_COLUMNS, buckets_per_row: 1 << self.shift, layers }
    }

    fn common_rows(&self) -> usize {
        let ends = self.layers.iter().filter_map(|rows| occupied(rows));
        let both = ends.reduce(|left, right| (left.0.min(right.0), left.1.max(right.1)));
        both.map_or(0, |(first, last)| last - first + 1)
    }
}

/// First and last row that hold something.
fn occupied(rows: &[Vec<u32>]) -> Option<(usize, usize)> {
    let first = rows.iter().position(|row| !row.is_empty())?;
    let last = rows.iter().rposition(|row| !row.is_empty())?;
    Some((first, last))
}

/// Adds counts cell by cell; an empty row counts as zeros.
fn add_all(sums: &mut Vec<u32>, counts: &[u32]) {
    if sums.is_empty() {
        sums.extend_from_slice(counts);
        return;
    }
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum = sum.saturating_add(*count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(cells: &[(usize, u32, usize)], rows_max: usize) -> Grid {
        let mut grid = Grid::new(rows_max);
        for &(layer, time, bucket) in cells {
            grid.add(layer, time, bucket);
        }
        grid
    }

    fn cells() -> impl Strategy<Value = Vec<(usize, u32, usize)>> {
        prop::collection::vec((0_usize..3, any::<u32>(), 0..HISTOGRAM_BUCKETS), 0..300)
    }

    #[test]
    fn a_cell_is_where_its_time_and_bucket_are() {
        let (density, _) = of(&[(1, 0, 400), (1, u32::MAX, 400), (1, u32::MAX, 407)], 100).density(&[1, 0]);
        assert_eq!((density.columns, density.buckets_per_row, density.layers.len()), (1600, 4, 1));
        let layer = &density.layers[0];
        assert_eq!((layer.layer, layer.first_bucket, layer.rows), (0, 400, 2));
        assert_eq!((layer.counts.0[0], layer.counts.0[1599], layer.counts.0[3199]), (1, 1, 1));
        assert_eq!(layer.counts.0.iter().sum::<u32>(), 3);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_merging_equals_recording_everything(
            first in cells(), second in cells(), rows_max in 1_usize..400,
        ) {
            let all: Vec<_> = first.iter().chain(&second).copied().collect();
            let mut merged = of(&first, rows_max);
            merged.merge(of(&second, rows_max), &[0, 1, 2]);
            let (density, rest) = merged.density(&[0, 1, 2]);
            let (expected, expected_rest) = of(&all, rows_max).density(&[0, 1, 2]);
            prop_assert_eq!(&density, &expected);
            let sum = |counts: &Column32| counts.0.iter().map(|count| *count as usize).sum::<usize>();
            prop_assert_eq!(density.layers.iter().map(|layer| sum(&layer.counts)).sum::<usize>(), all.len());
            prop_assert!(density.layers.iter().all(|layer| u32::from(layer.rows) <= DURATION_ROWS_MAX));
            let heat = rest.heat_map(&[0, 1, 2]);
            prop_assert_eq!(&heat, &expected_rest.heat_map(&[0, 1, 2]));
            prop_assert_eq!(heat.layers.iter().map(|layer| sum(&layer.totals)).sum::<usize>(), all.len());
        }
    }
}
