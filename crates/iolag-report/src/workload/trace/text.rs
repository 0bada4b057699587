//! What `iolag trace` ends with, and `iolag show` of a trace.

use iolag_analysis::TraceAnalysis;
use iolag_model::{TraceSummary, counted};

use crate::text::findings::trust_text;
use crate::text::table::{Colour, wrapped};

/// What a program asked, for a terminal of `width` columns.
pub(super) fn trace_text(analysis: &TraceAnalysis, width: usize, colour: Colour) -> String {
    let mut text = wrapped(&in_a_sentence(&analysis.summary), width, "") + "\n";
    for remark in &analysis.remarks {
        text.push_str(&format!("\n{}\n", wrapped(remark, width, "  ")));
    }
    text + &trust_text(&analysis.trust, width, colour)
}

/// `2 523 calls of 3 processes; 108 failed.`
pub(super) fn in_a_sentence(summary: &TraceSummary) -> String {
    if summary.calls == 0 {
        return "No call on files was seen.".to_owned();
    }
    let calls = counted(summary.calls, "call", "calls");
    let processes = counted(summary.processes, "process", "processes");
    format!("{calls} of {processes}; {} failed.", counted(summary.errors, "call", "calls"))
}
