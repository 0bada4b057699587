//! Runs of copies as parts of their campaign: each in short, and once what is to be known of all.

use iolag_analysis::{RunAnalysis, RunFindingKind, whatever_analysis};
use iolag_model::{RunRecord, RunState, Trust, format_count, one_line};

use super::beside::sentence::beside_sentence;
use super::judged::judged;
use crate::finding::in_words::FindingInWords;
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::list::state_in_words;
use crate::text::table::{Colour, Tone, wrapped};

/// What a run of copies comes to, and what was found in it; nothing of another run, which is told whole.
pub fn brief_text(
    record: &RunRecord,
    analysis: &RunAnalysis,
    width: usize,
    colour: Colour,
) -> Option<String> {
    let (RunAnalysis::Replay(_) | RunAnalysis::SetUp(_)) = analysis else { return None };
    let judged = judged(analysis);
    let state = (record.state != RunState::Complete).then(|| one_line(&state_in_words(&record.state)));
    let sentences = state.into_iter().chain(judged.sentence()).chain(judged.beside().map(beside_sentence));
    let told: String = sentences.map(|sentence| format!("{}\n", wrapped(&sentence, width, "  "))).collect();
    let own: Vec<_> = judged.findings().into_iter().filter(|finding| !is_of_host(finding)).collect();
    Some(told + &findings_text(None, &own, width, colour))
}

/// What is found of the machine that measured is not of one of its runs alone.
fn is_of_host(finding: &FindingInWords<RunFindingKind>) -> bool {
    matches!(finding.kind, RunFindingKind::ProcessorsBusy | RunFindingKind::GeneratorBusy)
}

/// What is to be known of several runs, each thing once.
#[derive(Debug)]
pub(crate) struct InCommon {
    /// What was done, by name.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// What was found of the machine, each with how many runs have it, if not all do.
    pub(crate) findings: Vec<FindingInWords<RunFindingKind>>,
    /// Doubts, each with how many runs have it, if not all do.
    pub(crate) trust: Vec<Trust>,
    /// What is to be known of nearly every result, if it is the same of all.
    pub(crate) footnotes: Vec<String>,
}

impl InCommon {
    /// Of these runs.
    pub(crate) fn of(runs: &[(&RunRecord, &RunAnalysis)]) -> Self {
        let mut facts: Vec<(&str, String, Vec<String>)> = Vec::new();
        let mut findings: Vec<(FindingInWords<RunFindingKind>, usize)> = Vec::new();
        let mut trust: Vec<(Trust, usize)> = Vec::new();
        for (record, analysis) in runs {
            let place = one_line(record.place().unwrap_or_default());
            for (name, value) in judged(analysis).facts() {
                match facts.iter_mut().find(|known| (known.0, &known.1) == (name, &value)) {
                    Some((.., places)) if places.contains(&place) => {}
                    Some((.., places)) => places.push(place.clone()),
                    None => facts.push((name, value, vec![place.clone()])),
                }
            }
            for found in judged(analysis).findings().into_iter().filter(is_of_host) {
                match findings.iter_mut().find(|(known, _)| known.advice == found.advice) {
                    Some((_, count)) => *count += 1,
                    None => findings.push((found, 1)),
                }
            }
            for doubt in whatever_analysis!(analysis, it => &it.trust) {
                // Numbers differ from run to run; what to do about it does not.
                match trust.iter_mut().find(|(known, _)| known.advice == doubt.advice) {
                    Some((_, count)) => *count += 1,
                    None => trust.push((doubt.clone(), 1)),
                }
            }
        }
        let is_same = |(name, ..): &(&str, String, Vec<String>)| {
            facts.iter().filter(|(other, ..)| other == name).count() == 1
        };
        let told = |fact: &(&'static str, String, Vec<String>)| match is_same(fact) {
            true => (fact.0, fact.1.clone()),
            false => (fact.0, format!("In {}: {}", fact.2.join(", "), fact.1)),
        };
        let so_often = |count: usize| match count {
            all if all >= runs.len() => String::new(),
            some => {
                let [some, of] = [some, runs.len()].map(|count| format_count(count as u64));
                format!(" (so in {some} of {of} runs)")
            }
        };
        let found = |(mut found, count): (FindingInWords<RunFindingKind>, usize)| {
            found.sentence = format!("{}{}.", found.sentence.trim_end_matches('.'), so_often(count));
            found
        };
        let doubted = |(Trust { doubt, advice }, count): (Trust, usize)| Trust {
            doubt: format!("{doubt}{}", so_often(count)),
            advice,
        };
        Self {
            facts: facts.iter().map(told).collect(),
            findings: findings.into_iter().map(found).collect(),
            trust: trust.into_iter().map(doubted).collect(),
            footnotes: footnotes(runs),
        }
    }
}

fn footnotes(runs: &[(&RunRecord, &RunAnalysis)]) -> Vec<String> {
    let of = |(_, analysis): &(&RunRecord, &RunAnalysis)| judged(analysis).footnotes().to_vec();
    let Some(first) = runs.first().map(of) else { return Vec::new() };
    first.into_iter().filter(|note| runs.iter().all(|run| of(run).contains(note))).collect()
}

/// What is to be known of several runs, for a terminal; nothing of none.
pub fn common_text(runs: &[(&RunRecord, &RunAnalysis)], width: usize, colour: Colour) -> String {
    let InCommon { facts, findings, trust, footnotes } = InCommon::of(runs);
    let mut text = String::new();
    if !facts.is_empty() {
        text.push_str(&format!("\n{}\n", colour.paint(Tone::Strong, "What all runs have in common")));
    }
    for (name, value) in facts {
        text.push_str(&format!("{}\n", wrapped(&format!("{name}: {value}"), width, "  ")));
    }
    text.push_str(&findings_text(None, &findings, width, colour));
    text + &trust_text(&trust, width, colour) + &footnotes_text(&footnotes, width, colour)
}
