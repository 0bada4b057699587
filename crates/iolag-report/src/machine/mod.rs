//! What other programs read.

mod comparison_csv;
mod comparison_markdown;
mod csv;
pub(crate) mod json;
pub(crate) mod live;
mod md_workbench;
mod openmetrics;

pub use comparison_csv::comparison_csv;
pub use comparison_markdown::comparison_markdown;
pub use csv::write_csv;
pub use json::{
    write_baselines_json, write_batches_json, write_command_explanation_json, write_comparison_json,
    write_copies_json, write_explanation_json, write_history_json, write_json, write_list_json,
    write_notes_json, write_recommendations_json,
};
pub use live::{
    LIVE_SCHEMA, LiveDocument, LiveHistory, LiveLast, LiveProbe, LiveReading, LiveSeries, LiveView,
    LiveWatch, LiveWatchState, live_document,
};
pub use md_workbench::{LatencyExport, phase_line, process_lines, write_latency_files, write_md_workbench};
pub use openmetrics::{Exposition, MetricsForm, metrics, openmetrics, prometheus_text};
