//! The heat map: of every moment, which share of the attempts took how long.

use iolag_analysis::figure::{Figures, HeatMap, HeatMapLayer, RunFigures};

use crate::figure::axis::Axis;
use crate::figure::drawings::palette::shade;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{Chosen, Line};
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Sheet};

/// Pixels of the figure from the shortest to the longest duration.
const PIXEL_ROWS: u32 = 256;

struct Map<'a> {
    run: &'a RunFigures,
    map: &'a HeatMap,
    layer: &'a HeatMapLayer,
    name: String,
}

pub(crate) fn draw(sheet: &mut Sheet, figures: &Figures, mut chosen: Chosen<'_>) -> Result<(), FigureError> {
    let room = sheet.panels_max();
    let mut layers: Vec<(usize, u16)> = Vec::new();
    for line in &chosen.lines {
        if !layers.contains(&layer_of(line)) && layers.len() < room.0 * room.1 {
            layers.push(layer_of(line));
        }
    }
    chosen.keep(|line| layers.contains(&layer_of(line)));
    let maps = maps_of(&chosen);
    chosen.title(sheet, "Time taken over time");
    let key = |share: f64, text: &str| (Key::Dot(shade(share)), text.to_owned());
    if !maps.is_empty() {
        sheet.legend(&[
            key(0.01, "1 %"),
            key(0.1, "10 %"),
            key(0.5, "50 %"),
            key(1.0, "100 % of the moment's attempts"),
        ]);
    }
    let drawn = maps.iter().flat_map(|map| &map.layer.totals.0).map(|total| u64::from(*total)).sum();
    chosen.caption(sheet, &[chosen.missing(drawn)]);
    if maps.is_empty() {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen ended in success.");
        return Ok(());
    }
    let (shortest, longest) = durations(figures, &maps);
    let regions = sheet.grid(maps.len(), room);
    let lowest = regions.iter().map(|region| region.bottom).max();
    for (map, mut region) in maps.iter().zip(regions) {
        sheet.panel_name(&map.name, &mut region);
        let x = Axis::time(map.run.run.span_ns.0 as f64, sheet.labels_across(region.width()).max(4));
        let y = Axis::durations(shortest, longest, sheet.labels_up(region.height()));
        let x_text = format!("time since the start in {}", x.unit);
        let texts = AxisTexts {
            x: if Some(region.bottom) == lowest { &x_text } else { "" },
            y: "",
            ..AxisTexts::default()
        };
        let panel = sheet.panel(region, x, y, texts)?;
        draw_map(&panel, figures, map);
        panel.thresholds(Along::Y);
    }
    Ok(())
}

const fn layer_of(line: &Line<'_>) -> (usize, u16) {
    (line.run_index, line.series.layer)
}

fn maps_of<'a>(chosen: &Chosen<'a>) -> Vec<Map<'a>> {
    let mut done: Vec<(usize, u16)> = Vec::new();
    let mut maps = Vec::new();
    for line in &chosen.lines {
        let key = layer_of(line);
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let map = &line.run.heat_map;
        let Some(layer) = map.layers.iter().find(|layer| layer.layer == line.series.layer) else {
            continue;
        };
        let name =
            line.run.layers.get(usize::from(layer.layer)).map_or(line.name.as_str(), |layer| &layer.name);
        let name = match chosen.run_names.get(line.run_index) {
            Some(run) => format!("{name} · {run}"),
            None => name.to_owned(),
        };
        if layer.rows > 0 && map.columns > 0 {
            maps.push(Map { run: line.run, map, layer, name });
        }
    }
    maps
}

/// The shortest duration of a row of a map, in ns.
fn row_begin_ns(figures: &Figures, map: &Map<'_>, row: u32) -> f64 {
    let bucket = u32::from(map.layer.first_bucket) + row * u32::from(map.map.buckets_per_row);
    let last = figures.axis.lowest_ns.len().saturating_sub(1);
    let lowest = figures.axis.lowest_ns.get((bucket as usize).min(last));
    lowest.map_or(1.0, |ns| (*ns as f64).max(1.0))
}

fn durations(figures: &Figures, maps: &[Map<'_>]) -> (f64, f64) {
    let shortest = maps.iter().map(|map| row_begin_ns(figures, map, 0)).fold(f64::INFINITY, f64::min);
    let longest =
        maps.iter().map(|map| row_begin_ns(figures, map, u32::from(map.layer.rows))).fold(1.0, f64::max);
    (shortest, longest)
}

fn draw_map(panel: &Panel<'_>, figures: &Figures, map: &Map<'_>) {
    let columns = map.map.columns;
    let mut shares = vec![0.0_f64; (columns * PIXEL_ROWS) as usize];
    let pixel_row = |ns: f64| ((1.0 - panel.y.position(ns)) * f64::from(PIXEL_ROWS)) as u32;
    for row in 0..u32::from(map.layer.rows) {
        let bottom = pixel_row(row_begin_ns(figures, map, row)).min(PIXEL_ROWS);
        let top = pixel_row(row_begin_ns(figures, map, row + 1)).min(bottom.saturating_sub(1));
        for column in 0..columns {
            let count = map.layer.counts.0.get((row * columns + column) as usize).copied().unwrap_or(0);
            let total = map.layer.totals.0.get(column as usize).copied().unwrap_or(0);
            if count == 0 || total == 0 {
                continue;
            }
            let share = f64::from(count) / f64::from(total);
            for pixel in top..bottom.max(top + 1) {
                let place = &mut shares[(pixel.min(PIXEL_ROWS - 1) * columns + column) as usize];
                *place = place.max(share);
            }
        }
    }
    let rgba = shares.iter().flat_map(|share| {
        let (red, green, blue) = shade(*share).rgb;
        [red, green, blue, if *share > 0.0 { 255 } else { 0 }]
    });
    panel.image(columns, PIXEL_ROWS, rgba.collect());
}
