//! What a workload is called and how it is described, on pages and in lists, and the command that does it again.

mod check;
pub(crate) mod command;
mod described;
mod metadata;
mod ping;

pub(crate) use described::described;
