//! What a watch remembers, and where: in its runtime directory, which lies in memory, until the history has it.

pub(crate) mod historian;
pub(crate) mod ledger;
pub(crate) mod runtime;
pub(crate) mod runtime_search;
pub(crate) mod shortage;
pub(crate) mod spool;
pub(crate) mod status_file;
