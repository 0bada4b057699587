//! What was measured, and how to get at all of it.

use iolag_model::{WallSpan, WallTime, counted};

use super::report::IncidentHistory;
use crate::words::markdown::{escape, push};

impl IncidentHistory<'_> {
    pub(super) fn push_measurements(&self, text: &mut String) {
        text.push_str("## Annex: measurements\n\n");
        let samples: u64 = self.analysis.series.iter().map(|one| one.summary.rates.total.slots).sum();
        let series = counted(self.analysis.series.len() as u64, "series", "series");
        let samples = counted(samples, "sample", "samples");
        push(text, format_args!("- History: {}: {samples} in {series}.", escape(&self.head.place)));
        if let (Some(begin), Some(end)) = (self.analysis.begin, self.analysis.end) {
            push(text, format_args!("- First sample due {}, last {}.", self.moment(begin), self.moment(end)));
            let span = options(self.head.span);
            push(
                text,
                format_args!("- Figures and all numbers: `iolag report history{span} -o report.html`"),
            );
            push(text, format_args!("- Every sample: `iolag export history{span} -o samples.jsonl`"));
        }
    }
}

/// The options that ask for the same time again.
fn options(span: WallSpan) -> String {
    let option = |name: &str, moment: WallTime, open: WallTime| {
        if moment == open { String::new() } else { format!(" --{name} {moment}") }
    };
    option("since", span.begin, WallSpan::ALL.begin) + &option("until", span.end, WallSpan::ALL.end)
}
