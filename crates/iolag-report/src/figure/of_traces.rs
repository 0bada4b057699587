//! What a traced program did over time: where its time went, and how many calls it made.
//!
//! Time is drawn as a number of tasks: time of all tasks in a slot by the width of the slot. One task that is in storage all the while is 1.

use iolag_model::{Nanoseconds, TraceSlot, TraceTimeLine, format_duration};

use super::axis::Axis;
use super::drawings::palette::PALETTE;
use super::error::FigureError;
use super::paper::sheet::{AxisTexts, Key, Panel, Region, Sheet};
use super::scene::shapes::Paint;

const STORAGE: Paint = PALETTE[0];
const PROCESSOR: Paint = PALETTE[4];
const ELSEWHERE: Paint = Paint::opaque(0xb8, 0xbe, 0xc6);
const CALLS: Paint = PALETTE[6];
const FAILED: Paint = PALETTE[1];

/// Whether a trace says how long its calls took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durations {
    /// It does, at least of some.
    Known,
    /// It has only when they began.
    Unknown,
}

pub(super) fn draw(sheet: &mut Sheet, line: &TraceTimeLine, durations: Durations) -> Result<(), FigureError> {
    sheet.title("What the program did over time");
    let entry = |paint: Paint, name: &str| (Key::Dot(paint), name.to_owned());
    let mut legend = Vec::new();
    if durations == Durations::Known {
        legend.extend([
            entry(STORAGE, "in storage (lowest)"),
            entry(PROCESSOR, "on the processor"),
            entry(ELSEWHERE, "elsewhere (uppermost)"),
        ]);
    }
    legend.extend([entry(CALLS, "calls"), entry(FAILED, "calls that failed")]);
    sheet.legend(&legend);
    sheet.caption(&caption(line, durations));
    let rows = sheet.rows(if durations == Durations::Known { 2 } else { 1 });
    let slot = line.slot_ns.0 as f64;
    let by_slot = |time: Nanoseconds| time.0 as f64 / slot;
    let rate = |calls: u64| calls as f64 * 1e9 / slot;
    let layers: [&dyn Fn(&TraceSlot) -> f64; 3] =
        [&|it| by_slot(it.storage_ns), &|it| by_slot(it.storage_ns) + by_slot(it.processor_ns), &|it| {
            by_slot(it.storage_ns) + by_slot(it.processor_ns) + by_slot(it.elsewhere_ns)
        }];
    let axes = |of: &dyn Fn(&TraceSlot) -> f64, region: Region| {
        let most = line.slots.iter().map(of).fold(0.0, f64::max);
        let x = Axis::time(slot * line.slots.len() as f64, sheet.labels_across(region.width()));
        (x, Axis::amount(most, sheet.labels_up(region.height()).min(5)))
    };
    let of_calls = |it: &TraceSlot| rate(it.calls);
    let (x, calls) = axes(&of_calls, rows[0]);
    let x_text = format!("time since the start in {}", x.unit);
    let mut labels_width = sheet.labels_width(&calls);
    if durations == Durations::Known {
        let (x, tasks) = axes(layers[2], rows[0]);
        labels_width = labels_width.max(sheet.labels_width(&tasks));
        let panel =
            sheet.panel(rows[0], x, tasks, AxisTexts { y: "tasks", labels_width, ..AxisTexts::default() })?;
        // The uppermost first: what lies below is drawn over it.
        for (layer, paint) in layers.iter().zip([STORAGE, PROCESSOR, ELSEWHERE]).rev() {
            steps(&panel, line, layer, paint);
        }
    }
    let region = rows[rows.len() - 1];
    let panel =
        sheet.panel(region, x, calls, AxisTexts { x: &x_text, y: "calls per second", labels_width })?;
    steps(&panel, line, &of_calls, CALLS);
    steps(&panel, line, &|it| rate(it.errors), FAILED);
    Ok(())
}

/// A column for each slot, from nothing up.
fn steps(panel: &Panel<'_>, line: &TraceTimeLine, of: &dyn Fn(&TraceSlot) -> f64, paint: Paint) {
    let width = line.slot_ns.0 as f64;
    let end = width * line.slots.len() as f64;
    let corners = line.slots.iter().enumerate().flat_map(|(place, slot)| {
        let (from, value) = (place as f64 * width, of(slot));
        [(from, value), (from + width, value)]
    });
    panel.area(corners.chain([(end, 0.0), (0.0, 0.0)]), paint);
}

fn caption(line: &TraceTimeLine, durations: Durations) -> String {
    let time = match durations {
        Durations::Known => {
            " Tasks: how many were there at once, on average; a call is drawn while it lasts, and counted where it began."
        }
        Durations::Unknown => {
            " Where time went is not known: the trace has no durations of calls (strace -T)."
        }
    };
    format!("Steps of {}.{time}", format_duration(line.slot_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::scene::shapes::Shape;
    use crate::figure::size::FigureSize;

    fn drawn(durations: Durations) -> (Vec<Paint>, Vec<String>) {
        let slot = TraceSlot {
            calls: 5,
            errors: 1,
            storage_ns: Nanoseconds(600),
            processor_ns: Nanoseconds(300),
            elsewhere_ns: Nanoseconds(100),
        };
        let line =
            TraceTimeLine { slot_ns: Nanoseconds(1000), slots: vec![slot, TraceSlot::default(), slot] };
        let mut sheet = Sheet::new(FigureSize::SCREEN).unwrap();
        draw(&mut sheet, &line, durations).unwrap();
        let (scene, _) = sheet.finish();
        let mut paints = Vec::new();
        let mut texts = Vec::new();
        for shape in scene.shapes {
            match shape {
                Shape::Area { paint, points } if points.len() > 4 => paints.push(paint),
                Shape::Text(label) => texts.push(label.text),
                _ => {}
            }
        }
        (paints, texts)
    }

    #[test]
    fn what_lies_below_is_drawn_over_what_stands_on_it() {
        let (paints, texts) = drawn(Durations::Known);
        assert_eq!(paints, [ELSEWHERE, PROCESSOR, STORAGE, CALLS, FAILED]);
        for text in
            ["What the program did over time", "tasks", "calls per second", "time since the start in ns"]
        {
            assert!(texts.iter().any(|it| it == text), "{text} in {texts:?}");
        }
    }

    #[test]
    fn without_durations_there_are_calls_and_the_reason() {
        let (paints, texts) = drawn(Durations::Unknown);
        assert_eq!(paints, [CALLS, FAILED]);
        assert!(texts.join(" ").contains("has no durations of calls"), "{texts:?}");
    }
}
