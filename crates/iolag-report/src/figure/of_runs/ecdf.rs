//! "Integrated percent": the share of attempts that took at most so long.

use iolag_analysis::figure::Distribution;

use crate::figure::axis::Axis;
use crate::figure::drawings::steps::{BANDS_MAX, POINTS_MAX, Start, Steps, corners};
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::{Chosen, Line};
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Sheet};
use crate::figure::scene::shapes::Align;

/// What is said of the second panel; the page says the same (TAIL in web/src/run/distributions.ts).
const TAIL: &str = "The tail is logarithmic in the share missing to 100 %; a dot is the longest attempt, an arrow one that took at least so long.";

pub(crate) fn draw(sheet: &mut Sheet, chosen: &Chosen<'_>) -> Result<(), FigureError> {
    let curves: Vec<(&Line<'_>, &Distribution)> =
        chosen.lines.iter().filter_map(|line| Some((line, distribution_of(line)?))).collect();
    let whole: Vec<Steps> = curves.iter().map(|(_, distribution)| steps_of(distribution)).collect();
    let range = Steps::durations(whole.iter());
    let width = sheet.text / 9;
    let key = |(line, _): &(&Line<'_>, &Distribution)| (Key::Line(line.stroke(width)), line.name.clone());
    chosen.title(sheet, "Share that took at most so long");
    sheet.legend(&curves.iter().map(key).collect::<Vec<_>>());
    let banded = curves.len() <= BANDS_MAX;
    let shown = curves.iter().map(|(_, distribution)| distribution.known + distribution.censored).sum();
    let mut sentences = sentences(&curves, banded, range);
    sentences.insert(0, chosen.missing(shown));
    chosen.caption(sheet, &sentences);
    let Some((shortest, longest)) = range else {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen has a duration.");
        return Ok(());
    };
    let columns = if sheet.free.width() >= sheet.free.height() { 2 } else { 1 };
    let regions = sheet.grid(2, (columns, 2 / columns));
    let [mut all, mut tail] = [regions[0], regions[1]];
    let texts = AxisTexts { x: "time taken", y: "attempts in %", ..AxisTexts::default() };
    let x = Axis::durations(shortest, longest, sheet.labels_across(all.width()));

    sheet.panel_name("All attempts", &mut all);
    let y = Axis::percent(sheet.labels_up(all.height()));
    let panel = sheet.panel(all, x.clone(), y, texts)?;
    let steps_max = POINTS_MAX / (if banded { 6 } else { 2 } * curves.len().max(1));
    let thinned: Vec<Steps> = whole.into_iter().map(|steps| steps.thinned(steps_max)).collect();
    if banded {
        for ((line, distribution), steps) in curves.iter().zip(&thinned) {
            let begin = |share: f64| (panel.x.ends().0, share.clamp(0.0, 1.0));
            steps.draw_band(&panel, [begin(-distribution.band), begin(distribution.band)], line.paint);
        }
    }
    panel.thresholds(Along::X);
    for ((line, _), steps) in curves.iter().zip(&thinned) {
        steps.draw(&panel, line.stroke(panel.line_width()), "≥");
    }

    sheet.panel_name("The tail", &mut tail);
    let greatest = curves.iter().map(|(_, distribution)| before_last(distribution)).fold(0.0, f64::max);
    let panel = sheet.panel(tail, x, Axis::tail(greatest), texts)?;
    panel.thresholds(Along::X);
    for (line, distribution) in &curves {
        draw_tail(&panel, line, distribution, POINTS_MAX / (2 * curves.len().max(1)));
    }
    Ok(())
}

/// The share before the last step, which of attempts that all ended is 100 %.
fn before_last(distribution: &Distribution) -> f64 {
    let shares = &distribution.share.0;
    let back = if distribution.at_least.is_some() { 1 } else { 2 };
    shares.len().checked_sub(back).map_or(0.0, |index| f64::from(shares[index]))
}

/// The curve up to its longest attempt, a dot, or to where nothing more is known, an arrow.
fn draw_tail(panel: &Panel<'_>, line: &Line<'_>, distribution: &Distribution, steps_max: usize) {
    let steps = steps_of(distribution).share;
    let Some(((last_ns, _), before)) = steps.split_last() else {
        return;
    };
    // The last step of attempts that all ended leads to 100 %, which this axis does not reach.
    let (known, end_ns) = match distribution.at_least {
        None => (before, *last_ns),
        Some(at_least) => (&steps[..], last_ns.max(at_least.from_ns.0 as f64)),
    };
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (index, (ns, share)) in known.iter().enumerate() {
        // Steps that nobody could tell apart here are one.
        let rise = panel.y.position(*share) - kept.last().map_or(0.0, |(_, below)| panel.y.position(*below));
        if rise * steps_max as f64 > 1.0 || index + 1 == known.len() {
            kept.push((*ns, *share));
        }
    }
    let mut points = corners(&kept, (panel.x.ends().0, 0.0));
    let end = (end_ns, kept.last().map_or(0.0, |(_, share)| *share));
    points.push(end);
    let width = panel.line_width();
    panel.line(points, line.stroke(width));
    let (x, y) = panel.place(end.0, end.1);
    match distribution.at_least {
        None => panel.dots(vec![(x, y)], width * 4, line.paint),
        Some(_) => panel.label("→", (x, y + width * 2), Align::Middle),
    }
}

pub(crate) fn distribution_of<'a>(line: &Line<'a>) -> Option<&'a Distribution> {
    line.run.distributions.iter().find(|distribution| distribution.series == line.index)
}

fn sentences(curves: &[(&Line<'_>, &Distribution)], banded: bool, range: Option<(f64, f64)>) -> Vec<String> {
    let mut sentences = Vec::new();
    if !curves.is_empty() {
        sentences.push(TAIL.to_owned());
    }
    if banded && !curves.is_empty() {
        sentences.push("Shaded: the 95 % band of Dvoretzky, Kiefer and Wolfowitz.".to_owned());
    }
    if curves.iter().any(|(_, distribution)| distribution.at_least.is_some()) {
        sentences.push(
            "Behind ≥ nothing is known: these attempts did not end while they were watched.".to_owned(),
        );
    }
    if range.is_some_and(|(_, longest)| longest > 1e8) {
        sentences.push("Dashed upright: 0.1, 1 and 10 s.".to_owned());
    }
    sentences
}

/// The curve with its band.
pub(crate) fn steps_of(distribution: &Distribution) -> Steps {
    let columns = distribution.duration_ns.0.iter().zip(&distribution.share.0);
    let share: Vec<(f64, f64)> =
        columns.map(|(ns, share)| (f64::from(*ns), f64::from(*share).clamp(0.0, 1.0))).collect();
    let end = |shift: f64| -> Vec<f64> {
        distribution.share.0.iter().map(|share| (f64::from(*share) + shift).clamp(0.0, 1.0)).collect()
    };
    Steps {
        share,
        band: [end(-distribution.band), end(distribution.band)],
        open_from_ns: distribution.at_least.map(|at_least| at_least.from_ns.0 as f64),
        start: Start::Zero,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn page_and_plot_say_the_same_of_the_tail() {
        assert!(include_str!("../../../../../web/src/run/distributions.ts").contains(super::TAIL));
    }
}
