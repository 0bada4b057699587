//! Pure rendering: what iolag-analysis found out, as text, JSON, CSV, HTML and in the forms of md-workbench.
//!
//! Invariants: no I/O but through a writer of the caller, no clock, no look at the terminal (width and colour
//! are arguments), and no judgement of its own: every number and sentence comes from the analysis.

mod csv;
mod html;
mod incident;
mod incident_history;
mod json;
mod live;
mod machine;
mod markdown;
mod md_workbench;
mod openmetrics;
mod plot;
mod text;
mod words;

pub use csv::write_csv;
pub use html::{
    HistoryReport, HtmlReport, LIVE_HISTORY_POLICY, LIVE_STYLE, ReportedRun, live_page, shell_command,
    write_history_document, write_history_html, write_html, write_live_history_html,
};
pub use incident::{IncidentRun, incident_text};
pub use incident_history::{IncidentHistory, incident_history_text};
pub use json::{Judged, write_json, write_list_json};
pub use live::{
    LIVE_SCHEMA, LiveDocument, LiveHistory, LiveLast, LiveProbe, LiveReading, LiveSeries, LiveView,
    LiveWatch, LiveWatchState, live_document,
};
pub use machine::{write_batches_json, write_history_json, write_notes_json};
pub use md_workbench::{LatencyExport, phase_line, process_lines, write_latency_files, write_md_workbench};
pub use openmetrics::{Exposition, MetricsForm, metrics, openmetrics, prometheus_text};
pub use plot::{
    PlotError, PlotForm, PlotKind, PlotSelection, PlotSize, TerminalSize, VECTOR_POINTS_MAX, plot,
    terminal_ecdf, terminal_time_line,
};
pub use text::{
    CampaignRun, CheckRows, Colour, HistoryHead, Tone, batches_text, campaign_text, check_text,
    findings_text, footnotes_text, history_text, list_text, metadata_text, notes_text, ping_text, show_head,
    state_name, trust_text, watch_status_text, wrapped,
};
