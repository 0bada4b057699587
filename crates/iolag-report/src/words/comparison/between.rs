//! How the others differ among themselves: a sentence for each two of them.

use std::collections::BTreeMap;

use iolag_analysis::compare::{BetweenOthers, ComparedTable};
use iolag_analysis::{ComparedWord, LogRange};

use super::cells::{same, unit_names};
use super::names::{RowNames, SideNames};
use crate::words::interval::{Known, Measure, factor, with_ends};
use crate::words::percent::{ends, raw_factor};

/// More pairs than this are counted.
const PAIRS_MOST: usize = 15;
/// Ends of intervals that are nearer to each other than this have three digits, or four.
const NARROW: f64 = 1.15;
const NARROWER: f64 = 1.01;

/// As in `lnet is 3.5 [3.1–4.0] times as fast as nfs for read, 2.1 [1.9–2.4] for write; no difference shown for tree.`
pub(crate) fn between(table: &ComparedTable, names: &SideNames, rows: &RowNames) -> Vec<String> {
    let mut pairs: BTreeMap<[usize; 2], Vec<&BetweenOthers>> = BTreeMap::new();
    for one in &table.between {
        let [slower, faster] = one.sides;
        pairs.entry([slower.min(faster), slower.max(faster)]).or_default().push(one);
    }
    let more = pairs.len().saturating_sub(PAIRS_MOST);
    let mut sentences: Vec<String> = pairs
        .iter()
        .take(PAIRS_MOST)
        .map(|(sides, pair)| of_pair(*sides, pair, table, names, rows))
        .collect();
    if more > 0 {
        sentences.push(format!("{more} more pairs are in --json."));
    }
    sentences
}

fn of_pair(
    [first, second]: [usize; 2],
    pair: &[&BetweenOthers],
    table: &ComparedTable,
    names: &SideNames,
    rows: &RowNames,
) -> String {
    let word = |one: &&&BetweenOthers| one.cell.compared.word;
    let differs = |one: &&&BetweenOthers| matches!(word(one), ComparedWord::Faster | ComparedWord::Slower);
    let faster = |fast: usize, slow: usize| {
        let own: Vec<&&BetweenOthers> =
            pair.iter().filter(differs).filter(|one| one.sides[1] == fast).collect();
        let factors = own.iter().enumerate().map(|(index, one)| {
            let times =
                if index == 0 { format!(" times as fast as {}", names.short(slow)) } else { String::new() };
            format!("{}{times} for {}", factor_of(one), rows.name(one.row))
        });
        let factors: Vec<String> = factors.collect();
        (!factors.is_empty()).then(|| format!("{} is {}", names.short(fast), factors.join(", ")))
    };
    let rest = |is: fn(ComparedWord) -> bool, words: String| {
        let own: Vec<usize> = pair.iter().filter(|one| is(word(one))).map(|one| one.row).collect();
        (!own.is_empty()).then(|| format!("{words} for {}", rows.list(&own)))
    };
    let mut parts: Vec<String> =
        [faster(second, first), faster(first, second)].into_iter().flatten().collect();
    let both = if parts.is_empty() {
        format!("{} and {}: ", names.short(first), names.short(second))
    } else {
        String::new()
    };
    parts.extend(rest(|word| word == ComparedWord::Same, format!("same within {}", same(table.same_within))));
    parts.extend(rest(|word| word == ComparedWord::NoDifferenceShown, "no difference shown".to_owned()));
    parts.extend(rest(
        |word| matches!(word, ComparedWord::TooFew { .. }),
        format!("too few {}", unit_names(table.units)[1]),
    ));
    format!("{both}{}.", parts.join("; "))
}

fn factor_of(one: &BetweenOthers) -> String {
    let estimate =
        one.cell.compared.difference.as_ref().map_or(LogRange::UNKNOWN, |difference| difference.estimate());
    times(estimate, one.cell.compared.interval)
}

/// A factor with its interval: `3.5 [3.1–4.0]`, `≥5.0 [2.6–…]`.
pub(crate) fn times(estimate: LogRange, interval: Option<LogRange>) -> String {
    let interval = interval.filter(|interval| ends(*interval).iter().any(|end| end.is_finite()));
    let known = estimate.known().and_then(raw_factor);
    let finite =
        interval.and_then(|interval| Some([raw_factor(interval.low())?, raw_factor(interval.high())?]));
    if let (Some(known), Some(interval)) = (known, finite) {
        let [low, high] = interval;
        if high < NARROW * low {
            let digits = if high < NARROWER * low { 3 } else { 2 };
            let decimals = (digits - known.log10().floor() as i32).clamp(0, 6) as usize;
            return format!("{known:.decimals$} [{low:.decimals$}–{high:.decimals$}]");
        }
        return with_ends(Measure::Factor, Known::exactly(known), interval.map(Known::exactly));
    }
    let number = |end: f64| raw_factor(end).map_or_else(|| "…".to_owned(), factor);
    let value = match ends(estimate) {
        [low, high] if low == high => number(low),
        [low, high] if low.is_finite() && high.is_finite() => format!("{} to {}", number(low), number(high)),
        [low, _] if low.is_finite() => format!("≥{}", number(low)),
        [_, high] if high.is_finite() => format!("≤{}", number(high)),
        _ => number(f64::INFINITY),
    };
    match interval.map(ends) {
        Some([low, high]) => format!("{value} [{}–{}]", number(low), number(high)),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_have_open_ends_and_bounds() {
        let log = |factor: f64| factor.ln();
        let between = |low: f64, high: f64| Some(LogRange::between(log(low), log(high)));
        assert_eq!(times(LogRange::exactly(log(3.5)), between(3.12, 3.96)), "3.5 [3.1–4.0]");
        assert_eq!(times(LogRange::at_least(log(5.0)), Some(LogRange::at_least(log(2.6)))), "≥5.0 [2.6–…]");
        assert_eq!(times(LogRange::at_most(log(0.5)), Some(LogRange::at_most(log(0.8)))), "≤0.50 […–0.80]");
        assert_eq!(times(LogRange::exactly(log(3.5)), None), "3.5");
        assert_eq!(times(LogRange::exactly(log(1000.0)), between(850.0, 1200.0)), "1000 [850–1200]");
        assert_eq!(times(LogRange::exactly(log(1.206)), between(1.197, 1.217)), "1.21 [1.20–1.22]");
    }
}
