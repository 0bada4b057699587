//! What is told of sides beside their speed: what others felt, how long caches took, and what the processors did meanwhile.

use std::collections::BTreeMap;

use iolag_model::{CacheState, Operation, Standpoint};

use super::cells::{Entry, Row};
use super::side::{Side, Unit};
use super::table::{Beside, ComparedBeside, ComparedBystander, FeltOfSide, MiddleOfRuns, SideProfile};
use crate::run::beside::analysis::asked_everywhere;
use crate::run::beside::felt::FeltOfRun;
use crate::run::parts::quantity::ProfileQuantity;
use crate::run::surroundings::processor_time::ProcessorShare;
use crate::run::values::{RunAmount, middle_of};

/// All that is known of any side.
pub(super) fn beside(sides: &[Side], rows: &[Row]) -> Vec<ComparedBeside> {
    let processors = rows.iter().enumerate().map(|(at, row)| processors(at, row));
    let caches = [CacheState::Cold, CacheState::Warm].map(|wish| caches(sides, wish));
    let is_known = |told: &ComparedBeside| told.sides.iter().any(Option::is_some);
    processors.chain(caches).filter(is_known).collect()
}

fn processors(at: usize, row: &Row) -> ComparedBeside {
    let shares = |side: usize| row.sides[side].iter().filter_map(|entry| entry.value.processors);
    let is_at_speed = |side: &usize| {
        let fast = shares(*side).filter(|share| ProcessorShare::is_at_processor_speed(*share)).count();
        2 * fast > shares(*side).count()
    };
    let sides = 0..row.sides.len();
    let what =
        Beside::Processors { row: at, at_processor_speed: sides.clone().filter(is_at_speed).collect() };
    let of_side = |side| middle(shares(side).map(|share| share.processors).collect());
    ComparedBeside { what, sides: sides.map(of_side).collect() }
}

fn caches(sides: &[Side], wish: CacheState) -> ComparedBeside {
    let time = |unit: &Unit| unit.caches.filter(|caches| caches.wish == wish).map(|caches| caches.time_ns);
    let of_side = |side: &Side| middle(side.units.iter().filter_map(time).map(|ns| ns.0 as f64).collect());
    ComparedBeside { what: Beside::Caches(wish), sides: sides.iter().map(of_side).collect() }
}

/// What was felt beside the loads of any side, place by place.
pub(super) fn bystanders(sides: &[Side]) -> Vec<ComparedBystander> {
    let row = |(standpoint, operation): (Standpoint, Operation)| {
        let is_it = |felt: &&FeltOfRun| (felt.standpoint, felt.operation) == (standpoint, operation);
        let of_side = |side: &Side| {
            let of_units = side.units.iter().flat_map(|unit| &unit.felt).filter(is_it);
            felt_of_side(&of_units.collect::<Vec<_>>())
        };
        ComparedBystander { standpoint, operation, sides: sides.iter().map(of_side).collect() }
    };
    asked_everywhere().map(row).filter(|row| row.sides.iter().any(Option::is_some)).collect()
}

fn felt_of_side(runs: &[&FeltOfRun]) -> Option<FeltOfSide> {
    let times = runs.iter().filter_map(|felt| felt.times_as_long).map(|times| times.factor);
    Some(FeltOfSide {
        runs: runs.len() as u32,
        times: middle(times.collect()),
        judged: runs.iter().filter(|felt| felt.is_judged).count() as u32,
        longer: runs.iter().filter(|felt| felt.is_longer).count() as u32,
        stalled: runs.iter().filter(|felt| felt.is_stall).count() as u32,
        stuck: runs.iter().map(|felt| felt.stuck).sum(),
        longest: runs.iter().map(|felt| felt.longest).max_by_key(|longest| longest.bound())?,
    })
}

/// The numbers of a side in a row, from those of its runs. A quantile that some runs had too few attempts for is none of the side's: that of
/// the others could be above the middle of the longest.
pub(super) fn profile_of_side(entries: &[Entry]) -> Vec<SideProfile> {
    let mut of_runs: BTreeMap<ProfileQuantity, Vec<RunAmount>> = BTreeMap::new();
    for (quantity, amount) in entries.iter().flat_map(|entry| &entry.value.profile) {
        of_runs.entry(*quantity).or_default().push(*amount);
    }
    let count = |quantity| of_runs.get(&quantity).map_or(0, Vec::len);
    if count(ProfileQuantity::P99) < count(ProfileQuantity::Longest) {
        of_runs.remove(&ProfileQuantity::P99);
    }
    let of_side = |(quantity, amounts): (ProfileQuantity, Vec<RunAmount>)| {
        let number = |amount: &RunAmount| match *amount {
            RunAmount::Known(amount) | RunAmount::AtLeast(amount) | RunAmount::AtMost(amount) => Some(amount),
            RunAmount::Open => None,
        };
        let is_bound = |amount: &&RunAmount| !matches!(amount, RunAmount::Known(_));
        let bounded = amounts.iter().filter(is_bound).count() as u32;
        let of_runs = middle(amounts.iter().filter_map(number).collect())?;
        Some(SideProfile { quantity, of_runs, bounded })
    };
    of_runs.into_iter().filter_map(of_side).collect()
}

fn middle(mut amounts: Vec<f64>) -> Option<MiddleOfRuns> {
    let middle = middle_of(&mut amounts)?;
    let (least, most) = (*amounts.first()?, *amounts.last()?);
    Some(MiddleOfRuns { middle, least, most, runs: amounts.len() as u32 })
}
