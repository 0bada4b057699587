//! Hangs as stretches of time, so that every figure of a target shows them, whatever operations it is of.

use crate::run::figure::document::hang::HangSpan;
use std::collections::BTreeSet;

use iolag_model::{MonotonicTime, Nanoseconds, Operation, Outcome};

use super::plan::FigurePlan;
use super::series::SeriesRecorder;
use crate::run::figure::document::episode::{Episode, Spell, TroubleKind, join_spells};

/// What figures show as a hang: the time of an attempt that was past its deadline, to the end of the run if it never ended. `None` for
/// others, and for what is no trouble of the target.
pub(crate) fn hang_of(
    plan: &FigurePlan,
    operation: Operation,
    outcome: Outcome,
    (start, duration): (MonotonicTime, Nanoseconds),
) -> Option<Spell> {
    match outcome {
        _ if operation == Operation::RingWait => None,
        Outcome::Hung => {
            let duration = duration.max(plan.span.end.since(start));
            Some(Spell::of(TroubleKind::Hung, start, duration))
        }
        Outcome::Late => Some(Spell::of(TroubleKind::Late, start, duration)),
        Outcome::Timeout => Some(Spell::of(TroubleKind::Timeout, start, duration)),
        Outcome::Ok | Outcome::Error | Outcome::Skipped | Outcome::Interrupted | Outcome::Retried => None,
    }
}

/// The hangs of all series by target and time; those closer together than a column of the time line are one. Clients that are told
/// apart have their own.
pub(crate) fn hang_spans(plan: &FigurePlan, series: &[SeriesRecorder]) -> Vec<HangSpan> {
    let slots: BTreeSet<u16> = series.iter().map(|own| own.key.slot).collect();
    let of_slot = |slot: u16| {
        let own = (0..).zip(series).filter(move |(_, own)| own.key.slot == slot);
        let spells = own.flat_map(|(index, own)| own.hangs.of_series(own.key.target, index)).collect();
        join_spells(spells, plan.hang_gap, |_| None)
    };
    let mut spans: Vec<HangSpan> =
        slots.into_iter().flat_map(of_slot).map(|episode| span_of(plan, &episode)).collect();
    spans.sort_by_key(|span| (span.target, span.begin_ns));
    spans
}

fn span_of(plan: &FigurePlan, episode: &Episode) -> HangSpan {
    let end_ns = episode.end_ns.min(plan.span.end).since(plan.span.begin);
    HangSpan {
        target: episode.target,
        begin_ns: episode.begin_ns.since(plan.span.begin),
        end_ns: (episode.troubles.hung == 0).then_some(end_ns),
        series: episode.peak.series,
    }
}
