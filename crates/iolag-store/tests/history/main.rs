//! The history database: one suite over both databases, and what each has of its own.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod arbitrary;
mod conformance;
mod joins;
mod lines;
mod opened;
#[cfg(feature = "postgres")]
mod postgres;
mod renames;
mod sqlite;
