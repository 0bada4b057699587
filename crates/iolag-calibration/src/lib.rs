//! How often iolag's intervals and findings are wrong, measured on records of which the truth is known.
//!
//! ```text
//! Process -> Course -> attempts of Rounds -> Engine, analyse_history, … -> Measured against its Limit -> docs/calibration.md
//! ```
//!
//! Invariants: the same row, campaigns and seed give the same numbers on every machine; what fails is told like what passes.

pub mod command_line;
pub mod compare;
pub mod coverage;
pub mod hosts;
pub mod measured;
pub mod page;
pub mod power;
pub mod process;
pub mod quiet;
pub mod record;
pub mod results;
pub mod row;
pub mod runs;
mod seed;
mod step_oracle;

pub use measured::{Amount, Judgement, Limit, Measured};
pub use row::{Done, Question, Row, rows};
