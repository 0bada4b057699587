//! What is known of sides beside their speed, as JSON.

use iolag_analysis::compare::{Beside, ComparedBeside, ComparedTable};
use iolag_model::CacheState;
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
