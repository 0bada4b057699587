//! What the loop around an operation costs: alone, against a bare loop, and against md-workbench.

mod bare_loop;
pub mod ceiling;
mod iolag_loop;
pub mod md_workbench;
pub mod metadata;
pub mod overhead;
pub mod recording;
pub mod replay;
