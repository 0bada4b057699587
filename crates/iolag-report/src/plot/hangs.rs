//! Hangs in pictures over time: bars from their start to their end, whatever operations the picture is of.

use iolag_analysis::figure::{Figures, HangSpan, RunFigures};
use iolag_model::{Nanoseconds, counted};

use super::choice::{PlotSelection, is_target_wanted};
use super::scene::Paint;
use super::sheet::Panel;

/// More are counted, not named.
const NAMED_MAX: usize = 3;
const SHADE: Paint = Paint::opaque(0xc0, 0x2a, 0x2a).with_opacity(0.12);

/// The hangs of what was chosen.
pub(super) struct Hangs<'a> {
    hangs: Vec<(&'a RunFigures, &'a HangSpan)>,
}

impl<'a> Hangs<'a> {
    pub(super) fn new(figures: &'a Figures, selection: &PlotSelection) -> Self {
        let of_run = |run: &'a RunFigures| run.hangs.iter().map(move |hang| (run, hang));
        let wanted = |(run, hang): &(&RunFigures, &HangSpan)| is_target_wanted(run, hang.target, selection);
        Self { hangs: figures.runs.iter().flat_map(of_run).filter(wanted).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hangs.is_empty()
    }

    /// From where to where, in ns since the begin.
    pub(super) fn spans_ns(&self) -> impl Iterator<Item = (f64, f64)> {
        let end_of =
            |run: &RunFigures, hang: &HangSpan| hang.end_ns.unwrap_or(run.run.span_ns).max(hang.begin_ns);
        self.hangs.iter().map(move |(run, hang)| (hang.begin_ns.0 as f64, end_of(run, hang).0 as f64))
    }

    /// As in ``Bars: `rename` hung from 7.20 s on and did not end.``; empty without any.
    pub(super) fn sentence(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut words: Vec<String> = self.hangs.iter().take(NAMED_MAX).map(words).collect();
        if self.hangs.len() > NAMED_MAX {
            words.push(counted((self.hangs.len() - NAMED_MAX) as u64, "more hang", "more hangs"));
        }
        format!("Bars: {}.", words.join("; "))
    }

    /// The times of hangs, behind what is drawn over them.
    pub(super) fn shade(&self, panel: &Panel<'_>) {
        let (bottom, top) = panel.y.ends();
        for (from, to) in self.spans_ns() {
            panel.rectangle((from, bottom), (to, top), SHADE);
        }
    }
}

fn words((run, hang): &(&RunFigures, &HangSpan)) -> String {
    let operation = run.series.get(usize::from(hang.series)).map_or("an attempt", |own| own.operation.name());
    let several = run.run.targets.len() > 1;
    let target = run.run.targets.get(usize::from(hang.target.0)).filter(|_| several);
    let on = target.map_or_else(String::new, |target| format!(" on {}", target.name));
    let begin = hang.begin_ns;
    let until = |end: Nanoseconds| format!("from {begin} to {end}");
    let when = hang.end_ns.map_or_else(|| format!("from {begin} on and did not end"), until);
    format!("`{operation}`{on} hung {when}")
}
