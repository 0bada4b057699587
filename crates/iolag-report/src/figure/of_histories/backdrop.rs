//! What stands behind and above the time lines of a task: events, outages, hangs, and times of which nothing is known.

use iolag_analysis::history::{EventMark, Gap, GapRecord, SeriesFigure};
use iolag_model::{EventSource, SeriesKind, WallTime};

use super::choice::{Chosen, Line};
use crate::figure::drawings::marks::{MarkRow, SHADE};
use crate::figure::paper::sheet::{INK, Panel, Sheet};
use crate::figure::scene::shapes::{Dash, MarkShape, Paint, Stroke};

/// More events than these are counted, and in the caption so many are told.
const EVENTS_MAX: usize = 60;
const EVENTS_TOLD_MAX: usize = 5;
const SERIOUS: Paint = Paint::opaque(0xb3, 0x26, 0x1e);
const UNKNOWN: Paint = Paint::opaque(0x77, 0x77, 0x77).with_opacity(0.22);
/// Spans closer together than this part of the whole, divided among panels, are drawn as one.
const SPANS: f64 = 300.0;
/// Clocks of outages and hangs may be so far apart.
const ABOUT_NS: i64 = 1_000_000_000;

/// From when to when, in ns since the begin.
type Span = (f64, f64);

/// What concerns the lines of a panel.
pub(crate) struct Backdrop {
    /// Number and moment.
    events: Vec<(usize, f64)>,
    pub(crate) outages: Vec<Span>,
    /// Those that no outage contains.
    pub(crate) hangs: Vec<Span>,
    pub(crate) gaps: Vec<Span>,
}

/// The events that concern what is drawn, in the order of time, as far as they can be told apart.
pub(crate) fn events<'a>(chosen: &Chosen<'a>) -> Vec<&'a EventMark> {
    let is_told = |event: &&EventMark| !matches!(event.source, EventSource::Watch | EventSource::Journal);
    let concerns = |event: &&EventMark| chosen.lines().any(|line| is_of(line, &event.host, &event.target));
    chosen.history.figures.events.iter().filter(is_told).filter(concerns).collect()
}

/// As in `1: LDAP cache enabled (2008-05-09 09:00).`
pub(crate) fn events_in_words(chosen: &Chosen<'_>, events: &[&EventMark]) -> String {
    let told = events.iter().take(EVENTS_TOLD_MAX).enumerate().map(|(index, event)| {
        let text = if event.text.is_empty() { &event.kind } else { &event.text };
        format!("{}: {text} ({})", index + 1, chosen.moment(event.begin_ns))
    });
    let mut told: Vec<String> = told.collect();
    match events.len().saturating_sub(EVENTS_TOLD_MAX) {
        0 => {}
        more => told.push(format!("{more} more")),
    }
    let undrawn = match events.len().saturating_sub(EVENTS_MAX) {
        0 => String::new(),
        more => format!(", of which the last {more} are not drawn"),
    };
    if told.is_empty() { String::new() } else { format!("Events: {}{undrawn}.", told.join("; ")) }
}

/// Whether something that is said of a host and a target, empty for all, concerns a line.
fn is_of(line: &Line<'_>, host: &str, target: &str) -> bool {
    let key = &line.series.key;
    (host.is_empty() || host == key.host) && (target.is_empty() || target == key.target)
}

impl Backdrop {
    /// What concerns the lines of one of so many panels.
    pub(crate) fn of(chosen: &Chosen<'_>, events: &[&EventMark], lines: &[Line<'_>], panels: usize) -> Self {
        let figures = chosen.history.figures;
        let (begin, span_ns) = (figures.axis.begin_ns, figures.axis.span_ns);
        let end = begin.saturating_add_unsigned(span_ns);
        let since = |ns: i64| (ns.clamp(begin, end) - begin) as f64;
        let apart = span_ns as f64 / SPANS * panels as f64;
        let spans = |all: Vec<(i64, i64)>| {
            let within = all.into_iter().filter(|(from, to)| *to >= begin && *from <= end);
            joined(within.map(|(from, to)| (since(from), since(to))).collect(), apart)
        };
        let outages: Vec<_> = figures
            .outages
            .iter()
            .filter(|outage| {
                lines.iter().any(|line| outage.concerns(&line.series.key.host, &line.series.key.target))
            })
            .collect();
        let is_told = |host: &str, target: &str, from: i64, to: i64| {
            outages.iter().any(|outage| {
                outage.concerns(host, target)
                    && outage.begin.0 <= from + ABOUT_NS
                    && outage.end.is_none_or(|end| end.0 >= to - ABOUT_NS)
            })
        };
        let hangs = figures.hangs.iter().filter(|hang| {
            let concerns = lines.iter().any(|line| is_of(line, &hang.host, &hang.target));
            concerns && !is_told(&hang.host, &hang.target, hang.begin_ns, hang.seen_ns)
        });
        let gaps = figures.gaps.iter().filter(|gap| lines.iter().any(|line| is_during(gap, line.series)));
        let numbered = events.iter().take(EVENTS_MAX).enumerate();
        let own =
            numbered.filter(|(_, event)| lines.iter().any(|line| is_of(line, &event.host, &event.target)));
        Self {
            events: own.map(|(index, event)| (index + 1, since(event.begin_ns))).collect(),
            hangs: spans(hangs.map(|hang| (hang.begin_ns, hang.seen_ns)).collect()),
            gaps: spans(gaps.map(|gap| (gap.begin.0, gap.end.0)).collect()),
            outages: spans(
                outages.iter().map(|one| (one.begin.0, one.end.unwrap_or(WallTime(end)).0)).collect(),
            ),
        }
    }

    /// The rows above the panel that they need.
    pub(crate) fn rows(&self, sheet: &Sheet, ns_per_unit: f64) -> Vec<MarkRow> {
        let row = |name: &'static str| MarkRow::new(name, MarkShape::Bar, SERIOUS);
        let rows = [
            MarkRow { labels: self.numbers(sheet, ns_per_unit), ..row("events") },
            MarkRow { bars: self.outages.clone(), ..row("outages") },
            MarkRow { bars: self.hangs.clone(), ..row("hangs") },
        ];
        rows.into_iter().filter(|row| !row.is_empty()).collect()
    }

    /// Numbers of events; those without room beside each other are told together, as in `1–3`.
    fn numbers(&self, sheet: &Sheet, ns_per_unit: f64) -> Vec<Labelled> {
        let mut groups: Vec<(usize, usize, f64, f64)> = Vec::new();
        for (number, at) in &self.events {
            match groups.last_mut() {
                Some((_, last, _, to)) if (at - *to) / ns_per_unit < f64::from(sheet.text) * 1.6 => {
                    (*last, *to) = (*number, *at);
                }
                _ => groups.push((*number, *number, *at, *at)),
            }
        }
        let label = |(first, last, from, to): (usize, usize, f64, f64)| {
            let text = if first == last { first.to_string() } else { format!("{first}–{last}") };
            (from.midpoint(to), text)
        };
        groups.into_iter().map(label).collect()
    }

    /// Shades times behind what is drawn over them.
    pub(crate) fn shade(&self, panel: &Panel<'_>) {
        let (bottom, top) = panel.y.ends();
        for (spans, paint) in [(&self.gaps, UNKNOWN), (&self.outages, SHADE), (&self.hangs, SHADE)] {
            for (from, to) in spans {
                panel.rectangle((*from, bottom), (*to, top), paint);
            }
        }
    }

    /// Events as uprights.
    pub(crate) fn draw_events(&self, panel: &Panel<'_>) {
        let (bottom, top) = panel.y.ends();
        let stroke =
            Stroke { paint: INK.with_opacity(0.7), width: panel.line_width() * 2 / 3, dash: Dash::Strokes };
        for (_, at) in &self.events {
            panel.line([(*at, bottom), (*at, top)], stroke);
        }
    }
}

type Labelled = (f64, String);

/// Whether nothing is known of a series during a gap.
fn is_during(gap: &Gap, series: &SeriesFigure) -> bool {
    let is_recorded = match gap.record {
        GapRecord::Imported => series.kind == SeriesKind::ImportedDuration,
        GapRecord::Watched => matches!(series.kind, SeriesKind::Task | SeriesKind::Control),
    };
    let key = &series.key;
    let is_there =
        (gap.target.is_empty() || gap.target == key.target) && (gap.task.is_empty() || gap.task == key.task);
    is_recorded && gap.host == key.host && is_there
}

fn joined(mut spans: Vec<Span>, apart: f64) -> Vec<Span> {
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<Span> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some((_, end)) if from <= *end + apart => *end = end.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}
