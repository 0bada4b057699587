//! What is said of a comparison: the same words in text, Markdown and pages.

use iolag_analysis::compare::{ComparedTable, RuleJudgement};

/// What became of a rule in a cell, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSentence {
    /// What became of it.
    pub judgement: RuleJudgement,
    /// As in `fails: read p95 of nfs is 1.31 [1.18–1.46] times that of native, more than 1.1`.
    pub sentence: String,
}

/// A sentence for each outcome, in their order.
pub fn rule_sentences(_table: &ComparedTable) -> Vec<RuleSentence> {
    Vec::new()
}
