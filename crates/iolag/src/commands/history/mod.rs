//! The commands on a history.

pub mod access;
pub mod batches;
pub mod export;
pub mod import;
mod incident;
pub mod moment;
pub mod note;
pub mod page;
pub mod reading;
pub mod remember;
mod renaming;
pub mod show;
pub mod source;
