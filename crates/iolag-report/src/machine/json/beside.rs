//! What is known of sides beside their speed, as JSON.

use iolag_analysis::QuantileValue;
use iolag_analysis::compare::{Beside, ComparedBeside, ComparedBystander, ComparedTable};
use iolag_model::{CacheState, Operation, Standpoint};
use serde::Serialize;

use super::doubts::name;

#[derive(Serialize)]
pub(super) struct BesideDocument<'a> {
    /// `processors`, `caches-dropped` or `caches-filled`.
    what: &'static str,
    /// `processors`, where 1 is one processor all the time, or `ns`.
    unit: &'static str,
    /// The row that it is of, by its place; null of what is of all rows.
    row: Option<usize>,
    of: Vec<SideDocument<'a>>,
}

#[derive(Serialize)]
struct SideDocument<'a> {
    side: &'a str,
    runs: u32,
    middle: f64,
    least: f64,
    most: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_at_processor_speed: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct BystanderDocument<'a> {
    standpoint: Standpoint,
    operation: Operation,
    of: Vec<FeltDocument<'a>>,
}

/// What was felt beside the runs of a side.
#[derive(Serialize)]
struct FeltDocument<'a> {
    side: &'a str,
    runs: u32,
    /// How many times as long as before, of the run in the middle, of the least and the most; null where no run can be compared with before.
    times: Option<f64>,
    times_least: Option<f64>,
    times_most: Option<f64>,
    /// In how many runs it could be shown whether it took longer, and in how many it was.
    judged: u32,
    longer: u32,
    /// In how many somebody waited much longer than anybody before.
    stalled: u32,
    stuck: u64,
    longest: QuantileValue,
}

/// What was felt beside the loads, place by place.
pub(super) fn bystanders<'a>(table: &ComparedTable, names: &[&'a str]) -> Vec<BystanderDocument<'a>> {
    let document = |one: &ComparedBystander| {
        let known = one.sides.iter().enumerate().filter_map(|(side, felt)| Some((side, (*felt)?)));
        let of = known.map(|(side, felt)| FeltDocument {
            side: name(names, side),
            runs: felt.runs,
            times: felt.times.map(|times| times.middle),
            times_least: felt.times.map(|times| times.least),
            times_most: felt.times.map(|times| times.most),
            judged: felt.judged,
            longer: felt.longer,
            stalled: felt.stalled,
            stuck: felt.stuck,
            longest: felt.longest,
        });
        BystanderDocument { standpoint: one.standpoint, operation: one.operation, of: of.collect() }
    };
    table.bystanders.iter().map(document).collect()
}

/// All of it, in its order.
pub(super) fn beside<'a>(table: &ComparedTable, names: &[&'a str]) -> Vec<BesideDocument<'a>> {
    table.beside.iter().map(|one| document(one, names)).collect()
}

fn document<'a>(one: &ComparedBeside, names: &[&'a str]) -> BesideDocument<'a> {
    let (what, unit, row, fast) = match &one.what {
        Beside::Processors { row, at_processor_speed } => {
            ("processors", "processors", Some(*row), Some(at_processor_speed))
        }
        Beside::Caches(CacheState::Warm) => ("caches-filled", "ns", None, None),
        Beside::Caches(_) => ("caches-dropped", "ns", None, None),
    };
    let known = one.sides.iter().enumerate().filter_map(|(side, told)| Some((side, (*told)?)));
    let of = known.map(|(side, told)| SideDocument {
        side: name(names, side),
        runs: told.runs,
        middle: told.middle,
        least: told.least,
        most: told.most,
        is_at_processor_speed: fast.map(|sides| sides.contains(&side)),
    });
    BesideDocument { what, unit, row, of: of.collect() }
}
