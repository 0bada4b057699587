//! From sides to their table.

use std::collections::{BTreeMap, BTreeSet};

use super::attempts;
use super::beside::{beside, bystanders, profile_of_side};
use super::cells::{Entry, Row, matched};
use super::doubting::doubts;
use super::pairing::{Paired, Scale, corrected, paired};
use super::refusing::{CompareError, refuse, refuse_few_attempts, refuse_nothing_common, refuse_void};
use super::rules::outcomes::outcomes;
use super::side::{Side, Unit, UnitKind};
use super::table::{
    BetweenOthers, CompareOptions, ComparedCell, ComparedRow, ComparedSide, ComparedTable, LeftOut, Pairs,
    SideValue,
};
use crate::run::parts::quantity::ProfileQuantity;
use crate::run::values::{RunAmount, RunQuantity};
use crate::statistics::runs::difference::RunDifference;
use crate::statistics::runs::log_range::LogRange;
use crate::statistics::runs::pairing::RunPairing;
use crate::statistics::runs::table::{CampaignEnding, RunCell, compare_runs, family_of};

/// With more sides than this only neighbours are told of those that are not the base.
const SIDES_ALL_TOLD: usize = 6;

/// Compares sides, the first of which is the base.
///
/// # Errors
/// If there are not two sides of one workload with something in common.
pub fn compare_sides(sides: Vec<Side>, options: &CompareOptions) -> Result<ComparedTable, CompareError> {
    refuse_void(&sides)?;
    let (sides, mut left_out) = with_units(sides);
    let workloads = refuse(&sides, options)?;
    let mut matched = matched(&sides, &workloads, options);
    if matched.rows.is_empty() {
        return Err(refuse_nothing_common(&sides, &matched.alone, &options.across));
    }
    left_out.extend(matched.left_out(&sides));
    left_out.extend(attempts::left_out(&matched.rows, &options.rules));
    let few = matched.rows.iter().map(|row| row.quantity).next();
    matched.rows.retain(|row| attempts::too_few(row, row.quantity).is_none());
    if let Some(quantity) = few.filter(|_| matched.rows.is_empty()) {
        return Err(refuse_few_attempts(&sides, &left_out, quantity));
    }
    let judging = Judging { same_within: options.same_within, ending: ending(&sides) };
    let outcomes = outcomes(&options.rules, &matched, judging.ending)?;
    let (mut rows, family) = judging.against_the_base(&matched.rows);
    keep_profiles_of_servers(&mut rows);
    left_out.extend(judging.unpaired(&matched.rows));
    let has_row = |workload: &str| matched.rows.iter().any(|row| row.key.workload == workload);
    Ok(ComparedTable {
        units: UnitKind::of(&sides),
        same_within: options.same_within,
        between: judging.between_others(&matched.rows),
        rows,
        bystanders: bystanders(&sides),
        beside: beside(&sides, &matched.rows),
        doubts: doubts(&sides, &matched.rows, &options.across),
        left_out,
        family,
        rules: options.rules.clone(),
        outcomes,
        sides: sides.iter().map(compared_side).collect(),
        workloads: workloads.into_iter().filter(|workload| has_row(&workload.name)).collect(),
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
        let row = |row: &Row| {
            let cells: Vec<ComparedCell> = cells.by_ref().take(row.sides.len() - 1).collect();
            let most = cells.iter().rev().max_by_key(|cell| cell.runs[0]).map(|cell| (cell, 0));
            let in_cells = std::iter::once(most).chain(cells.iter().map(|cell| Some((cell, 1))));
            let of_sides = row.sides.iter().zip(in_cells);
            let sides = of_sides.map(|(side, cell)| side_value(row.quantity, side, cell)).collect();
            ComparedRow { key: row.key.clone(), quantity: row.quantity, sides, cells }
        };
        (rows.iter().map(row).collect(), family)
    }

    /// Cells of one family, and how many of them count.
    fn judged<'a>(
        &self,
        pairs: impl Iterator<Item = (&'a Row<'a>, [usize; 2])> + Clone,
    ) -> (Vec<ComparedCell>, u32) {
        let paired: Vec<Paired> = pairs.clone().map(|(row, sides)| paired_or_alone(row, sides)).collect();
        let cells: Vec<RunCell> = paired.iter().map(|paired| paired.cell.clone()).collect();
        let family = family_of(&cells) as u32;
        let compared = compare_runs(&cells, self.same_within, self.ending);
        let told = |((paired, compared), (row, _)): ((&Paired, _), (&Row, _))| {
            let bounded = |entry: &&Entry| !matches!(corrected(entry, row.quantity), RunAmount::Known(_));
            ComparedCell {
                pairs: paired.pairs,
                runs: paired.entries.each_ref().map(|side| units(side.iter())),
                bounded: paired.entries.each_ref().map(|side| units(side.iter().filter(bounded))),
                middles: paired.middles(row.quantity),
                compared,
            }
        };
        (paired.iter().zip(compared).zip(pairs).map(told).collect(), family)
    }

    /// The runs of the base and of each other side that have no counterpart.
    fn unpaired(&self, rows: &[Row]) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        for row in rows {
            for other in 1..row.sides.len() {
                let Some(paired) = paired(row, [0, other], row.quantity, Scale::Speed) else { continue };
                for (entries, [side, against]) in paired.entries.iter().zip([[0, other], [other, 0]]) {
                    let places: BTreeSet<usize> = entries.iter().map(|entry| entry.place).collect();
                    let left = row.sides[side].iter().filter(|entry| !places.contains(&entry.place));
                    let left: BTreeMap<usize, &Unit> = left.map(|entry| (entry.place, entry.unit)).collect();
                    let runs: Vec<String> = left.into_values().map(|unit| unit.name.clone()).collect();
                    if !runs.is_empty() {
                        let (key, pairs) = (row.key.clone(), paired.pairs);
                        left_out.push(LeftOut::Unpaired { key, side, against, runs, pairs });
                    }
                }
            }
        }
        left_out
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
        let of_side = |side: usize| {
            let of_entry = |entry: &Entry| speed(row.quantity, entry);
            let range = LogRange::mean(&row.sides[side].iter().map(of_entry).collect::<Vec<LogRange>>());
            range.low().max(f64::MIN / 2.0) + range.high().min(f64::MAX / 2.0)
        };
        let mut order: Vec<usize> = (0..present.len()).collect();
        order.sort_by(|one, other| of_side(present[*one]).total_cmp(&of_side(present[*other])));
        let mut ranks = vec![0; present.len()];
        order.iter().enumerate().for_each(|(rank, side)| ranks[*side] = rank);
        ranks
    }

    /// Whether the first is slower than the second by what was estimated.
    fn is_slower(&self, row: &Row, sides: [usize; 2]) -> bool {
        let paired = paired(row, sides, row.quantity, Scale::Speed);
        let estimate = paired.and_then(|paired| RunDifference::estimate_of(&paired.cell.pairing));
        estimate.is_some_and(|estimate| estimate.low() + estimate.high() > 0.0)
    }
}

/// Without a server there is nothing in them that the table does not say.
fn keep_profiles_of_servers(rows: &mut [ComparedRow]) {
    let asks_server =
        |side: &SideValue| side.profile.iter().any(|one| one.quantity == ProfileQuantity::RoundTrips);
    if !rows.iter().flat_map(|row| &row.sides).any(asks_server) {
        rows.iter_mut().flat_map(|row| &mut row.sides).for_each(|side| side.profile.clear());
    }
}

/// What a side has, and which place in which cell is its.
fn side_value(quantity: RunQuantity, side: &[Entry], cell: Option<(&ComparedCell, usize)>) -> SideValue {
    let amounts = side.iter().filter_map(|entry| Some((entry.place, entry.amount(quantity)?)));
    SideValue {
        amounts: amounts.collect(),
        speeds: side.iter().map(|entry| speed(quantity, entry)).collect(),
        middle: cell.map_or(RunAmount::Open, |(cell, at)| cell.middles[at]),
        runs: cell.map_or(0, |(cell, at)| cell.runs[at]),
        bounded: cell.map_or(0, |(cell, at)| cell.bounded[at]),
        profile: profile_of_side(side),
    }
}

/// Where a side has nothing, there is what the other has, and nothing beside it.
fn paired_or_alone<'a>(row: &Row<'a>, sides: [usize; 2]) -> Paired<'a> {
    paired(row, sides, row.quantity, Scale::Speed).unwrap_or_else(|| {
        let entries = sides.map(|side| row.sides[side].clone());
        let speeds = |side: &Vec<Entry>| side.iter().map(|entry| speed(row.quantity, entry)).collect();
        let pairing = RunPairing::Apart(entries.each_ref().map(speeds));
        Paired { cell: RunCell { pairing, margin: 0.0 }, pairs: Pairs::Apart, entries }
    })
}

fn speed(quantity: RunQuantity, entry: &Entry) -> LogRange {
    quantity.speed(corrected(entry, quantity))
}

/// How many units these are of.
fn units<'a>(entries: impl Iterator<Item = &'a Entry<'a>>) -> u32 {
    entries.map(|entry| entry.place).collect::<BTreeSet<usize>>().len() as u32
}
