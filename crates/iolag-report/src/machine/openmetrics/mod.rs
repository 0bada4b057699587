//! What a watch is doing and what its history has counted up to, for monitoring systems: OpenMetrics text, the older text of
//! Prometheus (for node_exporter's textfile collector), and protobuf with native histograms. docs/serve.md lists the names.
//!
//! Labels are `task` and `target`, `mount` and `type` of what only a target has, and `host` for what another host measured. No path but a target's name and mount point, no text of an event,
//! no process id: labels are for ever in a monitoring system.
//!
//! Invariants: the three forms have the same samples, none of them a timestamp; no two samples of a family have the same labels;
//! a name that cannot be said now (no watch runs, the history has not been read) is left out, not zero. Only whole tasks are shown.

mod collect;
mod exposition;
mod family;
mod forms;
mod protobuf;
mod text;

pub use exposition::Exposition;
pub use forms::{MetricsForm, metrics, openmetrics, prometheus_text};
