//! Pure rendering: what iolag-analysis found out, as text, JSON, CSV, HTML and in the forms of md-workbench.
//!
//! Invariants: no I/O but through a writer of the caller, no clock, no look at the terminal (width and colour
//! are arguments), and no judgement of its own: every number and sentence comes from the analysis.

mod batches_text;
mod campaign_text;
mod check_text;
mod csv;
mod findings_text;
mod history_text;
mod html;
mod incident;
mod incident_history;
mod json;
mod list_text;
mod live;
mod markdown;
mod md_workbench;
mod metadata_text;
mod notes_text;
mod openmetrics;
mod ping_text;
mod plot;
mod sweep_table;
mod table;
mod watch_text;
mod words;

pub use batches_text::batches_text;
pub use campaign_text::{CampaignRun, campaign_text};
pub use check_text::{CheckRows, check_text};
pub use csv::write_csv;
pub use findings_text::{findings_text, footnotes_text, trust_text};
pub use history_text::{HistoryHead, history_text, write_history_json};
pub use html::{
    HistoryReport, HtmlReport, LIVE_HISTORY_POLICY, LIVE_STYLE, ReportedRun, live_page, shell_command,
    write_history_document, write_history_html, write_html, write_live_history_html,
};
pub use incident::{IncidentRun, incident_text};
pub use incident_history::{IncidentHistory, incident_history_text};
pub use json::{Judged, write_batches_json, write_json, write_list_json, write_notes_json};
pub use list_text::{list_text, show_head, state_name};
pub use live::{
    LIVE_SCHEMA, LiveDocument, LiveHistory, LiveLast, LiveProbe, LiveReading, LiveSeries, LiveView,
    LiveWatch, LiveWatchState, live_document,
};
pub use md_workbench::{LatencyExport, phase_line, process_lines, write_latency_files, write_md_workbench};
pub use metadata_text::metadata_text;
pub use notes_text::notes_text;
pub use openmetrics::{Exposition, MetricsForm, metrics, openmetrics, prometheus_text};
pub use ping_text::{ping_text, probes_in_words};
pub use plot::{
    PlotError, PlotForm, PlotKind, PlotSelection, PlotSize, TerminalSize, VECTOR_POINTS_MAX, plot,
    terminal_ecdf, terminal_time_line,
};
pub use table::{Colour, Tone, wrapped};
pub use watch_text::watch_status_text;
