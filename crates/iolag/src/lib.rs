//! The program: arguments, commands, and the conducting of runs.
//!
//! `main.rs` only parses and dispatches. A library, so that tests reach the parts.

mod announcing;
pub mod args;
pub mod commands;
pub mod copies;
pub mod desktop;
pub mod documents;
pub mod guarded;
pub mod look;
pub mod output;
pub mod planning;
pub mod progress;
pub mod replacing;
pub mod serve;
pub mod watching;
