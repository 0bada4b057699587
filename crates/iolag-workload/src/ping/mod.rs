//! The ping: an open schedule of probes, and the session that executes one.

pub(crate) mod client;
pub(crate) mod probe_session;
mod spec;
