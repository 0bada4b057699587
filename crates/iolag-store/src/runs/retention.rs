//! Which runs a retention policy removes. Pure: the present moment is an argument.

use std::collections::BTreeSet;

use iolag_model::{Nanoseconds, RunId};

use super::liveness::KeeperIdentity;
use super::store::Listed;
use crate::error::FlawKind;

/// What is to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Retention {
    /// The newest so many are never removed, whatever else is said.
    pub keep_last: Option<usize>,
    /// Older ones are removed.
    pub older_than: Option<Nanoseconds>,
    /// The oldest are removed until the rest takes no more.
    pub bytes_max: Option<u64>,
    /// Never removed: others are compared with them.
    pub spared: BTreeSet<RunId>,
}

/// The runs to remove, oldest first. If only `keep_last` is given, all others are removed; if nothing is, none is.
/// Damaged ones go by the moment in their names. Runs of a living keeper, of another format, and those that cannot be read at
/// present are never removed by a policy: they are in use, or may be whole. They count for `bytes_max` all the same.
pub fn runs_to_remove(
    listed: &[Listed],
    retention: &Retention,
    now_realtime_ns: u64,
    is_alive: impl Fn(&KeeperIdentity) -> bool,
) -> Vec<RunId> {
    let mut newest_first: Vec<&Listed> = listed.iter().collect();
    newest_first.sort_by(|one, other| {
        (other.started_realtime_ns, &other.id).cmp(&(one.started_realtime_ns, &one.id))
    });
    let only_keep_last =
        retention.keep_last.is_some() && retention.older_than.is_none() && retention.bytes_max.is_none();
    let mut kept_bytes = 0_u64;
    let mut removed = Vec::new();
    // Space goes to what stays in any case first.
    let stays = |place: usize, run: &Listed| {
        retention.keep_last.is_some_and(|keep_last| place < keep_last)
            || retention.spared.contains(&run.id)
            || !may_be_removed(run, &is_alive)
    };
    for (_, run) in newest_first.iter().enumerate().filter(|(place, run)| stays(*place, run)) {
        kept_bytes = kept_bytes.saturating_add(run.bytes);
    }
    for (place, run) in newest_first.iter().enumerate() {
        if stays(place, run) {
            continue;
        }
        let age_ns = now_realtime_ns.saturating_sub(run.started_realtime_ns);
        let is_old = retention.older_than.is_some_and(|older_than| age_ns > older_than.0);
        let bytes_with = kept_bytes.saturating_add(run.bytes);
        if only_keep_last || is_old || retention.bytes_max.is_some_and(|bytes_max| bytes_with > bytes_max) {
            removed.push(run.id.clone());
        } else {
            kept_bytes = bytes_with;
        }
    }
    removed.reverse();
    removed
}

fn may_be_removed(run: &Listed, is_alive: impl Fn(&KeeperIdentity) -> bool) -> bool {
    match &run.record {
        Ok(record) => !KeeperIdentity::of(record).is_some_and(|keeper| is_alive(&keeper)),
        Err(flaw) => flaw.kind == FlawKind::Damaged,
    }
}
