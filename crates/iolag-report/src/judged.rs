//! What was found out about a run, whichever command measured it.

use iolag_analysis::{CheckAnalysis, MetadataAnalysis, PingAnalysis};

/// What is measured and judged, as a document.
#[derive(Debug, Clone, Copy)]
pub enum Judged<'a> {
    /// Of `iolag check`.
    Check(&'a CheckAnalysis),
    /// Of `iolag bench metadata`.
    Metadata(&'a MetadataAnalysis),
    /// Of `iolag ping`.
    Ping(&'a PingAnalysis),
}
