//! Hangs in figures over time: bars from their start to their end, whatever operations the figure is of.

use iolag_analysis::figure::{Figures, HangSpan, RunFigures};
use iolag_model::{Nanoseconds, counted};

use crate::figure::drawings::marks::SHADE;
use crate::figure::of_runs::choice::{Chosen, FigureSelection, Place, client_of, is_target_wanted};
use crate::figure::paper::sheet::Panel;

/// More are counted, not named.
const NAMED_MAX: usize = 3;

/// The hangs of what was chosen.
pub(crate) struct Hangs<'a> {
    hangs: Vec<(Place, &'a RunFigures, &'a HangSpan)>,
}

impl<'a> Hangs<'a> {
    pub(crate) fn new(figures: &'a Figures, selection: &FigureSelection) -> Self {
        let of_run = |(index, run): (usize, &'a RunFigures)| {
            run.hangs.iter().map(move |hang| (place_of(index, run, hang), run, hang))
        };
        let wanted =
            |(_, run, hang): &(Place, &RunFigures, &HangSpan)| is_target_wanted(run, hang.target, selection);
        Self { hangs: figures.runs.iter().enumerate().flat_map(of_run).filter(wanted).collect() }
    }

    /// Those of these places, and the others.
    pub(crate) fn split(&self, places: &[Place]) -> (Self, Self) {
        let (own, others) = self.hangs.iter().partition(|(place, ..)| places.contains(place));
        (Self { hangs: own }, Self { hangs: others })
    }

    /// The places that something is drawn of, or hung, whatever it was.
    pub(crate) fn places_with(&self, chosen: &Chosen<'_>) -> Vec<Place> {
        let mut places = chosen.places();
        places.extend(self.hangs.iter().map(|(place, ..)| *place));
        places.sort_unstable();
        places.dedup();
        places
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.hangs.is_empty()
    }

    /// From where to where, in ns since the begin.
    pub(crate) fn spans_ns(&self) -> impl Iterator<Item = (f64, f64)> {
        let end_of =
            |run: &RunFigures, hang: &HangSpan| hang.end_ns.unwrap_or(run.run.span_ns).max(hang.begin_ns);
        self.hangs.iter().map(move |(_, run, hang)| (hang.begin_ns.0 as f64, end_of(run, hang).0 as f64))
    }

    /// As in ``Bars: `rename` hung from 7.20 s on and did not end.``, after what they are drawn as; empty without any.
    pub(crate) fn sentence(&self, drawn_as: &str, chosen: &Chosen<'_>) -> String {
        if self.is_empty() {
            return String::new();
        }
        let named = self.hangs.iter().take(NAMED_MAX);
        let mut words: Vec<String> =
            named.map(|(place, run, hang)| words(*place, run, hang, chosen)).collect();
        if self.hangs.len() > NAMED_MAX {
            words.push(counted((self.hangs.len() - NAMED_MAX) as u64, "more hang", "more hangs"));
        }
        format!("{drawn_as}: {}.", words.join("; "))
    }

    /// The times of hangs, behind what is drawn over them.
    pub(crate) fn shade(&self, panel: &Panel<'_>) {
        let (bottom, top) = panel.y.ends();
        for (from, to) in self.spans_ns() {
            panel.rectangle((from, bottom), (to, top), SHADE);
        }
    }
}

fn place_of(index: usize, run: &RunFigures, hang: &HangSpan) -> Place {
    let client = run.series.get(usize::from(hang.series)).and_then(client_of);
    Place { run: index, target: hang.target, client }
}

fn words(place: Place, run: &RunFigures, hang: &HangSpan, chosen: &Chosen<'_>) -> String {
    let operation = run.series.get(usize::from(hang.series)).map_or("an attempt", |own| own.operation.name());
    let is_told = chosen.runs.len() > 1 || run.run.targets.len() > 1 || place.client.is_some();
    let on = if is_told { format!(" on {}", chosen.place_name(place)) } else { String::new() };
    let begin = hang.begin_ns;
    let until = |end: Nanoseconds| format!("from {begin} to {end}");
    let when = hang.end_ns.map_or_else(|| format!("from {begin} on and did not end"), until);
    format!("`{operation}`{on} hung {when}")
}
