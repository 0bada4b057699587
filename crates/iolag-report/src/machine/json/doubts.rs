//! The doubts of a comparison as JSON.

use iolag_analysis::compare::{ComparedTable, Doubt};
use serde::Serialize;

use crate::words::comparison::doubts::sentence;
use crate::words::comparison::names::SideNames;

#[derive(Serialize)]
pub(super) struct DoubtDocument<'a> {
    what: String,
    sentence: String,
    /// What is told of each side, in their order.
    of: Vec<SideFact<'a>>,
}

#[derive(Serialize)]
struct SideFact<'a> {
    side: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'a [String]>,
}

/// All of them, in their order.
pub(super) fn doubts<'a>(table: &'a ComparedTable, names: &[&'a str]) -> Vec<DoubtDocument<'a>> {
    let short = SideNames::of(table);
    let facts = |doubt: &'a Doubt| -> (String, Vec<SideFact<'a>>) {
        let of = |side: usize, values: Option<&'a [String]>| SideFact { side: name(names, side), values };
        match doubt {
            Doubt::Differs { fact, values } => (
                fact.to_string(),
                values.iter().enumerate().map(|(side, values)| of(side, Some(values))).collect(),
            ),
            Doubt::DifferentLabels { labels } => (
                "labels".to_owned(),
                labels.iter().enumerate().map(|(side, labels)| of(side, Some(labels))).collect(),
            ),
            Doubt::DifferentAttempts { attempts, .. } => {
                let known = attempts.iter().enumerate().filter(|(_, attempts)| attempts.is_some());
                ("attempts".to_owned(), known.map(|(side, _)| of(side, None)).collect())
            }
            Doubt::TakenUpAgain { .. } => ("taken-up-again".to_owned(), Vec::new()),
            Doubt::OneFileSystem { sides, device } => {
                let device = std::slice::from_ref(device);
                ("one-file-system".to_owned(), sides.iter().map(|side| of(*side, Some(device))).collect())
            }
            Doubt::OneDirectory { sides, directory } => {
                let directory = std::slice::from_ref(directory);
                ("one-directory".to_owned(), sides.iter().map(|side| of(*side, Some(directory))).collect())
            }
            Doubt::OneAfterTheOther { first, after, .. } => {
                ("one-after-the-other".to_owned(), vec![of(*first, None), of(*after, None)])
            }
            Doubt::DifferentPatterns { patterns } => {
                let patterns = patterns.iter().enumerate();
                (
                    "patterns".to_owned(),
                    patterns.map(|(side, pattern)| of(side, Some(std::slice::from_ref(pattern)))).collect(),
                )
            }
        }
    };
    let document = |doubt: &'a Doubt| {
        let (what, of) = facts(doubt);
        DoubtDocument { what, sentence: sentence(doubt, &short, table.units), of }
    };
    table.doubts.iter().map(document).collect()
}

/// Of a side.
pub(super) fn name<'a>(names: &[&'a str], side: usize) -> &'a str {
    names.get(side).copied().unwrap_or_default()
}
