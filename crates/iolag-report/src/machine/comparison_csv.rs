//! A comparison as CSV (RFC 4180): a line for each cell.
//!
//! `value` is what is compared, `unit` that of `base_middle` and `other_middle`, which are empty where runs are only bounded. `percent`, `low`, `high`
//! and `factor` are of speed: positive percent are faster. An end that is open is empty; so is all that needs more runs than there are, of
//! which `more` says how many. `base_bounded` and `other_bounded` are those of which only a bound is known. The last six are bounds: of a
//! middle or of percent that are not known, the least or the most that they may be. Where something is known beside the speed, further columns
//! have the middles of processor time (1 is one processor all the time) and of the time that dropping or filling caches took, in ns.

use std::collections::BTreeMap;

use iolag_analysis::compare::{Beside, ComparedCell, ComparedRow, ComparedTable, Pairs};
use iolag_analysis::{LogRange, RunAmount};

use super::csv::{optional, quoted};
use crate::words::comparison::cells::{more, raw_unit, raw_word};
use crate::words::comparison::names::{RowNames, plain};
use crate::words::percent::{raw_factor, raw_percent};

const HEADER: &str = "row,workload,operation,phase,coordinates,labels,base,other,value,unit,base_runs,other_runs,pairs,base_middle,other_middle,percent,low,high,factor,\
                      p,p_adjusted,word,more,base_bounded,other_bounded,\
                      base_least,base_most,other_least,other_most,percent_least,percent_most";

/// What follows where any of it is known.
const BESIDE: &str = ",base_processors,other_processors,base_caches_ns,other_caches_ns";

/// Names in the first line, then a line for each other side of each row.
pub fn comparison_csv(table: &ComparedTable) -> String {
    let rows = RowNames::of(table);
    let mut text = format!("{HEADER}{}\n", if table.beside.is_empty() { "" } else { BESIDE });
    for (index, row) in table.rows.iter().enumerate() {
        for (other, cell) in (1..).zip(&row.cells) {
            let mut fields = vec![quoted(rows.name(index))];
            fields.extend(of_row(table, row, other).map(|text| quoted(&text)));
            fields.extend(of_cell(cell));
            fields.extend(if table.beside.is_empty() { Vec::new() } else { beside(table, index, other) });
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

fn of_row(table: &ComparedTable, row: &ComparedRow, other: usize) -> [String; 9] {
    let side = |side: usize| table.sides.get(side).map_or_else(String::new, |side| plain(&side.name));
    [
        plain(&row.key.workload),
        row.key.cell.operation.name().to_owned(),
        optional(row.key.cell.phase),
        pairs_of(&row.key.coordinates),
        pairs_of(&row.key.labels),
        side(0),
        side(other),
        row.quantity.to_string(),
        raw_unit(row.quantity).to_owned(),
    ]
}

/// Numbers and words of ours.
fn of_cell(cell: &ComparedCell) -> Vec<String> {
    let middle = |side: usize| match cell.middles[side] {
        RunAmount::Known(amount) => format!("{amount:?}"),
        _ => String::new(),
    };
    let pairs = match cell.pairs {
        Pairs::Blocks { blocks, .. } | Pairs::Days { days: blocks } => Some(blocks),
        Pairs::Apart => None,
    };
    let compared = &cell.compared;
    let number = |number: Option<f64>| number.map(|number| format!("{number:?}")).unwrap_or_default();
    let estimate = compared.difference.as_ref().and_then(|difference| difference.estimate().known());
    let end = |of: fn(LogRange) -> f64| number(compared.interval.map(of).and_then(raw_percent));
    let mut fields = vec![
        cell.runs[0].to_string(),
        cell.runs[1].to_string(),
        optional(pairs),
        middle(0),
        middle(1),
        number(estimate.and_then(raw_percent)),
        end(LogRange::low),
        end(LogRange::high),
        number(estimate.and_then(raw_factor)),
        number(compared.interval.and(compared.difference.as_ref()).map(|difference| difference.p())),
        number(compared.p_adjusted),
        raw_word(cell).to_owned(),
        optional(more(cell)),
        cell.bounded[0].to_string(),
        cell.bounded[1].to_string(),
    ];
    for middle in cell.middles {
        let [least, most] = match middle {
            RunAmount::AtLeast(least) => [Some(least), None],
            RunAmount::AtMost(most) => [None, Some(most)],
            RunAmount::Known(_) | RunAmount::Open => [None, None],
        };
        fields.extend([number(least), number(most)]);
    }
    let bounds = compared.difference.as_ref().map(|difference| difference.estimate());
    let bounds = bounds.filter(|bounds| bounds.known().is_none());
    fields.extend([LogRange::low, LogRange::high].map(|of| number(bounds.map(of).and_then(raw_percent))));
    fields
}

fn beside(table: &ComparedTable, row: usize, other: usize) -> Vec<String> {
    let middle = |is_meant: &dyn Fn(&Beside) -> bool, side: usize| {
        let meant = table.beside.iter().filter(|one| is_meant(&one.what));
        let known = meant.filter_map(|one| *one.sides.get(side)?).next();
        known.map(|known| format!("{:?}", known.middle)).unwrap_or_default()
    };
    let is_of_row = |what: &Beside| matches!(what, Beside::Processors { row: own, .. } if *own == row);
    let is_of_caches = |what: &Beside| matches!(what, Beside::Caches(_));
    let both = |is_meant: &dyn Fn(&Beside) -> bool| [0, other].map(|side| middle(is_meant, side));
    [both(&is_of_row), both(&is_of_caches)].concat()
}

/// As in `clients=4 target=/home`.
fn pairs_of(parts: &BTreeMap<String, String>) -> String {
    parts.iter().map(|(name, value)| plain(&format!("{name}={value}"))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{bad_names, hung_and_few, streams, study};

    #[test]
    fn what_is_known_beside_the_speed_is_in_the_last_columns() {
        let csv = comparison_csv(&streams());
        let ends: Vec<Vec<&str>> = csv.lines().map(|line| line.rsplitn(5, ',').take(4).collect()).collect();
        assert_eq!(ends[0], ["other_caches_ns", "base_caches_ns", "other_processors", "base_processors"]);
        assert_eq!(ends[1], ["51000000000.0", "2000000000.0", "0.6", "1.0"]);
        assert_eq!(ends[2], ["22000000000.0", "2000000000.0", "", "1.0"], "none of a side that has none");
        assert_eq!(ends[3][2..], ["0.75", "1.0"]);
    }

    #[test]
    fn rows_of_several_workloads_say_of_which_they_are() {
        let mut table = study();
        table.rows[1].key.workload = "stream".to_owned();
        let csv = comparison_csv(&table);
        let place = csv.lines().next().unwrap().split(',').position(|name| name == "workload").unwrap();
        let rows = csv.lines().skip(1).filter(|line| !line.contains('"'));
        let workloads: Vec<&str> = rows.map(|line| line.split(',').nth(place).unwrap()).collect();
        assert_eq!(workloads, ["metadata", "metadata", "stream", "stream", "metadata", "metadata"]);
    }

    #[test]
    fn a_line_is_a_cell() {
        insta::assert_snapshot!(
            "comparison_csv",
            comparison_csv(&study()) + &comparison_csv(&hung_and_few())
        );
    }

    #[test]
    fn names_stay_in_their_fields() {
        let csv = comparison_csv(&bad_names());
        assert_eq!(csv.lines().count(), 1 + 2 * 3, "{csv}");
        assert!(csv.contains("\"read, <b>=a\"\"|\u{fffd},b\""), "{csv}");
        assert!(!csv.contains('−'));
    }

    #[test]
    fn names_are_no_formulas_and_numbers_keep_their_signs() {
        let mut table = study();
        table.sides[0].name = "=cmd()".to_owned();
        table.sides[2].name = "-nfs".to_owned();
        table.rows[0].key.labels = [("@a".to_owned(), "+b".to_owned())].into();
        let csv = comparison_csv(&table);
        let fields: Vec<&str> = csv.lines().skip(1).flat_map(|line| line.split(',')).collect();
        for text in ["'=cmd()", "'-nfs", "'@a=+b"] {
            assert!(fields.contains(&text), "{text}: {csv}");
        }
        let signed: Vec<&&str> =
            fields.iter().filter(|field| field.starts_with(['=', '+', '-', '@'])).collect();
        assert!(!signed.is_empty() && signed.iter().all(|field| field.parse::<f64>().is_ok()), "{signed:?}");
    }
}
