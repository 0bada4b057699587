//! Day by day, a line for each configuration: means up to the limit, medians, or shares past the deadline (figures 1, 2, 4 and 5 of study 002).

use iolag_analysis::history::{
    AttemptsTold, ConfigurationByDay, Day, DayTold, Estimate, EstimateInterval, LocalTime, MeanLimit,
    TaskByDay,
};
use iolag_model::{WallTime, counted};

use super::choice::{HistorySelection, PlottedHistory};
use crate::figure::axis::{Axis, short_duration};
use crate::figure::calendar::calendar_axis;
use crate::figure::drawings::beside::{Beside, Look};
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{AxisTexts, Key, Panel, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Stroke};

const DAY_NS: i64 = 86_400_000_000_000;
/// Units of time, the longest first: how many seconds one is.
const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
/// More lines than these cannot be told apart in a panel.
const LINES_MAX: usize = 8;
/// Lines of a day stand so far apart, as a share of it.
const DAYS_APART: f64 = 0.09;
/// How much higher a panel is than what is highest in it.
const ROOM: f64 = 1.05;
/// More bars than these hide the lines.
const BARS_MAX: usize = 600;

/// What is drawn of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayValue {
    /// The mean up to the limit.
    Mean,
    /// The median.
    Median,
    /// The share that passed the deadline.
    PastDeadline,
}

/// A day's value with its interval.
struct Point {
    day: Day,
    value: f64,
    ends: Option<[f64; 2]>,
    /// It is at least so much.
    is_bound: bool,
}

/// A line.
struct Line<'a> {
    configuration: &'a ConfigurationByDay,
    points: Vec<Point>,
    stroke: Stroke,
    look: Look,
}

pub(crate) fn draw(
    sheet: &mut Sheet,
    history: &PlottedHistory<'_>,
    selection: &HistorySelection,
    value: DayValue,
) -> Result<(), FigureError> {
    let is_wanted = |names: &[String], name: &String| names.is_empty() || names.contains(name);
    let wanted = history.by_day.iter().filter(|task| {
        is_wanted(&selection.tasks, &task.task) && is_wanted(&selection.targets, &task.target)
    });
    let (columns, rows) = sheet.panels_max();
    let mut tasks: Vec<&TaskByDay> = wanted.filter(|task| !task.configurations.is_empty()).collect();
    let left_out = tasks.split_off(tasks.len().min(columns * rows));
    let what = match (value, &limits_of(&tasks)[..]) {
        (DayValue::Mean, [limit]) => format!("Mean up to {limit} of each day by configuration"),
        (DayValue::Mean, _) => "Mean up to the limit of each day by configuration".to_owned(),
        (DayValue::Median, _) => "Median of each day by configuration".to_owned(),
        (DayValue::PastDeadline, _) => {
            "Share of attempts past their deadline, by day and configuration".to_owned()
        }
    };
    sheet.title(&match &tasks[..] {
        [task] => format!("{what}: {} on {}", task.task, task.target),
        _ => what,
    });
    let names = names_of(&tasks);
    let width = sheet.text / 9;
    let side = Beside { count: names.len().min(LINES_MAX), most: 1 };
    let look = |name: &str| {
        let place = names.iter().position(|known| *known == name).unwrap_or_default();
        side.look(place)
    };
    let stroke = |name: &str| Stroke { paint: look(name).paint, width, dash: look(name).dash };
    let style = |name: &str| (stroke(name), look(name));
    let panels: Vec<Vec<Line<'_>>> = tasks.iter().map(|task| lines_of(task, value, &style)).collect();
    let drawn: Vec<&str> = panels.iter().flatten().map(|line| line.configuration.name.as_str()).collect();
    let legend = names.iter().filter(|name| drawn.contains(name));
    sheet.legend(&legend.map(|name| (Key::Line(stroke(name)), (*name).to_owned())).collect::<Vec<_>>());
    let bars: usize = panels.iter().flatten().map(|line| line.points.len()).sum();
    sheet.caption(&caption(history, &tasks, &left_out, value, (drawn.len(), bars)));
    if panels.iter().flatten().all(|line| line.points.is_empty()) {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen has a day.");
        return Ok(());
    }
    let regions = sheet.grid(tasks.len(), (columns, rows));
    for ((task, lines), mut region) in tasks.iter().zip(&panels).zip(regions) {
        if tasks.len() > 1 {
            sheet.panel_name(&format!("{} on {}", task.task, task.target), &mut region);
        }
        draw_panel(sheet, region, lines, value, bars)?;
    }
    Ok(())
}

/// Of all configurations, those with more attempts first.
fn names_of<'a>(tasks: &[&'a TaskByDay]) -> Vec<&'a str> {
    let all = tasks.iter().flat_map(|task| &task.configurations);
    let mut names: Vec<(u64, &str)> = all.map(|one| (one.all.past_deadline.of, one.name.as_str())).collect();
    names.sort_by_key(|(attempts, name)| (std::cmp::Reverse(*attempts), *name));
    let mut seen = Vec::new();
    for (_, name) in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn lines_of<'a>(
    task: &'a TaskByDay,
    value: DayValue,
    style: &impl Fn(&str) -> (Stroke, Look),
) -> Vec<Line<'a>> {
    let mut configurations: Vec<&ConfigurationByDay> = task.configurations.iter().collect();
    configurations.sort_by_key(|one| std::cmp::Reverse(one.all.past_deadline.of));
    let line = |configuration: &'a ConfigurationByDay| {
        let points = configuration.days.iter().filter_map(|day| point(day, value)).collect();
        let (stroke, look) = style(&configuration.name);
        Line { configuration, points, stroke, look }
    };
    configurations.into_iter().take(LINES_MAX).map(line).collect()
}

fn point(DayTold { day, told }: &DayTold, value: DayValue) -> Option<Point> {
    let AttemptsTold { mean, median, past_deadline } = told;
    let known = |value: f64, ends, is_bound| Some(Point { day: *day, value, ends, is_bound });
    match value {
        DayValue::Mean => known(mean.as_ref()?.seconds, mean.as_ref()?.interval_seconds, false),
        DayValue::PastDeadline => {
            let interval = past_deadline.interval;
            let ends = [interval.low, interval.high].map(|end| 100.0 * end);
            known(100.0 * past_deadline.share()?, Some(ends), false)
        }
        DayValue::Median => {
            let amount = |estimate| match estimate {
                Estimate::Exactly(amount) | Estimate::Below(amount) | Estimate::AtLeast(amount) => {
                    Some(amount)
                }
                Estimate::TooFew { .. } | Estimate::FewStretches { .. } => None,
            };
            let ends = match median.interval {
                EstimateInterval::Between { low, high } => amount(low).zip(amount(high)),
                EstimateInterval::TooFew { .. } | EstimateInterval::FewStretches { .. } => None,
            };
            let is_bound = matches!(median.value, Estimate::AtLeast(_));
            known(amount(median.value)?, ends.map(|(low, high)| [low, high]), is_bound)
        }
    }
}

fn draw_panel(
    sheet: &mut Sheet,
    region: crate::figure::paper::sheet::Region,
    lines: &[Line<'_>],
    value: DayValue,
    bars: usize,
) -> Result<(), FigureError> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let (first, last) = (points().map(|one| one.day.0).min(), points().map(|one| one.day.0).max());
    let (Some(first), Some(last)) = (first, last) else { return Ok(()) };
    let has_bars = bars <= BARS_MAX;
    let highest =
        |one: &Point| one.ends.filter(|_| has_bars).map_or(one.value, |ends| ends[1].max(one.value));
    // What is nothing, or all, stands on no frame.
    let most = points().map(highest).fold(0.0, f64::max) * ROOM;
    let (unit, unit_seconds) = match value {
        DayValue::PastDeadline => ("% of attempts", 1.0),
        _ => UNITS.into_iter().find(|(_, seconds)| most >= *seconds).unwrap_or(UNITS[3]),
    };
    let span_ns = (last - first + 1).unsigned_abs() * DAY_NS.unsigned_abs();
    let dates = sheet.dates_across(region.width());
    let x = calendar_axis(WallTime(first.saturating_mul(DAY_NS)), span_ns, &LocalTime::UTC, dates);
    let y = Axis::amount(most / unit_seconds, sheet.labels_up(region.height()).min(8));
    let y_text = if value == DayValue::PastDeadline { unit.to_owned() } else { format!("time in {unit}") };
    let panel = sheet.panel(region, x, y, AxisTexts { y: &y_text, ..AxisTexts::default() })?;
    for line in lines {
        let at =
            |one: &Point| ((one.day.0 - first) as f64 + 0.5 + line.look.shifted(DAYS_APART)) * DAY_NS as f64;
        draw_line(&panel, line, at, unit_seconds, has_bars);
    }
    Ok(())
}

fn draw_line(
    panel: &Panel<'_>,
    line: &Line<'_>,
    at: impl Fn(&Point) -> f64,
    unit_seconds: f64,
    has_bars: bool,
) {
    let stroke = line.stroke;
    // A day without an attempt is a hole.
    for together in line.points.chunk_by(|one, next| next.day.0 - one.day.0 <= 1) {
        panel.line(together.iter().map(|one| (at(one), one.value / unit_seconds)), stroke);
    }
    for one in &line.points {
        let (x, y) = panel.place(at(one), one.value / unit_seconds);
        line.look.draw(panel, vec![(x, y)]);
        if one.is_bound {
            panel.label("↑", (x, y - stroke.width * 2), Align::Middle);
        }
        if let Some(ends) = one.ends.filter(|_| has_bars) {
            let bar = Stroke { dash: Dash::ALL[0], width: stroke.width / 2, ..stroke };
            panel.line(ends.into_iter().map(|end| (at(one), end / unit_seconds)), bar);
        }
    }
}

fn caption(
    history: &PlottedHistory<'_>,
    tasks: &[&TaskByDay],
    left_out: &[&TaskByDay],
    value: DayValue,
    (lines, bars): (usize, usize),
) -> String {
    let all = |tasks: &[&TaskByDay]| {
        let configurations = tasks.iter().flat_map(|task| &task.configurations);
        configurations.map(|one| one.all.past_deadline.of).sum::<u64>()
    };
    let mut sentences = vec![format!("{}.", counted(all(tasks), "attempt", "attempts"))];
    if !left_out.is_empty() {
        let named: Vec<String> =
            left_out.iter().map(|task| format!("{} on {}", task.task, task.target)).collect();
        sentences.push(format!("Not drawn, for want of room: {}.", named.join(", ")));
    }
    let configurations: usize = tasks.iter().map(|task| task.configurations.len()).sum();
    if configurations > lines {
        let others = counted((configurations - lines) as u64, "configuration", "configurations");
        sentences.push(format!("Not drawn: {others} with fewer attempts."));
    }
    if value == DayValue::Mean {
        sentences.extend(limits_in_words(tasks));
    }
    if tasks.iter().flat_map(|task| &task.configurations).any(|one| one.hosts.len() > 1) {
        sentences.push("Attempts of all hosts of a configuration stand together.".to_owned());
    }
    sentences.push(match bars {
        ..=BARS_MAX => "Bars: 95 % intervals, wider where attempts come in clusters.".to_owned(),
        _ => "Intervals of so many days are in the tables.".to_owned(),
    });
    sentences.push(format!("History {}; days are those of {}.", history.place, history.zone));
    sentences.join(" ")
}

/// What means go up to, each limit once.
fn limits_of(tasks: &[&TaskByDay]) -> Vec<String> {
    let mut limits: Vec<String> = tasks.iter().map(|task| short_duration(task.limit_seconds * 1e9)).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// What means go up to: a sentence if it is the same everywhere, else one for each.
fn limits_in_words(tasks: &[&TaskByDay]) -> Vec<String> {
    let mut sentences: Vec<String> = tasks
        .iter()
        .map(|task| {
            let limit = short_duration(task.limit_seconds * 1e9);
            match task.limit_is {
                MeanLimit::Deadline => {
                    format!("Means up to {limit}, the deadline: what took longer counts as so long.")
                }
                MeanLimit::Longest => {
                    format!("Means up to {limit}, the longest of all, since no deadline is known.")
                }
            }
        })
        .collect();
    sentences.sort_unstable();
    sentences.dedup();
    sentences
}
