//! "Integrated percent": the share of attempts that took at most so long.

use iolag_analysis::figure::Distribution;

use crate::figure::axis::Axis;
use crate::figure::choice::{Chosen, Line};
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{Along, AxisTexts, Key, Panel, Sheet};
use crate::figure::scene::shapes::{Align, Dash, Stroke};

/// Points of all curves and bands of one of the two panels.
const POINTS_MAX: usize = 8_000;
/// What is said of the second panel; the page says the same (TAIL in web/src/run/distributions.ts).
const TAIL: &str = "The tail is logarithmic in the share missing to 100 %; a dot is the longest attempt, an arrow one that took at least so long.";
/// More bands than this hide each other.
const BANDS_MAX: usize = 3;

pub(crate) fn draw(sheet: &mut Sheet, chosen: &Chosen<'_>) -> Result<(), FigureError> {
    let curves: Vec<(&Line<'_>, &Distribution)> =
        chosen.lines.iter().filter_map(|line| Some((line, distribution_of(line)?))).collect();
    let width = sheet.text / 9;
    let key = |(line, _): &(&Line<'_>, &Distribution)| (Key::Line(line.stroke(width)), line.name.clone());
    chosen.title(sheet, "Share that took at most so long");
    sheet.legend(&curves.iter().map(key).collect::<Vec<_>>());
    let banded = curves.len() <= BANDS_MAX;
    let shown = curves.iter().map(|(_, distribution)| distribution.known + distribution.censored).sum();
    let mut sentences = sentences(&curves, banded);
    sentences.insert(0, chosen.missing(shown));
    chosen.caption(sheet, &sentences);
    let Some((shortest, longest)) = durations(curves.iter().map(|(_, distribution)| *distribution)) else {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen has a duration.");
        return Ok(());
    };
    let columns = if sheet.free.width() >= sheet.free.height() { 2 } else { 1 };
    let regions = sheet.grid(2, (columns, 2 / columns));
    let [mut whole, mut tail] = [regions[0], regions[1]];
    let texts = AxisTexts { x: "time taken", y: "attempts in %", ..AxisTexts::default() };
    let x = Axis::durations(shortest, longest, sheet.labels_across(whole.width()));

    sheet.panel_name("All attempts", &mut whole);
    let y = Axis::percent(sheet.labels_up(whole.height()));
    let panel = sheet.panel(whole, x.clone(), y, texts)?;
    let steps_max = POINTS_MAX / (if banded { 6 } else { 2 } * curves.len().max(1));
    if banded {
        for (line, distribution) in &curves {
            draw_band(&panel, line, distribution, steps_max);
        }
    }
    panel.thresholds(Along::X);
    for (line, distribution) in &curves {
        draw_curve(&panel, line, distribution, steps_max);
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
    let steps = steps(distribution, usize::MAX);
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
    let mut points = corners(&kept, panel.x.ends().0, 0.0);
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

/// Shortest and longest duration in ns, waits that did not end included.
pub(crate) fn durations<'a>(distributions: impl Iterator<Item = &'a Distribution>) -> Option<(f64, f64)> {
    let known = distributions.flat_map(|distribution| {
        let known = distribution.duration_ns.0.iter().map(|ns| f64::from(*ns));
        known.chain(distribution.at_least.map(|at_least| at_least.from_ns.0 as f64))
    });
    known.filter(|ns| ns.is_finite()).map(|ns| ns.max(1.0)).fold(None, |range, ns| {
        let (low, high) = range.unwrap_or((ns, ns));
        Some((f64::min(low, ns), f64::max(high, ns)))
    })
}

fn sentences(curves: &[(&Line<'_>, &Distribution)], banded: bool) -> Vec<String> {
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
    if durations(curves.iter().map(|(_, distribution)| *distribution))
        .is_some_and(|(_, longest)| longest > 1e8)
    {
        sentences.push("Dashed upright: 0.1, 1 and 10 s.".to_owned());
    }
    sentences
}

/// Durations and shares, at most so many, the last one among them.
pub(crate) fn steps(distribution: &Distribution, steps_max: usize) -> Vec<(f64, f64)> {
    let steps: Vec<(f64, f64)> = distribution
        .duration_ns
        .0
        .iter()
        .zip(&distribution.share.0)
        .map(|(ns, share)| (f64::from(*ns), f64::from(*share)))
        .collect();
    let every = steps.len().div_ceil(steps_max.max(2)).max(1);
    let last = steps.len().saturating_sub(1);
    steps
        .into_iter()
        .enumerate()
        .filter(|(index, _)| index % every == 0 || *index == last)
        .map(|(_, s)| s)
        .collect()
}

/// The corners of the step function, `shift` added to its shares.
fn corners(steps: &[(f64, f64)], begin_ns: f64, shift: f64) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(2 * steps.len() + 1);
    let mut before = (0.0 + shift).clamp(0.0, 1.0);
    corners.push((begin_ns, before));
    for (ns, share) in steps {
        let share = (share + shift).clamp(0.0, 1.0);
        corners.extend([(*ns, before), (*ns, share)]);
        before = share;
    }
    corners
}

fn draw_band(panel: &Panel<'_>, line: &Line<'_>, distribution: &Distribution, steps_max: usize) {
    let steps = steps(distribution, steps_max);
    let begin = panel.x.ends().0;
    let mut outline = corners(&steps, begin, distribution.band);
    outline.extend(corners(&steps, begin, -distribution.band).into_iter().rev());
    panel.area(outline, line.paint.with_opacity(0.18));
}

fn draw_curve(panel: &Panel<'_>, line: &Line<'_>, distribution: &Distribution, steps_max: usize) {
    let steps = steps(distribution, steps_max);
    let (begin, end) = panel.x.ends();
    let width = panel.line_width();
    let last = steps.last().map_or((begin, 0.0), |step| *step);
    panel.line(corners(&steps, begin, 0.0), line.stroke(width));
    let Some(at_least) = distribution.at_least else {
        return;
    };
    let unknown = Stroke { paint: line.paint.with_opacity(0.6), width, dash: Dash::Dots };
    let from = (at_least.from_ns.0 as f64).max(last.0);
    panel.line([last, (end, last.1)], unknown);
    let (x, y) = panel.place(from, last.1);
    panel.label("≥", (x, y - width * 2), Align::Middle);
}

#[cfg(test)]
mod tests {
    #[test]
    fn page_and_plot_say_the_same_of_the_tail() {
        assert!(include_str!("../../../../../web/src/run/distributions.ts").contains(super::TAIL));
    }
}
