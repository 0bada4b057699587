//! The program: arguments, commands, and the conducting of runs.
//!
//! `main.rs` only parses and dispatches. A library, so that tests reach the parts.

pub mod args;
pub mod commands;
pub mod conduct;
pub mod copies;
pub mod environment;
pub mod exit_code;
pub mod guarded;
pub mod output;
pub mod serve;
pub mod watching;
