//! Figures of histories that are made by hand.

use insta::assert_snapshot;
use iolag_analysis::history::{
    HistoryFigures, HistoryInput, HistoryOptions, HistoryPoints, LocalTime, TaskByDay, analyse_history,
    history_figures,
};
use iolag_fixtures::made_up_series::{DAY, columns_of, series_of};
use iolag_model::{Event, EventSource, Nanoseconds, Outcome, Random, Series, SeriesKind, WallTime};

use super::structure;
use crate::figure::draw::scene_of_history;
use crate::figure::*;
use crate::text::table::Colour;

/// The slot at which a cache is enabled.
const CACHE: i64 = 10 * DAY;

/// Two tasks in two places over three weeks: the listing of /home is below the clock's resolution once a cache is enabled; in a bad
/// hour of /scratch attempts hang, time out and fail, and later ones are skipped.
pub(super) fn input() -> HistoryInput {
    let mut noise = Random::new(8);
    let mut task = |target: &str, task: &str, milliseconds: f64| {
        let rows: Vec<_> = (0..21 * DAY)
            .map(|slot| {
                let taken = milliseconds * (0.5 * noise.normal()).exp();
                let is_cached = (target, task) == ("/home", "list") && slot >= CACHE;
                let (taken, outcome) = match (target, slot) {
                    ("/scratch", 700) => (900_000.0, Outcome::Hung),
                    ("/scratch", 701) => (0.0, Outcome::Skipped),
                    ("/scratch", 702) => (60_000.0, Outcome::Timeout),
                    ("/scratch", 703) => (5.0, Outcome::Error),
                    _ if is_cached => (0.0, Outcome::Ok),
                    _ => (taken, Outcome::Ok),
                };
                (slot * 900, taken as u64, outcome)
            })
            .collect();
        let series = Series { resolution_ns: Nanoseconds::from_milliseconds(10), ..series_of(target, task) };
        (series, columns_of(rows))
    };
    let series = vec![
        task("/home", "compile", 5_000.0),
        task("/home", "list", 400.0),
        task("/scratch", "compile", 18_000.0),
        task("/scratch", "list", 1_300.0),
    ];
    let control = Series { kind: SeriesKind::Control, ..series_of("/dev/shm", "list") };
    let mut part = series_of("/home", "list");
    part.key.part = "ls -n".to_owned();
    let few = |series| (series, columns_of((0..40).map(|slot| (slot * 900, 20, Outcome::Ok))));
    let mut input = HistoryInput {
        series,
        events: vec![event("LDAP <cache> enabled", CACHE * 900)],
        ..HistoryInput::default()
    };
    input.series.extend([few(control), few(part)]);
    input
}

fn event(text: &str, seconds: i64) -> Event {
    Event {
        id: format!("e{seconds}"),
        target: "/home".to_owned(),
        text: text.to_owned(),
        ..Event::of_all(EventSource::Note, WallTime::from_seconds(seconds))
    }
}

/// What is drawn of a history.
struct Drawable {
    figures: HistoryFigures,
    by_day: Vec<TaskByDay>,
}

fn figures_of(input: &HistoryInput, points: HistoryPoints) -> Drawable {
    let analysis = analyse_history(input, &HistoryOptions::default());
    Drawable { figures: history_figures(input, &analysis, points), by_day: analysis.by_day }
}

fn on<T>(Drawable { figures, by_day }: &Drawable, ask: impl FnOnce(&PlottedHistory<'_>) -> T) -> T {
    let place = "/x/history.sqlite";
    ask(&PlottedHistory { figures, by_day, place, zone: "UTC", local_time: &LocalTime::UTC })
}

fn svg(kind: FigureKind, figures: &Drawable, selection: &HistorySelection) -> Result<String, FigureError> {
    let size = FigureSize::Millimetres { width: 160.0, height: 100.0 };
    let bytes = on(figures, |history| draw_history_figure(kind, history, selection, size, FigureForm::Svg))?;
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn every_kind_of_a_history_is_drawn() {
    let figures = figures_of(&input(), HistoryPoints::default());
    for kind in FigureKind::of(FigureSource::History) {
        let svg = svg(kind, &figures, &HistorySelection::default()).unwrap();
        assert!(!svg.contains("<cache>") && !svg.contains("There is nothing"), "{kind}");
        assert_snapshot!(format!("history_{kind}"), structure(&svg));
    }
}

#[test]
fn what_is_asked_for_is_drawn_and_what_is_not_there_is_told() {
    let figures = figures_of(&input(), HistoryPoints::default());
    let tasks = |names: &[&str]| HistorySelection {
        tasks: names.iter().map(|name| (*name).to_owned()).collect(),
        ..HistorySelection::default()
    };
    let whole = svg(FigureKind::Ecdf, &figures, &HistorySelection::default()).unwrap();
    assert!(whole.contains("Not in this figure: 1 part of a task") && whole.contains("1 control"), "{whole}");
    let part = svg(FigureKind::Ecdf, &figures, &tasks(&["list:ls -n"])).unwrap();
    assert!(part.contains(r#"aria-label="Share that took at most so long: list: ls -n on login1""#));
    let control = HistorySelection { targets: vec!["/dev/shm".to_owned()], ..tasks(&["list"]) };
    assert!(svg(FigureKind::Ecdf, &figures, &control).unwrap().contains("/dev/shm (control)"));
    let compared = HistorySelection { curves: EcdfCurves::WithBeforeAfter, ..tasks(&["list"]) };
    let compared = svg(FigureKind::Ecdf, &figures, &compared).unwrap();
    assert!(compared.contains("/home, before 1970-01-11 00:00") && compared.contains("/home, after"));
    let unknown = svg(FigureKind::Ecdf, &figures, &tasks(&["lst"])).unwrap_err().to_string();
    assert_eq!(unknown, "no task of this history is called \"lst\": choose from compile, list, list: ls -n");
    assert!(
        svg(FigureKind::Sweep, &figures, &tasks(&[]))
            .unwrap_err()
            .to_string()
            .contains("no figure \"sweep\" of a history")
    );
}

#[test]
fn no_history_is_too_large_or_too_small() {
    let size = FigureSize::Millimetres { width: 160.0, height: 100.0 };
    let mut many = input();
    let target = |number: i64| {
        let outcomes =
            [Outcome::Ok, Outcome::Late, Outcome::Hung, Outcome::Error, Outcome::Skipped, Outcome::Timeout];
        let rows = (0..1500)
            .map(move |slot| (slot * 900 + number, 30 + slot as u64 % 70, outcomes[slot as usize % 6]));
        (series_of(&format!("/mount/{number}"), "list"), columns_of(rows))
    };
    many.series.extend((0..20).map(target));
    many.events = (0..500).map(|number| event("again", number * 3600)).collect();
    let all = figures_of(&many, HistoryPoints::default());
    let ribbons = figures_of(&many, HistoryPoints { max: 1000 });
    let nothing = figures_of(&HistoryInput::default(), HistoryPoints::default());
    for kind in FigureKind::of(FigureSource::History) {
        for figures in [&all, &ribbons, &nothing] {
            let scene = on(figures, |history| {
                scene_of_history(kind, history, &HistorySelection::default(), size).unwrap().0
            });
            assert!(scene.vector_points() <= VECTOR_POINTS_MAX, "{kind}: {}", scene.vector_points());
        }
        let nothing = svg(kind, &nothing, &HistorySelection::default()).unwrap();
        assert!(nothing.contains("There is nothing to draw"), "{kind}");
    }
}

#[test]
fn a_terminal_shows_a_history() {
    let figures = figures_of(&input(), HistoryPoints::default());
    let drawn = on(&figures, |history| {
        let ecdf = terminal_history_ecdf(history, TerminalSize::USUAL, Colour::Never);
        format!("{ecdf}\n{}", terminal_history_time_line(history, TerminalSize::USUAL, Colour::Never))
    });
    assert!(drawn.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{drawn}");
    assert_snapshot!("terminal_history", drawn);
}

#[test]
fn a_terminal_tells_which_places_found_no_room() {
    let place = |number: i64| {
        let rows = (0..50).map(move |slot| (slot * 900, 30 + number as u64, Outcome::Ok));
        (series_of(&format!("/mount/{number}"), "list"), columns_of(rows))
    };
    let input = HistoryInput { series: (0..10).map(place).collect(), ..HistoryInput::default() };
    let figures = figures_of(&input, HistoryPoints::default());
    for draw in [terminal_history_ecdf, terminal_history_time_line] {
        let drawn = on(&figures, |history| draw(history, TerminalSize::USUAL, Colour::Never));
        let words = drawn.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("400 attempts. Not in this figure: 2 series for which there is no room."));
        assert!(words.contains("/mount/7") && !words.contains("/mount/8"), "{drawn}");
    }
}
