//! What became of the rules, in sentences.

use iolag_analysis::compare::{Beyond, ComparedTable, RuleJudgement, RuleOutcome};

use super::between::times;

use super::cells::more_units;
use super::names::{RowNames, SideNames};

/// What became of a rule in a cell, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSentence {
    /// What became of it.
    pub judgement: RuleJudgement,
    /// As in `fails: read p95 of nfs is 1.31 [1.18–1.46] times that of native, more than 1.1`.
    pub sentence: String,
}

/// A sentence for each outcome, in their order.
pub fn rule_sentences(table: &ComparedTable) -> Vec<RuleSentence> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    table
        .outcomes
        .iter()
        .map(|outcome| RuleSentence {
            judgement: outcome.judgement,
            sentence: sentence(outcome, table, &names, &rows),
        })
        .collect()
}

fn sentence(outcome: &RuleOutcome, table: &ComparedTable, names: &SideNames, rows: &RowNames) -> String {
    let rule = table.rules.get(outcome.rule);
    let quantity = rule.map_or(table.quantity, |rule| rule.quantity);
    let (limit, beyond) = rule.map_or((1.0, Beyond::Above), |rule| (rule.factor, rule.beyond));
    let is = format!(
        "{} {quantity} of {} is {} times that of {}",
        rows.name(outcome.row),
        names.short(outcome.side),
        times(outcome.factor, outcome.interval),
        names.short(0)
    );
    let comparative = match beyond {
        Beyond::Above => "more",
        Beyond::Below => "less",
    };
    match (outcome.judgement, outcome.interval) {
        (RuleJudgement::Broken, _) => format!("fails: {is}, {comparative} than {limit}"),
        (RuleJudgement::Kept, _) => format!("kept: {is}, not {comparative} than {limit}"),
        (RuleJudgement::CannotBeTold { more: Some(more) }, None) => {
            format!(
                "cannot be told: {is}, which may be chance: {} of each side would be enough to judge",
                more_units(table.units, more)
            )
        }
        (RuleJudgement::CannotBeTold { more: Some(more) }, Some(_)) => {
            format!(
                "cannot be told: {is}, which may or may not be {comparative} than {limit}; about {} of each side would tell",
                more_units(table.units, more)
            )
        }
        (RuleJudgement::CannotBeTold { more: None }, _) => {
            format!("cannot be told: {is}, which may or may not be {comparative} than {limit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::hung_and_few;

    #[test]
    fn each_outcome_has_its_sentence() {
        let told: Vec<String> =
            rule_sentences(&hung_and_few()).into_iter().map(|told| told.sentence).collect();
        assert_eq!(
            told,
            [
                "fails: read rate of /home is 0.20 […–0.38] times that of /scratch, less than 0.9",
                "cannot be told: create rate of /home is 1.0 times that of /scratch, which may be chance: 3 more runs of each side would be enough to judge",
                "cannot be told: create rate of /home is 1.03 [0.87–1.20] times that of /scratch, which may or may not be less than 0.9; about 14 more runs of each side would tell",
                "kept: stat rate of /home is 1000 [900–1100] times that of /scratch, not less than 0.9",
            ]
        );
    }
}
