//! Distributions of durations: the share that took at most so long, counts on a logarithmic axis, boxes, and
//! how all that changed over time.

use iolag_model::{ClientId, Nanoseconds};
use serde::{Deserialize, Serialize};

use crate::figure_column::{Column32, ColumnFloat, detach};
use crate::{EffectiveSampleSize, QuantileValue};

/// Steps of a distribution at most.
pub const DISTRIBUTION_STEPS_MAX: usize = 500;
/// Bins of a histogram figure per decade.
pub const BINS_PER_DECADE: u32 = 20;
/// Points of a density curve per bin.
pub const CURVE_POINTS_PER_BIN: u32 = 4;
/// Clients with a box, or a line, of their own at most.
pub const CLIENTS_SHOWN_MAX: usize = 64;

/// "Integrated percent": the share of attempts that took at most so long, by Kaplan and Meier 1958; of a ping
/// ([`crate::Censoring::Informative`]) the share that certainly did.
///
/// A step function: from `duration_ns[i]` up to the next one the share is `share[i]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Distribution {
    /// Index of the series.
    pub series: u16,
    /// Durations that are known.
    pub known: u64,
    /// Durations of which only a lower bound is known.
    pub censored: u64,
    /// Durations in ns, ascending. The share is exact at each of them, but they are thinned out; the first is
    /// the shortest, with the share of one attempt.
    pub duration_ns: ColumnFloat,
    /// Shares, 0 to 1.
    pub share: ColumnFloat,
    /// The share at 0.1, 1, 10 and 60 s (or the thresholds of the plan), exactly.
    pub thresholds: Vec<ShareAt>,
    /// The share that took longer than everything known: it did not end while it was watched.
    pub at_least: Option<ShareAtLeast>,
    /// What the attempts are worth under autocorrelation.
    pub sample_size: EffectiveSampleSize,
    /// Half the height of the 95 % band of Dvoretzky, Kiefer and Wolfowitz (Massart 1990),
    /// `sqrt(ln(2 / 0.05) / (2 n))`, n being the effective sample size; at most 1.
    pub band: f64,
    /// The same as if every attempt were independent.
    pub band_naive: f64,
}
detach!(Distribution { duration_ns, share });

/// The share at a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShareAt {
    /// The threshold.
    pub threshold_ns: Nanoseconds,
    /// Share of attempts that took at most so long, 0 to 1; absent past the longest time that was waited if
    /// something is censored.
    pub share: Option<f64>,
}

/// The share that did not end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShareAtLeast {
    /// The share, 0 to 1.
    pub share: f64,
    /// From here on nothing is known: the longest duration that is known or was waited for.
    pub from_ns: Nanoseconds,
}

/// Counts on a logarithmic axis, with a smooth curve.
///
/// Bin `i` counts durations from `10^((first_bin + i) / 20)` ns up to the next one; a duration within 0.8 % of
/// an edge may count in the neighbour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistogramFigure {
    /// Index of the series.
    pub series: u16,
    /// Number of the first bin.
    pub first_bin: u32,
    /// Known durations in each bin.
    pub counts: Column32,
    /// Density of the known durations per decade: a Gaussian kernel on the decimal logarithm, bandwidth by
    /// Silverman 1986, but 0.025 to 0.25 decades. Point `j` is at `10^((first_bin + j / 4) / 20)` ns.
    pub density_per_decade: ColumnFloat,
    /// Bandwidth of the kernel in decades.
    pub bandwidth_decades: f64,
}
detach!(HistogramFigure { counts, density_per_decade });

/// A box: quantiles of durations. Quantiles are those of docs/statistics.md.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BoxFigure {
    /// Attempts that succeeded or are censored.
    pub attempts: u64,
    /// Shortest.
    pub min: QuantileValue,
    /// 5 %.
    pub p5: QuantileValue,
    /// First quartile.
    pub p25: QuantileValue,
    /// Median.
    pub median: QuantileValue,
    /// Third quartile.
    pub p75: QuantileValue,
    /// 95 %.
    pub p95: QuantileValue,
    /// Longest.
    pub max: QuantileValue,
    /// Attempts further from the box than 1.5 times its height on the logarithmic axis (Tukey 1977), within
    /// the resolution of the histogram.
    pub outliers: u64,
}

/// Boxes of clients for one operation on one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientBoxes {
    /// Index of the layer.
    pub layer: u16,
    /// Which clients are shown.
    pub shown: ClientsShown,
    /// Clients, or groups of them, that did this operation.
    pub clients: u64,
    /// The boxes.
    pub boxes: Vec<ClientBox>,
}

/// Which clients are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum ClientsShown {
    /// Each.
    Each,
    /// Those at the deciles of the clients' order: 11 of them, from the first to the last.
    Deciles,
}

/// The box of one client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ClientBox {
    /// The client, or the first of its group.
    pub client: ClientId,
    /// Where it stands among the clients, 0 to 100, ordered by their medians; absent if each is shown.
    pub percent: Option<u32>,
    /// Its box; at most 2.2 % beside the exact values.
    pub durations: BoxFigure,
}

/// Durations over time: counts on a coarse grid, a layer per operation on a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HeatMap {
    /// Columns of time, of equal width over the span.
    pub columns: u32,
    /// Histogram buckets per row.
    pub buckets_per_row: u16,
    /// The layers that hold an attempt.
    pub layers: Vec<HeatMapLayer>,
}
detach!(HeatMap { layers });

/// Counts of one layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HeatMapLayer {
    /// Index of the layer.
    pub layer: u16,
    /// First histogram bucket of row 0, the shortest durations.
    pub first_bucket: u16,
    /// Number of rows.
    pub rows: u16,
    /// `rows` × `columns` counts, row by row.
    pub counts: Column32,
    /// Sum of each column: a share is a count by its column's sum.
    pub totals: Column32,
}
detach!(HeatMapLayer { counts, totals });
