//! Which targets an incident affected, and which it shows not to have affected.
//!
//! A target is affected if in bad times attempts passed their deadline or failed more often than chance makes of the share at other times,
//! if slots were lost to a probe of it, if it was not mounted, or if some task of it was slower (see [`crate::history::compare`]). Where attempts are
//! too few to compare, it is affected *as it was seen* if most of them took plainly longer than those at other times ([`super::seen::Seen`]). Else it was measured and nothing was shown, or
//! too little was measured to tell.
//!
//! Limits: a target is affected as soon as one of its tasks is; with many tasks one in twenty is slower by chance.

use iolag_model::{Outage, OutageKind, SeriesKind, WallSpan};
use serde::Serialize;

use super::impact::Judged;
use super::seen::Seen;
use crate::history::comparison::ComparisonVerdict;
use crate::history::series::shares::Rate;

/// What trouble did to one target as one host sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlaceImpact {
    /// Which host.
    pub host: String,
    /// Which target.
    pub target: String,
    /// Whether it is the control on the host's memory.
    pub is_control: bool,
    /// The word for it.
    pub effect: PlaceEffect,
    /// Attempts in bad times.
    pub attempts: u64,
    /// Tasks that were slower in bad times.
    pub slower: Vec<String>,
}

/// What happened to a target in bad times; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaceEffect {
    /// Attempts passed their deadline more often than at other times, or slots were lost to them.
    Unanswered,
    /// It was not mounted.
    NotMounted,
    /// Attempts failed more often than at other times.
    Failing,
    /// Some task took longer than at other times.
    Slower,
    /// Most attempts of some task took plainly longer than at other times, but they are too few to compare.
    SeenSlower,
    /// It was measured, and nothing of that is shown.
    NotShown,
    /// There were too few attempts to compare how long they took, but each succeeded and took no longer than the slowest at other times.
    Usual,
    /// There were too few attempts to compare how long they took, and not all of them were as usual.
    TooFew,
    /// No attempt was started.
    NotMeasured,
}

/// One for each target and host, worst first. `judged` stand in the order of their keys.
pub(crate) fn places(judged: &[Judged], bad_times: &[WallSpan], outages: &[Outage]) -> Vec<PlaceImpact> {
    if bad_times.is_empty() {
        return Vec::new();
    }
    let place = |one: &Judged| (one.impact.series.host.clone(), one.impact.series.target.clone());
    // Series stand in the order of their keys, so those of a place stand together.
    let mut places: Vec<PlaceImpact> = judged
        .chunk_by(|one, other| place(one) == place(other))
        .map(|of_place| {
            let (host, target) = place(&of_place[0]);
            let has_outage =
                |kind| outages.iter().any(|outage| outage.kind == kind && outage.concerns(&host, &target));
            let effect = effect_of(of_place, has_outage);
            PlaceImpact {
                host,
                target,
                is_control: of_place.iter().all(|one| one.impact.kind == SeriesKind::Control),
                effect,
                attempts: of_place.iter().map(|one| one.during.attempts).sum(),
                slower: slower_tasks(of_place),
            }
        })
        .collect();
    places.sort_by(|one, other| {
        (one.effect, one.is_control, &one.target, &one.host).cmp(&(
            other.effect,
            other.is_control,
            &other.target,
            &other.host,
        ))
    });
    places
}

fn slower_tasks(of_place: &[Judged]) -> Vec<String> {
    of_place.iter().filter(|one| one.is_slower()).map(|one| one.impact.series.task.clone()).collect()
}

/// `has_outage`: whether one of this kind concerns it. One without answer decides only where slots were lost to a probe of before the time
/// that is looked at.
fn effect_of(of_place: &[Judged], has_outage: impl Fn(OutageKind) -> bool) -> PlaceEffect {
    let any = |is_so: &dyn Fn(&Judged) -> bool| of_place.iter().any(is_so);
    let was_unmounted = has_outage(OutageKind::NotMounted);
    let is_lost_to_probe = any(&|one| one.lost > 0) && (!was_unmounted || has_outage(OutageKind::NoAnswer));
    if is_lost_to_probe || any(&|one| is_more(&one.during.past_deadline, &one.otherwise.past_deadline)) {
        PlaceEffect::Unanswered
    } else if was_unmounted {
        PlaceEffect::NotMounted
    } else if any(&|one| is_more(&one.during.error, &one.otherwise.error)) {
        PlaceEffect::Failing
    } else if any(&Judged::is_slower) {
        PlaceEffect::Slower
    } else if any(&Judged::is_seen_slower) {
        PlaceEffect::SeenSlower
    } else if of_place.iter().all(|one| one.during.attempts == 0) {
        let is_lost = has_outage(OutageKind::NoAnswer) && any(&|one| one.during.skipped.count > 0);
        if is_lost { PlaceEffect::Unanswered } else { PlaceEffect::NotMeasured }
    } else if of_place.iter().all(|one| one.verdict() == Some(ComparisonVerdict::TooFew)) {
        let is_usual = of_place.iter().all(|one| one.impact.seen == Some(Seen::Usual));
        if is_usual { PlaceEffect::Usual } else { PlaceEffect::TooFew }
    } else {
        PlaceEffect::NotShown
    }
}

/// Whether it happened in bad times, and more often than chance makes of the share at other times.
fn is_more(during: &Rate, otherwise: &Rate) -> bool {
    during.count > 0 && during.interval.low > otherwise.share().unwrap_or(0.0)
}
