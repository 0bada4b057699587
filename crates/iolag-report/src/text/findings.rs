//! Findings and doubts with their advice on a terminal.

use iolag_analysis::Severity;
use iolag_model::{Trust, one_line};

use super::table::{Colour, Tone, wrapped};
use crate::finding::in_words::FindingInWords;

const INDENT: &str = "      ";

/// Findings below a heading, each or several together with what to do next; nothing if there are none.
pub(crate) fn findings_text<K>(
    place: Option<&str>,
    findings: &[FindingInWords<K>],
    width: usize,
    colour: Colour,
) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let heading =
        place.map_or_else(|| "Findings".to_owned(), |place| format!("Findings in {}", one_line(place)));
    let mut text = format!("\n{}\n", colour.paint(Tone::Strong, &heading));
    let mut told: Vec<&str> = Vec::new();
    for finding in findings {
        if told.contains(&finding.advice.as_str()) {
            continue;
        }
        told.push(&finding.advice);
        // What leads to the same advice stands together, with the advice once.
        for finding in findings.iter().filter(|other| other.advice == finding.advice) {
            let tone = match finding.severity {
                Severity::Serious => Tone::Serious,
                Severity::Warning => Tone::Warning,
                Severity::Note => Tone::Plain,
            };
            let sentence = format!("  {}: {}", finding.severity, finding.sentence);
            text.push_str(&colour.paint(tone, &wrapped(&sentence, width, INDENT)));
            text.push('\n');
        }
        text.push_str(&wrapped(&format!("{INDENT}→ {}", finding.advice), width, &format!("{INDENT}  ")));
        text.push('\n');
    }
    text
}

/// What to know before trusting the numbers; nothing if there is no doubt.
pub fn trust_text(trust: &[Trust], width: usize, colour: Colour) -> String {
    if trust.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", colour.paint(Tone::Strong, "Before you trust the numbers"));
    for Trust { doubt, advice } in trust {
        text.push_str(&wrapped(&format!("  {doubt}"), width, INDENT));
        text.push('\n');
        text.push_str(&wrapped(&format!("{INDENT}→ {advice}"), width, &format!("{INDENT}  ")));
        text.push('\n');
    }
    text
}

/// What is to be known of nearly every result, in one paragraph at its foot; nothing without any.
pub fn footnotes_text(footnotes: &[String], width: usize, colour: Colour) -> String {
    if footnotes.is_empty() {
        return String::new();
    }
    let text = wrapped(&format!("To know: {}", footnotes.join(" ")), width, "  ");
    format!("\n{}\n", colour.paint(Tone::Faint, &text))
}
