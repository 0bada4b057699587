//! Findings and doubts with their advice on a terminal.

use iolag_analysis::{Finding, Severity};
use iolag_model::{Trust, one_line};

use super::table::{Colour, Tone, wrapped};
use crate::finding::FindingInWords;

const INDENT: &str = "      ";

/// What is told of a finding.
pub(crate) struct FindingLine<'a> {
    severity: Severity,
    sentence: &'a str,
    advice: &'a str,
}

impl<'a> From<&'a Finding> for FindingLine<'a> {
    fn from(Finding { severity, sentence, advice, .. }: &'a Finding) -> Self {
        Self { severity: *severity, sentence, advice }
    }
}

impl<'a> From<&'a FindingInWords> for FindingLine<'a> {
    fn from(FindingInWords { severity, sentence, advice, .. }: &'a FindingInWords) -> Self {
        Self { severity: *severity, sentence, advice }
    }
}

/// Findings below a heading, each or several together with what to do next; nothing if there are none.
pub(crate) fn findings_text<'a>(
    place: Option<&str>,
    findings: impl IntoIterator<Item = impl Into<FindingLine<'a>>>,
    width: usize,
    colour: Colour,
) -> String {
    let findings: Vec<FindingLine<'_>> = findings.into_iter().map(Into::into).collect();
    if findings.is_empty() {
        return String::new();
    }
    let heading =
        place.map_or_else(|| "Findings".to_owned(), |place| format!("Findings in {}", one_line(place)));
    let mut text = format!("\n{}\n", colour.paint(Tone::Strong, &heading));
    let mut told: Vec<&str> = Vec::new();
    for finding in &findings {
        if told.contains(&finding.advice) {
            continue;
        }
        told.push(finding.advice);
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
