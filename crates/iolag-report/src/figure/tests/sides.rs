//! Figures of comparisons.

use insta::assert_snapshot;

use super::structure;
use crate::figure::of_sides::curves::SideCurve;
use crate::figure::{
    FigureError, FigureForm, FigureKind, FigureSize, VECTOR_POINTS_MAX, comparison_figures,
    draw_comparison_figure,
};
use crate::words::comparison::samples::{around, bad_names, by, hung_and_few, of_rows, study, table_of};
use iolag_analysis::compare::ComparedTable;
use iolag_analysis::{LogRange, RunAmount, RunQuantity};
use iolag_model::{Nanoseconds, Operation};

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
fn a_caption_explains_the_marks_that_are_there() {
    let explained = |other: RunAmount| {
        let svg = svg(&two_sides(vec![RunAmount::Known(300.0)], vec![other]), PAPER);
        ["cross:", "Diamonds:"].map(|mark| svg.contains(mark))
    };
    assert_eq!(explained(RunAmount::Known(200.0)), [true, false]);
    assert_eq!(explained(RunAmount::AtMost(200.0)), [false, true]);
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

/// The middle figure of a page: every run.
fn runs_of(table: &ComparedTable) -> String {
    let [_, runs, ..] = &comparison_figures(table, &[]).unwrap()[..] else { panic!("two figures") };
    runs.as_str().to_owned()
}

fn count(svg: &str, text: &str) -> usize {
    svg.matches(&format!("aria-label=\"{text}\"")).count()
}

/// Rates of the base and of another side in the only row.
fn two_sides(base: Vec<RunAmount>, other: Vec<RunAmount>) -> ComparedTable {
    table_of(&["/base", "/other"], &[(Operation::Read, vec![base, other])])
}

#[test]
fn without_a_middle_of_the_base_runs_are_shown_against_those_that_are_known() {
    let mut base = around(300.0, 0.05, 8);
    base.push(RunAmount::Open);
    let svg = runs_of(&two_sides(base, around(200.0, 0.05, 9)));
    assert_eq!(
        [count(&svg, "→"), count(&svg, "←")],
        [0, 1],
        "the hung run alone may be slower than anything"
    );
    assert!(
        svg.contains("Where such runs leave the base without a middle, that of its others stands for it."),
        "{svg}"
    );

    // Nothing of the base is known.
    let svg = runs_of(&two_sides(vec![RunAmount::Open; 3], around(200.0, 0.05, 9)));
    assert_eq!([count(&svg, "→"), count(&svg, "←")], [0, 0]);
    assert_eq!(count(&svg, "no run of /base says how fast it is"), 1, "{svg}");
}

#[test]
fn a_share_of_nothing_is_where_it_was_compared() {
    let share = |share: f64| RunAmount::Known(share);
    let mut table = two_sides(vec![share(0.0); 4], vec![share(0.0), share(0.01), share(0.01), share(0.0)]);
    by(&mut table, "metadata", RunQuantity::ShareOver(Nanoseconds::from_milliseconds(100)));
    // 0.5 in 1001 or less, against 10.5: by 21 times.
    let of = |over: f64| (1001.0 / (over + 0.5)).ln();
    let [base, other] = &mut table.rows[0].sides[..] else { panic!("two sides") };
    base.speeds = vec![LogRange::at_least(of(0.0)); 4];
    let (none, ten) = (LogRange::at_least(of(0.0)), LogRange::exactly(of(10.0)));
    other.speeds = vec![none, ten, ten, none];
    // At most the geometric mean.
    base.middle = RunAmount::AtMost((-of(0.0)).exp());
    other.middle = RunAmount::AtMost((-f64::midpoint(of(0.0), of(10.0))).exp());
    let svg = runs_of(&table);
    assert_eq!([count(&svg, "→"), count(&svg, "←"), count(&svg, "÷10")], [6, 0, 1], "{}", structure(&svg));
    assert!(svg.contains("had none over 100 ms"), "{svg}");
}

#[test]
fn what_is_beyond_all_measure_stays_in_its_panel() {
    let rates = |rate: f64| vec![RunAmount::Known(rate); 4];
    let table = two_sides(rates(1e-9), rates(1e9));
    let svg = svg(&table, PAPER);
    assert_eq!(count(&svg, "→"), 1, "{}", structure(&svg));
    let numbers = regex::Regex::new(r"M(-?[0-9]+) ").unwrap();
    let right = numbers.captures_iter(&svg).map(|found| found[1].parse::<i32>().unwrap()).max();
    assert!(right.is_some_and(|right| right <= 16_000), "{right:?} of 160 mm");
}
