//! What stages are called, one and many.

use iolag_model::Phase;

/// A stage: its phase and iteration.
pub(crate) type StageKey = (Phase, u32);

/// A stage as in `precreate`, `benchmark 2`, `batch-stat 3`: what may be repeated has a number.
pub fn stage_name(phase: Phase, iteration: u32) -> String {
    match phase {
        Phase::Precreate | Phase::Cleanup => phase.to_string(),
        _ => format!("{phase} {}", iteration + 1),
    }
}

/// How many of all stages these are: `250 of 300 iterations`, `each of 4 stages`.
pub(crate) fn places_in_words(places: &[StageKey], all: &[StageKey]) -> String {
    let of_one_phase = places.windows(2).all(|pair| pair[0].0 == pair[1].0);
    let (name, count) = match places.first().filter(|_| of_one_phase) {
        Some((phase, _)) => ("iterations", all.iter().filter(|stage| stage.0 == *phase).count()),
        None => ("stages", all.len()),
    };
    if places.len() == count {
        format!("each of {count} {name}")
    } else {
        format!("{} of {count} {name}", places.len())
    }
}

/// Which stages these are, by name where that is short: `benchmark 2`, `benchmark 1 to 3`, `each of 5 iterations`, `3 of 5 iterations`.
pub(crate) fn named_places(places: &[StageKey], all: &[StageKey]) -> String {
    let follow = places.windows(2).all(|pair| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1);
    let of_phase = |phase: Phase| all.iter().filter(|stage| stage.0 == phase).count();
    match places {
        [(phase, only)] => stage_name(*phase, *only),
        [(phase, first), .., (_, last)] if follow && places.len() < of_phase(*phase) => {
            format!("{} to {}", stage_name(*phase, *first), last + 1)
        }
        _ => places_in_words(places, all),
    }
}
