//! The forms, and which of them has which media type.

use super::collect::families;
use super::exposition::Exposition;
use super::protobuf::protobuf;
use super::text::{TextVersion, text};

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
        MetricsForm::Protobuf => protobuf(&families(exposition)),
    }
}

/// The metrics as OpenMetrics text.
pub fn openmetrics(exposition: &Exposition<'_>) -> String {
    text(&families(exposition), TextVersion::OpenMetrics)
}

/// The metrics as Prometheus' older text.
pub fn prometheus_text(exposition: &Exposition<'_>) -> String {
    text(&families(exposition), TextVersion::Prometheus)
}
