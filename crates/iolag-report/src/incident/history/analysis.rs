//! What the measurements say of causes, and what is to be done.

use iolag_analysis::Severity;
use iolag_analysis::history::Association;
use iolag_model::{counted, format_count, format_duration};

use super::report::IncidentHistory;
use crate::finding::history::{each_finding_in_words, findings_in_words};
use crate::words::markdown::{OPEN, escape, push};

/// Notes are good to know; more are counted.
const NOTES_MOST: usize = 12;
/// Lines of advice.
const ADVICE_MOST: usize = 12;
/// Open rows of the table of actions.
const ACTIONS: usize = 3;

impl IncidentHistory<'_> {
    pub(super) fn push_analysis(&self, text: &mut String) {
        text.push_str("## Analysis\n\n");
        push(text, format_args!("{OPEN} (cause, and how it was found)\n"));
        if !self.analysis.findings.is_empty() {
            text.push_str("### What iolag found (moments in UTC)\n\n");
            self.push_findings(text);
        }
        if !self.analysis.associations.is_empty() {
            self.push_associations(text);
        }
    }

    fn push_findings(&self, text: &mut String) {
        let told = findings_in_words(self.analysis);
        let (notes, grave): (Vec<_>, Vec<_>) = told.iter().partition(|one| one.severity == Severity::Note);
        for finding in grave.iter().chain(notes.iter().take(NOTES_MOST)) {
            push(text, format_args!("- {}: {}", finding.severity, escape(&finding.sentence)));
        }
        if notes.len() > NOTES_MOST {
            push(
                text,
                format_args!(
                    "- {} shown by `iolag show history`.",
                    counted((notes.len() - NOTES_MOST) as u64, "more note is", "more notes are")
                ),
            );
        }
        text.push('\n');
    }

    fn push_associations(&self, text: &mut String) {
        text.push_str(
            "### Do bad times come with events?\n\nAssociation is not cause. Events of a kind near an episode, and how many would be near \
             one by chance.\n\n| kind | events | near an episode | by chance | p |\n|---|--:|--:|--:|--:|\n",
        );
        for one in &self.analysis.associations {
            push(text, format_args!("{}", association_row(one)));
        }
        if let Some(one) = self.analysis.associations.first() {
            push(
                text,
                format_args!(
                    "\nNear: at most {} before or after. p is adjusted for the number of kinds.\n",
                    format_duration(one.tolerance_ns)
                ),
            );
        }
    }

    pub(super) fn push_corrective_actions(&self, text: &mut String) {
        text.push_str(
            "## Corrective actions\n\n| action | responsible | until | ticket |\n|---|---|---|---|\n",
        );
        for _ in 0..ACTIONS {
            push(text, format_args!("| {OPEN} | {OPEN} | {OPEN} | {OPEN} |"));
        }
        text.push('\n');
        let mut advice: Vec<String> = Vec::new();
        for one in each_finding_in_words(self.analysis) {
            if one.severity != Severity::Note && !advice.contains(&one.advice) {
                advice.push(one.advice);
            }
        }
        if advice.is_empty() {
            return;
        }
        text.push_str("What the findings advise next:\n\n");
        for advice in advice.into_iter().take(ADVICE_MOST) {
            push(text, format_args!("- {}", escape(&advice)));
        }
        text.push('\n');
    }
}

fn association_row(one: &Association) -> String {
    let p = if one.p_adjusted < 0.001 { "<0.001".to_owned() } else { format!("{:.3}", one.p_adjusted) };
    format!(
        "| {} | {} | {} | {:.1} | {} |",
        escape(&one.kind),
        format_count(one.events),
        format_count(one.events_near),
        one.expected,
        escape(&p)
    )
}
