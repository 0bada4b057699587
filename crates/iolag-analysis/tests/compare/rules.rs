//! Rules for scripts.

use iolag_analysis::compare::{
    CompareError, CompareOptions, ComparedTable, RuleJudgement, Side, compare_sides,
};
use iolag_analysis::{RunAmount, RunQuantity, Standing};
use iolag_model::Operation;

use crate::made_up::{known, nine, usual};

/// Nine runs with rates, and with durations that are the slower the lower these are.
fn with_p95(name: &str, factor: f64, scatter: f64) -> Side {
    let mut side = nine(name, &[(Operation::Stat, factor), (Operation::Read, factor)], scatter);
    for value in side.units.iter_mut().flat_map(|unit| &mut unit.values) {
        if let RunAmount::Known(rate) = value.amounts[0].1 {
            value.amounts.push((RunQuantity::P95, known(1e9 / rate)));
        }
    }
    side
}

fn judged(sides: Vec<Side>, rules: &[&str]) -> ComparedTable {
    let rules = rules.iter().map(|rule| rule.parse().expect("it is one")).collect();
    compare_sides(sides, &CompareOptions { rules, ..usual() }).expect("they can be compared")
}

fn judgements(table: &ComparedTable) -> Vec<(usize, usize, RuleJudgement)> {
    table.outcomes.iter().map(|outcome| (outcome.rule, outcome.row, outcome.judgement)).collect()
}

#[test]
fn a_rule_is_kept_broken_or_cannot_be_told() {
    use RuleJudgement::{Broken, Kept};
    // A quarter slower: rates are 0.75 times, durations 1.33 times those of the base.
    let sides = vec![with_p95("native", 1.0, 0.01), with_p95("nfs", 0.75, 0.012)];
    let rules = ["p95 > 1.1x", "read rate < 0.9x", "stat rate < 0.5x", "p95 > 150%"];
    let table = judged(sides, &rules);
    let expected = [(0, 0, Broken), (0, 1, Broken), (1, 1, Broken), (2, 0, Kept), (3, 0, Kept), (3, 1, Kept)];
    assert_eq!(judgements(&table), expected);
    assert_eq!(table.outcomes.iter().map(|outcome| outcome.side).collect::<Vec<_>>(), [1; 6]);
    // Of the value itself, not of speed.
    let factor = table.outcomes[0].factor.known().unwrap().exp();
    assert!((factor - 1.0 / 0.75).abs() < 0.01, "{factor}");
    assert!((table.outcomes[2].factor.known().unwrap().exp() - 0.75).abs() < 0.01);
    assert_eq!(table.rules.len(), 4);
}

#[test]
fn rules_are_a_family_of_their_own() {
    let width = |rules: &[&str]| {
        let table = judged(vec![with_p95("native", 1.0, 0.02), with_p95("nfs", 0.9, 0.03)], rules);
        let table_width = table.rows[0].cells[0].compared.interval.unwrap();
        let interval = table.outcomes[0].interval.unwrap();
        (interval.high() - interval.low(), table_width.high() - table_width.low())
    };
    let (one, three) = (width(&["stat rate < 0.5x"]), width(&["stat rate < 0.5x", "p95 > 2x"]));
    assert_eq!(one.1, three.1, "the table is not wider for rules");
    assert!(one.0 < one.1 && three.0 > one.1, "1, 2 and 3 cells: {one:?} {three:?}");
}

#[test]
fn what_cannot_be_told_says_how_many_more_runs_would_tell() {
    let more = |table: &ComparedTable| match table.outcomes[0].judgement {
        RuleJudgement::CannotBeTold { more } => more,
        other => panic!("{other:?}"),
    };
    // The interval of 0.92 reaches below 0.9.
    let table =
        judged(vec![with_p95("native", 1.0, 0.02), with_p95("nfs", 0.92, 0.06)], &["stat rate < 0.9x"]);
    let needed = more(&table).unwrap();
    assert!((1..200).contains(&needed), "{needed}");
    // With the estimate on the limit no number of runs would.
    let exact =
        judged(vec![with_p95("native", 1.0, 0.0), with_p95("nfs", 0.9, 0.06)], &["stat rate < 0.899x"]);
    assert!(more(&exact).is_none_or(|more| more > 200));
    // Too few runs a side.
    let few = |name: &str| {
        let mut side = with_p95(name, 1.0, 0.01);
        side.units.truncate(1);
        side
    };
    assert_eq!(more(&judged(vec![few("native"), few("nfs")], &["stat rate < 0.9x"])), Some(3));
    // Of bounds nobody knows.
    let mut hung = with_p95("nfs", 1.0, 0.01);
    for unit in &mut hung.units[..3] {
        unit.standing = Standing::Hung;
        unit.values[0].amounts[0].1 = RunAmount::AtMost(10.0);
    }
    assert_eq!(more(&judged(vec![with_p95("native", 1.0, 0.01), hung], &["stat rate < 0.9x"])), None);
}

#[test]
fn a_rule_of_no_row_is_refused_and_not_kept_for_ever() {
    let refused = |rule: &str| {
        let rules = vec![rule.parse().unwrap()];
        let sides = vec![with_p95("native", 1.0, 0.01), with_p95("nfs", 1.0, 0.01)];
        match compare_sides(sides, &CompareOptions { rules, ..usual() }) {
            Err(CompareError::Asked(sentence)) => sentence,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        refused("create rate < 0.9x"),
        "the rule 'create rate < 0.9x' is of no row: the table has the rate of stat and read"
    );
    assert_eq!(refused("median > 1.1x"), "no run says anything of median: choose rate and p95");
}

#[test]
fn a_rule_is_judged_where_there_is_such_a_value_and_nowhere_else() {
    // Operations that take turns have one rate.
    let side = |name: &str| {
        let mut side = with_p95(name, 1.0, 0.01);
        let values = side.units.iter_mut().flat_map(|unit| &mut unit.values);
        values.filter(|value| value.cell.operation == Operation::Read).for_each(|value| {
            value.amounts.remove(0);
        });
        side
    };
    let judge = |rule: &str| {
        let rules = vec![rule.parse().expect("it is one")];
        let options = CompareOptions { quantity: Some(RunQuantity::P95), rules, ..usual() };
        compare_sides(vec![side("native"), side("nfs")], &options)
    };
    let table = judge("rate < 0.5x").expect("they can be compared");
    assert_eq!(table.rows.len(), 2);
    assert_eq!(judgements(&table), [(0, 0, RuleJudgement::Kept)]);
    assert_eq!(
        judge("read rate < 0.5x").unwrap_err().to_string(),
        "the rule 'read rate < 0.5x' is of no row: the table has the rate of stat"
    );
}
