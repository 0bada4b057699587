//! Hours by days: when it was slow, as in the page (web/src/history/days.ts).

use iolag_analysis::history::{DayMatrix, LocalTime};
use iolag_model::WallTime;

use super::choice::{Chosen, HourShown, Line};
use crate::figure::axis::{Axis, short_duration};
use crate::figure::calendar::calendar_axis;
use crate::figure::drawings::palette::shade_at;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{AxisTexts, Key, Panel, Sheet};
use crate::figure::scene::shapes::{MarkShape, Paint};

const DAY_NS: i64 = 86_400_000_000_000;
/// More hours with trouble than these are not marked one by one.
const CROSSES_MAX: usize = 3_000;
const SERIOUS: Paint = Paint::opaque(0xb3, 0x26, 0x1e);

/// The hours of one series.
struct Hours<'a> {
    name: String,
    matrix: &'a DayMatrix,
    values: &'a [f32],
    /// Midnights of the first day and the last, by the clocks of the place, in ns.
    days: (i64, i64),
    /// Ends of the scale of colours in ns.
    scale: (f64, f64),
}

pub(crate) fn draw(sheet: &mut Sheet, mut chosen: Chosen<'_>, shown: HourShown) -> Result<(), FigureError> {
    let has_days = |line: &Line<'_>| line.series.days.as_ref().is_some_and(|matrix| !matrix.days.is_empty());
    chosen.keep_lines(has_days, "without an attempt");
    let room = sheet.panels_max();
    let kept: Vec<usize> = chosen.lines().map(|line| line.index).take(room.0 * room.1).collect();
    chosen.keep_lines(|line| kept.contains(&line.index), "for which there is no room");
    let what = match shown {
        HourShown::Median => "Median of each hour",
        HourShown::Longest => "Longest of each hour",
    };
    chosen.title(sheet, what);
    let lines = chosen.tasks.iter().flat_map(|task| task.lines.iter().map(|line| (task.name.as_str(), line)));
    let all: Vec<Hours<'_>> = lines.filter_map(|(task, line)| hours_of(task, line, shown)).collect();
    let key = |place: f64, text: &str| (Key::Dot(shade_at(place)), text.to_owned());
    if !all.is_empty() {
        sheet.legend(&[
            key(0.0, "the shortest of the panel"),
            key(0.5, "between them, by their logarithm"),
            key(1.0, "the longest"),
        ]);
    }
    let crosses: usize = all.iter().map(|hours| troubles(hours.matrix).count()).sum();
    let is_marked = crosses <= CROSSES_MAX;
    let mut sentences = vec![format!(
        "What somebody met who came in that hour, skipped slots being given the rest of the hang; days and hours are those of {}.",
        chosen.history.zone
    )];
    match (crosses, is_marked) {
        (0, _) => {}
        (_, true) => {
            sentences.push("Crosses: attempts did not end in time, failed or were skipped.".to_owned())
        }
        (_, false) => sentences
            .push("Hours in which attempts failed or did not end are too many to be marked.".to_owned()),
    }
    chosen.caption(sheet, &sentences);
    if all.is_empty() {
        sheet.nothing("There is nothing to draw: no attempt of what was chosen has a duration.");
        return Ok(());
    }
    let regions = sheet.grid(all.len(), room);
    for (hours, mut region) in all.iter().zip(regions) {
        sheet.panel_name(&hours.name, &mut region);
        let (first, last) = hours.days;
        let span_ns = (last - first + DAY_NS) as u64;
        let x = calendar_axis(WallTime(first), span_ns, &LocalTime::UTC, sheet.dates_across(region.width()));
        let (low, high) = hours.scale;
        let colours = format!("{} to {}", short_duration(low), short_duration(high));
        let texts = AxisTexts { x: &colours, ..AxisTexts::default() };
        // Midnight on top, as in a diary.
        let step = if sheet.labels_up(region.height()) >= 4 { 6 } else { 12 };
        let labels = (0..=24).step_by(step).map(|hour| (-f64::from(hour), format!("{hour:02}:00"))).collect();
        let panel = sheet.panel(region, x, Axis::labelled(-24.0, 0.0, labels), texts)?;
        draw_hours(&panel, hours);
        if is_marked {
            draw_crosses(&panel, hours);
        }
    }
    Ok(())
}

fn hours_of<'a>(task: &str, line: &Line<'a>, shown: HourShown) -> Option<Hours<'a>> {
    let matrix = line.series.days.as_ref()?;
    let values = match shown {
        HourShown::Median => &matrix.median_ns.0,
        HourShown::Longest => &matrix.worst_ns.0,
    };
    let days = (midnight(matrix.days.first()?)?, midnight(matrix.days.last()?)?);
    let mut known: Vec<f64> = values.iter().map(|ns| f64::from(*ns)).filter(|ns| *ns >= 0.0).collect();
    known.sort_unstable_by(f64::total_cmp);
    // A single hang must not make everything else look alike.
    let at = |share: f64| known.get((known.len() as f64 * share) as usize).copied();
    let low = at(0.02).unwrap_or(1e6).max(1.0);
    let longest = known.last().copied().unwrap_or_default();
    let high = at(0.995).unwrap_or(1e9).max(low * 10.0).max(longest / 100.0);
    let name = format!("{task} on {}", line.name);
    Some(Hours { name, matrix, values, days, scale: (low, high) })
}

/// Midnight of a date as in `2008-05-08`, taken as if it were UTC.
fn midnight(day: &str) -> Option<i64> {
    let date = day.parse::<jiff::civil::Date>().ok()?;
    Some(date.duration_since(jiff::civil::date(1970, 1, 1)).as_hours() / 24 * DAY_NS)
}

/// A pixel for each hour.
fn draw_hours(panel: &Panel<'_>, hours: &Hours<'_>) {
    let (first, last) = hours.days;
    let columns = ((last - first) / DAY_NS + 1) as usize;
    let mut rgba = vec![0_u8; columns * 24 * 4];
    let (low, high) = hours.scale;
    for (row, day) in hours.matrix.days.iter().enumerate() {
        let Some(column) = midnight(day).map(|at| ((at - first) / DAY_NS) as usize) else { continue };
        for hour in 0..24 {
            let ns = hours.values.get(row * 24 + hour).copied().map_or(-1.0, f64::from);
            if ns >= 0.0 {
                let (red, green, blue) = shade_at((ns.max(1.0) / low).ln() / (high / low).ln()).rgb;
                let at = (hour * columns + column) * 4;
                rgba[at..at + 4].copy_from_slice(&[red, green, blue, 255]);
            }
        }
    }
    panel.image_between((0.0, 0.0), ((last - first + DAY_NS) as f64, -24.0), (columns as u32, 24), rgba);
}

fn draw_crosses(panel: &Panel<'_>, hours: &Hours<'_>) {
    let points = troubles(hours.matrix).filter_map(|(row, hour)| {
        let at = midnight(&hours.matrix.days[row])? - hours.days.0 + DAY_NS / 2;
        Some(panel.place(at as f64, -(hour as f64) - 0.5))
    });
    panel.marks(points.collect(), MarkShape::Cross, SERIOUS);
}

/// Row and hour of what passed its deadline, failed or was skipped.
fn troubles(matrix: &DayMatrix) -> impl Iterator<Item = (usize, usize)> {
    let counts = matrix.past_deadline.0.iter().zip(&matrix.failed.0).zip(&matrix.skipped.0);
    counts
        .enumerate()
        .filter(|(_, ((past, failed), skipped))| **past > 0 || **failed > 0 || **skipped > 0)
        .map(|(place, _)| (place / 24, place % 24))
}
