//! The summary of `iolag ping`.

use iolag_analysis::history::{Quantity, SeriesSummary};
use iolag_model::{counted, format_count};

use crate::history_text::amounts::{estimate, share_over, with_interval};

/// A few lines, as ping(8) ends with: how many of what, quantiles with intervals, shares over thresholds.
pub fn ping_text(summary: &SeriesSummary) -> String {
    let attempts = &summary.by_attempt;
    let rates = &summary.rates.total;
    let mut counts = vec![counted(rates.slots, "probe", "probes")];
    for (count, what) in [
        (rates.timeout.count, "over the deadline"),
        (rates.hung.count, "hung"),
        (rates.late.count, "late"),
        (rates.error.count, "failed"),
        (rates.skipped.count, "skipped"),
        (rates.interrupted, "interrupted"),
    ] {
        if count > 0 {
            counts.push(format!("{} {what}", format_count(count)));
        }
    }
    let mut text = format!("\n--- {} ---\n{}\n", summary.series.key, counts.join(", "));
    if attempts.counts.total() == 0 {
        return text;
    }
    let quantity = Quantity::Duration;
    let mut parts = vec![format!("min {}", estimate(attempts.least, quantity))];
    for (q, name) in [(0.5, "median"), (0.95, "p95"), (0.99, "p99")] {
        if let Some(quantile) = attempts.quantiles.iter().find(|quantile| quantile.q == q) {
            parts.push(format!("{name} {}", with_interval(quantile, quantity)));
        }
    }
    parts.push(format!("max {}", estimate(attempts.greatest, quantity)));
    text.push_str(&parts.join(", "));
    text.push('\n');
    let shares: Vec<String> = attempts
        .shares
        .iter()
        .map(|share| format!("over {}: {}", share.counted.threshold_ns, share_over(share, true)))
        .collect();
    if !shares.is_empty() {
        text.push_str(&shares.join(", "));
        text.push('\n');
    }
    text
}
