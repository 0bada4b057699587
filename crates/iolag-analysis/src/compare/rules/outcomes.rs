//! What became of rules.

use super::super::attempts::too_few;
use super::super::cells::{Matched, Row};
use super::super::pairing::{Scale, paired};
use super::super::refusing::CompareError;
use super::rule::{Beyond, FailRule, RuleJudgement, RuleOutcome};
use crate::finding::words::joined;
use crate::statistics::runs::difference::RunDifference;
use crate::statistics::runs::log_range::LogRange;
use crate::statistics::runs::table::{
    CampaignEnding, ComparedRuns, ComparedWord, RunCell, compare_runs, level_of,
};

/// Judges rules by the rows of a table, in all cells together: a family of their own.
///
/// # Errors
/// If a rule is of an operation that is in no row: it would be kept for ever.
pub(in crate::compare) fn outcomes(
    rules: &[FailRule],
    Matched { rows, alone }: &Matched,
    ending: CampaignEnding,
) -> Result<Vec<RuleOutcome>, CompareError> {
    let mut places = Vec::new();
    let mut cells = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let is_meant = |row: &Row| {
            rule.operation.is_none_or(|operation| row.key.measured() == operation.name())
                && has_value(row, rule)
        };
        // What only some sides have is told.
        if !rows.iter().chain(alone).any(is_meant) {
            return Err(no_row(rule, rows));
        }
        // Which are told as rows that are left out.
        let can_be_told = |row: &Row| too_few(row, rule.quantity).is_none();
        for (row, of_sides) in rows.iter().enumerate().filter(|(_, row)| is_meant(row) && can_be_told(row)) {
            for side in 1..of_sides.sides.len() {
                if let Some(paired) = paired(of_sides, [0, side], rule.quantity, Scale::Amount) {
                    places.push((at, row, side));
                    cells.push(paired.cell);
                }
            }
        }
    }
    let level = level_of(&cells, ending);
    let compared = compare_runs(&cells, 0.0, ending);
    let outcome =
        |((&(rule, row, side), cell), compared): ((&(usize, usize, usize), &RunCell), &ComparedRuns)| {
            RuleOutcome {
                rule,
                row,
                side,
                factor: compared.difference.as_ref().map_or(LogRange::UNKNOWN, RunDifference::estimate),
                interval: compared.interval,
                judgement: judgement(&rules[rule], cell, compared, level),
            }
        };
    Ok(places.iter().zip(&cells).zip(&compared).map(outcome).collect())
}

fn judgement(rule: &FailRule, cell: &RunCell, compared: &ComparedRuns, level: f64) -> RuleJudgement {
    let limit = rule.factor.ln();
    if let ComparedWord::TooFew { more } = compared.word {
        return RuleJudgement::CannotBeTold { more: Some(more) };
    }
    let interval = compared.interval.unwrap_or(LogRange::UNKNOWN);
    let (is_broken, is_kept) = match rule.beyond {
        Beyond::Above => (interval.low() > limit, interval.high() <= limit),
        Beyond::Below => (interval.high() < limit, interval.low() >= limit),
    };
    if is_broken {
        return RuleJudgement::Broken;
    }
    if is_kept {
        return RuleJudgement::Kept;
    }
    let more = compared.difference.as_ref().and_then(|difference| {
        let estimate = difference.estimate().known()?;
        difference.more_for((estimate - limit).abs() - cell.margin, level)
    });
    RuleJudgement::CannotBeTold { more }
}

/// Operations that take turns have one rate, in the row of one of them.
fn has_value(row: &Row, rule: &FailRule) -> bool {
    row.sides.iter().flatten().any(|entry| entry.amount(rule.quantity).is_some())
}

fn no_row(rule: &FailRule, rows: &[Row]) -> CompareError {
    let having = rows.iter().filter(|row| has_value(row, rule));
    let mut measured: Vec<String> = having.map(|row| row.key.measured().to_owned()).collect();
    measured.dedup();
    let known = match measured.is_empty() {
        true => format!("nothing in the table has a {}", rule.quantity),
        false => format!("the table has the {} of {}", rule.quantity, joined(measured)),
    };
    CompareError::Asked(format!("the rule '{}' is of no row: {known}", rule.text))
}
