//! A history by its place: a file or a server.

use std::path::Path;

#[cfg(feature = "postgres")]
use super::PostgresHistory;
#[cfg(not(feature = "postgres"))]
use super::shown_place;
use super::{Access, History, HistoryError, SqliteHistory, check_place, is_server};

/// Opens the history at `place`: a `postgres://` or `postgresql://` URL, or the path of a file on a local disk.
///
/// # Errors
/// If it names neither, cannot be opened, or not in this way; each error says what to do.
pub fn open_history(place: &str, access: Access) -> Result<Box<dyn History>, HistoryError> {
    check_place(place)?;
    if is_server(place) {
        return connect(place, access);
    }
    Ok(Box::new(SqliteHistory::open(Path::new(place), access)?))
}

#[cfg(feature = "postgres")]
fn connect(url: &str, access: Access) -> Result<Box<dyn History>, HistoryError> {
    Ok(Box::new(PostgresHistory::connect(url, access)?))
}

#[cfg(not(feature = "postgres"))]
fn connect(url: &str, _: Access) -> Result<Box<dyn History>, HistoryError> {
    let what = "this iolag was built without PostgreSQL; use one built with the feature postgres, or a file";
    Err(HistoryError::Unsuitable { location: shown_place(url), what: what.to_owned() })
}
