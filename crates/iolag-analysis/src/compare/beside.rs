//! What is told of sides beside their speed: how long caches took, and what the processors did meanwhile.

use iolag_model::CacheState;

use super::cells::Row;
use super::side::{Side, Unit};
use super::table::{Beside, ComparedBeside, MiddleOfRuns};
use crate::run::surroundings::processor_time::ProcessorShare;
use crate::run::values::middle_of;

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

fn middle(mut amounts: Vec<f64>) -> Option<MiddleOfRuns> {
    let middle = middle_of(&mut amounts)?;
    let (least, most) = (*amounts.first()?, *amounts.last()?);
    Some(MiddleOfRuns { middle, least, most, runs: amounts.len() as u32 })
}
