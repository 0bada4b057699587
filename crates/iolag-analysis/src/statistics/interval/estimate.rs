//! An estimate that may lie beyond what was seen, and its interval: one type for runs (ns, whole) and histories (seconds, or any unit).
//!
//! Invariant: what is not known has no number. In JSON a number's key has its unit where the amount has one: `exactly_ns`.

use std::fmt;
use std::marker::PhantomData;

use iolag_model::Nanoseconds;
use serde::de::{self, EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ranks_and_shares::attempts_needed;

/// What estimates are made of.
pub trait Amount: Copy + PartialOrd {
    /// Keys in JSON of what is known exactly, from below and from above.
    const KEYS: [&'static str; 5];
}

impl Amount for f64 {
    const KEYS: [&'static str; 5] = ["exactly", "at_least", "below", "too_few", "few_stretches"];
}

impl Amount for Nanoseconds {
    const KEYS: [&'static str; 5] = ["exactly_ns", "at_least_ns", "below_ns", "too_few", "few_stretches"];
}

/// A quantile or an extreme, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(
        concrete(A = Nanoseconds),
        bound = "A: ts_rs::TS",
        type = "{ exactly_ns: number } | { at_least_ns: number } | { below_ns: number } \
                | { too_few: { needed: number, have: number } } | { few_stretches: { stretches: number } }"
    )
)]
pub enum Estimate<A> {
    /// This.
    Exactly(A),
    /// This or more: it lies among attempts that had not ended when they were last looked at.
    AtLeast(A),
    /// Below this, the clock's resolution.
    Below(A),
    /// Too few attempts to say.
    TooFew {
        /// Attempts that are needed.
        needed: u64,
        /// Independent attempts that there are.
        have: u64,
    },
    /// The attempts beyond it lie in too few stretches of time to say.
    FewStretches {
        /// So many.
        stretches: u64,
    },
}

impl<A: Amount> Estimate<A> {
    /// There is nothing to estimate from.
    pub const NOTHING: Self = Self::TooFew { needed: 1, have: 0 };

    /// The number, or the bound that is known.
    pub const fn bound(self) -> Option<A> {
        match self {
            Self::Exactly(amount) | Self::AtLeast(amount) | Self::Below(amount) => Some(amount),
            Self::TooFew { .. } | Self::FewStretches { .. } => None,
        }
    }

    /// The number or its lower bound; what is below the resolution has none.
    pub const fn lower_bound(self) -> Option<A> {
        match self {
            Self::Exactly(amount) | Self::AtLeast(amount) => Some(amount),
            Self::Below(_) | Self::TooFew { .. } | Self::FewStretches { .. } => None,
        }
    }
}

/// 95 % interval of a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "typescript", ts(concrete(A = Nanoseconds), bound = "A: ts_rs::TS + 'static"))]
#[serde(rename_all = "snake_case", bound = "A: Amount + Serialize + for<'any> Deserialize<'any>")]
pub enum Interval<A> {
    /// Between these.
    Between {
        /// Lower end.
        low: Estimate<A>,
        /// Upper end.
        high: Estimate<A>,
    },
    /// Too few (independent) attempts for an interval with two ends.
    #[serde(alias = "too-few")]
    TooFew {
        /// Independent attempts that are needed.
        needed: u64,
        /// Independent attempts that there are.
        have: u64,
    },
    /// The attempts beyond the quantile lie in too few stretches of time for an interval.
    FewStretches {
        /// So many.
        stretches: u64,
    },
}

impl<A: Amount> Interval<A> {
    /// An interval of the quantile `q` that `have` attempts do not allow.
    pub(crate) fn too_few(q: f64, have: f64) -> Self {
        let needed = attempts_needed(q);
        // Some are not none, and nearly enough is not enough.
        Self::TooFew { needed, have: (have.ceil() as u64).min(needed - 1) }
    }

    /// Both ends, lower bounds counting as they are.
    pub fn bounds(self) -> Option<(A, A)> {
        match self {
            Self::Between { low, high } => Some((low.lower_bound()?, high.lower_bound()?)),
            Self::TooFew { .. } | Self::FewStretches { .. } => None,
        }
    }

    /// Whether `amount` may be the truth: ends that are bounds are open on their side.
    pub fn allows(self, amount: A) -> bool {
        let Self::Between { low, high } = self else { return true };
        let above = match low {
            Estimate::Exactly(bound) | Estimate::AtLeast(bound) => amount >= bound,
            Estimate::Below(_) | Estimate::TooFew { .. } | Estimate::FewStretches { .. } => true,
        };
        let below = match high {
            Estimate::Exactly(bound) => amount <= bound,
            Estimate::Below(bound) => amount < bound,
            Estimate::AtLeast(_) | Estimate::TooFew { .. } | Estimate::FewStretches { .. } => true,
        };
        above && below
    }
}

/// A quantile with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "typescript", ts(concrete(A = Nanoseconds), bound = "A: ts_rs::TS + 'static"))]
#[serde(bound = "A: Amount + Serialize + for<'any> Deserialize<'any>")]
pub struct Quantile<A> {
    /// Which quantile, 0 to 1.
    pub q: f64,
    /// Its value; none for quantiles above the median that have no interval.
    pub value: Estimate<A>,
    /// The order statistic of this rank, however few attempts there are.
    pub order_statistic: Estimate<A>,
    /// Interval as if every attempt were independent.
    pub interval_naive: Interval<A>,
    /// Interval for what the attempts are worth: the one to show.
    pub interval: Interval<A>,
}

impl<A: Amount> Quantile<A> {
    /// From its order statistic and its intervals: above the median a quantile without interval is not told.
    pub(crate) fn new(
        q: f64,
        order_statistic: Estimate<A>,
        [interval_naive, interval]: [Interval<A>; 2],
    ) -> Self {
        let value = match interval {
            Interval::TooFew { needed, have } if q > 0.5 => Estimate::TooFew { needed, have },
            Interval::FewStretches { stretches } if q > 0.5 => Estimate::FewStretches { stretches },
            _ => order_statistic,
        };
        Self { q, value, order_statistic, interval_naive, interval }
    }
}

impl<A: Amount + Serialize> Serialize for Estimate<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAME: &str = "Estimate";
        let [exactly, at_least, below, too_few, few_stretches] = A::KEYS;
        match self {
            Self::Exactly(amount) => serializer.serialize_newtype_variant(NAME, 0, exactly, amount),
            Self::AtLeast(amount) => serializer.serialize_newtype_variant(NAME, 1, at_least, amount),
            Self::Below(amount) => serializer.serialize_newtype_variant(NAME, 2, below, amount),
            Self::TooFew { needed, have } => {
                let counts = Counts { needed: *needed, have: *have };
                serializer.serialize_newtype_variant(NAME, 3, too_few, &counts)
            }
            Self::FewStretches { stretches } => serializer.serialize_newtype_variant(
                NAME,
                4,
                few_stretches,
                &Stretches { stretches: *stretches },
            ),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Counts {
    needed: u64,
    have: u64,
}

#[derive(Serialize, Deserialize)]
struct Stretches {
    stretches: u64,
}

impl<'de, A: Amount + Deserialize<'de>> Deserialize<'de> for Estimate<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Estimate", &A::KEYS, Keyed(PhantomData))
    }
}

struct Keyed<A>(PhantomData<A>);

impl<'de, A: Amount + Deserialize<'de>> Visitor<'de> for Keyed<A> {
    type Value = Estimate<A>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of {}", A::KEYS.join(", "))
    }

    fn visit_enum<D: EnumAccess<'de>>(self, data: D) -> Result<Estimate<A>, D::Error> {
        let (key, content) = data.variant::<String>()?;
        // Runs of iolag 0.1 have another hyphen.
        let key = if key == "too-few" { "too_few".to_owned() } else { key };
        match A::KEYS.iter().position(|known| *known == key) {
            Some(0) => content.newtype_variant().map(Estimate::Exactly),
            Some(1) => content.newtype_variant().map(Estimate::AtLeast),
            Some(2) => content.newtype_variant().map(Estimate::Below),
            Some(3) => {
                content.newtype_variant().map(|Counts { needed, have }| Estimate::TooFew { needed, have })
            }
            Some(_) => {
                content.newtype_variant().map(|Stretches { stretches }| Estimate::FewStretches { stretches })
            }
            None => Err(de::Error::unknown_variant(&key, &A::KEYS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_read_as_it_was_written_with_the_unit_in_its_key() {
        let ns = |amount: u64| Nanoseconds(amount);
        let all = [
            (Estimate::Exactly(ns(5)), r#"{"exactly_ns":5}"#),
            (Estimate::AtLeast(ns(5)), r#"{"at_least_ns":5}"#),
            (Estimate::Below(ns(5)), r#"{"below_ns":5}"#),
            (Estimate::TooFew { needed: 6, have: 2 }, r#"{"too_few":{"needed":6,"have":2}}"#),
            (Estimate::FewStretches { stretches: 2 }, r#"{"few_stretches":{"stretches":2}}"#),
        ];
        for (estimate, text) in all {
            assert_eq!(serde_json::to_string(&estimate).expect("it is plain"), text);
            assert_eq!(
                serde_json::from_str::<Estimate<Nanoseconds>>(text).expect("it was written so"),
                estimate
            );
        }
        let seconds: Estimate<f64> =
            serde_json::from_str(r#"{"at_least":1.5}"#).expect("seconds have no unit");
        assert_eq!(seconds, Estimate::AtLeast(1.5));
        assert!(serde_json::from_str::<Estimate<f64>>(r#"{"exactly_ns":5}"#).is_err());
        let old: Estimate<Nanoseconds> =
            serde_json::from_str(r#"{"too-few":{"needed":6,"have":2}}"#).expect("of an earlier version");
        assert_eq!(old, Estimate::TooFew { needed: 6, have: 2 });
    }

    #[test]
    fn a_tail_without_interval_is_not_told_and_a_median_is() {
        let few = Interval::FewStretches { stretches: 2 };
        let naive = Interval::Between { low: Estimate::Exactly(1.0), high: Estimate::Exactly(3.0) };
        let at = |q: f64| Quantile::new(q, Estimate::Exactly(2.0), [naive, few]).value;
        assert_eq!((at(0.5), at(0.95)), (Estimate::Exactly(2.0), Estimate::FewStretches { stretches: 2 }));
    }
}
