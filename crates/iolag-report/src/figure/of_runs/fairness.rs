//! What each client got done over time, and Jain's index of how even that was.

use iolag_analysis::figure::{Fairness, RunFigures};
use iolag_model::counted;

use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{Chosen, FigureSelection};
use crate::figure::paper::sheet::{AxisTexts, INK, Key, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Paint, Stroke};

/// More panels than this are too low to be read.
const PANELS_MAX: i32 = 4;
/// Points of the lines of all panels.
const POINTS_MAX: usize = 14_000;
const OTHERS: Paint = Paint::opaque(0x99, 0x99, 0x99);

struct Group<'a> {
    run: &'a RunFigures,
    fairness: &'a Fairness,
    name: String,
}

pub(crate) fn draw(
    sheet: &mut Sheet,
    chosen: &Chosen<'_>,
    selection: &FigureSelection,
) -> Result<(), FigureError> {
    let mut groups = groups_of(chosen, selection);
    let panels_max = ((sheet.free.height() / sheet.text - 7) / 9).clamp(1, PANELS_MAX) as usize;
    let left_out = groups.len().saturating_sub(panels_max);
    groups.truncate(panels_max);
    let width = sheet.text / 9;
    let (fastest, slowest) = (Stroke::solid(PALETTE[0], width * 3 / 2), dashed(PALETTE[1], width * 3 / 2));
    chosen.title(sheet, "Operations done by each client");
    if !groups.is_empty() {
        let key = |stroke: Stroke, text: &str| (Key::Line(stroke), text.to_owned());
        let others = Stroke::solid(OTHERS, width / 2);
        sheet.legend(&[key(fastest, "most done"), key(slowest, "least done"), key(others, "the others")]);
    }
    let mut sentences =
        vec!["Jain's index of the clients' rates: 1 is even, 1/n is one client alone.".to_owned()];
    if left_out > 0 {
        sentences.push(format!(
            "{} not drawn: choose a target.",
            counted(left_out as u64, "more target is", "more targets are")
        ));
    }
    let lines = groups.iter().flat_map(|group| &group.fairness.lines);
    let done: u64 = lines.filter_map(|line| line.done.0.last()).map(|done| u64::from(*done)).sum();
    sentences.insert(0, format!("{} in these lines.", counted(done, "operation", "operations")));
    sentences.extend([chosen.clients.clone(), chosen.runs_in_words()]);
    sentences.retain(|sentence| !sentence.is_empty());
    sheet.caption(&sentences.join(" "));
    if groups.is_empty() {
        sheet.nothing("There is nothing to draw: no target has more than one client.");
        return Ok(());
    }
    let count = groups.len();
    let lines: usize = groups.iter().map(|group| group.fairness.lines.len()).sum();
    let points_max = POINTS_MAX / lines.max(1);
    for (index, (group, mut region)) in groups.iter().zip(sheet.rows(count)).enumerate() {
        let name = sheet.font().shortened(&group.name, sheet.text, region.width());
        sheet.label(&name, (region.left, region.top + sheet.text * 4 / 5), sheet.text, Align::Start, INK);
        region.top += sheet.text;
        let lines = lines_of(group.fairness, points_max);
        let most = lines.iter().filter_map(|line| line.last()).map(|(_, done)| *done).fold(0.0, f64::max);
        let x = Axis::time(group.run.run.span_ns.0 as f64, sheet.labels_across(region.width()));
        let y = Axis::amount(most, sheet.labels_up(region.height()).min(8));
        let x_text = format!("time since the start in {}", x.unit);
        let y_text = if count == 1 { "operations done" } else { "" };
        let texts =
            AxisTexts { x: if index + 1 == count { &x_text } else { "" }, y: y_text, ..AxisTexts::default() };
        let panel = sheet.panel(region, x, y, texts)?;
        let last = lines.len().saturating_sub(1);
        for (place, line) in lines.into_iter().enumerate() {
            let stroke = match place {
                0 => slowest,
                place if place == last => fastest,
                _ => Stroke::solid(OTHERS, width / 2),
            };
            panel.line(line, stroke);
        }
    }
    Ok(())
}

const fn dashed(paint: Paint, width: i32) -> Stroke {
    Stroke { paint, width, dash: Dash::Strokes }
}

fn groups_of<'a>(chosen: &Chosen<'a>, selection: &FigureSelection) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    for (run_index, run) in chosen.runs.iter().enumerate() {
        for fairness in &run.fairness {
            let target =
                run.run.targets.get(usize::from(fairness.target.0)).map_or("", |target| &target.name);
            if !selection.targets.is_empty() && !selection.targets.iter().any(|wanted| wanted == target) {
                continue;
            }
            let jain = fairness.jain.map(|jain| format!(", Jain's index {jain:.3}")).unwrap_or_default();
            let of_run = chosen.run_names.get(run_index).map(|name| format!(" · {name}")).unwrap_or_default();
            let clients = counted(fairness.clients, "client", "clients");
            let name = format!("{target}{of_run}: {clients}{jain}");
            groups.push(Group { run, fairness, name });
        }
    }
    groups
}

/// Lines from the client that did least to the one that did most, the ends last to be drawn on top.
fn lines_of(fairness: &Fairness, points_max: usize) -> Vec<Vec<(f64, f64)>> {
    let line = |done: &[u32]| -> Vec<(f64, f64)> {
        let every = done.len().div_ceil(points_max.max(2)).max(1);
        let last = done.len().saturating_sub(1);
        let kept = done.iter().enumerate().filter(|(bin, _)| bin % every == 0 || *bin == last);
        let points = kept.map(|(bin, done)| ((bin as f64 + 1.0) * fairness.bin_ns, f64::from(*done)));
        std::iter::once((0.0, 0.0)).chain(points).collect()
    };
    let mut lines: Vec<Vec<(f64, f64)>> = fairness.lines.iter().map(|client| line(&client.done.0)).collect();
    lines.sort_by(|left, right| {
        let done = |line: &Vec<(f64, f64)>| line.last().map_or(0.0, |(_, done)| *done);
        done(left).total_cmp(&done(right))
    });
    lines
}
