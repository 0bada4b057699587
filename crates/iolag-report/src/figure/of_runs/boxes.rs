//! Boxes of runs: a row per operation and run, or per client.

use iolag_analysis::QuantileValue;
use iolag_analysis::figure::{BoxFigure, ClientsShown};
use iolag_model::format_count;

use crate::figure::drawings::boxes::{BoxEnd, BoxRow, EXPLANATION, draw_rows, rows_max};
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::Chosen;
use crate::figure::paper::sheet::Sheet;
use crate::figure::scene::shapes::Paint;

pub(crate) fn draw(sheet: &mut Sheet, mut chosen: Chosen<'_>) -> Result<(), FigureError> {
    let drawn: Vec<(usize, u16)> =
        chosen.lines.iter().take(rows_max(sheet)).map(|line| (line.run_index, line.index)).collect();
    chosen.keep(|line| drawn.contains(&(line.run_index, line.index)));
    let rows: Vec<BoxRow> = chosen
        .lines
        .iter()
        .filter_map(|line| {
            let found = line.run.boxes.iter().find(|series_box| series_box.series == line.index)?;
            Some(row_of(line.name.clone(), &found.durations, line.paint))
        })
        .collect();
    let shown = rows.iter().map(|row| row.attempts).sum();
    finish(sheet, &chosen, "Time taken", rows, vec![chosen.missing(shown)])
}

pub(crate) fn draw_clients(sheet: &mut Sheet, chosen: &Chosen<'_>) -> Result<(), FigureError> {
    let mut rows = Vec::new();
    let mut deciles = false;
    for (run_index, run) in chosen.runs.iter().enumerate() {
        for boxes in &run.client_boxes {
            let drawn = |line: &crate::figure::of_runs::choice::Line<'_>| {
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
                rows.push(row_of(name, &client.durations, line.paint));
            }
        }
    }
    let all: u64 = rows.iter().map(|row| row.attempts).sum();
    rows.truncate(rows_max(sheet));
    let shown: u64 = rows.iter().map(|row| row.attempts).sum();
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
    finish(sheet, chosen, "Time taken by client", rows, sentences)
}

/// Heading, caption and rows.
fn finish(
    sheet: &mut Sheet,
    chosen: &Chosen<'_>,
    what: &str,
    rows: Vec<BoxRow>,
    mut sentences: Vec<String>,
) -> Result<(), FigureError> {
    chosen.title(sheet, what);
    if !rows.is_empty() {
        sentences.insert(0, EXPLANATION.to_owned());
    }
    chosen.caption(sheet, &sentences);
    draw_rows(sheet, rows)
}

fn row_of(name: String, durations: &BoxFigure, paint: Paint) -> BoxRow {
    let BoxFigure { min, p5, p25, median, p75, p95, max, attempts, .. } = durations;
    let ends = [min, p5, p25, median, p75, p95, max].map(|quantile| match quantile {
        QuantileValue::Exactly(ns) => BoxEnd::Exactly((ns.0 as f64).max(1.0)),
        QuantileValue::AtLeast(ns) => BoxEnd::AtLeast((ns.0 as f64).max(1.0)),
        _ => BoxEnd::Unknown,
    });
    BoxRow { name, attempts: *attempts, paint, ends }
}
