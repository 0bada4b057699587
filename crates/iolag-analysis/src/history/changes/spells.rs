//! Levels that came back to the one before them: a bad spell, of which the end is good news, and a good one, of which the end is none.
//!
//! What was faster for a while and then as before has not become slower. That is said only where the level before is the ordinary one,
//! which lasted longer than the spell did: what was slow, fast for long and is slow again has become slower. A level after a good spell
//! must also take no more than one and a half times as long as before it, lest the spell hides that.

use super::change_point::ChangePoint;

/// After a good spell, what takes more than this many times as long as before it is not as before.
const AS_BEFORE_MOST: f64 = 1.5;

/// The changes, by their places, with which a spell begins that ends with the next one.
pub(crate) fn spells_of(changes: &[ChangePoint]) -> Vec<usize> {
    let mut spells: Vec<usize> = Vec::new();
    for (index, around) in changes.windows(2).enumerate() {
        // The end of a spell is not the begin of another.
        let is_end = spells.last().is_some_and(|spell| spell + 1 == index);
        if !is_end && comes_back(&around[0], &around[1]) {
            spells.push(index);
        }
    }
    spells
}

/// Whether the median is, after both, where it was before them, or nearly so.
fn comes_back(begin: &ChangePoint, end: &ChangePoint) -> bool {
    let level = |median: f64| median.max(1e-9).ln();
    let [before, here, after] = [begin.median_before, begin.median_after, end.median_after].map(level);
    let (there, back) = (here - before, after - here);
    let comes_near = there * back < 0.0 && (after - before).abs() <= there.abs().min(back.abs()) / 2.0;
    let is_good = there < 0.0;
    let is_ordinary = begin.count_after < begin.count_before && after - before <= AS_BEFORE_MOST.ln();
    comes_near && (!is_good || is_ordinary)
}
