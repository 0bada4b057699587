//! What a group's attempts are worth.

use crate::statistics::dependence::worth::{EffectiveSampleSize, QuantileWorth, Worth};
use crate::statistics::quantile::censored::QUANTILES;

/// What a group's attempts are worth.
#[derive(Debug, Clone)]
pub(crate) struct GroupWorth {
    /// For the level as a whole.
    pub sample_size: EffectiveSampleSize,
    /// For each of [`QUANTILES`].
    pub quantiles: [QuantileWorth; QUANTILES.len()],
    /// For the share over each threshold.
    pub thresholds: Vec<Worth>,
    /// Means in ns of up to [`PARTS`] equal parts in the order of time, a bound counting as it is; absent without second reading.
    pub part_means_ns: Option<Vec<f64>>,
}

impl GroupWorth {
    /// The same for all.
    pub(crate) fn alike(sample_size: EffectiveSampleSize, thresholds: usize) -> Self {
        let worth = Worth { effective: sample_size.effective, few_stretches: None };
        Self {
            sample_size,
            quantiles: QUANTILES.map(|q| QuantileWorth::of(q, |_| worth)),
            thresholds: vec![worth; thresholds],
            part_means_ns: None,
        }
    }

    /// At one of [`QUANTILES`].
    pub(crate) fn at(&self, q: f64) -> QuantileWorth {
        let place = QUANTILES.iter().position(|known| *known == q).unwrap_or(1);
        self.quantiles[place]
    }
}
