//! The numbers of an operation that stand beside those of the same operation elsewhere: what they are called, and how they are written.

use iolag_analysis::{ProfileQuantity, TimeSpent};
use iolag_model::{Nanoseconds, format_duration};

use super::numbers::rate;

/// What stands above the parts of requests.
pub(crate) const PARTS_TITLE: &str = "Where the time of a request goes, on average";

/// What stands above a column.
pub(crate) const fn title(quantity: ProfileQuantity) -> &'static str {
    match quantity {
        ProfileQuantity::Rate => "per s",
        ProfileQuantity::Median => "median",
        ProfileQuantity::P99 => "p99",
        ProfileQuantity::Longest => "max",
        ProfileQuantity::RoundTrips => "round trips",
        ProfileQuantity::Resolve => "name",
        ProfileQuantity::Connect => "connect",
        ProfileQuantity::Tls => "TLS",
        ProfileQuantity::FirstByte => "first byte",
        ProfileQuantity::Server => "of it server",
        ProfileQuantity::Rest => "rest",
    }
}

/// As people read it.
pub(crate) fn number(quantity: ProfileQuantity, amount: f64) -> String {
    match quantity {
        ProfileQuantity::Rate => rate(amount),
        ProfileQuantity::RoundTrips => format!("{amount:.2}"),
        _ => format_duration(Nanoseconds(amount as u64)),
    }
}

/// Of each of them a column, and of each operation what is in these: nothing of what it has none of.
pub(crate) struct PartsTable {
    /// What the columns are.
    pub(crate) columns: Vec<ProfileQuantity>,
    /// What the rows have in them.
    pub(crate) rows: Vec<Vec<Option<f64>>>,
}

impl PartsTable {
    /// Where the time of each went; nothing if none asked a server.
    pub(crate) fn of(spent: &[TimeSpent]) -> Option<Self> {
        let profiles: Vec<_> = spent.iter().map(TimeSpent::profile).collect();
        let mut columns: Vec<_> = profiles.iter().flatten().map(|(quantity, _)| *quantity).collect();
        columns.sort_unstable();
        columns.dedup();
        let amount = |profile: &[(ProfileQuantity, f64)], wanted: ProfileQuantity| {
            profile.iter().find(|(quantity, _)| *quantity == wanted).map(|(_, amount)| *amount)
        };
        let row =
            |profile: &Vec<_>| columns.iter().map(|quantity| amount(profile, *quantity)).collect::<Vec<_>>();
        let rows = profiles.iter().map(row).collect();
        (!columns.is_empty()).then_some(Self { columns, rows })
    }
}
