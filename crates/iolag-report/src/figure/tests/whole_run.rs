//! Figures of a whole run: every operation of every phase is in them, or they say what is not.

use std::collections::BTreeSet;

use iolag_analysis::figure::{Apart, FigureChoice, FigureEngine, FigurePlan, Figures, TimeSpan};
use iolag_model::{
    AttemptId, ClientId, FailureCode, MonotonicTime, Nanoseconds, Operation, Outcome, Phase, Sample,
    SampleColumns, StageIndex,
};

use crate::figure::draw::scene_of;
use crate::figure::drawings::marks::SHADE;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::of_runs::choice::{Chosen, Room};
use crate::figure::scene::shapes::{self, Scene};
use crate::figure::*;
use crate::incident::run::scenario::{MS, S, Scenario};
use crate::text::table::Colour;

const PHASES: [(Phase, u32); 5] = [
    (Phase::Precreate, 0),
    (Phase::Benchmark, 0),
    (Phase::Benchmark, 1),
    (Phase::Benchmark, 2),
    (Phase::Cleanup, 0),
];
const OPERATIONS: [Operation; 4] = [Operation::Create, Operation::Read, Operation::Stat, Operation::Delete];
const CLIENTS: u32 = 4;
/// Attempts of an operation in a stage.
const ATTEMPTS: u64 = 40;

/// The operations of a phase: the first and the last do one thing only.
fn operations_of(phase: Phase) -> &'static [Operation] {
    match phase {
        Phase::Precreate => &OPERATIONS[..1],
        Phase::Cleanup => &OPERATIONS[3..],
        _ => &OPERATIONS,
    }
}

/// Three benchmarks between precreate and cleanup, each stage 10 s long; an attempt in ten of delete fails.
fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (stage, (phase, _)) in (0_u16..).zip(PHASES) {
        for index in 0..ATTEMPTS {
            for operation in operations_of(phase) {
                let attempt = AttemptId::new(ClientId(index as u32 % CLIENTS), samples.len() as u64);
                let start = MonotonicTime(S + u64::from(stage) * 10 * S + index * 10 * S / ATTEMPTS);
                let ns = Nanoseconds(MS * (1 + *operation as u64) + index * 1000);
                let sample = Sample::new(attempt, *operation, start, start, ns).in_stage(StageIndex(stage));
                let fails = *operation == Operation::Delete && index % 10 == 0;
                samples.push(match fails {
                    true => sample.with_outcome(Outcome::Error, FailureCode::from_errno(2)),
                    false => sample,
                });
            }
        }
    }
    samples
}

pub(super) fn figures(choice: FigureChoice) -> Figures {
    figures_of(choice, &samples())
}

fn figures_of(choice: FigureChoice, samples: &[Sample]) -> Figures {
    let record = Scenario::metadata(CLIENTS, 4, 1, &PHASES).record;
    let span = TimeSpan { begin: MonotonicTime(S), end: MonotonicTime(51 * S) };
    let mut engine = FigureEngine::new(FigurePlan::new(&record, span).with_choice(choice));
    let small = |of: &dyn Fn(&Sample) -> i32| samples.iter().map(of).collect::<Vec<i32>>();
    let long = |of: &dyn Fn(&Sample) -> i64| samples.iter().map(of).collect::<Vec<i64>>();
    engine.batch(SampleColumns {
        client: &small(&|sample| sample.attempt.client().0 as i32),
        target: &small(&|_| 0),
        stage: &small(&|sample| i32::from(sample.stage.0)),
        operation_code: &small(&|sample| i32::from(sample.operation_code())),
        outcome_code: &small(&|sample| sample.outcome() as i32),
        failure_code: &small(&|sample| i32::from(sample.code.0)),
        start_ns: &long(&|sample| sample.start.0 as i64),
        duration_ns: &long(&|sample| sample.duration.0 as i64),
        ..SampleColumns::default()
    });
    Figures::new(vec![engine.finish()], Vec::new())
}

fn joined() -> Figures {
    figures(FigureChoice { apart: Apart::Nothing, ..FigureChoice::default() })
}

/// Places of the dots of a colour from the left, sheet coordinates.
fn dots_of(scene: &Scene, paint: shapes::Paint) -> Vec<i32> {
    let dots = scene.shapes.iter().filter_map(|shape| match shape {
        shapes::Shape::Dots { points, paint: own, .. } if own.rgb == paint.rgb => Some(points),
        _ => None,
    });
    dots.flatten().map(|(x, _)| *x).collect()
}

#[test]
fn a_time_line_draws_every_operation_of_every_phase_in_its_colour() {
    let figures = joined();
    let (scene, _) =
        scene_of(FigureKind::TimeLine, &figures, &FigureSelection::default(), FigureSize::SCREEN).unwrap();
    let all: Vec<i32> = PALETTE[..4].iter().flat_map(|paint| dots_of(&scene, *paint)).collect();
    let (left, right) = (*all.iter().min().unwrap(), *all.iter().max().unwrap());
    for (operation, paint) in OPERATIONS.iter().zip(PALETTE) {
        let dots = dots_of(&scene, paint);
        for (stage, (phase, iteration)) in PHASES.iter().enumerate() {
            let place = |x: &&i32| f64::from(**x - left) / f64::from(right - left) * 5.0;
            let begin = stage as f64;
            let own = dots.iter().filter(|x| (begin + 0.1..begin + 0.9).contains(&place(x))).count();
            let expected = operations_of(*phase).contains(operation);
            assert_eq!(own > 20, expected, "{own} dots of {operation} in {phase} {iteration}");
        }
    }
}

#[test]
fn a_terminal_draws_every_phase_and_counts_all_attempts() {
    let figures = joined();
    let text = terminal_time_line(&figures, &FigureSelection::default(), TerminalSize::USUAL, Colour::Never);
    insta::assert_snapshot!("terminal_time_line_of_a_whole_run", text);
    let is_dot = |character: char| ('\u{2801}'..='\u{28ff}').contains(&character);
    let columns: BTreeSet<usize> = text
        .lines()
        .filter(|line| line.contains(['│', '┤']))
        .flat_map(|line| line.chars().enumerate().filter(|(_, c)| is_dot(*c)).map(|(at, _)| at))
        .collect();
    assert!((9..79).all(|column| columns.contains(&column)), "{columns:?}");
    assert!(text.contains(&format!("{} attempts.", samples().len())), "{text}");
}

#[test]
fn iterations_and_phases_of_an_operation_are_one_series_in_every_kind() {
    for kind in FigureKind::of(FigureSource::Runs) {
        let bytes =
            draw_figure(kind, &joined(), &FigureSelection::default(), FigureSize::SCREEN, FigureForm::Svg)
                .unwrap();
        let svg = String::from_utf8(bytes).unwrap();
        assert!(!svg.contains("benchmark 1") && !svg.contains("not drawn"), "{kind}");
        for operation in OPERATIONS {
            let label = regex::Regex::new(&format!("aria-label=\"{operation}[\" ]")).unwrap();
            let tells_clients = matches!(kind, FigureKind::Fairness | FigureKind::Sweep | FigureKind::Jobs);
            assert!(tells_clients || label.is_match(&svg), "{kind}: {operation}");
        }
    }
}

#[test]
fn what_is_drawn_and_what_is_left_out_are_all_attempts() {
    let figures = joined();
    let number = regex::Regex::new(r"([0-9]+) of ([0-9]+) attempts are drawn").unwrap();
    let left_out = regex::Regex::new(r"\w+ \(([0-9]+)(?:, of which [0-9]+ did not succeed)?\)").unwrap();
    for operations in 1..=4 {
        let room = Room { operations, lines: usize::MAX };
        let chosen = Chosen::new(&figures, &FigureSelection::default(), room);
        let text = chosen.coverage();
        let parsed = |text: &str| text.parse::<u64>().unwrap();
        let all = samples().len() as u64;
        let Some(found) = number.captures(&text) else {
            assert_eq!((operations, text), (4, format!("{all} attempts.")));
            continue;
        };
        let missing: u64 = left_out.captures_iter(&text).map(|found| parsed(&found[1])).sum();
        assert_eq!((parsed(&found[1]) + missing, parsed(&found[2])), (all, all), "{text}");
        assert_eq!(left_out.captures_iter(&text).count(), 4 - operations, "{text}");
    }
}

#[test]
fn a_figure_without_room_says_what_is_not_drawn_and_what_failed_of_it() {
    let size = FigureSize::Millimetres { width: 40.0, height: 42.0 };
    let bytes =
        draw_figure(FigureKind::HeatMap, &joined(), &FigureSelection::default(), size, FigureForm::Svg)
            .unwrap();
    let svg = String::from_utf8(bytes).unwrap();
    assert!(svg.contains("drawn: read (120), stat (120), delete"));
    let chosen =
        Chosen::new(&joined(), &FigureSelection::default(), Room { operations: 3, lines: usize::MAX })
            .coverage();
    assert_eq!(
        chosen,
        "400 of 560 attempts are drawn; not drawn: delete (160, of which 16 did not succeed)."
    );
}

#[test]
fn chosen_clients_have_panels_of_their_own_over_time() {
    let clients = vec![0..=0, 2..=3];
    let choice = FigureChoice { apart: Apart::Clients, clients: clients.clone(), ..FigureChoice::default() };
    let selection = FigureSelection { clients, ..FigureSelection::default() };
    let figures = figures(choice);
    let bytes =
        draw_figure(FigureKind::TimeLine, &figures, &selection, FigureSize::SCREEN, FigureForm::Svg).unwrap();
    let svg = String::from_utf8(bytes).unwrap();
    for (name, is_there) in [("client 0", true), ("client 1", false), ("client 2", true), ("client 3", true)]
    {
        assert_eq!(svg.contains(&format!("aria-label=\"{name}\"")), is_there, "{name}");
    }
    // Three of four clients, each with the same share.
    let all = samples().len() as u64 * 3 / 4;
    assert!(svg.contains(&format!("{all} attempts. Only clients 0, 2-3.")), "{svg}");
    assert_eq!(figures.runs[0].counts.attempts, all);
}

#[test]
fn a_hang_is_a_bar_in_the_panel_of_its_client_only_whatever_it_was() {
    let clients = vec![0..=0, 4..=4];
    let choice = FigureChoice { apart: Apart::Clients, clients: clients.clone(), ..FigureChoice::default() };
    let operations = vec![Operation::Create];
    let selection = FigureSelection { operations, clients, ..FigureSelection::default() };
    let mut samples = samples();
    // This client does nothing else.
    let (attempt, start) = (AttemptId::new(ClientId(4), 0), MonotonicTime(21 * S));
    let hung = Sample::new(attempt, Operation::Rename, start, start, Nanoseconds(S)).in_stage(StageIndex(1));
    samples.push(hung.with_outcome(Outcome::Hung, FailureCode::from_errno(110)));
    let figures = figures_of(choice, &samples);
    let (scene, _) = scene_of(FigureKind::TimeLine, &figures, &selection, FigureSize::SCREEN).unwrap();
    let is_shade =
        |shape: &&shapes::Shape| matches!(shape, shapes::Shape::Area { paint, .. } if *paint == SHADE);
    assert_eq!(scene.shapes.iter().filter(is_shade).count(), 1);
    let bytes =
        draw_figure(FigureKind::TimeLine, &figures, &selection, FigureSize::SCREEN, FigureForm::Svg).unwrap();
    let svg = String::from_utf8(bytes).unwrap();
    for text in
        ["aria-label=\"client 0\"", "aria-label=\"client 4\"", "`rename` on client 4 hung from 20.0 s on"]
    {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn chosen_clients_are_one_curve_elsewhere() {
    let choice = FigureChoice { apart: Apart::Nothing, clients: vec![1..=2], ..FigureChoice::default() };
    let figures = figures(choice);
    let attempts: u64 = figures.runs[0].series.iter().map(|series| series.attempts).sum();
    assert_eq!((figures.runs[0].series.len(), attempts), (4, samples().len() as u64 / 2));
    assert_eq!(figures.runs[0].fairness[0].lines.len(), 2);
}

#[test]
fn a_choice_of_phases_is_made_of_their_attempts_only() {
    let choice =
        FigureChoice { apart: Apart::Nothing, phases: vec![Phase::Cleanup], ..FigureChoice::default() };
    let figures = figures(choice);
    assert_eq!((figures.runs[0].counts.attempts, figures.runs[0].boxes.len()), (ATTEMPTS, 1));
    assert_eq!(figures.runs[0].boxes[0].durations.attempts, ATTEMPTS * 9 / 10);
    // The others have no attempts, but their places: a colour is an operation, whatever is chosen.
    let room = Room { operations: 8, lines: 8 };
    let chosen = Chosen::new(&figures, &FigureSelection::default(), room);
    let drawn: Vec<_> = chosen.lines.iter().map(|line| (line.series.operation, line.paint)).collect();
    assert_eq!(drawn, [(Operation::Delete, PALETTE[3])]);
}
