//! "Integrated percent" of a history, figures 4 to 6 of study 000: a panel for each task, or for each series before and after a change.

use iolag_analysis::history::Curve;

use super::choice::{Chosen, EcdfCurves, Line};
use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::drawings::steps::{BANDS_MAX, POINTS_MAX, Start, Steps};
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Sheet};
use crate::figure::scene::shapes::{Dash, Stroke};

/// A curve in its panel.
struct Drawn<'a> {
    name: String,
    curve: &'a Curve,
    stroke: Stroke,
}

struct CurvePanel<'a> {
    title: String,
    curves: Vec<Drawn<'a>>,
}

pub(crate) fn draw(sheet: &mut Sheet, mut chosen: Chosen<'_>, which: EcdfCurves) -> Result<(), FigureError> {
    let room = sheet.panels_max();
    chosen.keep(room.0 * room.1);
    let width = sheet.text / 9;
    let of_line = |line: &Line<'_>| {
        let curve = &chosen.history.figures.series[line.index].by_attempt;
        let mut curves = vec![Drawn { name: line.name.clone(), curve, stroke: line.stroke(width) }];
        let around = chosen.history.figures.before_after.iter().find(|one| one.series == line.index);
        if let (EcdfCurves::WithBeforeAfter, Some(around)) = (which, around) {
            // Beside the place's own.
            let mut dashes = Dash::ALL.into_iter().filter(|dash| *dash != line.dash);
            let mut next = || dashes.next().unwrap_or(line.dash);
            let beside = [("before", &around.before, next()), ("after", &around.after, next())];
            curves.extend(beside.map(|(when, curve, dash)| Drawn {
                name: format!("{}, {when} {}", line.name, chosen.moment(around.border_ns)),
                curve,
                stroke: Stroke { dash, ..line.stroke(width) },
            }));
        }
        curves
    };
    let panels: Vec<CurvePanel<'_>> = chosen
        .tasks
        .iter()
        .map(|task| CurvePanel {
            title: if chosen.tasks.len() > 1 { task.name.clone() } else { String::new() },
            curves: task.lines.iter().flat_map(of_line).collect(),
        })
        .collect();
    chosen.title(sheet, "Share that took at most so long");
    let mut keys: Vec<(Key, String)> = Vec::new();
    for one in panels.iter().flat_map(|panel| &panel.curves) {
        if !keys.iter().any(|(_, known)| *known == one.name) {
            keys.push((Key::Line(one.stroke), one.name.clone()));
        }
    }
    draw_panels(sheet, &chosen, &panels, &keys, Vec::new())
}

/// Each series before and after the change next to an event that moved it furthest, and over the whole time.
pub(crate) fn draw_before_after(sheet: &mut Sheet, mut chosen: Chosen<'_>) -> Result<(), FigureError> {
    let figures = chosen.history.figures;
    let has_change = |line: &Line<'_>| figures.before_after.iter().any(|one| one.series == line.index);
    chosen.keep_lines(has_change, "without a change next to an event");
    let mut panels = Vec::new();
    for task in &chosen.tasks {
        let of_line = |line| around_change(&chosen, &task.name, line, sheet.text / 9);
        panels.extend(task.lines.iter().filter_map(of_line));
    }
    let room = sheet.panels_max();
    let left_out = panels.len().saturating_sub(room.0 * room.1);
    panels.truncate(room.0 * room.1);
    let mut sentences = Vec::new();
    if left_out > 0 {
        sentences.push(format!("There is no room for {left_out} more series with a change."));
    }
    sentences.push("That an event stands next to a change does not prove that it caused it.".to_owned());
    sheet.title(&chosen.title_of("Share that took at most so long, before and after", &[]));
    let keys = panels.first().map_or(Vec::new(), |panel| {
        panel.curves.iter().map(|one| (Key::Line(one.stroke), one.name.clone())).collect()
    });
    draw_panels(sheet, &chosen, &panels, &keys, sentences)
}

fn around_change<'a>(chosen: &Chosen<'a>, task: &str, line: &Line<'a>, width: i32) -> Option<CurvePanel<'a>> {
    let around = chosen.history.figures.before_after.iter().find(|one| one.series == line.index)?;
    let curves = [("before", &around.before), ("after", &around.after), ("all", &line.series.by_attempt)];
    let drawn = curves.into_iter().enumerate().map(|(index, (name, curve))| {
        let stroke = Stroke { paint: PALETTE[index], width, dash: Dash::ALL[index] };
        Drawn { name: name.to_owned(), curve, stroke }
    });
    let when = chosen.moment(around.border_ns);
    let title = format!("{task} on {}: {}, {when}", line.name, around.event_text);
    Some(CurvePanel { title, curves: drawn.collect() })
}

fn draw_panels(
    sheet: &mut Sheet,
    chosen: &Chosen<'_>,
    panels: &[CurvePanel<'_>],
    keys: &[(Key, String)],
    sentences: Vec<String>,
) -> Result<(), FigureError> {
    sheet.legend(keys);
    let banded = panels.iter().all(|panel| panel.curves.len() <= BANDS_MAX);
    let curves = || panels.iter().flat_map(|panel| &panel.curves);
    chosen.caption(sheet, &[sentences, explained(curves().map(|one| one.curve), banded)].concat());
    let per_curve = if banded { 6 } else { 2 } * curves().count().max(1);
    let steps: Vec<Vec<Steps>> = panels
        .iter()
        .map(|panel| {
            let steps = panel.curves.iter().map(|one| steps_of(one.curve));
            steps.map(|steps| steps.thinned(POINTS_MAX / per_curve)).collect()
        })
        .collect();
    let Some((shortest, longest)) = Steps::durations(steps.iter().flatten()) else {
        sheet.nothing(match panels {
            [] => "There is nothing to draw: no change of what was chosen stands next to an event.",
            _ => "There is nothing to draw: no attempt of what was chosen has a duration.",
        });
        return Ok(());
    };
    let regions = sheet.grid(panels.len(), sheet.panels_max());
    let lowest = regions.iter().map(|region| region.bottom).max();
    for ((panel, steps), mut region) in panels.iter().zip(steps).zip(regions) {
        let is_below = Some(region.bottom) == lowest;
        if !panel.title.is_empty() {
            sheet.panel_name(&panel.title, &mut region);
        }
        let x = Axis::durations(shortest * 0.9, longest.max(2e8), sheet.labels_across(region.width()));
        let y_text = if region.height() < 8 * sheet.text { "" } else { "attempts in %" };
        let texts = AxisTexts { x: if is_below { "time taken" } else { "" }, y: y_text, labels_width: 0 };
        let drawn = sheet.panel(region, x, Axis::percent(sheet.labels_up(region.height())), texts)?;
        for (one, steps) in
            panel.curves.iter().zip(&steps).filter(|(_, steps)| banded && !steps.share.is_empty())
        {
            let begin = |end: &[f64]| (steps.share[0].0, end[0]);
            steps.draw_band(&drawn, [begin(&steps.band[0]), begin(&steps.band[1])], one.stroke.paint);
        }
        drawn.thresholds(Along::X);
        for (one, steps) in panel.curves.iter().zip(&steps) {
            steps.draw(&drawn, one.stroke, "→");
        }
    }
    Ok(())
}

/// The curve with its band.
pub(crate) fn steps_of(curve: &Curve) -> Steps {
    let shares = |column: &[f32]| -> Vec<f64> {
        column.iter().map(|share| f64::from(*share).clamp(0.0, 1.0)).collect()
    };
    let amounts = curve.amount.0.iter().map(|ns| f64::from(*ns).max(1.0));
    Steps {
        share: amounts.zip(shares(&curve.share.0)).collect(),
        band: [shares(&curve.low.0), shares(&curve.high.0)],
        open_from_ns: curve.end.map(|end| end.from),
        start: if curve.below_count > 0 { Start::Below } else { Start::Zero },
    }
}

fn explained<'a>(curves: impl Iterator<Item = &'a Curve>, banded: bool) -> Vec<String> {
    let [mut at_least, mut below, mut count] = [0; 3];
    for curve in curves {
        at_least += curve.at_least_count;
        below += curve.below_count;
        count += curve.count;
    }
    if count == 0 {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    if banded {
        sentences.push("Shaded: the 95 % band of Hall and Wellner.".to_owned());
    }
    if at_least > 0 {
        sentences
            .push("Arrow: the rest took at least so long, it did not end (Kaplan and Meier).".to_owned());
    }
    if below > 0 {
        sentences.push("Dotted from the left: below what the clock could tell.".to_owned());
    }
    sentences.push("Dashed upright: 0.1, 1 and 10 s.".to_owned());
    sentences
}
