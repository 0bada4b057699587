//! The built-in tasks of probes: those of files, those of programs, those of somebody at a terminal.

pub(crate) mod files;
pub(crate) mod programs;
mod running;
pub(crate) mod shell;
