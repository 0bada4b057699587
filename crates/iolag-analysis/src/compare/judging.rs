//! From sides to their table.

use std::collections::BTreeSet;

use super::cells::{Entry, Row, matched};
use super::doubting::doubts;
use super::error::CompareError;
use super::outcomes::outcomes;
use super::pairing::{Paired, Scale, corrected, middle, paired};
use super::refusing::{refuse, refuse_nothing_common};
use super::side::{Side, Unit};
use super::table::{
    BetweenOthers, CompareOptions, ComparedCell, ComparedRow, ComparedSide, ComparedTable, LeftOut, Pairs,
    SideValue,
};
use crate::run::values::{RunAmount, RunQuantity};
use crate::statistics::runs::difference::{RunDifference, RunPairing};
use crate::statistics::runs::table::{CampaignEnding, RunCell, compare_runs, family_of};

/// With more sides than this only neighbours are told of those that are not the base.
const SIDES_ALL_TOLD: usize = 6;

/// Compares sides, the first of which is the base.
///
/// # Errors
/// If there are not two sides of one workload with something in common.
pub fn compare_sides(sides: Vec<Side>, options: &CompareOptions) -> Result<ComparedTable, CompareError> {
    let (sides, mut left_out) = with_units(sides);
    let quantity = refuse(&sides, options)?;
    let matched = matched(&sides, quantity, options);
    if matched.rows.is_empty() {
        return Err(refuse_nothing_common(&sides, &matched.alone));
    }
    left_out.extend(matched.left_out(&sides));
    let judging = Judging { quantity, same_within: options.same_within, ending: ending(&sides) };
    let outcomes = outcomes(&options.rules, &matched.rows, judging.ending)?;
    let (rows, family) = judging.against_the_base(&matched.rows);
    Ok(ComparedTable {
        workload: sides[0].units[0].workload.clone(),
        quantity,
        units: sides[0].units[0].kind,
        same_within: options.same_within,
        between: judging.between_others(&matched.rows),
        rows,
        doubts: doubts(&sides, quantity, &options.across),
        left_out,
        family,
        rules: options.rules.clone(),
        outcomes,
        sides: sides.iter().map(compared_side).collect(),
    })
}

/// Sides without the runs that say nothing of their target, which are told. Runs are in the order of time, so that it does not matter in which they come.
fn with_units(mut sides: Vec<Side>) -> (Vec<Side>, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    for (at, side) in sides.iter_mut().enumerate() {
        if side.units.is_empty() {
            left_out.push(LeftOut::Side { side: at });
        }
        side.units.sort_by(|one, other| (one.span_ns, &one.name).cmp(&(other.span_ns, &other.name)));
        let no_unit = |unit: &&Unit| !unit.standing.is_unit();
        let told = |unit: &Unit| LeftOut::Run { side: at, run: unit.name.clone(), standing: unit.standing };
        left_out.extend(side.units.iter().filter(no_unit).map(told));
        side.units.retain(|unit| unit.standing.is_unit());
    }
    (sides, left_out)
}

/// What ended the campaigns: one that looked makes all intervals wider.
fn ending(sides: &[Side]) -> CampaignEnding {
    let mut blocks = sides.iter().flat_map(|side| &side.units).filter_map(|unit| unit.block.as_ref());
    if blocks.any(|block| block.ending == CampaignEnding::WhenPrecise) {
        CampaignEnding::WhenPrecise
    } else {
        CampaignEnding::Planned
    }
}

fn compared_side(side: &Side) -> ComparedSide {
    let begin = side.units.iter().map(|unit| unit.span_ns[0]).min();
    let end = side.units.iter().map(|unit| unit.span_ns[1]).max();
    ComparedSide {
        name: side.name.clone(),
        runs: side.units.iter().map(|unit| unit.name.clone()).collect(),
        standings: side.units.iter().map(|unit| unit.standing).collect(),
        span_ns: begin.zip(end).map(|(begin, end)| [begin, end]),
    }
}

/// How cells are judged.
struct Judging {
    quantity: RunQuantity,
    same_within: f64,
    ending: CampaignEnding,
}

impl Judging {
    /// The rows of the table, and how many cells count in it.
    fn against_the_base(&self, rows: &[Row]) -> (Vec<ComparedRow>, u32) {
        let others = || rows.iter().flat_map(|row| (1..row.sides.len()).map(move |other| (row, [0, other])));
        let (cells, family) = self.judged(others());
        // Without an interval there is none that could hold.
        let family = if cells.iter().all(|cell| cell.compared.interval.is_none()) { 0 } else { family };
        let mut cells = cells.into_iter();
        let row = |row: &Row| ComparedRow {
            key: row.key.clone(),
            sides: row.sides.iter().map(|side| self.side_value(side)).collect(),
            cells: cells.by_ref().take(row.sides.len() - 1).collect(),
        };
        (rows.iter().map(row).collect(), family)
    }

    fn side_value(&self, side: &[Entry]) -> SideValue {
        let amounts = side.iter().filter_map(|entry| Some((entry.place, entry.amount(self.quantity)?)));
        let speeds = side.iter().map(|entry| self.quantity.speed(corrected(entry, self.quantity)));
        SideValue {
            amounts: amounts.collect(),
            speeds: speeds.collect(),
            middle: middle(side, self.quantity),
        }
    }

    /// Cells of one family, and how many of them count.
    fn judged<'a>(
        &self,
        pairs: impl Iterator<Item = (&'a Row<'a>, [usize; 2])> + Clone,
    ) -> (Vec<ComparedCell>, u32) {
        let nothing = || Paired {
            cell: RunCell { pairing: RunPairing::Apart([Vec::new(), Vec::new()]), margin: 0.0 },
            pairs: Pairs::Apart,
        };
        let paired = |(row, sides)| paired(row, sides, self.quantity, Scale::Speed).unwrap_or_else(nothing);
        let (cells, ways): (Vec<RunCell>, Vec<Pairs>) =
            pairs.clone().map(paired).map(|paired| (paired.cell, paired.pairs)).unzip();
        let family = family_of(&cells) as u32;
        let compared = compare_runs(&cells, self.same_within, self.ending);
        let told = |(((row, sides), pairs), compared): (((&Row, [usize; 2]), Pairs), _)| {
            let entries = sides.map(|side| &row.sides[side]);
            let bounded = |entry: &&Entry| !matches!(entry.amount(self.quantity), Some(RunAmount::Known(_)));
            ComparedCell {
                pairs,
                runs: entries.map(|side| units(side.iter())),
                bounded: entries.map(|side| units(side.iter().filter(bounded))),
                compared,
            }
        };
        (pairs.zip(ways).zip(compared).map(told).collect(), family)
    }

    /// The others among themselves, the slower first.
    fn between_others(&self, rows: &[Row]) -> Vec<BetweenOthers> {
        let mut pairs = Vec::new();
        let mut is_told = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let present: Vec<usize> =
                (1..row.sides.len()).filter(|side| !row.sides[*side].is_empty()).collect();
            let ranks = self.ranks(row, &present);
            for (later, &two) in present.iter().enumerate() {
                for (earlier, &one) in present[..later].iter().enumerate() {
                    let is_neighbour = ranks[earlier].abs_diff(ranks[later]) == 1;
                    let sides = if self.is_slower(row, [two, one]) { [two, one] } else { [one, two] };
                    pairs.push((at, sides));
                    is_told.push(is_neighbour || row.sides.len() <= SIDES_ALL_TOLD);
                }
            }
        }
        let (cells, _) = self.judged(pairs.iter().map(|(at, sides)| (&rows[*at], *sides)));
        let between = pairs.iter().zip(cells).map(|((row, sides), cell)| BetweenOthers {
            row: *row,
            sides: *sides,
            cell,
        });
        between.zip(is_told).filter(|(_, is_told)| *is_told).map(|(between, _)| between).collect()
    }

    /// The place of each side in the order of speed.
    fn ranks(&self, row: &Row, present: &[usize]) -> Vec<usize> {
        let speed = |side: usize| {
            let range = self.quantity.speed(middle(&row.sides[side], self.quantity));
            range.low().max(f64::MIN / 2.0) + range.high().min(f64::MAX / 2.0)
        };
        let mut order: Vec<usize> = (0..present.len()).collect();
        order.sort_by(|one, other| speed(present[*one]).total_cmp(&speed(present[*other])));
        let mut ranks = vec![0; present.len()];
        order.iter().enumerate().for_each(|(rank, side)| ranks[*side] = rank);
        ranks
    }

    /// Whether the first is slower than the second by what was estimated.
    fn is_slower(&self, row: &Row, sides: [usize; 2]) -> bool {
        let paired = paired(row, sides, self.quantity, Scale::Speed);
        let estimate = paired.and_then(|paired| RunDifference::estimate_of(&paired.cell.pairing));
        estimate.is_some_and(|estimate| estimate.low() + estimate.high() > 0.0)
    }
}

/// How many units these are of.
fn units<'a>(entries: impl Iterator<Item = &'a Entry<'a>>) -> u32 {
    entries.map(|entry| entry.place).collect::<BTreeSet<usize>>().len() as u32
}
