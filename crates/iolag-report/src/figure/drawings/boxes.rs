//! Boxes: quartiles, 5 and 95 %, the shortest and the longest, a row each.

use iolag_analysis::QuantileValue;
use iolag_analysis::figure::{BoxFigure, ClientsShown};
use iolag_model::format_count;

use crate::figure::axis::Axis;
use crate::figure::choice::Chosen;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Along, AxisTexts, INK, Panel, Sheet};
use crate::figure::scene::shapes::{Align, Paint, Stroke};

struct Row<'a> {
    name: String,
    durations: &'a BoxFigure,
    paint: Paint,
}

pub(crate) fn draw(sheet: &mut Sheet, mut chosen: Chosen<'_>) -> Result<(), FigureError> {
    let drawn: Vec<(usize, u16)> =
        chosen.lines.iter().take(rows_max(sheet)).map(|line| (line.run_index, line.index)).collect();
    chosen.keep(|line| drawn.contains(&(line.run_index, line.index)));
    let rows: Vec<Row<'_>> = chosen
        .lines
        .iter()
        .filter_map(|line| {
            let found = line.run.boxes.iter().find(|series_box| series_box.series == line.index)?;
            Some(Row { name: line.name.clone(), durations: &found.durations, paint: line.paint })
        })
        .collect();
    let shown = rows.iter().map(|row| row.durations.attempts).sum();
    draw_rows(sheet, &chosen, "Time taken", rows, vec![chosen.missing(shown)])
}

pub(crate) fn draw_clients(sheet: &mut Sheet, chosen: &Chosen<'_>) -> Result<(), FigureError> {
    let mut rows = Vec::new();
    let mut deciles = false;
    for (run_index, run) in chosen.runs.iter().enumerate() {
        for boxes in &run.client_boxes {
            let drawn = |line: &crate::figure::choice::Line<'_>| {
                line.run_index == run_index && line.series.layer == boxes.layer
            };
            let (Some(layer), Some(line)) =
                (run.layers.get(usize::from(boxes.layer)), chosen.lines.iter().find(|line| drawn(line)))
            else {
                continue;
            };
            deciles |= boxes.shown == ClientsShown::Deciles;
            for client in &boxes.boxes {
                let who = match client.percent {
                    Some(percent) => format!("client {} ({percent} %)", client.client.0),
                    None => format!("client {}", client.client.0),
                };
                let of_run =
                    chosen.run_names.get(run_index).map(|name| format!(" · {name}")).unwrap_or_default();
                let name = format!("{} · {who}{of_run}", layer.name);
                rows.push(Row { name, durations: &client.durations, paint: line.paint });
            }
        }
    }
    let all: u64 = rows.iter().map(|row| row.durations.attempts).sum();
    rows.truncate(rows_max(sheet));
    let shown: u64 = rows.iter().map(|row| row.durations.attempts).sum();
    let mut sentences = vec![chosen.missing(all)];
    if deciles {
        sentences = vec!["Clients at the deciles of their order by median.".to_owned()];
    }
    if shown < all {
        sentences.push(format!(
            "{} of these attempts are in the boxes that found room: choose an operation.",
            format_count(shown)
        ));
    }
    draw_rows(sheet, chosen, "Time taken by client", rows, sentences)
}

/// How many boxes fit; axis and caption take about 8 lines.
fn rows_max(sheet: &Sheet) -> usize {
    (sheet.free.height() / sheet.text - 10).max(3) as usize * 5 / 6
}

fn draw_rows(
    sheet: &mut Sheet,
    chosen: &Chosen<'_>,
    what: &str,
    rows: Vec<Row<'_>>,
    mut sentences: Vec<String>,
) -> Result<(), FigureError> {
    chosen.title(sheet, what);
    let explanation = "Box: quartiles and median; whiskers: 5 and 95 %; dots: shortest and longest; arrow: at least, \
                       it did not end.";
    if !rows.is_empty() {
        sentences.insert(0, explanation.to_owned());
    }
    chosen.caption(sheet, &sentences);
    let known = rows.iter().flat_map(|row| quantiles(row.durations)).flatten();
    let known: Vec<f64> = known.filter_map(|quantile| lower_ns(*quantile)).collect();
    let shortest = known.iter().copied().reduce(f64::min);
    let Some((shortest, longest)) = shortest.zip(known.iter().copied().reduce(f64::max)) else {
        sheet.nothing("There is nothing to draw: too few attempts of what was chosen ended.");
        return Ok(());
    };
    let name = |row: &Row<'_>| format!("{} ({})", row.name, format_count(row.durations.attempts));
    let x = Axis::durations(shortest, longest, sheet.labels_across(sheet.free.width() * 2 / 3));
    let y = Axis::rows(rows.iter().map(name).collect());
    let panel =
        sheet.panel(sheet.free, x, y, AxisTexts { x: "time taken", y: "", ..AxisTexts::default() })?;
    panel.thresholds(Along::X);
    for (index, row) in rows.iter().enumerate() {
        draw_box(&panel, -(index as f64), row);
    }
    Ok(())
}

fn quantiles(durations: &BoxFigure) -> [Option<&QuantileValue>; 7] {
    let BoxFigure { min, p5, p25, median, p75, p95, max, .. } = durations;
    [Some(min), Some(p5), Some(p25), Some(median), Some(p75), Some(p95), Some(max)]
}

fn lower_ns(quantile: QuantileValue) -> Option<f64> {
    quantile.lower_bound().map(|ns| (ns.0 as f64).max(1.0))
}

fn draw_box(panel: &Panel<'_>, y: f64, row: &Row<'_>) {
    let width = panel.line_width();
    let ink = Stroke::solid(INK, width);
    let BoxFigure { min, p5, p25, median, p75, p95, max, .. } = row.durations;
    let at = |quantile: &QuantileValue| lower_ns(*quantile);
    if let (Some(low), Some(high)) = (at(p25), at(p75)) {
        panel.rectangle((low, y - 0.3), (high, y + 0.3), row.paint.with_opacity(0.45));
        panel.line([(low, y - 0.3), (high, y - 0.3), (high, y + 0.3), (low, y + 0.3), (low, y - 0.3)], ink);
    }
    for (from, to) in [(p5, p25), (p75, p95)] {
        if let (Some(from_ns), Some(to_ns)) = (at(from), at(to)) {
            panel.line([(from_ns, y), (to_ns, y)], ink);
        }
    }
    for end in [p5, p95].into_iter().filter_map(at) {
        panel.line([(end, y - 0.15), (end, y + 0.15)], ink);
    }
    if let Some(median) = at(median) {
        panel.line([(median, y - 0.3), (median, y + 0.3)], Stroke::solid(row.paint, width * 3));
    }
    for end in [min, max] {
        match end {
            QuantileValue::Exactly(_) => {
                let points = at(end).map(|ns| panel.place(ns, y)).into_iter().collect();
                panel.dots(points, width * 4, row.paint);
            }
            QuantileValue::AtLeast(_) => {
                if let Some(ns) = at(end) {
                    let (x, y) = panel.place(ns, y);
                    panel.label("→", (x, y + width * 2), Align::Middle);
                }
            }
            QuantileValue::Below(_) | QuantileValue::TooFew { .. } | QuantileValue::FewStretches { .. } => {}
        }
    }
}
