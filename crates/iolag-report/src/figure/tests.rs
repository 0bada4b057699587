//! Tests of whole figures.

mod histories;
pub(crate) mod samples;
mod sides;
mod whole_run;

use insta::assert_snapshot;
use iolag_analysis::Recommendation;
use iolag_analysis::figure::Figures;
use proptest::prelude::*;
use tiny_skia::Pixmap;

use super::draw::scene_of;
use super::scene::{shapes, svg};
use super::*;
use crate::text::table::Colour;
use crate::words::jobs::tests::of_the_study;
use samples::{Shape, figures_of, several_runs};

fn svg(kind: FigureKind, figures: &Figures, size: FigureSize) -> String {
    let bytes = draw_figure(kind, figures, &FigureSelection::default(), size, FigureForm::Svg).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The elements of an SVG in order, runs of equal ones counted, and its texts.
fn structure(svg: &str) -> String {
    let element = regex::Regex::new(r#"<([a-z]+)[^>]*>"#).unwrap();
    let label = regex::Regex::new(r#"aria-label="([^"]*)""#).unwrap();
    let mut lines: Vec<(String, usize)> = Vec::new();
    for found in element.captures_iter(svg).filter(|found| &found[1] != "use") {
        let text = label.captures(&found[0]).map(|label| format!(" {}", &label[1]));
        let line = format!("{}{}", &found[1], text.unwrap_or_default());
        match lines.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => lines.push((line, 1)),
        }
    }
    let lines = lines.into_iter().map(|(line, n)| if n > 1 { format!("{line} ×{n}") } else { line });
    lines.collect::<Vec<String>>().join("\n")
}

#[test]
fn a_column_of_a_paper_holds_an_ecdf() {
    let svg = svg(FigureKind::Ecdf, &figures_of(Shape::Usual), FigureSize::PAPER_COLUMN);
    assert!(svg.contains(r#"width="85mm" height="60mm" viewBox="0 0 8500 6000""#));
    assert_snapshot!("ecdf", structure(&svg));
}

#[test]
fn a_time_line_has_its_marks_on_top() {
    let svg = svg(FigureKind::TimeLine, &figures_of(Shape::Usual), FigureSize::SCREEN);
    assert!(svg.contains(r#"width="1200px" height="800px""#));
    assert_snapshot!("time_line", structure(&svg));
}

#[test]
fn a_hang_is_a_bar_beside_operations_that_did_not_hang() {
    let figures = figures_of(Shape::Usual);
    let hung = &figures.runs[0].series[usize::from(figures.runs[0].hangs[0].series)];
    let other = figures.runs[0].series.iter().find(|one| one.hung == 0 && one.operation != hung.operation);
    let selection =
        FigureSelection { operations: vec![other.expect("not all hung").operation], ..Default::default() };
    for kind in [FigureKind::TimeLine, FigureKind::Rates] {
        let svg = draw_figure(kind, &figures, &selection, FigureSize::SCREEN, FigureForm::Svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains(&format!("Bars: `{}` hung from", hung.operation)), "{kind}");
    }
    let size = TerminalSize { columns: 100, lines: 24 };
    let terminal = terminal_time_line(&figures, &selection, size, Colour::Never);
    assert!(terminal.contains(&format!("■ Bars: `{}` hung", hung.operation)), "{terminal}");
    assert!(terminal.contains("■■"), "{terminal}");
}

#[test]
fn boxes_name_their_rows() {
    let svg = svg(FigureKind::Box, &figures_of(Shape::Usual), FigureSize::PAPER_COLUMN);
    assert_snapshot!("box", structure(&svg));
}

#[test]
fn names_from_outside_stay_text() {
    let mut figures = figures_of(Shape::Usual);
    figures.runs[0].run.title = r#"<script>alert("&'")</script>"#.to_owned();
    figures.runs[0].series[0].name = "</svg><script>".to_owned();
    figures.runs[0].layers[0].name = "</svg><script>".to_owned();
    figures.jobs = vec![Recommendation { target: "</svg><script>".to_owned(), ..of_the_study() }];
    for kind in FigureKind::of(FigureSource::Runs) {
        let svg = svg(kind, &figures, FigureSize::SCREEN);
        assert!(!svg.contains("<script") && svg.matches("</svg>").count() == 1, "{kind}");
        assert!(kind == FigureKind::Sweep || svg.contains("&lt;script&gt;"), "{kind}");
    }
}

#[test]
fn an_svg_refers_to_nothing_outside_and_needs_no_font() {
    let reference = regex::Regex::new(r#"(?:href|src)="([^"]{0,12})"#).unwrap();
    for kind in FigureKind::of(FigureSource::Runs) {
        let svg = svg(kind, &several_runs(3), FigureSize::SCREEN);
        for found in reference.captures_iter(&svg) {
            assert!(
                found[1].starts_with('#') || found[1].starts_with("data:image/p"),
                "{kind}: {}",
                &found[1]
            );
        }
        assert!(!svg.contains("<text") && !svg.contains("<style") && !svg.contains("url("), "{kind}");
    }
}

#[test]
fn a_png_has_the_size_that_was_asked_for_and_something_in_it() {
    let millimetres = FigureSize::Millimetres { width: 85.0, height: 60.0 };
    for kind in FigureKind::of(FigureSource::Runs) {
        for (size, expected) in
            [(millimetres, (1004, 709)), (FigureSize::Pixels { width: 640, height: 400 }, (640, 400))]
        {
            let png = draw_figure(kind, &several_runs(2), &FigureSelection::default(), size, FigureForm::Png)
                .unwrap();
            let pixmap = Pixmap::decode_png(&png).unwrap();
            assert_eq!((pixmap.width(), pixmap.height()), expected, "{kind}");
            let colours: std::collections::BTreeSet<[u8; 3]> =
                pixmap.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
            assert!(colours.len() > 16, "{kind}: {}", colours.len());
        }
    }
}

#[test]
fn a_png_notes_its_resolution() {
    let png = draw_figure(
        FigureKind::Ecdf,
        &figures_of(Shape::Usual),
        &FigureSelection::default(),
        FigureSize::PAPER_COLUMN,
        FigureForm::Png,
    );
    let png = png.unwrap();
    let at = png.windows(4).position(|bytes| bytes == b"pHYs").unwrap();
    assert_eq!(u32::from_be_bytes([png[at + 4], png[at + 5], png[at + 6], png[at + 7]]), 11_811);
}

#[test]
fn sizes_that_nobody_can_read_are_refused() {
    let figures = figures_of(Shape::Empty);
    for size in [
        FigureSize::Pixels { width: 0, height: 0 },
        FigureSize::Millimetres { width: f64::NAN, height: 60.0 },
        FigureSize::Millimetres { width: 3000.0, height: 60.0 },
    ] {
        let error =
            draw_figure(FigureKind::Box, &figures, &FigureSelection::default(), size, FigureForm::Svg)
                .unwrap_err();
        assert!(matches!(error, FigureError::Size { .. }), "{error}");
    }
    assert!("pie".parse::<FigureKind>().unwrap_err().to_string().contains("time-line"));
    assert_eq!("heat-map".parse(), Ok(FigureKind::HeatMap));
}

#[test]
fn many_attempts_become_pixels_with_their_longest_as_vectors() {
    let figures = figures_of(Shape::Many);
    let (scene, _) =
        scene_of(FigureKind::TimeLine, &figures, &FigureSelection::default(), FigureSize::SCREEN).unwrap();
    let images = scene.shapes.iter().filter(|shape| matches!(shape, shapes::Shape::Image(_))).count();
    let dots: usize = scene
        .shapes
        .iter()
        .map(|shape| match shape {
            shapes::Shape::Dots { points, .. } => points.len(),
            _ => 0,
        })
        .sum();
    assert_eq!(images, 1);
    assert!(dots > 100 && dots <= 2_800 + 20, "{dots}");
    assert!(scene.vector_points() <= VECTOR_POINTS_MAX);
}

#[test]
fn a_figure_says_that_there_is_nothing_to_draw() {
    for kind in FigureKind::of(FigureSource::Runs) {
        let svg = svg(kind, &figures_of(Shape::Empty), FigureSize::PAPER_COLUMN);
        let texts: Vec<&str> = svg.matches("There is nothing").collect();
        assert_eq!(texts.len(), 1, "{kind}");
    }
}

#[test]
fn a_selection_leaves_out_what_was_not_asked_for() {
    let figures = figures_of(Shape::Usual);
    let only =
        FigureSelection { operations: vec![iolag_model::Operation::Stat], ..FigureSelection::default() };
    let bytes =
        draw_figure(FigureKind::Ecdf, &figures, &only, FigureSize::PAPER_COLUMN, FigureForm::Svg).unwrap();
    let svg = String::from_utf8(bytes).unwrap();
    assert!(svg.contains(r#"aria-label="stat""#) && !svg.contains(r#"aria-label="create""#));
}

#[test]
fn a_terminal_shows_an_ecdf() {
    let figures = figures_of(Shape::Usual);
    let text = terminal_ecdf(&figures, &FigureSelection::default(), TerminalSize::USUAL, Colour::Never);
    assert_snapshot!("terminal_ecdf", text);
    let two =
        terminal_ecdf(&several_runs(2), &FigureSelection::default(), TerminalSize::USUAL, Colour::Never);
    assert_snapshot!("terminal_ecdf_of_two_runs", two);
}

#[test]
fn a_terminal_shows_a_time_line() {
    let figures = figures_of(Shape::Usual);
    let text = terminal_time_line(&figures, &FigureSelection::default(), TerminalSize::USUAL, Colour::Never);
    assert_snapshot!("terminal_time_line", text);
    let colour =
        terminal_time_line(&figures, &FigureSelection::default(), TerminalSize::USUAL, Colour::Always);
    assert!(colour.contains("\x1b[34m") && colour.contains("\x1b[1;31m"));
}

#[test]
fn a_terminal_says_that_there_is_nothing_to_draw() {
    let figures = figures_of(Shape::Empty);
    for draw in [terminal_ecdf, terminal_time_line] {
        let text = draw(&figures, &FigureSelection::default(), TerminalSize::USUAL, Colour::Never);
        assert!(text.contains("nothing to draw"), "{text}");
    }
}

fn any_shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Empty),
        Just(Shape::One),
        Just(Shape::Errors),
        Just(Shape::Hung),
        Just(Shape::Usual),
        any::<u64>().prop_map(Shape::Odd),
    ]
}

/// Whether something that is not a number was written; letters of the figures inside mean nothing.
fn tells_no_number(svg: &str) -> bool {
    let mut outside = svg.split("base64,").enumerate().map(|(index, piece)| match index {
        0 => piece,
        _ => piece.split_once('"').map_or("", |(_, after)| after),
    });
    outside.any(|piece| piece.contains("NaN") || piece.contains("inf"))
}

#[test]
fn letters_of_a_figure_are_no_numbers() {
    assert!(!tells_no_number("<image href=\"data:image/png;base64,ainfNaN==\"/><path d=\"M1 2\"/>"));
    assert!(tells_no_number("<image href=\"data:image/png;base64,aa==\"/><path d=\"MNaN 2\"/>"));
    assert!(tells_no_number("<path d=\"Minf 2\"/>"));
}

#[test]
fn a_long_legend_and_a_sentence_of_hangs_fit_the_lowest_terminal() {
    let figures = figures_of(Shape::Usual);
    for columns in 40..80 {
        let size = TerminalSize { columns, lines: 8 };
        let text = terminal_time_line(&figures, &FigureSelection::default(), size, Colour::Never);
        assert!(text.contains("■ Bars") && text.lines().count() <= 14, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_figures_are_drawn(
        shapes in proptest::collection::vec(any_shape(), 0..4),
        width in 151_u32..1500,
        height in 152_u32..1500,
    ) {
        let mut figures = Figures::new(Vec::new(), Vec::new());
        for shape in shapes {
            let one = figures_of(shape);
            figures.runs.extend(one.runs);
            figures.sweeps.extend(one.sweeps);
        }
        let size = FigureSize::Pixels { width, height };
        for kind in FigureKind::of(FigureSource::Runs) {
            let (scene, font) = scene_of(kind, &figures, &FigureSelection::default(), size).unwrap();
            prop_assert!(scene.vector_points() <= VECTOR_POINTS_MAX, "{kind}: {}", scene.vector_points());
            let svg = svg::write_svg(&scene, &font, "1mm", "1mm").unwrap();
            prop_assert!(svg.ends_with("</svg>\n") && !tells_no_number(&svg));
        }
    }

    #[test]
    fn any_figures_fit_a_terminal(shape in any_shape(), columns in 40_usize..200, lines in 8_usize..60) {
        let figures = figures_of(shape);
        let size = TerminalSize { columns, lines };
        for draw in [terminal_ecdf, terminal_time_line] {
            let text = draw(&figures, &FigureSelection::default(), size, Colour::Never);
            for line in text.lines() {
                prop_assert!(unicode_width::UnicodeWidthStr::width(line) <= columns, "{line:?}");
            }
            prop_assert!(text.lines().count() <= lines.max(14), "{} of {lines}", text.lines().count());
        }
    }
}
