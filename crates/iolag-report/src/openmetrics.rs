//! What a watch is doing and what its history has counted up to, for monitoring systems: OpenMetrics text, the older text of
//! Prometheus (for node_exporter's textfile collector), and protobuf with native histograms. docs/serve.md lists the names.
//!
//! Labels are `task` and `target`, `mount` and `type` of what only a target has, and `host` for what another host measured. No path but a target's name and mount point, no text of an event,
//! no process id: labels are for ever in a monitoring system.
//!
//! Invariants: the three forms have the same samples, none of them a timestamp; no two samples of a family have the same labels;
//! a name that cannot be said now (no watch runs, the history has not been read) is left out, not zero. Only whole tasks are shown.

mod collect;
mod family;
mod protobuf;
mod text;

use iolag_analysis::history::Tallies;
use iolag_model::{MonotonicTime, ProbeStatus, WallTime, WatchStatus};

use text::TextVersion;

/// What is known when somebody asks.
#[derive(Debug, Clone, Copy)]
pub struct Exposition<'a> {
    /// The host that answers; what others measured is labelled with theirs.
    pub host: &'a str,
    /// Version of iolag.
    pub iolag_version: &'a str,
    /// Now, by the monotonic clock of this boot.
    pub now: MonotonicTime,
    /// What the watch is doing, if one runs on this host.
    pub status: Option<&'a WatchStatus>,
    /// If none runs: the probes that the last one left behind and that are still there, as between two rounds of cron.
    pub left_behind: &'a [ProbeStatus],
    /// What the history has counted up to, if it has been read to its end once.
    pub tallies: Option<&'a Tallies>,
    /// When the history last answered, if it is read by who answers.
    pub history_read: Option<WallTime>,
}

/// A form of the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsForm {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// Prometheus' text 0.0.4.
    Prometheus,
    /// Prometheus' protobuf, each family after its length.
    Protobuf,
}

impl MetricsForm {
    /// All forms, the one with the most in it first.
    pub const ALL: [Self; 3] = [Self::Protobuf, Self::OpenMetrics, Self::Prometheus];

    /// The media type.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}

/// The metrics in a form.
pub fn metrics(exposition: &Exposition<'_>, form: MetricsForm) -> Vec<u8> {
    match form {
        MetricsForm::OpenMetrics => openmetrics(exposition).into_bytes(),
        MetricsForm::Prometheus => prometheus_text(exposition).into_bytes(),
        MetricsForm::Protobuf => protobuf::protobuf(&collect::families(exposition)),
    }
}

/// The metrics as OpenMetrics text.
pub fn openmetrics(exposition: &Exposition<'_>) -> String {
    text::text(&collect::families(exposition), TextVersion::OpenMetrics)
}

/// The metrics as Prometheus' older text.
pub fn prometheus_text(exposition: &Exposition<'_>) -> String {
    text::text(&collect::families(exposition), TextVersion::Prometheus)
}
