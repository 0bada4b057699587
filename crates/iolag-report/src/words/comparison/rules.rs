//! What became of the rules, in sentences.

use std::collections::BTreeMap;

use iolag_analysis::compare::{Beyond, ComparedTable, FailRule, LeftOut, RowKey, RuleJudgement, RuleOutcome};
use iolag_analysis::{LogRange, RunQuantity};

use super::between::times;
use super::cells::{is_alone, more_units, unit_names};
use super::left_out::rows_together;
use super::names::{RowNames, SideNames};
use crate::words::percent::ends;

/// What became of a rule in a cell, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSentence {
    /// The rule, by its place.
    pub rule: usize,
    /// What became of it.
    pub judgement: RuleJudgement,
    /// As in `fails: read p95 of nfs is 1.31 [1.18–1.46] times that of native, more than 1.1x: slower`.
    pub sentence: String,
}

/// A sentence for each outcome, in their order, and then for each rule what it cannot be judged of, because not all sides have it.
pub fn rule_sentences(table: &ComparedTable) -> Vec<RuleSentence> {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    let judged = table.outcomes.iter().filter_map(|outcome| {
        let rule = table.rules.get(outcome.rule)?;
        let sentence = sentence(rule, outcome, table, &names, &rows);
        Some(RuleSentence { rule: outcome.rule, judgement: outcome.judgement, sentence })
    });
    let untold = table.rules.iter().enumerate().flat_map(|(rule, of)| {
        let judgement = RuleJudgement::CannotBeTold { more: None };
        not_judged(of, table, &names).into_iter().map(move |sentence| RuleSentence {
            rule,
            judgement,
            sentence,
        })
    });
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
            LeftOut::Side { .. }
            | LeftOut::Unread { .. }
            | LeftOut::Run { .. }
            | LeftOut::Unpaired { .. } => continue,
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

fn sentence(
    rule: &FailRule,
    outcome: &RuleOutcome,
    table: &ComparedTable,
    names: &SideNames,
    rows: &RowNames,
) -> String {
    let FailRule { quantity, factor: limit, beyond, .. } = *rule;
    let (row, side, base) = (rows.name(outcome.row), names.short(outcome.side), names.short(0));
    let cell = table.rows.get(outcome.row).and_then(|row| row.cells.get(outcome.side - 1));
    let is_known = ends(outcome.factor).iter().any(|end| end.is_finite());
    if !is_known && matches!(outcome.judgement, RuleJudgement::CannotBeTold { .. }) {
        let why = match cell.is_some_and(is_alone) {
            true => "they have no pairs",
            false => "their runs are only bounded",
        };
        return format!("cannot be told: {row} {quantity} of {side} by that of {base}, since {why}");
    }
    let is = if is_known {
        let times = times(outcome.factor, outcome.interval);
        format!("{row} {quantity} of {side} is {times} times that of {base}")
    } else {
        format!("{row} {quantity} of {side} by that of {base} is not known")
    };
    let comparative = match beyond {
        Beyond::Above => "more",
        Beyond::Below => "less",
    };
    match (outcome.judgement, outcome.interval) {
        (RuleJudgement::Broken, _) => {
            let direction = direction(outcome, quantity);
            format!("fails: {is}, {comparative} than {limit}x{direction}")
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

/// As in `: slower`, whichever way the rule looks; nothing where either may be.
fn direction(outcome: &RuleOutcome, quantity: RunQuantity) -> &'static str {
    let interval = outcome.interval.unwrap_or(LogRange::UNKNOWN);
    let is_more = match (interval.low() > 0.0, interval.high() < 0.0) {
        (true, _) => true,
        (_, true) => false,
        _ => return "",
    };
    if is_more == quantity.is_per_second() { ": faster" } else { ": slower" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{hung_and_few, study};
    use iolag_analysis::compare::ComparedWorkload;

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
        hung.outcomes[0].judgement = RuleJudgement::CannotBeTold { more: Some(4) };
        let open =
            "cannot be told: read rate of /home by that of /scratch, since their runs are only bounded";
        assert_eq!(told(&hung)[0], open);
        hung.rows[hung.outcomes[0].row].cells[0].runs = [0, 0];
        assert!(told(&hung)[0].ends_with("since they have no pairs"), "{:?}", told(&hung));
    }

    #[test]
    fn a_rule_of_rates_is_not_said_to_be_open_of_what_has_none() {
        let mut table = study();
        table.outcomes.clear();
        table.rules = vec!["rate < 0.9x".parse().unwrap()];
        let quantity = RunQuantity::Median;
        table.workloads.push(ComparedWorkload { name: "check".to_owned(), quantity });
        let told = |table: &ComparedTable| rule_sentences(table).len();
        assert_eq!(told(&table), 1);
        for left in &mut table.left_out {
            if let LeftOut::Row { key, .. } = left {
                key.workload = "check".to_owned();
            }
        }
        assert_eq!(told(&table), 0);
    }

    #[test]
    fn a_broken_rule_says_what_is_faster_and_not_what_it_asks_for() {
        let mut table = hung_and_few();
        let rule = |text: &str| text.parse().unwrap();
        let mut said = |text: &str, low: f64, high: f64| {
            table.rules[0] = rule(text);
            table.outcomes[0].factor = LogRange::exactly((low * high).sqrt().ln());
            table.outcomes[0].interval = Some(LogRange::between(low.ln(), high.ln()));
            let told = rule_sentences(&table).remove(0).sentence;
            told.rsplit_once("x").unwrap().1.to_owned()
        };
        assert_eq!(said("median < 3x", 1.9, 2.1), ": slower");
        assert_eq!(said("median > 0.1x", 0.4, 0.6), ": faster");
        assert_eq!(said("rate < 5x", 1.9, 2.1), ": faster");
        assert_eq!(said("rate < 5x", 0.9, 2.1), "");
    }
}
