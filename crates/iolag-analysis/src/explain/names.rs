//! `ls -l` against `ls -n`.

use iolag_model::{LIST_PAIRS, ListPair, NameServiceWord, NameTimes, Nanoseconds, ProbeEnd};

/// A first time that is longer by less than this is not told.
const FIRST_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(100);
/// The first difference is another one than the rest if it is so many times as long.
const FIRST_FACTOR: u64 = 10;
/// `ls -l` that did not end, beside `ls -n` that did: once may be an accident.
const CUT_OFF_LEAST: u64 = 2;

pub(super) fn name_times(pairs: &[ListPair]) -> NameTimes {
    let differences: Vec<i128> = pairs
        .iter()
        .map(|pair| i128::from(pair.names.took_ns.0) - i128::from(pair.numbers.took_ns.0))
        .collect();
    let count =
        |is_such: &dyn Fn(&ListPair) -> bool| pairs.iter().filter(|pair| is_such(pair)).count() as u64;
    let cut_off = count(&|pair| pair.names.end == ProbeEnd::CutOff && pair.numbers.end == ProbeEnd::Ended);
    let longer = differences.iter().filter(|difference| **difference > 0).count();
    let word = if cut_off >= CUT_OFF_LEAST {
        NameServiceWord::TakesTime
    } else if cut_off > 0 {
        NameServiceWord::CannotTell
    } else if only_first(&differences) {
        NameServiceWord::OnlyFirst
    } else if longer == pairs.len() && pairs.len() >= LIST_PAIRS {
        NameServiceWord::TakesTime
    } else if median(&differences) > 0 {
        NameServiceWord::CannotTell
    } else {
        NameServiceWord::TakesNone
    };
    let of = |took: fn(&ListPair) -> Nanoseconds| {
        nanoseconds(median(&pairs.iter().map(|pair| i128::from(took(pair).0)).collect::<Vec<_>>()))
    };
    NameTimes {
        names_ns: of(|pair| pair.names.took_ns),
        numbers_ns: of(|pair| pair.numbers.took_ns),
        difference_ns: nanoseconds(median(&differences)),
        pairs: pairs.len() as u64,
        longer: longer as u64,
        cut_off,
        word,
    }
}

/// Whether the first pair differs, and the others do not.
fn only_first(differences: &[i128]) -> bool {
    let Some((first, others)) = differences.split_first() else { return false };
    let usual = median(others).max(0);
    !others.is_empty() && *first >= i128::from(FIRST_LEAST.0) && *first >= usual * i128::from(FIRST_FACTOR)
}

/// The middle one; of an even number the lower.
fn median(values: &[i128]) -> i128 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

fn nanoseconds(value: i128) -> Nanoseconds {
    Nanoseconds(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}
