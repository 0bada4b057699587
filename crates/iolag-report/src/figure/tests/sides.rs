//! Figures of comparisons.

use insta::assert_snapshot;

use super::structure;
use crate::figure::of_sides::curves::SideCurve;
use crate::figure::{
    FigureError, FigureForm, FigureKind, FigureSize, VECTOR_POINTS_MAX, comparison_figures,
    draw_comparison_figure,
};
use crate::words::comparison::samples::{around, bad_names, hung_and_few, of_rows, study, table_of};
use iolag_analysis::compare::ComparedTable;
use iolag_model::Operation;

/// What texts take.
const GLYPHS: usize = 10_000;
const PAPER: FigureSize = FigureSize::Millimetres { width: 160.0, height: 100.0 };

fn svg(table: &ComparedTable, size: FigureSize) -> String {
    let drawn = draw_comparison_figure(FigureKind::Compare, table, size, FigureForm::Svg).unwrap();
    String::from_utf8(drawn).unwrap()
}

#[test]
fn percent_of_1_8_and_40_rows() {
    for rows in [1, 8, 40] {
        assert_snapshot!(format!("sides_{rows}"), structure(&svg(&of_rows(rows), PAPER)));
    }
    assert_snapshot!("sides_study", structure(&svg(&study(), FigureSize::PAPER_COLUMN)));
}

#[test]
fn open_ends_are_arrows_and_few_runs_a_cross() {
    let svg = svg(&hung_and_few(), PAPER);
    assert_snapshot!("sides_hung", structure(&svg));
    assert!(svg.contains("aria-label=\"←\""));
    assert!(svg.contains("A cross: too few runs for an interval."));
}

#[test]
fn what_does_not_fit_is_said() {
    let svg = svg(&of_rows(40), PAPER);
    let said = regex::Regex::new("([0-9]+) more rows do not fit").unwrap();
    let left_out: usize = said.captures(&svg).unwrap()[1].parse().unwrap();
    let drawn = (1..=40).filter(|clients| svg.contains(&format!("read, {clients} client"))).count();
    assert!(drawn >= 10 && drawn + left_out == 40, "{drawn} {left_out}");
}

#[test]
fn names_stay_text_and_nothing_is_no_error() {
    let svg_of = |table: &ComparedTable| svg(table, PAPER);
    let bad = svg_of(&bad_names());
    assert!(!bad.contains("<script") && !bad.contains('\u{1b}') && bad.contains("&lt;script&gt;"));
    assert!(svg_of(&table_of(&["a", "b"], &[])).contains("There is nothing to draw"));
    let other = draw_comparison_figure(FigureKind::Ecdf, &study(), PAPER, FigureForm::Svg);
    assert!(matches!(other, Err(FigureError::KindOfOther { .. })));
}

/// Curves of each run of each side, a little apart.
fn curves(table: &ComparedTable) -> Vec<SideCurve> {
    let of_run = |row: usize, side: usize, run: usize| {
        let begin = 1e5 * (1.0 + side as f64) * (1.0 + run as f64 / 20.0);
        let share = (1..=400).map(|step| (begin * 1.01_f64.powi(step), f64::from(step) / 400.0)).collect();
        SideCurve { row, side, run, share, open_from_ns: None }
    };
    let runs = |row: usize| {
        let sides = table.sides.iter().enumerate();
        sides
            .flat_map(move |(side, compared)| (0..compared.runs.len()).map(move |run| of_run(row, side, run)))
            .collect::<Vec<_>>()
    };
    (0..table.rows.len()).flat_map(runs).collect()
}

#[test]
fn a_page_has_each_run_and_its_curve_and_stays_small() {
    let many =
        table_of(&["a", "b"], &[(Operation::Read, vec![around(300.0, 0.1, 6000), around(200.0, 0.1, 6000)])]);
    for table in [study(), of_rows(40), many] {
        let drawn = comparison_figures(&table, &curves(&table)).unwrap();
        assert_eq!(drawn.len(), 3);
        for (index, figure) in drawn.iter().enumerate() {
            let points = figure.as_str().matches(['M', 'L', 'H', 'V']).count();
            assert!(points < VECTOR_POINTS_MAX + GLYPHS, "{points} in figure {index}");
            assert!(!figure.as_str().contains("<?xml") && figure.as_str().starts_with("<svg"));
        }
    }
    let [_, runs, of_curves] =
        comparison_figures(&study(), &curves(&study())).unwrap().try_into().ok().unwrap();
    assert_snapshot!("sides_runs", structure(runs.as_str()));
    assert_snapshot!("sides_curves", structure(of_curves.as_str()));
}
