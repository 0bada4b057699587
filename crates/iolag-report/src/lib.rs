//! Pure rendering: what iolag-analysis found out, as text, JSON, CSV, HTML and in the forms of md-workbench.
//!
//! Invariants: no I/O but through a writer of the caller, no clock, no look at the terminal (width and colour
//! are arguments), and no judgement of its own: every number and every finding comes from the analysis; its words are made here.

mod figure;
mod finding;
mod html;
mod incident;
mod machine;
mod text;
mod words;
mod workload;

pub use figure::{
    EcdfCurves, FigureError, FigureForm, FigureKind, FigurePreset, FigureSelection, FigureSize, FigureSource,
    HistorySelection, HourShown, PlottedHistory, SideCurve, TerminalSize, VECTOR_POINTS_MAX,
    draw_comparison_figure, draw_figure, draw_history_figure, side_curves, terminal_ecdf,
    terminal_history_ecdf, terminal_history_time_line, terminal_time_line,
};
#[cfg(feature = "typescript")]
pub use html::typescript;
pub use html::{
    ComparisonReport, HistoryReport, HtmlReport, LIVE_HISTORY_POLICY, LIVE_STYLE, ReportedRun, live_page,
    write_comparison_html, write_history_document, write_history_html, write_html, write_live_history_html,
};
pub use incident::{IncidentHistory, IncidentRun, incident_history_text, incident_text};
pub use machine::{
    Exposition, LIVE_SCHEMA, LatencyExport, LiveDocument, LiveHistory, LiveLast, LiveProbe, LiveReading,
    LiveSeries, LiveView, LiveWatch, LiveWatchState, MetricsForm, comparison_csv, comparison_markdown,
    live_document, metrics, openmetrics, phase_line, process_lines, prometheus_text, write_baselines_json,
    write_batches_json, write_command_explanation_json, write_comparison_json, write_copies_json, write_csv,
    write_explanation_json, write_history_json, write_json, write_latency_files, write_list_json,
    write_md_workbench, write_notes_json, write_recommendations_json,
};
pub use text::{
    BaselineContent, CampaignRun, Colour, HistoryHead, Tone, baseline_sentence, baselines_text, batches_text,
    campaign_text, command_explanation_text, comparison_text, copies_sentence, copies_text, explanation_text,
    footnotes_text, history_text, list_text, meanings_text, notes_text, recommendations_text, show_head,
    state_name, trust_text, watch_status_text, wrapped,
};
pub use words::comparison::{RuleSentence, rule_sentences};
pub use workload::command::shell_command;
pub use workload::{
    CheckRows, StreamRun, all_void_sentence, brief_text, check_text, common_text, coverage_refusal,
    metadata_text, ping_text, run_text, streams_text,
};
