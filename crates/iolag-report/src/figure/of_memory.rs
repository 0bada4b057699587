//! What memory had while a run lasted: dirty and write-back above, the page cache, of which there is much more, below.

use iolag_model::{MemoryCourse, MemoryLook, format_duration};

use super::axis::Axis;
use super::drawings::palette::PALETTE;
use super::error::FigureError;
use super::paper::sheet::{AxisTexts, Key, Panel, Sheet};
use super::scene::shapes::{Dash, Paint, Stroke};

/// More intervals are narrower than can be seen.
const SLOTS_MAX: usize = 500;
const MEBIBYTE: f64 = 1_048_576.0;
const GIBIBYTE: f64 = 1024.0 * MEBIBYTE;

/// What a curve is called, its colour, and what it shows in bytes.
type Curve = (&'static str, Paint, fn(&MemoryLook) -> u64);

const DIRTY: Curve = ("dirty (above)", PALETTE[1], |look| look.dirty_bytes);
const WRITEBACK: Curve = ("being written back (above)", PALETTE[0], |look| look.writeback_bytes);
const PAGE_CACHE: Curve = ("page cache (below)", PALETTE[2], |look| look.page_cache_bytes);

pub(super) fn draw(sheet: &mut Sheet, course: &MemoryCourse) -> Result<(), FigureError> {
    let course = &course.clone().in_slots(SLOTS_MAX);
    sheet.title("What the host's memory had");
    let entry = |(name, paint, _): Curve| (Key::Dot(paint), name.to_owned());
    sheet.legend(&[DIRTY, WRITEBACK, PAGE_CACHE].map(entry));
    sheet.caption(&format!(
        "Steps of {}, of dirty and write-back the most of each. Whoever used the host has a share in it. Where nobody looked, nothing is drawn.",
        format_duration(course.interval_ns)
    ));
    let rows = sheet.rows(2);
    let panels: [&[Curve]; 2] = [&[DIRTY, WRITEBACK], &[PAGE_CACHE]];
    let axes = panels.map(|curves| {
        let most = curves.iter().flat_map(|(_, _, of)| course.seen().map(|look| of(&look))).max();
        let most = most.unwrap_or_default() as f64;
        let (unit, name) = if most < 2.0 * GIBIBYTE { (MEBIBYTE, "MiB") } else { (GIBIBYTE, "GiB") };
        (Axis::amount(most / unit, sheet.labels_up(rows[0].height()).min(5)), unit, name)
    });
    let labels_width = axes.iter().map(|(axis, ..)| sheet.labels_width(axis)).max().unwrap_or(0);
    for (row, (curves, (y, unit, name))) in panels.iter().zip(axes).enumerate() {
        let span = course.interval_ns.0 as f64 * course.looks.len() as f64;
        let x = Axis::time(span, sheet.labels_across(rows[row].width()));
        let x_text = format!("time since the start in {}", x.unit);
        let x_text = if row == 0 { "" } else { &x_text };
        let panel = sheet.panel(rows[row], x, y, AxisTexts { x: x_text, y: name, labels_width })?;
        curves.iter().for_each(|curve| steps(&panel, course, *curve, unit));
    }
    Ok(())
}

/// A line for each stretch in which somebody looked.
fn steps(panel: &Panel<'_>, course: &MemoryCourse, (_, paint, of): Curve, unit: f64) {
    let width = course.interval_ns.0 as f64;
    let stroke = Stroke { paint, width: panel.line_width(), dash: Dash::Solid };
    let seen: Vec<(usize, u64)> =
        (0..).zip(&course.looks).filter_map(|(slot, look)| Some((slot, of(look.as_ref()?)))).collect();
    for stretch in seen.chunk_by(|one, next| one.0 + 1 == next.0) {
        let corners = stretch.iter().flat_map(|(slot, bytes)| {
            let (from, value) = (*slot as f64 * width, *bytes as f64 / unit);
            [(from, value), (from + width, value)]
        });
        panel.line(corners, stroke);
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::{MonotonicTime, Nanoseconds};

    use super::*;
    use crate::figure::scene::shapes::Shape;
    use crate::figure::size::FigureSize;

    #[test]
    fn each_has_its_colour_and_unit_and_a_gap_where_nobody_looked() {
        let interval = Nanoseconds::from_seconds(10);
        let mut course = MemoryCourse::new(MonotonicTime(0), interval);
        for slot in [0, 1, 2, 5, 6] {
            let look = MemoryLook {
                page_cache_bytes: (slot + 3) << 30,
                dirty_bytes: slot << 20,
                writeback_bytes: 7 << 20,
            };
            course.add(MonotonicTime(slot * interval.0), look);
        }
        let mut sheet = Sheet::new(FigureSize::SCREEN).unwrap();
        draw(&mut sheet, &course).unwrap();
        let (mut paints, mut texts) = (Vec::new(), Vec::new());
        for shape in sheet.finish().0.shapes {
            match shape {
                Shape::Line { stroke, points } if points.len() > 1 => paints.push(stroke.paint),
                Shape::Text(label) => texts.push(label.text),
                _ => {}
            }
        }
        paints.retain(|paint| PALETTE.contains(paint));
        let [dirty, writeback, page_cache] = [DIRTY.1, WRITEBACK.1, PAGE_CACHE.1];
        assert_eq!(paints, [dirty, dirty, writeback, writeback, page_cache, page_cache]);
        for text in ["MiB", "GiB", "page cache (below)", "time since the start in s"] {
            assert!(texts.iter().any(|it| it == text), "{text} in {texts:?}");
        }
    }
}
