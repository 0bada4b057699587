//! The history of a host: a file of SQLite on a local disk.
//!
//! Invariants: the file is ours alone (mode 0600, owned by who watches), reached through no symbolic link in its last component,
//! and on a file system of this host. What an append acknowledged survives the end of the process at any moment, and a power failure as
//! far as the disk keeps what it acknowledged: the log is synced at each commit (`synchronous=FULL`), because commits come once a
//! round and the spool that held the records is gone afterwards.
//!
//! Limits: several processes may read and write the file at once, of one host. Connections must not be carried across a fork.

mod connection;
mod content;
mod migrations;
mod network_file_systems;
mod open;

pub use connection::SqliteEngine;

/// A history in a file of SQLite.
pub type SqliteHistory = super::DatabaseHistory<SqliteEngine>;
