//! The built-in tasks of probes: those of files, those of programs, those of somebody at a terminal, those on a server.

pub(crate) mod command;
pub(crate) mod compile;
pub(crate) mod files;
pub(crate) mod job;
pub(crate) mod list;
mod running;
pub(crate) mod server;
pub(crate) mod shell;
