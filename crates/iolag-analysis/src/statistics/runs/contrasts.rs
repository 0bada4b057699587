//! The contrasts of two sides, of which there are as many as pairs: counted and found in their order, never listed.

/// Contrasts of values in ascending order, none of which is NaN.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Contrasts {
    /// The mean of each two of these, and each of them.
    Means(Vec<f64>),
    /// Each of the first less each of the second.
    Differences(Vec<f64>, Vec<f64>),
    /// All of these.
    Several(Vec<Self>),
}

impl Contrasts {
    pub(super) fn means(values: Vec<f64>) -> Self {
        Self::Means(ascending(values))
    }

    pub(super) fn differences(others: Vec<f64>, bases: Vec<f64>) -> Self {
        Self::Differences(ascending(others), ascending(bases))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Means(values) => values.len() * (values.len() + 1) / 2,
            Self::Differences(others, bases) => others.len() * bases.len(),
            Self::Several(parts) => parts.iter().map(Self::count).sum(),
        }
    }

    /// How many are this or less.
    pub(super) fn at_most(&self, limit: f64) -> usize {
        self.count_while(&|contrast| contrast <= limit)
    }

    /// How many are less.
    pub(super) fn below(&self, limit: f64) -> usize {
        self.count_while(&|contrast| contrast < limit)
    }

    /// How many there are of which this holds, if it holds of all that are less. What is greater on one side must be less on the other, so one walk along both
    /// will do.
    fn count_while(&self, holds: &dyn Fn(f64) -> bool) -> usize {
        match self {
            Self::Several(parts) => parts.iter().map(|part| part.count_while(holds)).sum(),
            Self::Means(values) => {
                let mut end = values.len();
                let from = |(place, one): (usize, &f64)| {
                    while end > place && !holds(f64::midpoint(*one, values[end - 1])) {
                        end -= 1;
                    }
                    end.saturating_sub(place)
                };
                values.iter().enumerate().map(from).sum()
            }
            Self::Differences(others, bases) => {
                let mut begin = 0;
                let of = |other: &f64| {
                    while begin < bases.len() && !holds(other - bases[begin]) {
                        begin += 1;
                    }
                    bases.len() - begin
                };
                others.iter().map(of).sum()
            }
        }
    }

    /// The one that stands in this place of their order.
    pub(super) fn at(&self, place: usize) -> Option<f64> {
        let ends = [f64::NEG_INFINITY, f64::INFINITY].map(place_of);
        let found = || first_that(ends[0], ends[1], |limit| self.at_most(number_at(limit)) > place);
        // The first of equal numbers is -0.
        (place < self.count()).then(|| number_at(found()) + 0.0)
    }

    /// The one in the middle; NaN without any.
    pub(super) fn median(&self) -> f64 {
        let count = self.count();
        let [lower, upper] = [count.saturating_sub(1) / 2, count / 2].map(|place| self.at(place));
        lower.zip(upper).map_or(f64::NAN, |(lower, upper)| f64::midpoint(lower, upper))
    }
}

fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The first from `least` on of which this holds, if it holds of all after it, and of `most`.
pub(super) fn first_that(mut least: u64, mut most: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while least < most {
        let middle = u64::midpoint(least, most);
        if holds(middle) { most = middle } else { least = middle + 1 }
    }
    least
}

const SIGN: u64 = 1 << 63;

/// Where a number stands among all, as `total_cmp` orders them.
const fn place_of(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits < SIGN { bits | SIGN } else { !bits }
}

const fn number_at(place: u64) -> f64 {
    f64::from_bits(if place < SIGN { !place } else { place & !SIGN })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_values() -> impl Strategy<Value = Vec<f64>> {
        let any_value = prop_oneof![
            4 => -2.0_f64..2.0,
            2 => prop::sample::select(vec![-1.0, -0.0, 0.0, 0.5]),
            1 => Just(f64::NEG_INFINITY),
        ];
        prop::collection::vec(any_value, 0..12)
    }

    proptest! {
        /// As if they were listed.
        #[test]
        fn contrasts_are_found_in_their_order(one in any_values(), other in any_values(), limit in -2.0_f64..2.0) {
            let listed = [
                one.iter().enumerate().flat_map(|(at, a)| one[at..].iter().map(|b| f64::midpoint(*a, *b))).collect(),
                one.iter().flat_map(|a| other.iter().map(move |b| a - b.max(-1e9))).collect::<Vec<f64>>(),
            ];
            let finite = other.iter().map(|value| value.max(-1e9)).collect();
            let contrasts = [Contrasts::means(one.clone()), Contrasts::differences(one, finite)];
            let several = (listed.concat(), Contrasts::Several(contrasts.to_vec()));
            for (mut listed, contrasts) in listed.into_iter().zip(contrasts).chain([several]) {
                listed.sort_by(f64::total_cmp);
                prop_assert_eq!(contrasts.count(), listed.len());
                for limit in [limit, 0.0, 0.25] {
                    prop_assert_eq!(contrasts.at_most(limit), listed.iter().filter(|one| **one <= limit).count());
                    prop_assert_eq!(contrasts.below(limit), listed.iter().filter(|one| **one < limit).count());
                }
                for (place, expected) in listed.iter().enumerate() {
                    prop_assert_eq!(contrasts.at(place), Some(*expected));
                }
                prop_assert_eq!(contrasts.at(listed.len()), None);
            }
        }
    }
}
