//! Why a place is slow: from what probes saw to the layer that takes the time.
//!
//! ```text
//! the slower of { the first pass, `ls -l` }
//!   = name service (`ls -l` less `ls -n`)
//!   + client + network + server (the client's counters, a connection to the server, where the process waited)
//!   + what cannot be told
//! ```
//! Of a command ([`command`]) the time that passed is divided: look-ups, name service, each mount as above, and what is no storage.
//!
//! Invariants: the parts come to the whole; a layer is named alone only where something tells it from the others; what lacks is said.

mod caches;
pub(crate) mod command;
mod file_system;
mod names;

use iolag_model::{
    Explanation, ExplanationWord, Lack, Layer, NameServiceWord, NameTimes, Nanoseconds, Part, PartReason,
    Probed, SeenPlace, Subject,
};

use caches::caches;
use file_system::shares;
use names::name_times;

/// Nobody waits for less.
const SLOW: Nanoseconds = Nanoseconds::from_milliseconds(250);
/// For each name, where there are enough of them.
const SLOW_NAME: Nanoseconds = Nanoseconds::from_milliseconds(2);
/// Fewer than these have no time for each.
const NAMES_LEAST: u64 = 10;
/// Who has less than this of the time is not named as the cause.
const CAUSE_SHARE: f64 = 0.5;
/// A part of more layers than this says too little.
const CAUSE_LAYERS_MOST: usize = 2;

/// What the probes of a place come to.
pub fn explain(seen: SeenPlace) -> Explanation {
    let names = name_times(&seen.pairs);
    let (subject, took_ns) = subject(&seen, &names);
    let mut parts = match subject {
        Subject::First => of_first(&seen),
        Subject::LongListing => of_listing(&seen, &names, took_ns),
    };
    put_in_order(&mut parts, took_ns);
    let word = word(&seen, took_ns, &parts);
    let caches = caches(&seen);
    Explanation { word, subject, took_ns, parts, names, caches, seen }
}

/// The parts of a whole, most first.
fn put_in_order(parts: &mut Vec<Part>, whole: Nanoseconds) {
    for part in parts.iter_mut() {
        part.share = share(part.time_ns, whole);
    }
    parts.retain(|part| part.time_ns > Nanoseconds::ZERO);
    parts.sort_by_key(|part| std::cmp::Reverse(part.time_ns));
}

fn share(part: Nanoseconds, whole: Nanoseconds) -> f64 {
    if whole == Nanoseconds::ZERO { 0.0 } else { part.as_seconds() / whole.as_seconds() }
}

/// What took longest is what is divided.
fn subject(seen: &SeenPlace, names: &NameTimes) -> (Subject, Nanoseconds) {
    let listing = match (names.word, seen.pairs.first()) {
        (NameServiceWord::OnlyFirst, Some(first)) => first.names.took_ns,
        _ => names.names_ns,
    };
    if listing >= seen.first.took_ns {
        (Subject::LongListing, listing)
    } else {
        (Subject::First, seen.first.took_ns)
    }
}

fn of_first(seen: &SeenPlace) -> Vec<Part> {
    shares(seen, &[&seen.first], Nanoseconds::ZERO, seen.first.took_ns)
}

fn of_listing(seen: &SeenPlace, names: &NameTimes, took: Nanoseconds) -> Vec<Part> {
    let reason = PartReason::Difference;
    let part = |layers, time_ns, lack| Part {
        layers,
        time_ns,
        share: 0.0,
        mount: None,
        reason: reason.clone(),
        lack,
    };
    let (difference, part) = match names.word {
        NameServiceWord::TakesTime => {
            (names.difference_ns, part(vec![Layer::NameService], names.difference_ns, None))
        }
        NameServiceWord::OnlyFirst => {
            let more = Nanoseconds(took.0.saturating_sub(names.numbers_ns.0));
            (more, part(Vec::new(), more, Some(Lack::Steadiness)))
        }
        NameServiceWord::CannotTell => {
            (names.difference_ns, part(Vec::new(), names.difference_ns, Some(Lack::Steadiness)))
        }
        NameServiceWord::TakesNone => (Nanoseconds::ZERO, part(Vec::new(), Nanoseconds::ZERO, None)),
    };
    let rest = Nanoseconds(took.0.saturating_sub(difference.0));
    let numbers: Vec<&Probed> = seen.pairs.iter().map(|pair| &pair.numbers).collect();
    let mut parts = vec![part];
    parts.extend(shares(seen, &numbers, seen.start_ns, rest));
    parts
}

fn word(seen: &SeenPlace, took: Nanoseconds, parts: &[Part]) -> ExplanationWord {
    let for_each = Nanoseconds(took.0 / seen.names.max(1));
    if took < SLOW && (seen.names < NAMES_LEAST || for_each < SLOW_NAME) {
        return ExplanationWord::NotSlow;
    }
    word_of(parts)
}

/// What the parts of something slow come to.
fn word_of(parts: &[Part]) -> ExplanationWord {
    match parts.first() {
        Some(part) if part.share < CAUSE_SHARE => ExplanationWord::Divided,
        Some(part) if (1..=CAUSE_LAYERS_MOST).contains(&part.layers.len()) => ExplanationWord::Because,
        _ => ExplanationWord::CannotTell,
    }
}

#[cfg(test)]
mod tests;
