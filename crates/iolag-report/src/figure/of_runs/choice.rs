//! What of the runs is drawn, in which colour, and under which name.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use iolag_analysis::figure::{Figures, RunFigures, Series, SeriesPart};
use iolag_model::{ClientId, Level, Operation, Phase, TargetIndex, counted, format_count};

use crate::figure::drawings::palette::PALETTE;
use crate::figure::paper::sheet::Sheet;
use crate::figure::scene::shapes::{Dash, Paint, Stroke};
use crate::words::numbers;

/// More series than this that are not drawn are counted.
const NAMED_MAX: usize = 6;

/// What is to be drawn; an empty list leaves the choice to iolag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FigureSelection {
    /// Only these operations; if empty, the tasks, or if there are none the objects, calls, or streams.
    pub operations: Vec<Operation>,
    /// Only targets of these names.
    pub targets: Vec<String>,
    /// Only these phases; figures that do not tell them apart must have been made of them.
    pub phases: Vec<Phase>,
    /// Only these clients, by number; figures must have been made of them.
    pub clients: Vec<RangeInclusive<u32>>,
}

/// How much a figure has room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Operations that a reader can tell apart.
    pub(crate) operations: usize,
    /// Series of all runs and targets.
    pub(crate) lines: usize,
}

/// What has panels of its own over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) run: usize,
    pub(crate) target: TargetIndex,
    /// Where clients are told apart.
    pub(crate) client: Option<ClientId>,
}

/// A series of a run that is drawn.
pub(crate) struct Line<'a> {
    pub(crate) run: &'a RunFigures,
    /// Index of the run.
    pub(crate) run_index: usize,
    /// Index of the series in the run.
    pub(crate) index: u16,
    pub(crate) series: &'a Series,
    /// For the legend.
    pub(crate) name: String,
    /// That of its operation.
    pub(crate) paint: Paint,
    /// That of its place, or of its operation if all are of one place.
    pub(crate) dash: Dash,
}

impl Line<'_> {
    pub(crate) const fn stroke(&self, width: i32) -> Stroke {
        Stroke { paint: self.paint, width, dash: self.dash }
    }

    pub(crate) const fn place(&self) -> Place {
        Place { run: self.run_index, target: self.series.target, client: client_of(self.series) }
    }
}

/// What is drawn, and what is said about it.
pub(crate) struct Chosen<'a> {
    pub(crate) runs: Vec<&'a RunFigures>,
    /// Short names of the runs; empty if there is only one.
    pub(crate) run_names: Vec<String>,
    pub(crate) lines: Vec<Line<'a>>,
    /// Lines that found no place.
    left_out: Vec<Line<'a>>,
    /// Levels of which nothing was asked for.
    other_levels: Vec<Level>,
    /// As in `Only clients 0-3.`; empty for all.
    pub(crate) clients: String,
}

impl<'a> Chosen<'a> {
    /// Chooses as many series as there is room for, the same operations of every run and target.
    pub(crate) fn new(figures: &'a Figures, selection: &FigureSelection, room: Room) -> Self {
        let runs: Vec<&RunFigures> = figures.runs.iter().collect();
        let run_names = run_names(&runs);
        let level = level_of(&runs, selection);
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (run_index, run) in runs.iter().enumerate() {
            for (index, series) in run.series.iter().enumerate() {
                if is_wanted(run, series, selection, level) {
                    let client = client_of(series).map(|client| format!(" · client {}", client.0));
                    let client = client.unwrap_or_default();
                    let of_run = run_names.get(run_index).map(|run| format!(" · {run}")).unwrap_or_default();
                    let name = format!("{}{client}{of_run}", series.name);
                    let (paint, dash) = (PALETTE[0], Dash::Solid);
                    lines.push(Line { run, run_index, index: index as u16, series, name, paint, dash });
                }
            }
        }
        let clients = clients_in_words(&selection.clients);
        let mut chosen = Self {
            clients,
            other_levels: other_levels(&runs, level),
            runs,
            run_names,
            lines,
            left_out: Vec::new(),
        };
        chosen.give_styles();
        chosen.keep_operations(room);
        chosen
    }

    /// Every operation has a colour, in the order in which the page has them: that of the runs' series.
    fn give_styles(&mut self) {
        let levels: Vec<Level> = self.lines.iter().map(|line| line.series.level).collect();
        let operations = operations_in_order(&self.runs, &levels);
        let places = self.places();
        for line in &mut self.lines {
            let number = |known: &Operation| *known == line.series.operation;
            let style = operations.iter().position(number).unwrap_or_default();
            let place = places.iter().position(|place| *place == line.place()).unwrap_or_default();
            let pattern = if places.len() > 1 { place } else { style + style / PALETTE.len() };
            line.paint = PALETTE[style % PALETTE.len()];
            line.dash = Dash::ALL[pattern % Dash::ALL.len()];
        }
        // The same operation of several runs stands together.
        let place = |line: &Line<'_>| operations.iter().position(|known| *known == line.series.operation);
        self.lines.sort_by_key(|line| (place(line), line.run_index, line.index));
    }

    fn keep_operations(&mut self, room: Room) {
        let mut kept: Vec<Operation> = Vec::new();
        let mut lines = 0;
        for operation in self.operations() {
            let own = self.lines.iter().filter(|line| line.series.operation == operation).count();
            if kept.is_empty() || (kept.len() < room.operations && lines + own <= room.lines) {
                kept.push(operation);
                lines += own;
            }
        }
        self.keep(|line| kept.contains(&line.series.operation));
        self.left_out.extend(self.lines.drain(room.lines.min(self.lines.len())..));
    }

    /// Keeps these lines; the others are told as left out.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(&Line<'a>) -> bool) {
        let (kept, left_out) = std::mem::take(&mut self.lines).into_iter().partition(is_kept);
        self.lines = kept;
        self.left_out.extend::<Vec<Line<'a>>>(left_out);
    }

    /// The operations that are drawn.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        let mut operations: Vec<Operation> = self.lines.iter().map(|line| line.series.operation).collect();
        operations.dedup();
        operations
    }

    /// The places that something is drawn of, by run and target.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.lines.iter().map(Line::place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The lines of a place.
    pub(crate) fn lines_of(&self, place: Place) -> Vec<&Line<'a>> {
        self.lines.iter().filter(|line| line.place() == place).collect()
    }

    /// What a place is called, as far as it is not the same for all.
    pub(crate) fn place_name(&self, place: Place) -> String {
        let run = self.run_names.get(place.run).cloned();
        let targets = self.runs.get(place.run).map_or(&[][..], |run| &run.run.targets);
        let is_told = self.runs.len() > 1 || place.client.is_some();
        let is_one = self.runs.iter().all(|run| run.run.targets.len() < 2) && is_told;
        let target = targets.get(usize::from(place.target.0)).filter(|_| !is_one);
        let client = place.client.map(|client| format!("client {}", client.0));
        let parts = run.into_iter().chain(target.map(|target| target.name.clone())).chain(client);
        parts.collect::<Vec<String>>().join(" · ")
    }

    /// Attempts that stand behind the lines.
    pub(crate) fn attempts(&self) -> u64 {
        self.lines.iter().map(|line| line.series.attempts).sum()
    }

    /// How many attempts are drawn, and what is not: `30 000 attempts.`, or `17 785 of 25 785 attempts are drawn; not drawn: create
    /// (8 000, of which 67 did not succeed).`
    pub(crate) fn coverage(&self) -> String {
        let drawn = self.attempts();
        let mut text = format!("{}.", in_words(drawn));
        if !self.left_out.is_empty() {
            let all = drawn + self.left_out.iter().map(|line| line.series.attempts).sum::<u64>();
            let names: Vec<String> = self.left_out.iter().map(left_out_in_words).collect();
            let named = names[..names.len().min(NAMED_MAX)].join(", ");
            let more = match names.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {} more series", format_count(more as u64)),
            };
            let drawn = format_count(drawn);
            text = format!("{drawn} of {} are drawn; not drawn: {named}{more}.", in_words(all));
        }
        if !self.other_levels.is_empty() {
            let names: Vec<&str> = self.other_levels.iter().copied().map(name_of_level).collect();
            text.push_str(&format!(
                " Not in this figure: {} (`iolag plot --operations` draws them).",
                names.join(", ")
            ));
        }
        text
    }

    /// What of the attempts is not in a figure that shows only so many of them.
    pub(crate) fn missing(&self, shown: u64) -> String {
        match self.attempts().saturating_sub(shown) {
            0 => String::new(),
            missing => format!(
                "{} not in it.",
                counted(missing, "attempt that did not succeed is", "attempts that did not succeed are")
            ),
        }
    }

    /// Writes the heading: what is shown, and of what.
    pub(crate) fn title(&self, sheet: &mut Sheet, what: &str) {
        let title = match self.runs.as_slice() {
            [run] => format!("{what}: {}", run.run.title),
            runs => format!("{what} of {} runs", runs.len()),
        };
        sheet.title(&title);
    }

    /// Writes the caption: how many attempts stand behind the figure, what it shows, and of which runs.
    pub(crate) fn caption(&self, sheet: &mut Sheet, sentences: &[String]) {
        let all = [&[self.coverage(), self.clients.clone()], sentences, &[self.runs_in_words()]].concat();
        sheet.caption(&all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<String>>().join(" "));
    }

    /// Which runs these are.
    pub(crate) fn runs_in_words(&self) -> String {
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

/// The client of a series, where clients are told apart.
pub(crate) const fn client_of(series: &Series) -> Option<ClientId> {
    match series.part {
        Some(SeriesPart::Client(client)) => Some(client),
        _ => None,
    }
}

fn left_out_in_words(line: &Line<'_>) -> String {
    let Series { attempts, ok, late, .. } = line.series;
    let failed = match attempts.saturating_sub(ok + late) {
        0 => String::new(),
        failed => format!(", of which {} did not succeed", format_count(failed)),
    };
    format!("{} ({}{failed})", line.name, format_count(*attempts))
}

const fn name_of_level(level: Level) -> &'static str {
    match level {
        Level::Task => "tasks",
        Level::Object => "whole operations",
        Level::Call => "single calls",
        Level::Stream => "stream blocks",
        Level::Harness => "iolag itself",
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

/// The operations of these levels in the order of their colours, which is that of the page.
pub(crate) fn operations_in_order(runs: &[&RunFigures], levels: &[Level]) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    for series in runs.iter().flat_map(|run| &run.series) {
        if levels.contains(&series.level) && !operations.contains(&series.operation) {
            operations.push(series.operation);
        }
    }
    operations
}

/// The level that people feel most directly, of those on which every place was measured that was measured at all, if there are some.
fn level_of(runs: &[&RunFigures], selection: &FigureSelection) -> Option<Level> {
    if !selection.operations.is_empty() {
        return None;
    }
    let levels = [Level::Task, Level::Object, Level::Call, Level::Stream, Level::Harness];
    let all = places_on(runs, None);
    let measured = |level: &Level| !places_on(runs, Some(*level)).is_empty();
    let everywhere = levels.into_iter().filter(measured).find(|level| places_on(runs, Some(*level)) == all);
    let series = || runs.iter().flat_map(|run| &run.series);
    let has = |level: &Level| series().any(|series| series.level == *level && series.attempts > 0);
    everywhere.or_else(|| levels.into_iter().find(measured)).or_else(|| levels.into_iter().find(has))
}

/// The places that were measured on this level, or on any but iolag's own.
fn places_on(runs: &[&RunFigures], level: Option<Level>) -> BTreeSet<(usize, TargetIndex)> {
    let is_on = |series: &Series| match level {
        Some(level) => series.level == level && level != Level::Harness,
        None => series.level != Level::Harness,
    };
    let of_run = |(index, run): (usize, &&RunFigures)| {
        let measured = run.series.iter().filter(|series| series.attempts > 0 && is_measured(run, series));
        measured.filter(|series| is_on(series)).map(|series| (index, series.target)).collect::<Vec<_>>()
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// Whether it is of a phase that does not only make or remove what is measured.
fn is_measured(run: &RunFigures, series: &Series) -> bool {
    let phase = match series.part {
        Some(SeriesPart::Phase(phase)) => Some(phase),
        Some(SeriesPart::Stage(stage)) => {
            run.run.stages.iter().find(|known| known.stage == stage).map(|known| known.phase)
        }
        // It is measured beside that.
        Some(SeriesPart::Beside(_)) => return false,
        Some(SeriesPart::Client(_)) | None => None,
    };
    !matches!(phase, Some(Phase::Precreate | Phase::Cleanup | Phase::TreeCreate | Phase::TreeRemove))
}

fn clients_in_words(clients: &[RangeInclusive<u32>]) -> String {
    let range = |range: &RangeInclusive<u32>| match (range.start(), range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    let ranges: Vec<String> = clients.iter().map(range).collect();
    match clients {
        [] => String::new(),
        [only] if only.start() == only.end() => format!("Only client {}.", only.start()),
        _ => format!("Only clients {}.", ranges.join(", ")),
    }
}

/// Levels that something was done on, besides the one that is drawn; iolag's own is nobody's.
fn other_levels(runs: &[&RunFigures], level: Option<Level>) -> Vec<Level> {
    let has = |of: &Level| {
        let mut series = runs.iter().flat_map(|run| &run.series);
        series.any(|series| series.level == *of && series.attempts > 0)
    };
    let others = [Level::Task, Level::Object, Level::Call, Level::Stream].into_iter().filter(has);
    others.filter(|of| level.is_some_and(|level| level != *of)).collect()
}

fn is_wanted(run: &RunFigures, series: &Series, selection: &FigureSelection, level: Option<Level>) -> bool {
    let by_level = level.is_none_or(|level| series.level == level);
    let by_operation = selection.operations.is_empty() || selection.operations.contains(&series.operation);
    let by_target = is_target_wanted(run, series.target, selection);
    let by_phase = selection.phases.is_empty()
        || phase_of(run, series).is_none_or(|phase| selection.phases.contains(&phase));
    by_level && by_operation && by_target && by_phase && series.attempts > 0
}

pub(crate) fn is_target_wanted(run: &RunFigures, target: TargetIndex, selection: &FigureSelection) -> bool {
    let name = run.run.targets.get(usize::from(target.0)).map(|target| target.name.as_str());
    selection.targets.is_empty()
        || name.is_some_and(|name| selection.targets.iter().any(|wanted| wanted == name))
}

/// The phase of a series of which it is known; where phases are not told apart, all attempts are of those that were asked for.
fn phase_of(run: &RunFigures, series: &Series) -> Option<Phase> {
    match series.part? {
        SeriesPart::Client(_) | SeriesPart::Beside(_) => None,
        SeriesPart::Phase(phase) => Some(phase),
        SeriesPart::Stage(index) => {
            run.run.stages.iter().find(|stage| stage.stage == index).map(|stage| stage.phase)
        }
    }
}
