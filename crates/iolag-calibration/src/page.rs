//! docs/calibration.md, written from rows that were measured.

use crate::row::Done;

/// The page. Rows stand in the order given.
pub fn page(done: &[&Done]) -> String {
    let mut text = String::new();
    for one in done {
        text += &format!("{}\n", one.row);
    }
    text
}
