//! What SQLite has of its own: the file, its versions, its locks, its failures.

use std::cell::Cell;

use iolag_store::history::{Access, History, SqliteHistory};

use crate::conformance;

#[test]
fn sqlite_is_a_history() {
    let directory = tempfile::tempdir().unwrap();
    let number = Cell::new(0);
    let open = || -> Box<dyn History> {
        number.set(number.get() + 1);
        let path = directory.path().join(format!("history-{}.sqlite", number.get()));
        Box::new(SqliteHistory::open(&path, Access::Create).unwrap())
    };
    conformance::check(&open, 64);
}
