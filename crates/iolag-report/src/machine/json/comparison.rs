//! A comparison as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use iolag_analysis::compare::{
    BetweenOthers, ComparedCell, ComparedRow, ComparedTable, LeftOut, MiddleOfRuns, Pairs, RowKey,
    RuleJudgement, SideProfile, SideValue,
};
use iolag_analysis::{LogRange, RunAmount, RunMethod, Standing};
use serde::Serialize;

use super::beside::{BesideDocument, BystanderDocument, beside, bystanders};
use super::doubts::{DoubtDocument, doubts, name};
use crate::words::comparison::cells::{more, raw_unit, raw_word, unit_names};
use crate::words::comparison::rules::{RuleSentence, rule_sentences};
use crate::words::percent::{raw_factor, raw_percent};

/// Raised when a reader would misread.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    schema: u32,
    /// Null where rows differ in it, as are the next two; each row has its own.
    workload: Option<&'a str>,
    value: Option<String>,
    unit: Option<&'static str>,
    /// What counts once: `runs` or `days`.
    units: &'static str,
    same_within: f64,
    base: &'a str,
    others: Vec<&'a str>,
    sides: Vec<SideDocument<'a>>,
    family: u32,
    design: Design,
    rows: Vec<RowDocument<'a>>,
    factors: Vec<BetweenDocument<'a>>,
    bystanders: Vec<BystanderDocument<'a>>,
    beside: Vec<BesideDocument<'a>>,
    doubts: Vec<DoubtDocument<'a>>,
    left_out: Vec<LeftOutDocument<'a>>,
    rules: Vec<RuleDocument<'a>>,
}

#[derive(Serialize)]
struct SideDocument<'a> {
    name: &'a str,
    runs: Vec<RunOfSide<'a>>,
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
}

#[derive(Serialize)]
struct RunOfSide<'a> {
    run: &'a str,
    standing: &'static str,
}

/// How runs were put side by side; null where cells differ.
#[derive(PartialEq, Serialize)]
struct Design {
    pairs: Option<u32>,
    order: Option<&'static str>,
    method: Option<RunMethod>,
}

#[derive(Serialize)]
struct KeyDocument<'a> {
    workload: &'a str,
    operation: &'static str,
    /// The task of a watch, with its part.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    phase: Option<String>,
    coordinates: &'a BTreeMap<String, String>,
    labels: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    #[serde(flatten)]
    key: KeyDocument<'a>,
    value: String,
    unit: &'static str,
    base: SideValueDocument<'a>,
    cells: Vec<CellDocument<'a>>,
}

#[derive(Serialize)]
struct SideValueDocument<'a> {
    runs: u32,
    bounded: u32,
    middle: Amount,
    amounts: Vec<RunAmountDocument<'a>>,
    /// Only where a side has servers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profile: Vec<ProfileDocument>,
}

/// A number of the runs of a side, beside that of others.
#[derive(Serialize)]
struct ProfileDocument {
    quantity: &'static str,
    runs: u32,
    bounded: u32,
    middle: f64,
    least: f64,
    most: f64,
}

#[derive(Serialize)]
struct RunAmountDocument<'a> {
    run: &'a str,
    #[serde(flatten)]
    amount: Amount,
}

/// One of four: an amount is never a bare number.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Amount {
    Known(f64),
    AtLeast(f64),
    AtMost(f64),
    Unknown {},
}

/// Ends that are open are null.
#[derive(Serialize)]
struct Ends {
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct CellDocument<'a> {
    other: &'a str,
    #[serde(flatten)]
    side: Option<SideValueDocument<'a>>,
    base_runs: u32,
    base_bounded: u32,
    base_middle: Amount,
    #[serde(flatten)]
    design: Design,
    percent: Option<f64>,
    /// Only where the percent are not known, but bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent_bounds: Option<Ends>,
    interval: Option<Ends>,
    interval_alone: Option<Ends>,
    factor: Option<f64>,
    #[serde(flatten)]
    judged: Judged,
    more_for_same: Option<u32>,
}

#[derive(Serialize)]
struct Judged {
    p: Option<f64>,
    p_adjusted: Option<f64>,
    word: &'static str,
    /// How many more runs of the side with fewer it takes to say anything.
    more: Option<u32>,
}

#[derive(Serialize)]
struct BetweenDocument<'a> {
    row: usize,
    slower: &'a str,
    faster: &'a str,
    factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor_bounds: Option<Ends>,
    interval: Option<Ends>,
    #[serde(flatten)]
    judged: Judged,
}

#[derive(Serialize)]
#[serde(untagged)]
enum LeftOutDocument<'a> {
    Side { side: &'a str },
    Unread { sentence: &'a str },
    Run { run: &'a str, side: &'a str, standing: &'static str },
    Row { row: KeyDocument<'a>, missing: Vec<&'a str> },
    FewAttempts { row: KeyDocument<'a>, value: String, attempts: Vec<Option<u64>> },
    Unpaired { row: KeyDocument<'a>, side: &'a str, against: &'a str, runs: &'a [String] },
}

#[derive(Serialize)]
struct RuleDocument<'a> {
    rule: &'a str,
    /// None of what the rule cannot be judged of, which is in no row.
    row: Option<usize>,
    other: Option<&'a str>,
    factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor_bounds: Option<Ends>,
    interval: Option<Ends>,
    outcome: &'static str,
    more: Option<u32>,
    sentence: String,
}

/// Writes a comparison as a document, indented, with a newline at the end; docs/json.md explains it.
///
/// # Errors
/// Those of the writer.
pub fn write_comparison_json(table: &ComparedTable, writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, &document(table))?;
    writer.write_all(b"\n")
}

fn document(table: &ComparedTable) -> Document<'_> {
    let names: Vec<&str> = table.sides.iter().map(|side| side.name.as_str()).collect();
    let sides = table.sides.iter().map(|side| SideDocument {
        name: &side.name,
        runs: side
            .runs
            .iter()
            .zip(&side.standings)
            .map(|(run, standing)| RunOfSide { run, standing: standing_name(*standing) })
            .collect(),
        begin_ns: side.span_ns.map(|[begin, _]| begin),
        end_ns: side.span_ns.map(|[_, end]| end),
    });
    Document {
        kind: "comparison",
        schema: SCHEMA,
        workload: match &table.workloads[..] {
            [only] => Some(&only.name),
            _ => None,
        },
        value: table.quantity().map(|quantity| quantity.to_string()),
        unit: table.quantity().map(raw_unit),
        units: unit_names(table.units)[1],
        same_within: table.same_within,
        base: name(&names, 0),
        others: names.iter().skip(1).copied().collect(),
        sides: sides.collect(),
        family: table.family,
        design: common_design(table),
        rows: table.rows.iter().map(|row| row_document(table, row)).collect(),
        factors: table.between.iter().map(|one| between(&names, one)).collect(),
        bystanders: bystanders(table, &names),
        beside: beside(table, &names),
        doubts: doubts(table, &names),
        left_out: table.left_out.iter().map(|one| left_out(&names, one)).collect(),
        rules: rules(table, &names),
    }
}

fn design(cell: &ComparedCell) -> Design {
    let (pairs, order) = match cell.pairs {
        Pairs::Blocks { blocks, order } => (Some(blocks), Some(order.name())),
        Pairs::Days { days } => (Some(days), None),
        Pairs::Apart => (None, None),
    };
    Design { pairs, order, method: cell.compared.difference.as_ref().map(|difference| difference.method()) }
}

fn common_design(table: &ComparedTable) -> Design {
    let mut designs = table.rows.iter().flat_map(|row| &row.cells).map(design);
    let mut common = designs.next().unwrap_or(Design { pairs: None, order: None, method: None });
    for one in designs {
        common.pairs = common.pairs.filter(|_| one.pairs == common.pairs);
        common.order = common.order.filter(|_| one.order == common.order);
        common.method = common.method.filter(|_| one.method == common.method);
    }
    common
}

fn key(key: &RowKey) -> KeyDocument<'_> {
    KeyDocument {
        workload: &key.workload,
        operation: key.cell.operation.name(),
        task: key.task.as_deref(),
        phase: key.cell.phase.map(|phase| phase.to_string()),
        coordinates: &key.coordinates,
        labels: &key.labels,
    }
}

fn row_document<'a>(table: &'a ComparedTable, row: &'a ComparedRow) -> RowDocument<'a> {
    let side = |side: usize| Some(side_value(&table.sides.get(side)?.runs, row.sides.get(side)?));
    let nothing = || SideValueDocument {
        runs: 0,
        bounded: 0,
        middle: Amount::Unknown {},
        amounts: Vec::new(),
        profile: Vec::new(),
    };
    let cells = (1..).zip(&row.cells).map(|(other, cell)| {
        let names: Vec<&str> = table.sides.iter().map(|side| side.name.as_str()).collect();
        cell_document(name(&names, other), side(other), cell)
    });
    RowDocument {
        key: key(&row.key),
        value: row.quantity.to_string(),
        unit: raw_unit(row.quantity),
        base: side(0).unwrap_or_else(nothing),
        cells: cells.collect(),
    }
}

fn side_value<'a>(runs: &'a [String], value: &SideValue) -> SideValueDocument<'a> {
    let of_run = |(run, known): &(usize, RunAmount)| RunAmountDocument {
        run: runs.get(*run).map_or("", String::as_str),
        amount: amount(*known),
    };
    SideValueDocument {
        runs: value.runs,
        bounded: value.bounded,
        middle: amount(value.middle),
        amounts: value.amounts.iter().map(of_run).collect(),
        profile: value.profile.iter().map(profile_document).collect(),
    }
}

fn profile_document(one: &SideProfile) -> ProfileDocument {
    let MiddleOfRuns { middle, least, most, runs } = one.of_runs;
    ProfileDocument { quantity: one.quantity.name(), runs, bounded: one.bounded, middle, least, most }
}

const fn amount(amount: RunAmount) -> Amount {
    match amount {
        RunAmount::Known(amount) => Amount::Known(amount),
        RunAmount::AtLeast(amount) => Amount::AtLeast(amount),
        RunAmount::AtMost(amount) => Amount::AtMost(amount),
        RunAmount::Open => Amount::Unknown {},
    }
}

fn ends(range: LogRange, of: fn(f64) -> Option<f64>) -> Ends {
    Ends { low: of(range.low()), high: of(range.high()) }
}

fn cell_document<'a>(
    other: &'a str,
    side: Option<SideValueDocument<'a>>,
    cell: &ComparedCell,
) -> CellDocument<'a> {
    let compared = &cell.compared;
    let estimate = compared.difference.as_ref().map(|difference| difference.estimate());
    let known = estimate.and_then(LogRange::known);
    let interval = |interval: Option<LogRange>| interval.map(|interval| ends(interval, raw_percent));
    CellDocument {
        other,
        side,
        base_runs: cell.runs[0],
        base_bounded: cell.bounded[0],
        base_middle: amount(cell.middles[0]),
        design: design(cell),
        percent: known.and_then(raw_percent),
        percent_bounds: interval(estimate.filter(|_| known.is_none())),
        interval: interval(compared.interval),
        interval_alone: interval(compared.interval_alone),
        factor: known.and_then(raw_factor),
        judged: judged(cell),
        more_for_same: compared.more_for_same,
    }
}

fn judged(cell: &ComparedCell) -> Judged {
    let compared = &cell.compared;
    let p = compared.interval.and(compared.difference.as_ref()).map(|difference| difference.p());
    Judged { p, p_adjusted: compared.p_adjusted, word: raw_word(cell), more: more(cell) }
}

fn between<'a>(names: &[&'a str], one: &BetweenOthers) -> BetweenDocument<'a> {
    let estimate = one.cell.compared.difference.as_ref().map(|difference| difference.estimate());
    let known = estimate.and_then(LogRange::known);
    let factors = |range: LogRange| ends(range, raw_factor);
    BetweenDocument {
        row: one.row,
        slower: name(names, one.sides[0]),
        faster: name(names, one.sides[1]),
        factor: known.and_then(raw_factor),
        factor_bounds: estimate.filter(|_| known.is_none()).map(factors),
        interval: one.cell.compared.interval.map(factors),
        judged: judged(&one.cell),
    }
}

const fn standing_name(standing: Standing) -> &'static str {
    match standing {
        Standing::Whole => "whole",
        Standing::Hung => "hung",
        Standing::Failed => "failed",
        Standing::BrokenOff => "broken-off",
        Standing::Running => "running",
        Standing::Unreached => "unreached",
        Standing::Void => "void",
    }
}

fn left_out<'a>(names: &[&'a str], one: &'a LeftOut) -> LeftOutDocument<'a> {
    match one {
        LeftOut::Side { side } => LeftOutDocument::Side { side: name(names, *side) },
        LeftOut::Unread { sentence } => LeftOutDocument::Unread { sentence },
        LeftOut::Run { side, run, standing } => {
            let standing = standing_name(*standing);
            LeftOutDocument::Run { run, side: name(names, *side), standing }
        }
        LeftOut::Row { key: row, missing } => LeftOutDocument::Row {
            row: key(row),
            missing: missing.iter().map(|side| name(names, *side)).collect(),
        },
        LeftOut::FewAttempts { key: row, quantity, attempts } => LeftOutDocument::FewAttempts {
            row: key(row),
            value: quantity.to_string(),
            attempts: attempts.clone(),
        },
        LeftOut::Unpaired { key: row, side, against, runs, .. } => LeftOutDocument::Unpaired {
            row: key(row),
            side: name(names, *side),
            against: name(names, *against),
            runs,
        },
    }
}

fn rules<'a>(table: &'a ComparedTable, names: &[&'a str]) -> Vec<RuleDocument<'a>> {
    let document = |(at, told): (usize, RuleSentence)| {
        let outcome = table.outcomes.get(at);
        let (word, more) = match told.judgement {
            RuleJudgement::Kept => ("kept", None),
            RuleJudgement::Broken => ("broken", None),
            RuleJudgement::CannotBeTold { more } => ("cannot-be-told", more),
        };
        let factor = outcome.map(|outcome| outcome.factor);
        let interval = outcome.and_then(|outcome| outcome.interval);
        RuleDocument {
            rule: table.rules.get(told.rule).map_or("", |rule| rule.text.as_str()),
            row: outcome.map(|outcome| outcome.row),
            other: outcome.map(|outcome| name(names, outcome.side)),
            factor: factor.and_then(LogRange::known).and_then(raw_factor),
            factor_bounds: factor.filter(|one| one.known().is_none()).map(|one| ends(one, raw_factor)),
            interval: interval.map(|interval| ends(interval, raw_factor)),
            outcome: word,
            more,
            sentence: told.sentence,
        }
    };
    rule_sentences(table).into_iter().enumerate().map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{hung_and_few, streams, study};

    fn json(table: &ComparedTable) -> String {
        let mut text = Vec::new();
        write_comparison_json(table, &mut text).expect("a Vec takes everything");
        String::from_utf8(text).expect("JSON is text")
    }

    #[test]
    fn what_a_rule_cannot_be_judged_of_is_an_entry_without_a_row() {
        let mut table = study();
        table.rules = vec!["read rate < 0.5x".parse().expect("a rule")];
        table.left_out = vec![LeftOut::Row { key: table.rows[0].key.clone(), missing: vec![2] }];
        let document: serde_json::Value = serde_json::from_str(&json(&table)).expect("JSON");
        let rule = &document["rules"][0];
        assert_eq!(
            (&rule["row"], &rule["other"]),
            (&serde_json::Value::Null, &serde_json::Value::Null),
            "{rule}"
        );
        assert_eq!(
            (&rule["rule"], &rule["outcome"]),
            (&"read rate < 0.5x".into(), &"cannot-be-told".into()),
            "{rule}"
        );
    }

    #[test]
    fn what_is_known_beside_the_speed_has_its_row_and_its_sides() {
        let document: serde_json::Value = serde_json::from_str(&json(&streams())).expect("JSON");
        let beside = document["beside"].as_array().expect("a list");
        let read = &beside[0];
        assert_eq!((&read["what"], &read["row"]), (&"processors".into(), &0.into()), "{read}");
        assert_eq!(read["of"].as_array().map(Vec::len), Some(2), "nothing of a side that has none: {read}");
        assert_eq!(read["of"][0]["is_at_processor_speed"], true, "{read}");
        let dropped = serde_json::json!({
            "side": "label:client=lnet-1.8.1", "runs": 9, "middle": 51e9, "least": 48e9, "most": 55e9
        });
        assert_eq!((&beside[2]["what"], &beside[2]["of"][1]), (&"caches-dropped".into(), &dropped));
    }

    #[test]
    fn a_comparison_has_both_intervals_and_the_method_of_each_cell() {
        insta::assert_snapshot!("comparison_json", json(&study()));
        insta::assert_snapshot!("comparison_json_hung", json(&hung_and_few()));
    }
}
