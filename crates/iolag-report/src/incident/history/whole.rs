//! All of it, in its order.

use super::report::IncidentHistory;
use crate::words::markdown::{OPEN, push};

/// Drafts the report.
pub fn incident_history_text(report: &IncidentHistory<'_>) -> String {
    let mut text = String::from("# Service incident report\n\n");
    report.push_head(&mut text);
    report.push_description(&mut text);
    report.push_time_line(&mut text);
    report.push_impact(&mut text);
    report.push_evidence(&mut text);
    report.push_analysis(&mut text);
    report.push_corrective_actions(&mut text);
    push_lessons(&mut text);
    report.push_measurements(&mut text);
    text
}

fn push_lessons(text: &mut String) {
    text.push_str("## Lessons learned\n\n");
    for place in
        ["What went well", "What did not go well", "What would have shown it sooner, or kept it shorter"]
    {
        push(text, format_args!("### {place}\n\n{OPEN}\n"));
    }
}
