//! What of a history is drawn: tasks have panels, places have colours and dashes, as in the page (web/src/history/arrangement.ts).

use std::collections::BTreeSet;

use iolag_analysis::history::{HistoryFigures, LocalTime, SeriesFigure, TaskByDay};
use iolag_model::{SeriesKind, WallTime, counted, format_count};

use crate::figure::drawings::palette::PALETTE;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::Sheet;
use crate::figure::scene::shapes::{Dash, Paint, Stroke};

/// More lines than these cannot be told apart.
const LINES_MAX: usize = 24;
/// More names than this are counted.
const NAMED_MAX: usize = 6;

/// A history and what is to be known of it beside its figures.
#[derive(Debug, Clone, Copy)]
pub struct PlottedHistory<'a> {
    /// Its figures.
    pub figures: &'a HistoryFigures,
    /// Its tasks by day and configuration.
    pub by_day: &'a [TaskByDay],
    /// Where it is, secrets removed.
    pub place: &'a str,
    /// Name of the zone whose clocks are meant.
    pub zone: &'a str,
    /// What they show.
    pub local_time: &'a LocalTime,
}

/// What is to be drawn; an empty list leaves the choice to iolag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HistorySelection {
    /// Only tasks of these names, or their parts as in `list: ls -n`; if empty, whole tasks.
    pub tasks: Vec<String>,
    /// Only targets of these names; if empty, all but controls.
    pub targets: Vec<String>,
    /// Which curves an ECDF has.
    pub curves: EcdfCurves,
    /// What a heat map shows of an hour.
    pub hours: HourShown,
}

/// Which curves an ECDF has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EcdfCurves {
    /// One of each series.
    #[default]
    Whole,
    /// Those before and after a change that an event stands next to as well.
    WithBeforeAfter,
}

/// What a heat map shows of an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HourShown {
    /// The median of its attempts.
    #[default]
    Median,
    /// The longest of them.
    Longest,
}

/// A series that is drawn.
pub(crate) struct Line<'a> {
    pub(crate) series: &'a SeriesFigure,
    /// Index of the series in the history.
    pub(crate) index: usize,
    /// Its place.
    pub(crate) name: String,
    pub(crate) paint: Paint,
    pub(crate) dash: Dash,
}

/// The lines of a task, which share a panel.
pub(crate) struct Task<'a> {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line<'a>>,
}

/// What is drawn, and what is said about it.
pub(crate) struct Chosen<'a> {
    pub(crate) history: &'a PlottedHistory<'a>,
    pub(crate) tasks: Vec<Task<'a>>,
    left_out: Vec<Task<'a>>,
    /// What nobody asked for, in words.
    not_asked_for: Vec<String>,
}

impl Line<'_> {
    pub(crate) const fn stroke(&self, width: i32) -> Stroke {
        Stroke { paint: self.paint, width, dash: self.dash }
    }

    /// Attempts that stand behind it.
    pub(crate) const fn attempts(&self) -> u64 {
        let slots = &self.series.slots;
        slots.ok + slots.error + slots.timeout + slots.hung + slots.late + slots.interrupted
    }
}

impl Task<'_> {
    fn attempts(&self) -> u64 {
        self.lines.iter().map(Line::attempts).sum()
    }
}

impl<'a> Chosen<'a> {
    /// Chooses the series that were asked for.
    ///
    /// # Errors
    /// If the history has no such task or target.
    pub(crate) fn new(
        history: &'a PlottedHistory<'a>,
        selection: &HistorySelection,
    ) -> Result<Self, FigureError> {
        refuse_unknown(&durations(history), selection)?;
        Ok(Self::of(history, selection))
    }

    /// Chooses the series that there are of those that were asked for.
    pub(crate) fn of(history: &'a PlottedHistory<'a>, selection: &HistorySelection) -> Self {
        let all = durations(history);
        let places = places(&history.figures.series);
        let mut not_asked_for = Vec::new();
        let wanted = wanted(&all, selection, &mut not_asked_for);
        let values = history.figures.series.len() - all.len();
        if values > 0 {
            not_asked_for.push(counted(values as u64, "series of values", "series of values"));
        }
        let mut tasks: Vec<Task<'a>> = Vec::new();
        for (index, series) in wanted {
            let name = place_name(&history.figures.series, series);
            let style = places.iter().position(|place| *place == name).unwrap_or_default();
            let (paint, dash) = (PALETTE[style % PALETTE.len()], Dash::ALL[style % Dash::ALL.len()]);
            let line = Line { series, index, name, paint, dash };
            let task = task_name(series);
            match tasks.iter_mut().find(|known| known.name == task) {
                Some(known) => known.lines.push(line),
                None => tasks.push(Task { name: task, lines: vec![line] }),
            }
        }
        // In the order of their colours, whatever the series are called.
        let style = |line: &Line<'_>| places.iter().position(|place| *place == line.name);
        tasks.iter_mut().for_each(|task| task.lines.sort_by_key(style));
        let mut chosen = Self { history, tasks, left_out: Vec::new(), not_asked_for };
        chosen.keep(usize::MAX);
        chosen
    }

    /// Keeps so many tasks, as far as their lines can be told apart; the others are told as left out.
    pub(crate) fn keep(&mut self, tasks_max: usize) {
        let mut lines = 0;
        let fits = |(index, task): (usize, &Task<'_>)| {
            lines += task.lines.len();
            index == 0 || (index < tasks_max && lines <= LINES_MAX)
        };
        let kept = self.tasks.iter().enumerate().map(fits).take_while(|fits| *fits).count();
        self.left_out.splice(0..0, self.tasks.drain(kept..));
    }

    /// Keeps these lines; how many there are of the others is told with what is wrong with them.
    pub(crate) fn keep_lines(&mut self, is_kept: impl Fn(&Line<'a>) -> bool, why: &str) {
        let before = self.lines().count();
        self.tasks.iter_mut().for_each(|task| task.lines.retain(&is_kept));
        self.tasks.retain(|task| !task.lines.is_empty());
        match before - self.lines().count() {
            0 => {}
            others => {
                self.not_asked_for.push(format!("{} {why}", counted(others as u64, "series", "series")))
            }
        }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line<'a>> {
        self.tasks.iter().flat_map(|task| &task.lines)
    }

    /// Each place that is drawn once, in the order of the colours.
    pub(crate) fn places(&self) -> Vec<&Line<'a>> {
        let mut seen = BTreeSet::new();
        let order = places(&self.history.figures.series);
        let mut lines: Vec<&Line<'a>> = self.lines().filter(|line| seen.insert(&line.name)).collect();
        lines.sort_by_key(|line| order.iter().position(|place| *place == line.name));
        lines
    }

    /// Writes the heading: what is shown, and of what.
    pub(crate) fn title(&self, sheet: &mut Sheet, what: &str) {
        sheet.title(&self.title_of(what, &self.tasks));
    }

    pub(crate) fn title_of(&self, what: &str, tasks: &[Task<'_>]) -> String {
        let task = match tasks {
            [task] => format!(": {}", task.name),
            _ => String::new(),
        };
        let hosts: BTreeSet<&str> = self.lines().map(|line| line.series.key.host.as_str()).collect();
        let host = match hosts.iter().collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            [host] => format!(" on {host}"),
            hosts => format!(" on {} hosts", hosts.len()),
        };
        format!("{what}{task}{host}")
    }

    /// Writes the caption: how many attempts stand behind the figure, of which history, and what it shows.
    pub(crate) fn caption(&self, sheet: &mut Sheet, sentences: &[String]) {
        let all = [&[self.coverage(), self.history_in_words()], sentences].concat();
        sheet.caption(&all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<String>>().join(" "));
    }

    /// How many attempts are drawn, and what is not: `28 217 attempts.`
    pub(crate) fn coverage(&self) -> String {
        let sum = |tasks: &[Task<'_>]| tasks.iter().map(Task::attempts).sum::<u64>();
        let (drawn, left_out) = (sum(&self.tasks), sum(&self.left_out));
        let mut text = format!("{}.", counted(drawn, "attempt", "attempts"));
        if !self.left_out.is_empty() {
            let name = |task: &Task<'_>| format!("{} ({})", task.name, format_count(task.attempts()));
            let named: Vec<String> = self.left_out.iter().take(NAMED_MAX).map(name).collect();
            let more = match self.left_out.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more tasks"),
            };
            let (drawn, all) = (format_count(drawn), format_count(drawn + left_out));
            text = format!("{drawn} of {all} attempts are drawn; not drawn: {}{more}.", named.join(", "));
        }
        if !self.not_asked_for.is_empty() {
            text.push_str(&format!(" Not in this figure: {}.", self.not_asked_for.join(", ")));
        }
        text
    }

    /// Which history, of which time.
    pub(crate) fn history_in_words(&self) -> String {
        let axis = &self.history.figures.axis;
        let end = axis.begin_ns.saturating_add_unsigned(axis.span_ns);
        let (begin, end) = (self.moment(axis.begin_ns), self.moment(end));
        format!("History {}, {begin} to {end} ({}).", self.history.place, self.history.zone)
    }

    /// What clocks show at a moment, as in `2008-05-08 14:15`.
    pub(crate) fn moment(&self, ns: i64) -> String {
        self.history.local_time.shown(WallTime(ns)).to_second()[..16].to_owned()
    }
}

fn durations<'a>(history: &PlottedHistory<'a>) -> Vec<(usize, &'a SeriesFigure)> {
    history.figures.series.iter().enumerate().filter(|(_, one)| one.kind.is_duration()).collect()
}

/// `list`, or of a part `list: ls -n`.
pub(crate) fn task_name(series: &SeriesFigure) -> String {
    let key = &series.key;
    if key.part.is_empty() { key.task.clone() } else { format!("{}: {}", key.task, key.part) }
}

/// A target, and from where it is seen if that is not the same for all.
fn place_name(all: &[SeriesFigure], series: &SeriesFigure) -> String {
    let key = &series.key;
    let target = if key.target.is_empty() { "the host" } else { &key.target };
    let control = if series.kind == SeriesKind::Control { " (control)" } else { "" };
    let several_hosts = all.iter().any(|other| other.key.host != key.host);
    let from = if several_hosts { format!(" from {}", key.host) } else { String::new() };
    format!("{target}{control}{from}")
}

/// All places of durations, so that each has its colour in every figure; controls last.
fn places(all: &[SeriesFigure]) -> Vec<String> {
    let mut durations: Vec<&SeriesFigure> = all.iter().filter(|one| one.kind.is_duration()).collect();
    durations.sort_by_key(|one| one.kind == SeriesKind::Control);
    let mut seen = BTreeSet::new();
    let names = durations.into_iter().map(|one| place_name(all, one));
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Whether a name means a series: its task, or a part of it. A task that is known by its parts only means all of them.
fn is_called(all: &[(usize, &SeriesFigure)], series: &SeriesFigure, name: &str) -> bool {
    let written = |name: &str| name.split(':').map(str::trim).collect::<Vec<_>>().join(":");
    let has_whole = || all.iter().any(|(_, one)| one.key.task == name && one.key.part.is_empty());
    written(name) == written(&task_name(series)) || (series.key.task == name && !has_whole())
}

fn refuse_unknown(all: &[(usize, &SeriesFigure)], selection: &HistorySelection) -> Result<(), FigureError> {
    let unknown = |what: &'static str, name: &String, known: BTreeSet<String>| {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        FigureError::NotInHistory { what, name: name.clone(), known }
    };
    let is_task = |name: &&String| all.iter().any(|(_, one)| is_called(all, one, name));
    if let Some(name) = selection.tasks.iter().find(|name| !is_task(name)) {
        return Err(unknown("task", name, all.iter().map(|(_, one)| task_name(one)).collect()));
    }
    let is_target = |name: &&String| all.iter().any(|(_, one)| one.key.target == **name);
    match selection.targets.iter().find(|name| !is_target(name)) {
        None => Ok(()),
        Some(name) => {
            Err(unknown("target", name, all.iter().map(|(_, one)| one.key.target.clone()).collect()))
        }
    }
}

/// What was asked for: without a choice whole tasks, and no control unless there is nothing else.
fn wanted<'a>(
    all: &[(usize, &'a SeriesFigure)],
    selection: &HistorySelection,
    not_asked_for: &mut Vec<String>,
) -> Vec<(usize, &'a SeriesFigure)> {
    let by_target = |series: &SeriesFigure| {
        selection.targets.is_empty() || selection.targets.contains(&series.key.target)
    };
    let mut found: Vec<_> = all.iter().filter(|(_, series)| by_target(series)).copied().collect();
    let is_part = |(_, series): &(usize, &SeriesFigure)| !series.key.part.is_empty();
    if !selection.tasks.is_empty() {
        found.retain(|(_, series)| selection.tasks.iter().any(|name| is_called(all, series, name)));
    } else if !found.iter().all(is_part) {
        let parts = found.iter().filter(|one| is_part(one)).count();
        found.retain(|one| !is_part(one));
        if parts > 0 {
            let counted = counted(parts as u64, "part of a task", "parts of tasks");
            not_asked_for.push(format!("{counted} (`--tasks 'TASK: PART'` draws one)"));
        }
    }
    let is_control = |(_, series): &(usize, &SeriesFigure)| series.kind == SeriesKind::Control;
    if selection.targets.is_empty() && !found.iter().all(is_control) {
        let controls = found.iter().filter(|one| is_control(one)).count();
        found.retain(|one| !is_control(one));
        if controls > 0 {
            not_asked_for.push(format!("{} (`--targets`)", counted(controls as u64, "control", "controls")));
        }
    }
    found
}
