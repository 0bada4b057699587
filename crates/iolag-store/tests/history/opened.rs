//! Histories to be filled, and all that is in one.

use iolag_model::{HistoryRecord, WallSpan};
use iolag_store::history::History;

/// Gives an empty history, each time another.
pub type Open<'a> = dyn Fn() -> Box<dyn History> + 'a;

pub fn content(history: &mut dyn History) -> Vec<HistoryRecord> {
    let mut records = Vec::new();
    history
        .records(WallSpan::ALL, &mut |record| {
            records.push(record);
            Ok(())
        })
        .unwrap();
    records
}
