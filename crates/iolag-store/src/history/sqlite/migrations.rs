//! Versions of the tables: numbered steps, each in one transaction with the number that it leads to.

use rusqlite::{Connection, TransactionBehavior};

use super::connection::Place;
use crate::history::HistoryError;
use crate::history::older_tables::views_of_older;

/// Step `n` leads from version `n` to `n + 1`. A step that was released is never changed.
const STEPS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
];

/// The version of the tables that this program reads and writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// "iolg": says to `file` and to other programs whose file this is.
pub(super) const APPLICATION_ID: i64 = 0x696f_6c67;

/// Refuses what is not ours or newer; brings what is older up to date, step by step.
pub(super) fn migrate(connection: &mut Connection, place: &Place) -> Result<(), HistoryError> {
    migrate_by(connection, place, STEPS)
}

/// Refuses everything but our own present version, and those before it that then look like it: for who may not write.
pub(super) fn require_present_version(connection: &Connection, place: &Place) -> Result<(), HistoryError> {
    match known_version(connection, place, VERSION)? {
        VERSION => Ok(()),
        0 => Err(place.foreign("an empty file")),
        version => match views_of_older(version, "main") {
            Some(views) => connection.execute_batch(&views).map_err(|error| place.error(&error)),
            None => Err(place.older(version, VERSION)),
        },
    }
}

fn migrate_by(connection: &mut Connection, place: &Place, steps: &[&str]) -> Result<(), HistoryError> {
    let failed = |error: rusqlite::Error| place.error(&error);
    let known = steps.len() as i64;
    while known_version(connection, place, known)? < known {
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have done the step while this one waited for the lock.
        let version = known_version(&transaction, place, known)?;
        if let Some(step) = usize::try_from(version).ok().and_then(|version| steps.get(version)) {
            transaction.execute_batch(step).map_err(failed)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
            transaction.pragma_update(None, "user_version", version + 1).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}

/// The version of a file that is ours or empty.
fn known_version(connection: &Connection, place: &Place, known: i64) -> Result<i64, HistoryError> {
    let number = |name: &str| -> Result<i64, HistoryError> {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| place.error(&error))
    };
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application != APPLICATION_ID {
        let is_empty = application == 0
            && version == 0
            && connection
                .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
                .map_err(|error| place.error(&error))?
                == 0;
        return if is_empty { Ok(0) } else { Err(place.foreign("another program's SQLite database")) };
    }
    match version {
        version if version > known => Err(place.newer(version, known)),
        version if version < 0 => Err(place.damaged(format!("its version is {version}"))),
        version => Ok(version),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    /// A version that does not exist yet: a column more.
    const NEXT: &str = "ALTER TABLE series ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'";

    fn place() -> Place {
        Place::new(Path::new("/somewhere/history"), Duration::ZERO)
    }

    fn version_1() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("schema_1.sql")).unwrap();
        connection
            .execute_batch(
                "PRAGMA application_id = 0x696f6c67; PRAGMA user_version = 1; \
                 INSERT INTO series (host, target, task, part) VALUES ('login1', '/home', 'list', '')",
            )
            .unwrap();
        connection
    }

    fn one<T: rusqlite::types::FromSql>(connection: &Connection, statement: &str) -> T {
        connection.query_row(statement, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn version_1_is_brought_up_to_date_with_what_it_holds() {
        let mut connection = version_1();
        migrate_by(&mut connection, &place(), &[STEPS[0], NEXT]).unwrap();
        assert_eq!(one::<i64>(&connection, "PRAGMA user_version"), 2);
        assert_eq!(one::<String>(&connection, "SELECT host || colour FROM series"), "login1red");
        migrate_by(&mut connection, &place(), &[STEPS[0], NEXT]).unwrap();
    }

    #[test]
    fn version_1_becomes_what_this_program_reads_and_writes() {
        let mut connection = version_1();
        migrate(&mut connection, &place()).unwrap();
        require_present_version(&connection, &place()).unwrap();
        assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM series"), 1);
    }

    #[test]
    fn versions_since_2_look_like_the_present_one_to_who_may_only_read() {
        for version in [2, 3, 4] {
            let mut connection = version_1();
            migrate_by(&mut connection, &place(), &STEPS[..version]).unwrap();
            let outage = "INSERT INTO outage (host, probe, mount, begin_ns, skipped) VALUES ('login1', 7, '/home', 1, 0)";
            connection.execute(outage, []).unwrap();
            require_present_version(&connection, &place()).unwrap();
            assert_eq!(
                one::<String>(&connection, "SELECT mount || ' ' || kind FROM outage"),
                "/home no-answer"
            );
            for table in ["outage_target", "rename", "batch", "sample_beside"] {
                assert_eq!(one::<i64>(&connection, &format!("SELECT count(*) FROM {table}")), 0);
            }
            assert_eq!(one::<i64>(&connection, "PRAGMA user_version"), version as i64, "nothing was changed");
        }
    }

    /// An iolag of version 4 knows no benchmarks: it has to be told that they are newer, not to find damage.
    #[test]
    fn version_4_becomes_5_with_its_rows_and_is_too_new_for_who_knows_4() {
        let mut connection = version_1();
        migrate_by(&mut connection, &place(), &STEPS[..4]).unwrap();
        migrate(&mut connection, &place()).unwrap();
        assert_eq!(one::<i64>(&connection, "PRAGMA user_version"), 5);
        assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM series"), 1);
        let error = migrate_by(&mut connection, &place(), &STEPS[..4]).unwrap_err();
        assert!(matches!(error, HistoryError::Newer { version: 5, known: 4, .. }), "{error}");
    }

    #[test]
    fn what_a_watch_of_version_1_broke_off_is_interrupted_and_no_time_out() {
        let mut connection = version_1();
        connection
            .execute_batch(
                "INSERT INTO sample (change, series, probe, intended_ns, lag_ns, duration_ns, outcome, failure) VALUES \
                 (1, 1, 1, 0, 0, 7, 2, 61445), (2, 1, 2, 0, 0, 8, 2, 0), (3, 1, 3, 0, 0, 9, 4, 61445)",
            )
            .unwrap();
        migrate(&mut connection, &place()).unwrap();
        let told = "SELECT group_concat(outcome || ' ' || failure || ' ' || censored, ', ') FROM samples";
        assert_eq!(one::<String>(&connection, told), "interrupted 0 1, timeout 0 1, late 61445 0");
        assert_eq!(one::<i64>(&connection, "PRAGMA user_version"), VERSION);
    }

    #[test]
    fn an_empty_file_goes_through_all_steps() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(require_present_version(&connection, &place()).is_err());
        migrate_by(&mut connection, &place(), &[STEPS[0], NEXT]).unwrap();
        assert_eq!(one::<i64>(&connection, "PRAGMA application_id"), APPLICATION_ID);
        assert_eq!(one::<i64>(&connection, "SELECT count(colour) FROM series"), 0);
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before_it() {
        let mut connection = version_1();
        let broken = "ALTER TABLE series ADD COLUMN colour TEXT; SELECT nonsense";
        migrate_by(&mut connection, &place(), &[STEPS[0], broken]).unwrap_err();
        assert_eq!(one::<i64>(&connection, "PRAGMA user_version"), 1);
        assert_eq!(
            one::<i64>(&connection, "SELECT count(*) FROM pragma_table_info('series') WHERE name = 'colour'"),
            0
        );
    }

    #[test]
    fn newer_older_and_foreign_files_are_refused() {
        let mut newer = version_1();
        newer.pragma_update(None, "user_version", 99).unwrap();
        let error = migrate(&mut newer, &place()).unwrap_err();
        assert!(matches!(error, HistoryError::Newer { version: 99, known: VERSION, .. }), "{error}");
        let mut foreign = Connection::open_in_memory().unwrap();
        foreign.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
        let error = migrate(&mut foreign, &place()).unwrap_err();
        assert!(matches!(error, HistoryError::Foreign { .. }), "{error}");
        assert_eq!(one::<i64>(&foreign, "SELECT count(*) FROM sqlite_schema"), 1, "untouched");
    }
}
