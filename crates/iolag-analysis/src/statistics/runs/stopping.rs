//! A campaign that ends when it is precise enough.
//!
//! It looks at its table after so many blocks, and ends when half of each interval is narrow enough: by the width, never by what comes out. That is
//! a little more often the case where the spread happens to look small, most so if there is one cell and if it may end with few blocks. So the first look is after
//! nine, and each of its intervals is computed as if there were a quarter more cells. Stein's two stages (1945), the textbook's answer, take the spread of
//! the first blocks for good: where one run in ten is far slower that is false in half of the tables.

use super::table::ComparedRuns;

/// After so many blocks a campaign that ends when it is precise looks at its table.
pub const RUN_LOOKS: [usize; 6] = [9, 13, 19, 28, 42, 63];
/// Whether half of each interval of the table is at most `precision` wide, as a share. What has too few runs, or an open end, is not precise.
pub fn is_precise(compared: &[ComparedRuns], precision: f64) -> bool {
    let is_narrow = |one: &ComparedRuns| {
        one.interval.is_some_and(|interval| (interval.high() - interval.low()) / 2.0 <= precision.ln_1p())
    };
    compared.iter().all(is_narrow)
}

#[cfg(test)]
mod tests {
    use super::super::log_range::LogRange;
    use super::super::pairing::RunPairing;
    use super::super::table::{CampaignEnding, RunCell, compare_runs};
    use super::*;

    #[test]
    fn all_cells_must_be_narrow() {
        let cell = |spread: f64, blocks: usize| {
            let value = |block| LogRange::exactly(0.3 + if block % 2 == 0 { spread } else { -spread });
            let blocks = (0..blocks).map(|block| [LogRange::exactly(0.0), value(block)]);
            RunCell { pairing: RunPairing::Blocks(blocks.collect()), margin: 0.0 }
        };
        let is_enough =
            |cells: &[RunCell]| is_precise(&compare_runs(cells, 0.05, CampaignEnding::WhenPrecise), 0.05);
        // t(8, 0.04) 0.05 √(9/8)/3 = 0.043 of one cell, t(8, 0.02) … = 0.051 of two.
        assert!(is_enough(&[cell(0.05, 9)]) && !is_enough(&[cell(0.05, 9), cell(0.05, 9)]));
        assert!(is_enough(&[cell(0.01, 9), cell(0.02, 9)]) && !is_enough(&[cell(0.01, 9), cell(0.01, 3)]));
    }
}
