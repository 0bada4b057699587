//! Versions of the tables: numbered steps, each in one transaction with the number that it leads to, one client at a time.

use iolag_net::postgres::Address;
use postgres::{Client, GenericClient};

use super::refusals::failed;
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
/// The lock by which clients take turns at migrating.
const MIGRATION_LOCK: i64 = 0x69_6f6c_6167_0002;

/// The version of the tables that this program reads and writes.
const VERSION: i64 = STEPS.len() as i64;

/// Makes the tables if they are missing; brings older ones up to date; refuses newer ones.
pub(super) fn migrate(client: &mut Client, address: &Address) -> Result<(), HistoryError> {
    while version(client, address)? < VERSION {
        step(client, address)?;
    }
    Ok(())
}

/// The same, but refuses to make the tables.
pub(super) fn migrate_existing(client: &mut Client, address: &Address) -> Result<(), HistoryError> {
    match version(client, address)? {
        0 => Err(HistoryError::Missing { location: address.location.clone() }),
        _ => migrate(client, address),
    }
}

/// Refuses everything but the present version, and those before it that then look like it: for who may not write.
pub(super) fn require_present_version(client: &mut Client, address: &Address) -> Result<(), HistoryError> {
    let location = address.location.clone();
    match version(client, address)? {
        VERSION => Ok(()),
        0 => Err(HistoryError::Missing { location }),
        // Not for whom the server lets make nothing at all, as on a copy that it reads only.
        version => match views_of_older(version, "iolag") {
            Some(views) if client.batch_execute(&views).is_ok() => Ok(()),
            _ => Err(HistoryError::Older { location, version, known: VERSION }),
        },
    }
}

fn step(client: &mut Client, address: &Address) -> Result<(), HistoryError> {
    let error = |error: postgres::Error| failed(address, &error);
    let mut transaction = client.transaction().map_err(error)?;
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")).map_err(error)?;
    // Another client may have done the step while this one waited.
    let version = version(&mut transaction, address)?;
    if version == 0 {
        // Asked first: IF NOT EXISTS wants the right to make schemas even where the administrator made this one.
        let row = transaction
            .query_one("SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'iolag')", &[])
            .map_err(error)?;
        if row.get(0) {
            transaction.batch_execute("CREATE SCHEMA iolag").map_err(error)?;
        }
        transaction
            .batch_execute("CREATE TABLE iolag.schema_version (version bigint NOT NULL); INSERT INTO iolag.schema_version VALUES (0)")
            .map_err(error)?;
    }
    if let Some(step) = usize::try_from(version).ok().and_then(|version| STEPS.get(version)) {
        transaction.batch_execute(step).map_err(error)?;
        transaction
            .execute("UPDATE iolag.schema_version SET version = $1", &[&(version + 1)])
            .map_err(error)?;
    }
    transaction.commit().map_err(error)
}

/// The version of the tables, 0 if there are none.
fn version(client: &mut impl GenericClient, address: &Address) -> Result<i64, HistoryError> {
    let error = |error: postgres::Error| failed(address, &error);
    // Asked of the catalogue's tables: to_regclass() answers from a cache that another client's step does not reach in time.
    let statement = "SELECT NOT EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                     WHERE nspname = 'iolag' AND relname = 'schema_version')";
    let row = client.query_one(statement, &[]).map_err(error)?;
    if row.get(0) {
        return Ok(0);
    }
    let rows = client.query("SELECT version FROM iolag.schema_version", &[]).map_err(error)?;
    match rows.first().map(|row| row.get(0)) {
        Some(version) if version > VERSION => {
            Err(HistoryError::Newer { location: address.location.clone(), version, known: VERSION })
        }
        Some(version) => Ok(version),
        None => Err(HistoryError::Foreign {
            location: address.location.clone(),
            what: "a schema iolag without a version".into(),
        }),
    }
}
