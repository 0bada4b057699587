//! Sides operation by operation, and where the time of their requests goes: the same in text, Markdown and pages.

use iolag_analysis::ProfileQuantity;
use iolag_analysis::compare::{ComparedTable, SideProfile, UnitKind};

use super::cells::unit_names;
use crate::words::numbers::NOTHING;
use crate::words::profile::{number, title};

/// A row for each operation of each side.
pub(crate) struct Profiles {
    /// What stands above the numbers.
    pub(crate) titles: Vec<&'static str>,
    /// The operations.
    pub(crate) operations: Vec<OperationProfiles>,
}

/// The sides in an operation.
pub(crate) struct OperationProfiles {
    /// Its row in the table, by its place.
    pub(crate) row: usize,
    /// The sides that have it, by their place, with their numbers.
    pub(crate) sides: Vec<(usize, Vec<String>)>,
}

/// Nothing where no side has servers: what is to be told of directories is in the table already.
pub(crate) fn profiles(table: &ComparedTable) -> Option<Profiles> {
    let all = table.rows.iter().flat_map(|row| &row.sides).flat_map(|side| &side.profile);
    let mut quantities: Vec<ProfileQuantity> = all.map(|one| one.quantity).collect();
    quantities.sort_unstable();
    quantities.dedup();
    if quantities.is_empty() {
        return None;
    }
    let cells = |profile: &[SideProfile]| {
        let of = |wanted: &ProfileQuantity| profile.iter().find(|one| one.quantity == *wanted);
        quantities
            .iter()
            .map(|wanted| of(wanted).map_or_else(|| NOTHING.to_owned(), cell))
            .collect::<Vec<_>>()
    };
    let sides = |row: &iolag_analysis::compare::ComparedRow| {
        let known = row.sides.iter().enumerate().filter(|(_, side)| !side.profile.is_empty());
        known.map(|(at, side)| (at, cells(&side.profile))).collect()
    };
    let rows = table.rows.iter().enumerate();
    let operations = rows.map(|(row, compared)| OperationProfiles { row, sides: sides(compared) }).collect();
    Some(Profiles { titles: quantities.iter().map(|quantity| title(*quantity)).collect(), operations })
}

/// What stands above them.
pub(crate) fn profiles_title(units: UnitKind) -> String {
    format!("Operation by operation: the middle of the {} of a side", unit_names(units)[1])
}

/// What the columns are.
pub(crate) const PROFILES_MEANING: &str = "Round trips are requests to the server for each operation. What follows them are the parts of the mean \
                                           duration, which add up: to make connections, to send the request with what it holds and wait for the \
                                           first byte of the answer, and the rest, which is receiving it and the work of this host.";

fn cell(one: &SideProfile) -> String {
    let text = number(one.quantity, one.of_runs.middle);
    match (one.bounded, one.quantity) {
        (0, _) => text,
        (_, ProfileQuantity::Rate) => format!("≤ {text}"),
        _ => format!("≥ {text}"),
    }
}
