//! What a traced program did when: in words, and in two lines for a terminal.

use iolag_model::{Nanoseconds, TraceSlot, TraceSummary, TraceTimeLine, counted, format_duration};

use crate::figure::{Bars, Durations};
use crate::text::table::{Colour, Tone};

/// What stands before a line of bars.
const LABEL_COLUMNS: usize = 11;
/// Wider bars say no more.
const BAR_COLUMNS_MAX: usize = 100;
/// In a shorter time line there is nothing to see.
const SLOTS_MIN: usize = 10;

/// What was done when, and what is known of it.
pub(crate) struct OverTime<'a> {
    pub(crate) line: &'a TraceTimeLine,
    pub(crate) durations: Durations,
    span_ns: Nanoseconds,
}

impl<'a> OverTime<'a> {
    /// Of a trace that has times.
    pub(super) fn of(summary: &'a TraceSummary) -> Option<Self> {
        let durations =
            if summary.time.untimed < summary.calls { Durations::Known } else { Durations::Unknown };
        summary.time_line.as_ref().map(|line| Self { line, durations, span_ns: summary.span_ns })
    }

    /// When most was done, for those who do not see the picture.
    pub(crate) fn sentence(&self) -> String {
        let mut text = format!("Over {}:", format_duration(self.span_ns));
        let (at, most) = self.most(|slot| slot.calls);
        text += &format!(
            " most calls were made {} after the start ({} in {})",
            at,
            counted(most, "call", "calls"),
            format_duration(self.line.slot_ns)
        );
        let (at, most) = self.most(|slot| slot.storage_ns.0);
        if most > 0 {
            let share = most as f64 / self.line.slot_ns.0 as f64;
            text += &format!(
                ", and most time in storage was spent {at} after it (by {share:.2} tasks at once, on average)"
            );
        }
        text + "."
    }

    /// The first slot that has most: when it is, and how much it has.
    fn most(&self, of: fn(&TraceSlot) -> u64) -> (String, u64) {
        let slots = self.line.slots.iter().map(of).enumerate();
        let (place, most) =
            slots.max_by_key(|(place, amount)| (*amount, std::cmp::Reverse(*place))).unwrap_or_default();
        (format_duration(Nanoseconds(self.line.slot_ns.0 * place as u64)), most)
    }

    /// Two lines of bars from the beginning to the end; nothing of what is too short for that.
    pub(super) fn text(&self, width: usize, colour: Colour) -> Option<String> {
        let slots = &self.line.slots;
        if slots.len() < SLOTS_MIN {
            return None;
        }
        let columns = width.saturating_sub(LABEL_COLUMNS).clamp(SLOTS_MIN / 2, BAR_COLUMNS_MAX);
        let row = |label: &str, of: fn(&TraceSlot) -> u64| {
            let amounts: Vec<u64> = slots.iter().map(of).collect();
            format!("{label:<LABEL_COLUMNS$}{}\n", Bars { amounts: &amounts, columns }.row())
        };
        let title = format!("Over {}, from left to right", format_duration(self.span_ns));
        let mut text = format!("{}\n", colour.paint(Tone::Strong, &title));
        if self.durations == Durations::Known {
            text += &row("in storage", |slot| slot.storage_ns.0);
        }
        text += &row("calls", |slot| slot.calls);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(untimed: u64) -> TraceSummary {
        let mut slots = vec![TraceSlot::default(); 20];
        slots[3] = TraceSlot { calls: 9, storage_ns: Nanoseconds(250_000), ..TraceSlot::default() };
        slots[15] = TraceSlot { calls: 3, storage_ns: Nanoseconds(1_500_000), ..TraceSlot::default() };
        let time_line = Some(TraceTimeLine { slot_ns: Nanoseconds::from_milliseconds(1), slots });
        let span_ns = Nanoseconds(19_700_000);
        let mut summary = TraceSummary { calls: 12, span_ns, time_line, ..TraceSummary::default() };
        summary.time.untimed = untimed;
        summary
    }

    #[test]
    fn the_sentence_says_when_most_was_done() {
        let summary = summary(0);
        assert_eq!(
            OverTime::of(&summary).unwrap().sentence(),
            "Over 19.7 ms: most calls were made 3.00 ms after the start (9 calls in 1.00 ms), and most time in storage was spent 15.0 ms \
             after it (by 1.50 tasks at once, on average)."
        );
        assert!(OverTime::of(&TraceSummary::default()).is_none());
    }

    #[test]
    fn a_terminal_has_a_line_for_storage_and_one_for_calls() {
        let timed = summary(0);
        let text = OverTime::of(&timed).unwrap().text(21, Colour::Never).unwrap();
        assert_eq!(
            text,
            "Over 19.7 ms, from left to right\nin storage \u{2800}\u{2880}\u{2800}\u{2800}\u{2800}\u{2800}\u{2800}\u{28b8}\ncalls      \u{2800}\u{28b8}\u{2800}\u{2800}\u{2800}\u{2800}\u{2800}\u{28a0}\n"
        );
        let untimed = summary(12);
        assert!(!OverTime::of(&untimed).unwrap().text(21, Colour::Never).unwrap().contains("storage"));
    }
}
