//! The history: what watches remember for years, in a database.
//!
//! One trait, [`History`], and two databases that keep it: a file of SQLite on a local disk ([`SqliteHistory`]) for one host, and
//! a PostgreSQL server ([`PostgresHistory`]) for a site. Both have the same tables and the same statements; only how a statement
//! is sent differs.
//!
//! Invariants: an append is one transaction, all or nothing, and durable when it returns. The content does not depend on the
//! order in which records are appended, nor on how often: of two records with the same key one rule says what remains (see
//! `append.rs`, the rules are joins of semilattices: commutative, associative, idempotent). Nothing is ever removed: what an import
//! brought that was undone, or that a later import replaced, is kept beside what counts (`sample_rows.rs`). Targets are read under the names
//! that they have now, but for records as a whole, which keep those that were written (`names.rs`).
//!
//! Time and quantities are integers (ns, bytes, µs, thousandths). Limits: what exceeds a signed 64-bit number (durations of more
//! than 292 years) is stored as its greatest, NaN and infinite values as no value, zero bytes in texts as U+FFFD.
//!
//! Size, measured: 123 bytes per sample in SQLite, of which 42 are its two indexes; 291 in PostgreSQL. The tables are described in docs/history.md.

mod append;
mod canonical;
mod contract;
mod database;
mod engine;
mod error;
mod json_lines;
mod names;
mod older_tables;
mod opening;
mod place;
#[cfg(feature = "postgres")]
mod postgres;
mod queries;
mod rows;
mod sample_rows;
mod sample_tables;
mod sqlite;

pub use canonical::canonical;
pub use contract::{Access, Appended, ChangeMark, Changes, History, RecordSink};
pub use database::DatabaseHistory;
pub use error::HistoryError;
pub use json_lines::{LastLine, Merged, merge_records, read_records, write_records};
pub use names::called_now;
pub use opening::open_history;
pub use place::{check_place, is_path, is_server, same_scheme, shown_place};
#[cfg(feature = "postgres")]
pub use postgres::{PasswordSources, PostgresEngine, PostgresHistory};
pub use sample_tables::{TableForm, write_samples};
pub use sqlite::{SqliteEngine, SqliteHistory};
