//! What of the runs is drawn, in which colour, and under which name.

use std::collections::BTreeSet;

use iolag_analysis::figure::{Figures, RunFigures, Series, SeriesPart};
use iolag_model::{Level, Operation, Phase, TargetIndex, counted, format_count};

use super::scene::{Dash, Paint, Stroke};
use super::sheet::Sheet;
use crate::numbers;

/// Colours that colour-blind people can tell apart (Okabe and Ito 2008), without the yellow, which white paper
/// swallows.
pub(super) const PALETTE: [Paint; 7] = [
    Paint::opaque(0x00, 0x72, 0xb2),
    Paint::opaque(0xd5, 0x5e, 0x00),
    Paint::opaque(0x00, 0x9e, 0x73),
    Paint::opaque(0xcc, 0x79, 0xa7),
    Paint::opaque(0xe6, 0x9f, 0x00),
    Paint::opaque(0x56, 0xb4, 0xe9),
    Paint::opaque(0x00, 0x00, 0x00),
];

/// What is to be drawn; an empty list leaves the choice to iolag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlotSelection {
    /// Only these operations; if empty, the tasks, or if there are none the objects, calls, or streams.
    pub operations: Vec<Operation>,
    /// Only targets of these names.
    pub targets: Vec<String>,
    /// Only these phases.
    pub phases: Vec<Phase>,
}

/// A series of a run that is drawn.
pub(super) struct Line<'a> {
    pub(super) run: &'a RunFigures,
    /// Index of the run.
    pub(super) run_index: usize,
    /// Index of the series in the run.
    pub(super) index: u16,
    pub(super) series: &'a Series,
    /// For the legend.
    pub(super) name: String,
    pub(super) paint: Paint,
    pub(super) dash: Dash,
}

impl Line<'_> {
    pub(super) const fn stroke(&self, width: i32) -> Stroke {
        Stroke { paint: self.paint, width, dash: self.dash }
    }
}

/// What is drawn, and what is said about it.
pub(super) struct Chosen<'a> {
    pub(super) runs: Vec<&'a RunFigures>,
    /// Short names of the runs; empty if there is only one.
    pub(super) run_names: Vec<String>,
    pub(super) lines: Vec<Line<'a>>,
    /// Series that were asked for and found no place.
    left_out: usize,
}

impl<'a> Chosen<'a> {
    /// Chooses at most `lines_max` series, the same ones of every run.
    pub(super) fn new(figures: &'a Figures, selection: &PlotSelection, lines_max: usize) -> Self {
        let runs: Vec<&RunFigures> = figures.runs.iter().collect();
        let run_names = run_names(&runs);
        let level = level_of(&runs, selection);
        let mut candidates: Vec<(usize, u16, &Series)> = Vec::new();
        for (run_index, run) in runs.iter().enumerate() {
            for (index, series) in run.series.iter().enumerate() {
                if is_wanted(run, series, selection, level) {
                    candidates.push((run_index, index as u16, series));
                }
            }
        }
        let names = kept_names(&runs, &candidates, lines_max);
        let total = candidates.len();
        candidates.retain(|(_, _, series)| names.contains(&series.name.as_str()));
        // The same operation of several runs stands together.
        candidates.sort_by_key(|(run, index, series)| {
            (names.iter().position(|name| *name == series.name), *run, *index)
        });
        candidates.truncate(lines_max);
        let lines: Vec<Line<'a>> = candidates
            .iter()
            .enumerate()
            .map(|(place, (run_index, index, series))| Line {
                run: runs[*run_index],
                run_index: *run_index,
                index: *index,
                series,
                name: match run_names.get(*run_index) {
                    Some(run) => format!("{} · {run}", series.name),
                    None => series.name.clone(),
                },
                paint: PALETTE[place % PALETTE.len()],
                dash: Dash::ALL[(place + place / PALETTE.len()) % Dash::ALL.len()],
            })
            .collect();
        let left_out = total - lines.len();
        Self { runs, run_names, lines, left_out }
    }

    /// Attempts that stand behind the lines.
    pub(super) fn attempts(&self) -> u64 {
        self.lines.iter().map(|line| line.series.attempts).sum()
    }

    /// As in `1 attempt`, `30 000 attempts`.
    pub(super) fn attempts_in_words(&self) -> String {
        in_words(self.attempts())
    }

    /// Writes the heading: what is shown, and of what.
    pub(super) fn title(&self, sheet: &mut Sheet, what: &str) {
        let title = match self.runs.as_slice() {
            [run] => format!("{what}: {}", run.run.title),
            runs => format!("{what} of {} runs", runs.len()),
        };
        sheet.title(&title);
    }

    /// Writes the caption: what the picture shows, how many samples stand behind it, and of which runs.
    pub(super) fn caption(&self, sheet: &mut Sheet, sentences: &[String]) {
        self.caption_of(sheet, self.attempts(), sentences);
    }

    /// The same for a picture of only so many attempts.
    pub(super) fn caption_of(&self, sheet: &mut Sheet, attempts: u64, sentences: &[String]) {
        let mut text = format!("{}. ", in_words(attempts));
        for sentence in sentences.iter().filter(|sentence| !sentence.is_empty()) {
            text.push_str(sentence);
            text.push(' ');
        }
        if self.left_out > 0 {
            text.push_str(&format!(
                "{} not drawn: choose by operation, target or phase. ",
                counted(self.left_out as u64, "more series is", "more series are")
            ));
        }
        text.push_str(&self.runs_in_words());
        sheet.caption(&text);
    }

    /// Which runs these are.
    pub(super) fn runs_in_words(&self) -> String {
        let of_run = |run: &&RunFigures| {
            let begin = run.run.begin_realtime_ns.map(|ns| format!(", {} UTC", numbers::utc(ns)));
            format!("{} on {}{}", run.run.id, run.run.host, begin.unwrap_or_default())
        };
        match self.runs.as_slice() {
            [] => String::new(),
            [run] => format!("Run {}.", of_run(run)),
            runs => {
                let named =
                    runs.iter().zip(&self.run_names).map(|(run, name)| format!("{name}: {}", of_run(run)));
                format!("{}.", named.collect::<Vec<String>>().join("; "))
            }
        }
    }
}

/// As in `1 attempt`, `30 000 attempts`.
fn in_words(attempts: u64) -> String {
    if attempts == 1 { "1 attempt".to_owned() } else { format!("{} attempts", format_count(attempts)) }
}

/// Names of runs for a legend: what a label tells apart, or letters; none for a single run.
fn run_names(runs: &[&RunFigures]) -> Vec<String> {
    let [first, _, ..] = runs else {
        return Vec::new();
    };
    for key in first.run.labels.keys() {
        let values: Option<Vec<&String>> = runs.iter().map(|run| run.run.labels.get(key)).collect();
        let Some(values) = values else {
            continue;
        };
        let distinct: BTreeSet<&&String> = values.iter().collect();
        if distinct.len() == runs.len() && values.iter().all(|value| !value.is_empty() && value.len() <= 24) {
            return values.into_iter().cloned().collect();
        }
    }
    (0..runs.len()).map(letter).collect()
}

/// A, B, … Z, A2, B2, …
fn letter(index: usize) -> String {
    let letter = char::from(b'A' + (index % 26) as u8);
    if index < 26 { letter.to_string() } else { format!("{letter}{}", index / 26 + 1) }
}

/// The level that people feel most directly.
fn level_of(runs: &[&RunFigures], selection: &PlotSelection) -> Option<Level> {
    if !selection.operations.is_empty() {
        return None;
    }
    let has = |level: &Level| {
        let mut series = runs.iter().flat_map(|run| &run.series);
        series.any(|series| series.level == *level && series.attempts > 0)
    };
    [Level::Task, Level::Object, Level::Call, Level::Stream, Level::Harness].into_iter().find(has)
}

fn is_wanted(run: &RunFigures, series: &Series, selection: &PlotSelection, level: Option<Level>) -> bool {
    let by_level = level.is_none_or(|level| series.level == level);
    let by_operation = selection.operations.is_empty() || selection.operations.contains(&series.operation);
    let by_target = is_target_wanted(run, series.target, selection);
    let by_phase = selection.phases.is_empty()
        || phase_of(run, series).is_some_and(|phase| selection.phases.contains(&phase));
    by_level && by_operation && by_target && by_phase && series.attempts > 0
}

pub(super) fn is_target_wanted(run: &RunFigures, target: TargetIndex, selection: &PlotSelection) -> bool {
    let name = run.run.targets.get(usize::from(target.0)).map(|target| target.name.as_str());
    selection.targets.is_empty()
        || name.is_some_and(|name| selection.targets.iter().any(|wanted| wanted == name))
}

pub(super) fn phase_of(run: &RunFigures, series: &Series) -> Option<Phase> {
    match series.part? {
        SeriesPart::Phase(phase) => Some(phase),
        SeriesPart::Stage(index) => {
            run.run.stages.iter().find(|stage| stage.stage == index).map(|stage| stage.phase)
        }
    }
}

/// The names of series that fit; where not all do, those of the benchmark phase come first.
fn kept_names<'a>(
    runs: &[&RunFigures],
    candidates: &[(usize, u16, &'a Series)],
    lines_max: usize,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let mut later: Vec<&str> = Vec::new();
    for (run, _, series) in candidates {
        let side_show = phase_of(runs[*run], series).is_some_and(|phase| {
            matches!(phase, Phase::Precreate | Phase::Cleanup | Phase::TreeCreate | Phase::TreeRemove)
        });
        let list = if side_show && candidates.len() > lines_max { &mut later } else { &mut names };
        if !list.contains(&series.name.as_str()) {
            list.push(&series.name);
        }
    }
    names.extend(later.into_iter().filter(|name| !names.contains(name)).collect::<Vec<&str>>());
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = 0;
    for name in names {
        let of_name = candidates.iter().filter(|(_, _, series)| series.name == name).count();
        if kept.is_empty() || lines + of_name <= lines_max {
            kept.push(name);
            lines += of_name;
        }
    }
    kept
}
