//! Rates and durations against what was varied: a column for each operation.

use iolag_analysis::QuantileValue;
use iolag_analysis::figure::{Figures, SweepFigure, SweepFigurePoint, Varied};
use iolag_model::{Level, Phase, counted};

use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{FigureSelection, operations_in_order};
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Region, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Paint, Stroke};
use crate::text::sweep_table::median_over;

/// Points of one line; sweeps have a few dozen.
const SIZES_MAX: usize = 300;
/// Rates of which the range is an interval.
const RATES_FOR_RANGE: u64 = 3;
/// Share of a column that the rates take, in per cent; durations span decades and need more.
const RATES_PERCENT: i32 = 42;

/// A quantile of a point.
type QuantileOf = fn(&SweepFigurePoint) -> QuantileValue;

const QUANTILES: [(&str, Dash, QuantileOf); 4] = [
    ("median", Dash::Solid, |point| point.median.value),
    ("p95", Dash::Strokes, |point| point.p95.value),
    ("p99", Dash::Dots, |point| point.p99.value),
    ("max", Dash::Alternating, |point| point.max),
];

/// An operation against what was varied, in its colour.
struct Column<'a> {
    sweep: &'a SweepFigure,
    paint: Paint,
}

pub(crate) fn draw(
    sheet: &mut Sheet,
    figures: &Figures,
    selection: &FigureSelection,
) -> Result<(), FigureError> {
    let (mut columns, mut left_out) = columns_of(figures, selection);
    let room = sheet.panels_max();
    // Rates and durations stand above each other.
    let room = (room.0, (room.1 / 2).max(1));
    left_out.extend(columns.drain((room.0 * room.1).min(columns.len())..).map(|column| column.sweep));
    let what = match columns.first().map(|column| column.sweep.varied) {
        Some(Varied::Objects) => "objects per dataset",
        Some(Varied::Clients) | None => "clients",
    };
    sheet.title(&format!("Rates and durations against {what}"));
    if columns.is_empty() {
        sheet.caption(&caption(figures, &columns, &left_out));
        sheet.nothing("There is nothing to draw: these runs do not differ in clients or objects.");
        return Ok(());
    }
    let (grey, width) = (Paint::opaque(0x55, 0x55, 0x55), sheet.text / 9);
    let key = |(name, dash, _): &(&str, Dash, QuantileOf)| {
        (Key::Line(Stroke { paint: grey, width, dash: *dash }), (*name).to_owned())
    };
    sheet.legend(&QUANTILES.iter().map(key).collect::<Vec<_>>());
    sheet.caption(&caption(figures, &columns, &left_out));
    let regions = sheet.grid(columns.len(), room);
    let lowest = regions.iter().map(|region| region.bottom).max();
    let name = names(&columns);
    for (index, (column, mut region)) in columns.iter().zip(regions).enumerate() {
        sheet.panel_name(&name(column), &mut region);
        let texts =
            AxisTexts { x: if Some(region.bottom) == lowest { what } else { "" }, ..AxisTexts::default() };
        let is_first = index == 0;
        let [rates, times] = if is_first { ["operations/s", "time taken"] } else { ["", ""] };
        draw_column(
            sheet,
            &columns,
            column,
            region,
            [AxisTexts { y: rates, x: "", ..texts }, AxisTexts { y: times, ..texts }],
        )?;
    }
    Ok(())
}

/// What is drawn, in the order of the colours, and what of the same is not: what runs do besides the benchmark, unless it is asked
/// for.
fn columns_of<'a>(
    figures: &'a Figures,
    selection: &FigureSelection,
) -> (Vec<Column<'a>>, Vec<&'a SweepFigure>) {
    let varied = figures.sweeps.iter().map(|sweep| sweep.varied).min();
    let wanted = |sweep: &&SweepFigure| {
        Some(sweep.varied) == varied
            && (selection.operations.is_empty() || selection.operations.contains(&sweep.operation))
            && (selection.targets.is_empty() || selection.targets.contains(&sweep.target))
            && (selection.phases.is_empty() || selection.phases.contains(&sweep.phase))
    };
    let sweeps: Vec<&SweepFigure> = figures.sweeps.iter().filter(wanted).collect();
    let is_benchmark = |sweep: &&SweepFigure| sweep.phase == Phase::Benchmark;
    let (drawn, left_out) = match selection.phases.is_empty() && sweeps.iter().any(is_benchmark) {
        true => sweeps.into_iter().partition(is_benchmark),
        false => (sweeps, Vec::new()),
    };
    let runs: Vec<_> = figures.runs.iter().collect();
    let levels: Vec<Level> = drawn.iter().map(|sweep| sweep.operation.level()).collect();
    let order = operations_in_order(&runs, &levels);
    let place =
        |sweep: &SweepFigure| order.iter().position(|known| *known == sweep.operation).unwrap_or_default();
    let column = |sweep: &'a SweepFigure| Column { sweep, paint: PALETTE[place(sweep) % PALETTE.len()] };
    let mut columns: Vec<Column<'_>> = drawn.into_iter().map(column).collect();
    columns.sort_by_key(|column| place(column.sweep));
    (columns, left_out)
}

/// What a column is called, as far as columns differ.
fn names<'a>(columns: &[Column<'a>]) -> impl Fn(&Column<'a>) -> String {
    let first = columns.first().map(|column| column.sweep);
    let differ = |is: fn(&SweepFigure, &SweepFigure) -> bool| {
        columns.iter().any(|column| first.is_some_and(|first| !is(first, column.sweep)))
    };
    let phases = differ(|one, other| one.phase == other.phase);
    let targets = differ(|one, other| one.target == other.target);
    let fixed = differ(|one, other| one.fixed == other.fixed);
    move |column: &Column<'a>| {
        let sweep = column.sweep;
        let more = [
            phases.then(|| sweep.phase.to_string()),
            targets.then(|| sweep.target.clone()),
            fixed.then(|| fixed_in_words(sweep)),
        ];
        let name = std::iter::once(sweep.operation.to_string()).chain(more.into_iter().flatten());
        name.collect::<Vec<String>>().join(" · ")
    }
}

fn fixed_in_words(sweep: &SweepFigure) -> String {
    match sweep.varied {
        Varied::Clients => counted(sweep.fixed, "object", "objects"),
        Varied::Objects => counted(sweep.fixed, "client", "clients"),
    }
}

/// Rates above durations, with the scales of all columns; both axes of what was varied are aligned.
fn draw_column(
    sheet: &Sheet,
    all: &[Column<'_>],
    column: &Column<'_>,
    region: Region,
    [of_rates, of_times]: [AxisTexts<'_>; 2],
) -> Result<(), FigureError> {
    let middle = region.top + region.height() * RATES_PERCENT / 100;
    let (above, below) =
        (Region { bottom: middle, ..region }, Region { top: middle + sheet.text / 2, ..region });
    let sizes: Vec<u64> =
        all.iter().flat_map(|column| column.sweep.points.iter().map(|point| point.size)).collect();
    let x = Axis::sizes(&sizes, (region.width() / (sheet.text * 3)).max(2) as usize);
    let rates = all.iter().flat_map(|column| &column.sweep.rates);
    let most = rates.map(|rate| rate.high_per_second).fold(0.0, f64::max);
    let y_of_rates = Axis::amount(most, sheet.labels_up(above.height()).min(6));
    let (shortest, longest) = durations(all).unwrap_or((f64::NAN, f64::NAN));
    let y_of_times = Axis::durations(shortest, longest, sheet.labels_up(below.height()));
    let labels_width = sheet.labels_width(&y_of_rates).max(sheet.labels_width(&y_of_times));
    let texts = AxisTexts { labels_width, ..of_rates };
    let rates = sheet.panel(above, x.clone(), y_of_rates, texts)?;
    draw_rates(&rates, column.sweep, column.paint);
    let times = sheet.panel(below, x, y_of_times, AxisTexts { labels_width, ..of_times })?;
    for (_, dash, of) in QUANTILES {
        draw_quantiles(&times, column.sweep, of, column.paint, dash);
    }
    times.thresholds(Along::Y);
    Ok(())
}

fn caption(figures: &Figures, columns: &[Column<'_>], left_out: &[&SweepFigure]) -> String {
    let points: usize = columns.iter().map(|column| column.sweep.points.len()).sum();
    let attempts: u64 = figures.runs.iter().map(|run| run.counts.attempts).sum();
    let runs = counted(figures.runs.len() as u64, "run", "runs");
    let points = counted(points as u64, "result", "results");
    let mut text = format!("{runs}, {points}; {} in all.", counted(attempts, "attempt", "attempts"));
    if columns.iter().flat_map(|column| &column.sweep.rates).any(|rate| rate.count >= RATES_FOR_RANGE) {
        text.push_str(" Bars: range of the rates.");
    }
    let mut names: Vec<String> =
        left_out.iter().map(|sweep| format!("{} of {}", sweep.operation, sweep.phase)).collect();
    names.dedup();
    if !names.is_empty() {
        text.push_str(&format!(
            " Not drawn: {} (--operations, --phases or --targets choose).",
            names.join(", ")
        ));
    }
    text
}

fn draw_rates(panel: &Panel<'_>, sweep: &SweepFigure, paint: Paint) {
    let width = panel.line_width();
    let stroke = Stroke::solid(paint, width);
    let rates = || sweep.rates.iter().take(SIZES_MAX);
    panel.line(rates().map(|rate| (rate.size as f64, rate.median_per_second)), stroke);
    let dots = rates().map(|rate| panel.place(rate.size as f64, rate.median_per_second)).collect();
    panel.dots(dots, width * 4, paint);
    for rate in rates().filter(|rate| rate.count >= RATES_FOR_RANGE) {
        let size = rate.size as f64;
        panel.line([(size, rate.low_per_second), (size, rate.high_per_second)], stroke);
    }
}

/// The median over runs and iterations of a quantile at one size.
struct AtSize {
    size: f64,
    ns: f64,
    /// Whether one of them is at least that long.
    is_open: bool,
}

fn quantile_by_size(sweep: &SweepFigure, of: QuantileOf) -> Vec<AtSize> {
    let by_size = sweep.points.chunk_by(|left, right| left.size == right.size);
    let at_size = |points: &[SweepFigurePoint]| {
        let value = median_over(points, of);
        let is_open = matches!(value, QuantileValue::AtLeast(_));
        let ns = (value.lower_bound()?.0 as f64).max(1.0);
        Some(AtSize { size: points[0].size as f64, ns, is_open })
    };
    by_size.filter_map(at_size).take(SIZES_MAX).collect()
}

fn durations(columns: &[Column<'_>]) -> Option<(f64, f64)> {
    let all = columns.iter().flat_map(|column| {
        QUANTILES.iter().flat_map(|(_, _, of)| quantile_by_size(column.sweep, *of)).map(|at| at.ns)
    });
    all.fold(None, |range, ns| {
        let (low, high) = range.unwrap_or((ns, ns));
        Some((f64::min(low, ns), f64::max(high, ns)))
    })
}

fn draw_quantiles(panel: &Panel<'_>, sweep: &SweepFigure, of: QuantileOf, paint: Paint, dash: Dash) {
    let width = panel.line_width();
    let values = quantile_by_size(sweep, of);
    panel.line(values.iter().map(|at| (at.size, at.ns)), Stroke { paint, width, dash });
    let dots = values.iter().map(|at| panel.place(at.size, at.ns)).collect();
    panel.dots(dots, width * 3, paint);
    for at in values.iter().filter(|at| at.is_open) {
        let (x, y) = panel.place(at.size, at.ns);
        panel.label("↑", (x, y - width * 2), Align::Middle);
    }
}
