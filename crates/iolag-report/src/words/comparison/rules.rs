//! What became of the rules, in sentences.

use std::collections::BTreeMap;

use iolag_analysis::RunQuantity;
use iolag_analysis::compare::{Beyond, ComparedTable, FailRule, LeftOut, RowKey, RuleJudgement, RuleOutcome};

use super::between::times;
use super::cells::{more_units, unit_names};
use super::left_out::rows_together;
use super::names::{RowNames, SideNames};
use crate::words::percent::ends;

/// What became of a rule in a cell, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSentence {
    /// What became of it.
    pub judgement: RuleJudgement,
    /// As in `fails: read p95 of nfs is 1.31 [1.18–1.46] times that of native, more than 1.1x: slower`.
    pub sentence: String,
}

/// A sentence for each outcome, in their order, and then for each rule what it cannot be judged of, because not all sides have it.
pub fn rule_sentences(table: &ComparedTable) -> Vec<RuleSentence> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    let judged = table.outcomes.iter().map(|outcome| RuleSentence {
        judgement: outcome.judgement,
        sentence: sentence(outcome, table, &names, &rows),
    });
    let untold = table.rules.iter().flat_map(|rule| not_judged(rule, table, &names));
    let untold = untold
        .map(|sentence| RuleSentence { judgement: RuleJudgement::CannotBeTold { more: None }, sentence });
    judged.chain(untold).collect()
}

/// As in `cannot be told: p95 > 1.1x of stat, 1 client; read, 1 client, of which native has no run`.
fn not_judged(rule: &FailRule, table: &ComparedTable, names: &SideNames) -> Vec<String> {
    let [one, several] = unit_names(table.units);
    let mut rows: BTreeMap<String, Vec<&RowKey>> = BTreeMap::new();
    for left_out in table.not_judged(rule) {
        let (why, key) = match left_out {
            LeftOut::Row { key, missing } => {
                let has = if missing.len() == 1 { "has" } else { "have" };
                (format!("{} {has} no {one}", names.list(missing)), key)
            }
            LeftOut::FewAttempts { key, .. } => (format!("{several} have too few attempts"), key),
            LeftOut::Side { .. } | LeftOut::Run { .. } | LeftOut::Unpaired { .. } => continue,
        };
        rows.entry(why).or_default().push(key);
    }
    let of_rows = rows.into_iter().map(|(why, rows)| format!("{}, of which {why}", rows_together(rows)));
    let silent = table.silent();
    let of_sides = (!silent.is_empty()).then(|| {
        format!("{}, which {} no {one}", names.list(&silent), if silent.len() == 1 { "has" } else { "have" })
    });
    of_rows.chain(of_sides).map(|what| format!("cannot be told: {} of {what}", rule.text)).collect()
}

fn sentence(outcome: &RuleOutcome, table: &ComparedTable, names: &SideNames, rows: &RowNames) -> String {
    let rule = table.rules.get(outcome.rule);
    let quantity = rule.map_or(table.quantity, |rule| rule.quantity);
    let (limit, beyond) = rule.map_or((1.0, Beyond::Above), |rule| (rule.factor, rule.beyond));
    let (row, side, base) = (rows.name(outcome.row), names.short(outcome.side), names.short(0));
    let is = if ends(outcome.factor).iter().any(|end| end.is_finite()) {
        let times = times(outcome.factor, outcome.interval);
        format!("{row} {quantity} of {side} is {times} times that of {base}")
    } else {
        format!("{row} {quantity} of {side} by that of {base} is open, since runs are only bounded")
    };
    let comparative = match beyond {
        Beyond::Above => "more",
        Beyond::Below => "less",
    };
    match (outcome.judgement, outcome.interval) {
        (RuleJudgement::Broken, _) => {
            let is_faster = (quantity == RunQuantity::Rate) == (beyond == Beyond::Above);
            let direction = if is_faster { "faster" } else { "slower" };
            format!("fails: {is}, {comparative} than {limit}x: {direction}")
        }
        (RuleJudgement::Kept, _) => format!("kept: {is}, not {comparative} than {limit}x"),
        (RuleJudgement::CannotBeTold { more: Some(more) }, None) => {
            format!(
                "cannot be told: {is}, which may be chance: {} of each side would be enough to judge",
                more_units(table.units, more)
            )
        }
        (RuleJudgement::CannotBeTold { more: Some(more) }, Some(_)) => {
            format!(
                "cannot be told: {is}, which may or may not be {comparative} than {limit}x; about {} of each side would tell",
                more_units(table.units, more)
            )
        }
        (RuleJudgement::CannotBeTold { more: None }, _) => {
            format!("cannot be told: {is}, which may or may not be {comparative} than {limit}x")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::LogRange;

    use crate::words::comparison::samples::{hung_and_few, study};

    #[test]
    fn each_outcome_has_its_sentence() {
        let told: Vec<String> =
            rule_sentences(&hung_and_few()).into_iter().map(|told| told.sentence).collect();
        assert_eq!(
            told,
            [
                "fails: read rate of /home is 0.20 […–0.38] times that of /scratch, less than 0.9x: slower",
                "cannot be told: create rate of /home is 1.0 times that of /scratch, which may be chance: 3 more runs of each side would be enough to judge",
                "cannot be told: create rate of /home is 1.03 [0.87–1.20] times that of /scratch, which may or may not be less than 0.9x; about 14 more runs of each side would tell",
                "kept: stat rate of /home is 1000 [900–1100] times that of /scratch, not less than 0.9x",
            ]
        );
    }

    #[test]
    fn what_not_all_sides_have_is_told_with_its_rule_and_what_is_open_without_a_factor() {
        let mut table = study();
        table.outcomes.clear();
        table.rules = vec!["rate < 0.9x".parse().unwrap(), "stat rate < 0.9x".parse().unwrap()];
        let told = |table: &ComparedTable| -> Vec<String> {
            rule_sentences(table).into_iter().map(|told| told.sentence).collect()
        };
        assert_eq!(
            told(&table),
            ["cannot be told: rate < 0.9x of delete, 4 clients, of which nfs has no run"]
        );
        table.sides[2].runs.clear();
        table.left_out.clear();
        assert_eq!(told(&table)[1], "cannot be told: stat rate < 0.9x of nfs, which has no run");
        let mut hung = hung_and_few();
        hung.outcomes[0].factor = LogRange::UNKNOWN;
        hung.outcomes[0].interval = None;
        let open = "read rate of /home by that of /scratch is open, since runs are only bounded";
        assert!(told(&hung)[0].contains(open), "{:?}", told(&hung));
    }
}
