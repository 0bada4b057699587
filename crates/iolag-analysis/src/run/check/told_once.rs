//! What was found in several directories of a check is told once.
//!
//! Two findings are the same if their sentences differ in nothing but numbers, so that "also in" is true of every word. Findings
//! that lead to the same advice in several directories stand together, each with its directories, so that the advice stands once.

use super::analysis::{CheckAnalysis, DirectoryAnalysis};
use crate::finding::Finding;
use crate::finding::words::joined;

/// Findings as they are told.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldFindings<'a> {
    /// The only directory that they are about; absent if their sentences name their own.
    pub directory: Option<&'a str>,
    /// The gravest first.
    pub findings: Vec<Finding>,
}

impl CheckAnalysis {
    /// The findings of all directories, each told once: first what several have, then what only one has.
    pub fn told_findings(&self) -> Vec<ToldFindings<'_>> {
        let is_common = |finding: &Finding| {
            let has = |directory: &&DirectoryAnalysis| {
                directory.findings.iter().any(|other| other.advice == finding.advice)
            };
            self.directories.iter().filter(has).count() > 1
        };
        let mut alike: Vec<Vec<(&str, &Finding)>> = Vec::new();
        let mut told = Vec::new();
        for directory in &self.directories {
            let (common, own): (Vec<&Finding>, Vec<&Finding>) =
                directory.findings.iter().partition(|finding| is_common(finding));
            for finding in common {
                let sighting = (directory.name.as_str(), finding);
                match alike.iter_mut().find(|group| is_same(group[0].1, finding)) {
                    Some(group) => group.push(sighting),
                    None => alike.push(vec![sighting]),
                }
            }
            let findings = own.into_iter().cloned().collect();
            told.push(ToldFindings { directory: Some(&directory.name), findings });
        }
        let mut findings: Vec<Finding> = alike.into_iter().map(told_once).collect();
        findings.sort_by_key(|finding| finding.severity);
        told.insert(0, ToldFindings { directory: None, findings });
        told.retain(|told| !told.findings.is_empty());
        told
    }
}

/// The sentence of the worst directory, and where else it is so.
fn told_once(mut alike: Vec<(&str, &Finding)>) -> Finding {
    // Of equals the first stays first.
    alike.sort_by_key(|(_, finding)| (finding.severity, std::cmp::Reverse(finding.weight)));
    let (worst, finding) = alike[0];
    let others: Vec<String> = alike[1..].iter().map(|(directory, _)| (*directory).to_owned()).collect();
    let also = if others.is_empty() { String::new() } else { format!("; also in {}", joined(others)) };
    let sentence = format!("In {worst}: {}{also}.", finding.sentence.trim_end_matches('.'));
    Finding { sentence, ..finding.clone() }
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    one.advice == other.advice && words(&one.sentence).eq(words(&other.sentence))
}

/// A sentence without its numbers, their units, and what says that they are bounds.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    const OF_NUMBERS: [&str; 10] = ["ns", "µs", "ms", "s", "min", "h", "%", "at", "least", "under"];
    sentence
        .split(|character: char| character.is_whitespace() || ",;:()".contains(character))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty() && !OF_NUMBERS.iter().any(|of| of.eq_ignore_ascii_case(word)))
        .filter(|word| !word.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use crate::finding::run_kind::RunFindingKind;

    fn finding(sentence: &str, weight: f64) -> Finding {
        Finding::new(RunFindingKind::Slow, Severity::Warning, sentence.to_owned(), "Look.").weighing(weight)
    }

    #[test]
    fn sentences_that_differ_in_numbers_alone_are_the_same() {
        let same = |one: &str, other: &str| is_same(&finding(one, 0.0), &finding(other, 0.0));
        assert!(same(
            "12 of 400 `stat` (3.0 %) took over 1.00 s.",
            "1 of 9 999 `stat` (under 0.0001 %) took over 1.00 s."
        ));
        assert!(same("Closing takes 950 µs.", "Closing takes at least 1.20 ms."));
        assert!(!same("12 of 400 `stat` took over 1.00 s.", "12 of 400 `read` took over 1.00 s."));
        assert!(!same("1 of 2 `read` failed: not found.", "1 of 2 `read` failed: no space left."));
        assert!(!same("1 of 2 `stat` failed.", "1 of 2 `stat` failed; also `read`."));
    }

    #[test]
    fn the_worst_speaks_for_its_like() {
        let (mild, bad) = (finding("A stat takes 2.00 s.", 2.0), finding("A stat takes 9.00 s.", 9.0));
        let told = told_once(vec![("/a", &mild), ("/b", &bad), ("/c", &mild)]);
        assert_eq!(told.sentence, "In /b: A stat takes 9.00 s; also in /a and /c.");
        assert_eq!(told_once(vec![("/a", &mild)]).sentence, "In /a: A stat takes 2.00 s.");
    }
}
