//! The order of values, and their ranks.
//!
//! Long sequences are sorted digit by digit of the leading bits of a whole number that orders as the value does, and where these are equal by comparing:
//! several times as fast as by comparing alone, and a year of minutes is ranked some dozen times in one analysis. Both ways give the same order.

use super::student::normal_quantile;

/// Values from which on digits are sorted.
const DIGITS_FROM: usize = 4096;
const DIGIT_BITS: usize = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Leading bits of a key that is sorted by digits.
const LEAD_BITS: u32 = u32::BITS;
const DIGITS_OF_LEAD: usize = (LEAD_BITS as usize).div_ceil(DIGIT_BITS);

/// Leading bits of a key beside its place: half the size of the whole of both, as moving them is what takes time.
type Lead = (u32, u32);

/// Places of the values from the smallest to the greatest, as [`f64::total_cmp`] orders them; of equal ones the first comes first.
pub(crate) fn ascending(values: &[f64]) -> Vec<usize> {
    ordered(&values.iter().map(|value| key_of(*value)).collect::<Vec<u64>>())
}

/// Places of the keys from the smallest to the greatest; of equal ones the first comes first.
pub(crate) fn ascending_keys(keys: impl Iterator<Item = i64>) -> Vec<usize> {
    // Whole numbers with a sign, in their order without one.
    ordered(&keys.map(|key| key.cast_unsigned() ^ 1 << 63).collect::<Vec<u64>>())
}

/// Ranks from 1, equal values sharing the middle of theirs.
pub(crate) fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let order = ascending(values);
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|left, right| values[*left] == values[*right]) {
        let middle = first as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for &index in equal {
            ranks[index] = middle;
        }
        first += equal.len();
    }
    ranks
}

/// Mid-ranks among some of the mid-ranks of `count` values, each at most once: they are counted, as each is half a whole number.
pub(crate) fn ranks_among(ranks: &[f64], count: usize) -> Vec<f64> {
    if ranks.len() == count {
        return ranks.to_vec();
    }
    let doubled = |rank: f64| (2.0 * rank) as usize;
    let mut counts = vec![0_u32; 2 * count + 1];
    ranks.iter().for_each(|rank| counts[doubled(*rank)] += 1);
    // Twice the middle rank of each: a whole number again.
    let mut before = 0;
    for equal in counts.iter_mut().filter(|equal| **equal > 0) {
        let middle = 2 * before + *equal + 1;
        before += std::mem::replace(equal, middle);
    }
    ranks.iter().map(|rank| f64::from(counts[doubled(*rank)]) / 2.0).collect()
}

/// Scores as the normal distribution would have them at these ranks (Blom 1958, by mid-ranks), scaled to a variance of 1; all 0 if all are equal.
pub(crate) fn normal_scores(values: &[f64]) -> Vec<f64> {
    normal_scores_in(&ascending(values), values)
}

/// The same, `order` being [`ascending`].
pub(crate) fn normal_scores_in(order: &[usize], values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mut scores = scores_in(order, values, |rank| normal_quantile((rank - 0.5) / n));
    let mean = scores.iter().sum::<f64>() / n;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n;
    let scale = if variance > 1e-12 { variance.sqrt().recip() } else { 0.0 };
    scores.iter_mut().for_each(|score| *score = (*score - mean) * scale);
    scores
}

/// Scores of the mid-ranks, those above the middle rank being the negatives of those below it; `order` is [`ascending`].
pub(crate) fn scores_in(order: &[usize], values: &[f64], of_rank: impl Fn(f64) -> f64) -> Vec<f64> {
    let count = values.len();
    // Those of whole ranks up to the middle; the others mirror them.
    let lower: Vec<f64> = (0..count.div_ceil(2)).map(|before| of_rank(before as f64 + 1.0)).collect();
    let mut scores = vec![0.0; count];
    let mut first = 0;
    for equal in order.chunk_by(|left, right| values[*left] == values[*right]) {
        let last = first + equal.len() - 1;
        let middle = (first + last) / 2;
        let score = match lower.get(middle) {
            _ if (first + last) % 2 == 1 => of_rank((first + last) as f64 / 2.0 + 1.0),
            Some(score) => *score,
            None => -lower[count - 1 - middle],
        };
        equal.iter().for_each(|index| scores[*index] = score);
        first = last + 1;
    }
    scores
}

fn ordered(keys: &[u64]) -> Vec<usize> {
    if keys.len() < DIGITS_FROM || u32::try_from(keys.len()).is_err() {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|place| (keys[*place], *place));
        return order;
    }
    ordered_by_digits(keys)
}

/// Of fewer keys than 2³².
fn ordered_by_digits(keys: &[u64]) -> Vec<usize> {
    let least = keys.iter().copied().min().unwrap_or(0);
    let greatest = keys.iter().copied().max().unwrap_or(0);
    let shift = (u64::BITS - (greatest - least).leading_zeros()).saturating_sub(LEAD_BITS);
    let lead = |key: &u64| ((key - least) >> shift) as u32;
    let mut leads = sorted(keys.iter().zip(0..).map(|(key, place)| (lead(key), place)).collect());
    if shift > 0 {
        for equal in leads.chunk_by_mut(|one, next| one.0 == next.0).filter(|equal| equal.len() > 1) {
            equal.sort_unstable_by_key(|one| (keys[one.1 as usize], one.1));
        }
    }
    leads.into_iter().map(|(_, place)| place as usize).collect()
}

/// From the last digit to the first, each keeping the order of the ones after it.
fn sorted(mut leads: Vec<Lead>) -> Vec<Lead> {
    let digit = |one: &Lead, index: usize| (one.0 >> (index * DIGIT_BITS)) as usize % DIGITS;
    // All digits are counted in one go: to read the values takes longer than to count.
    let mut counts = [[0_u32; DIGITS]; DIGITS_OF_LEAD];
    for one in &leads {
        for (index, counts) in counts.iter_mut().enumerate() {
            counts[digit(one, index)] += 1;
        }
    }
    let mut spare = vec![(0, 0); leads.len()];
    for (index, mut places) in counts.into_iter().enumerate() {
        if places.iter().any(|count| *count as usize == leads.len()) {
            continue;
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for one in &leads {
            let place = &mut places[digit(one, index)];
            spare[*place as usize] = *one;
            *place += 1;
        }
        std::mem::swap(&mut leads, &mut spare);
    }
    leads
}

/// A whole number that is greater where the value is, by [`f64::total_cmp`].
const fn key_of(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use iolag_model::Random;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(mid_ranks(&[3.0, 1.0, 3.0]), [2.5, 1.0, 2.5]);
        assert_eq!(mid_ranks(&[-0.0, 0.0]), [1.5, 1.5]);
        assert!(mid_ranks(&[]).is_empty() && normal_scores(&[]).is_empty());
        assert_eq!(normal_scores(&[7.0; 3]), [0.0; 3]);
    }

    #[test]
    fn scores_are_the_quantiles_of_mid_ranks() {
        for values in [vec![4.0, 1.0, 3.0], vec![1.0, 2.0, 2.0, 5.0], vec![2.0, 1.0, 2.0, 2.0, 9.0, 9.0]] {
            let n = values.len() as f64;
            let raw: Vec<f64> =
                mid_ranks(&values).iter().map(|rank| normal_quantile((rank - 0.5) / n)).collect();
            let mean = raw.iter().sum::<f64>() / n;
            let deviation = (raw.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
            let scores = normal_scores(&values);
            let apart = |(found, raw): (&f64, &f64)| (found - (raw - mean) / deviation).abs();
            assert!(scores.iter().zip(&raw).map(apart).fold(0.0, f64::max) < 1e-12, "{values:?}: {scores:?}");
        }
    }

    #[test]
    fn many_values_are_sorted_as_few_are() {
        let mut noise = Random::new(5);
        let values: Vec<f64> = (0..3 * DIGITS_FROM)
            .map(|place| match place % 7 {
                0 => f64::INFINITY,
                1 => f64::NEG_INFINITY,
                2 => (10.0 * noise.normal()).round(),
                _ => noise.normal().powi(9),
            })
            .collect();
        let order = ascending(&values);
        let mut expected: Vec<usize> = (0..values.len()).collect();
        expected.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
        assert_eq!(order, expected);
    }

    proptest! {
        #[test]
        fn ranks_of_ranks_are_those_of_the_values(values in prop::collection::vec((0_i32..20, any::<bool>()), 0..60)) {
            let all: Vec<f64> = values.iter().map(|one| f64::from(one.0)).collect();
            let is_chosen = |place: &usize| values[*place].1;
            let chosen: Vec<usize> = (0..all.len()).filter(is_chosen).collect();
            let of = |from: &[f64]| chosen.iter().map(|place| from[*place]).collect::<Vec<f64>>();
            prop_assert_eq!(ranks_among(&of(&mid_ranks(&all)), all.len()), mid_ranks(&of(&all)));
        }

        #[test]
        fn digits_order_as_values_do(values in prop::collection::vec(any::<f64>(), 0..80)) {
            let keys: Vec<u64> = values.iter().map(|value| key_of(*value)).collect();
            prop_assert_eq!(ordered_by_digits(&keys), ascending(&values));
        }

        #[test]
        fn keys_with_equal_leads_are_ordered_by_the_rest(
            keys in prop::collection::vec(prop_oneof![0..4_u64, Just(1 << 40), any::<u64>()], 0..80),
        ) {
            prop_assert_eq!(ordered_by_digits(&keys), ordered(&keys));
        }

        #[test]
        fn keys_of_either_sign_are_sorted(keys in prop::collection::vec(any::<i64>(), 0..80)) {
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by_key(|place| keys[*place]);
            prop_assert_eq!(ascending_keys(keys.into_iter()), expected);
        }
    }
}
