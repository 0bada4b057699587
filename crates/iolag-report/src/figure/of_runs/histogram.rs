//! How often which duration was seen, on a logarithmic axis.

use iolag_analysis::figure::{BINS_PER_DECADE, CURVE_POINTS_PER_BIN, HistogramFigure};

use crate::figure::axis::Axis;
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{Chosen, Line};
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Sheet};

/// More bars than those of one series hide each other.
const SERIES_WITH_BARS: usize = 1;

pub(crate) fn draw(sheet: &mut Sheet, chosen: &Chosen<'_>) -> Result<(), FigureError> {
    let histograms: Vec<(&Line<'_>, &HistogramFigure)> = chosen
        .lines
        .iter()
        .filter_map(|line| {
            let mut all = line.run.histograms.iter();
            Some((line, all.find(|histogram| histogram.series == line.index && known(histogram) > 0.0)?))
        })
        .collect();
    let width = sheet.text / 9;
    let key = |(line, _): &(&Line<'_>, &HistogramFigure)| (Key::Line(line.stroke(width)), line.name.clone());
    chosen.title(sheet, "How often which time was taken");
    sheet.legend(&histograms.iter().map(key).collect::<Vec<_>>());
    let with_bars = histograms.len() <= SERIES_WITH_BARS;
    chosen.caption(sheet, &sentences(chosen, &histograms, with_bars));
    let longest = histograms.iter().map(|(_, histogram)| bin_ns(histogram, histogram.counts.0.len() as f64));
    let shortest = histograms.iter().map(|(_, histogram)| bin_ns(histogram, 0.0));
    let Some((shortest, longest)) = shortest.reduce(f64::min).zip(longest.reduce(f64::max)) else {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen ended in success.");
        return Ok(());
    };
    let highest =
        histograms.iter().map(|(_, histogram)| highest_percent(histogram, with_bars)).fold(0.0, f64::max);
    let x = Axis::durations(shortest, longest, sheet.labels_across(sheet.free.width()));
    let y = Axis::amount(highest, sheet.labels_up(sheet.free.height()).min(8));
    let y_text = "attempts per bin in %";
    let panel =
        sheet.panel(sheet.free, x, y, AxisTexts { x: "time taken", y: y_text, ..AxisTexts::default() })?;
    for (line, histogram) in &histograms {
        if with_bars {
            draw_bars(&panel, line, histogram);
        }
        let points = histogram.density_per_decade.0.iter().enumerate().map(|(point, density)| {
            let at = bin_ns(histogram, point as f64 / f64::from(CURVE_POINTS_PER_BIN));
            (at, f64::from(*density) * 100.0 / f64::from(BINS_PER_DECADE))
        });
        panel.line(points, line.stroke(width));
    }
    panel.thresholds(Along::X);
    Ok(())
}

fn known(histogram: &HistogramFigure) -> f64 {
    histogram.counts.0.iter().map(|count| f64::from(*count)).sum()
}

/// The duration at which bin `index` begins.
fn bin_ns(histogram: &HistogramFigure, index: f64) -> f64 {
    10_f64.powf((f64::from(histogram.first_bin) + index) / f64::from(BINS_PER_DECADE)).min(1e20)
}

fn highest_percent(histogram: &HistogramFigure, with_bars: bool) -> f64 {
    let curve = histogram.density_per_decade.0.iter().map(|density| f64::from(*density));
    let curve = curve.fold(0.0, f64::max) * 100.0 / f64::from(BINS_PER_DECADE);
    let bars =
        histogram.counts.0.iter().max().map_or(0.0, |most| f64::from(*most) * 100.0 / known(histogram));
    if with_bars { curve.max(bars) } else { curve }
}

fn sentences(
    chosen: &Chosen<'_>,
    histograms: &[(&Line<'_>, &HistogramFigure)],
    with_bars: bool,
) -> Vec<String> {
    if histograms.is_empty() {
        return Vec::new();
    }
    let bars = if with_bars { "Bars: counts. " } else { "" };
    let mut sentences =
        vec![format!("{bars}Curve: density (Gaussian kernel); {BINS_PER_DECADE} bins per decade.")];
    let shown = histograms.iter().flat_map(|(_, own)| &own.counts.0).map(|count| u64::from(*count)).sum();
    sentences.push(chosen.missing(shown));
    sentences
}

fn draw_bars(panel: &Panel<'_>, line: &Line<'_>, histogram: &HistogramFigure) {
    let known = known(histogram);
    for (bin, count) in histogram.counts.0.iter().enumerate().filter(|(_, count)| **count > 0) {
        let percent = f64::from(*count) * 100.0 / known;
        let (begin, end) = (bin_ns(histogram, bin as f64), bin_ns(histogram, bin as f64 + 0.92));
        panel.rectangle((begin, 0.0), (end, percent), line.paint.with_opacity(0.35));
    }
}
