//! How a watch is started, configured, found and ended.

mod configuring;
mod memory;
mod starting;
mod stopping;
mod systemd;
