//! docs/flaky.md: what failed and then passed twice, so that it is mended and not forgotten.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use super::run::{Outcome, Verdict};

const PAGE: &str = "docs/flaky.md";
const MOST_LINES: usize = 60;

/// Writes each flaky test with its output to the page below `root`; its cause is for people to find. `circumstances` say on what
/// machine, at which load and with which seed it was.
pub fn record<'a>(root: &Path, flaky: impl Iterator<Item = &'a Outcome>, circumstances: &str) -> Result<()> {
    let text: String = flaky.map(|outcome| entry(outcome, circumstances)).collect();
    if text.is_empty() {
        return Ok(());
    }
    let path = root.join(PAGE);
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut page| page.write_all(text.as_bytes()))
        .with_context(|| format!("writing {}", path.display()))
}

fn entry(outcome: &Outcome, circumstances: &str) -> String {
    let Verdict::Flaky(failure) = &outcome.verdict else { return String::new() };
    let lines: Vec<&str> = failure.output.trim_end().lines().collect();
    let shown = &lines[lines.len().saturating_sub(MOST_LINES)..];
    let mut text = format!("\n## {}\n\n{}: {}.\n\n", outcome.name, circumstances, failure.why);
    text.push_str("Cause: not found yet.\n\n");
    for line in shown {
        // Indented, so that nothing that a test prints ends the block.
        let _ = writeln!(text, "    {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::run::Failure;
    use super::*;

    fn outcome(verdict: Verdict) -> Outcome {
        Outcome {
            name: "iolag::lib::a".to_owned(),
            program: "iolag::lib".to_owned(),
            verdict,
            duration: Duration::ZERO,
            left: Vec::new(),
        }
    }

    #[test]
    fn a_flaky_test_is_written_below_what_the_page_says_and_others_are_not() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        let page = root.path().join(PAGE);
        std::fs::write(&page, "# Flaky tests\n").unwrap();
        let output = (0..100).map(|number| format!("line {number}\n")).collect();
        let failure = Failure { why: "exit code 101".to_owned(), output };
        let outcomes = [outcome(Verdict::Passed), outcome(Verdict::Flaky(failure))];
        record(root.path(), outcomes.iter(), "2 x CPU, load 1.5, seed 7").unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        let head = "# Flaky tests\n\n## iolag::lib::a\n\n2 x CPU, load 1.5, seed 7: exit code 101.\n\nCause: not found yet.\n\n    line 40\n";
        assert!(text.starts_with(head), "{text}");
        assert!(text.ends_with("    line 99\n"), "{text}");
    }
}
