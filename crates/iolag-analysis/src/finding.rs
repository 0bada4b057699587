//! Findings: what the summaries mean, in a sentence with numbers, and what to do next.

use std::fmt;

use iolag_model::{Nanoseconds, Operation, format_count};
use serde::{Deserialize, Serialize};

use crate::quantile::QuantileValue;
use crate::summary::{DurationSummary, Summary};

/// Something that was judged from summaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in plain words with numbers.
    pub sentence: String,
    /// What to do next.
    pub advice: String,
    /// The numbers that it rests on.
    pub evidence: Vec<Evidence>,
}

/// How much a finding matters; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// People cannot work, or the numbers cannot be used.
    Serious,
    /// People notice, or the numbers need care.
    Warning,
    /// Good to know.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Serious => "serious",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What it is, for example `median of ls -l`.
    pub name: String,
    /// Its value with unit.
    pub value: String,
}

impl Finding {
    pub(crate) fn new(severity: Severity, sentence: String, advice: impl Into<String>) -> Self {
        Self { severity, sentence, advice: advice.into(), evidence: Vec::new() }
    }

    pub(crate) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.evidence.push(Evidence { name: name.into(), value: value.into() });
        self
    }

    pub(crate) fn with_median(self, summary: &Summary) -> Self {
        let name = format!("median of {}", summary.key.operation);
        self.with(name, duration_in_words(summary.durations.median.value))
    }
}

/// A duration as in `1.25 ms`, `at least 15.0 s`.
pub fn duration_in_words(value: QuantileValue) -> String {
    match value {
        QuantileValue::Exactly(duration) => duration.to_string(),
        QuantileValue::AtLeast(duration) => format!("at least {duration}"),
        QuantileValue::TooFew { needed, have } => format!("unknown ({have} of {needed} attempts needed)"),
    }
}

/// A factor as in `1.4`, `40`, `1 100`.
pub(crate) fn factor_in_words(factor: f64) -> String {
    match factor {
        factor if factor < 9.95 => format!("{factor:.1}"),
        factor if factor < 999.5 => format!("{factor:.0}"),
        factor => {
            // Two digits of what is known so roughly.
            let step = 10_f64.powf(factor.log10().floor() - 1.0);
            format_count(((factor / step).round() * step) as u64)
        }
    }
}

/// A share as in `12 %`, `0.4 %`, `0.02 %`; what happened at all is not `0.0 %`.
pub(crate) fn share_in_words(share: f64) -> String {
    match share * 100.0 {
        percent if percent <= 0.0 || percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent < 0.0001 => "under 0.0001 %".to_owned(),
        percent if percent < 0.095 => {
            let decimals = (-percent.log10()).ceil() as usize;
            format!("{percent:.decimals$} %")
        }
        percent => format!("{percent:.1} %"),
    }
}

/// The median in ns, or its lower bound.
pub(crate) fn median_ns(summary: &Summary) -> Option<f64> {
    summary.durations.median.value.lower_bound().map(|median| median.0 as f64)
}

/// The summary of this operation, if it was attempted.
pub(crate) fn summary_of(summaries: &[Summary], operation: Operation) -> Option<&Summary> {
    summaries.iter().find(|summary| summary.key.operation == operation && summary.durations.count > 0)
}

/// Share of attempts over a threshold, if that threshold was counted.
pub(crate) fn share_over(durations: &DurationSummary, threshold: Nanoseconds) -> Option<(u64, f64)> {
    let share = durations.shares.iter().find(|share| share.threshold_ns == threshold)?;
    (durations.count > 0).then(|| (share.over, share.over as f64 / durations.count as f64))
}

/// Findings about one place that any workload may give: slow attempts, failures, two modes, drift.
pub(crate) fn common_findings(summaries: &[Summary], overhead_ns: f64) -> Vec<Finding> {
    let mut findings = Vec::new();
    for summary in summaries {
        findings.extend(over_one_second(summary));
        findings.extend(failed(summary));
        findings.extend(two_modes(summary));
    }
    findings.extend(too_few_for_p99(summaries));
    findings.extend(overhead_matters(summaries, overhead_ns));
    findings
}

fn over_one_second(summary: &Summary) -> Option<Finding> {
    // Whoever compiles or makes 500 files expects to wait; whoever lists a directory does not.
    let operation = summary.key.operation;
    let patience = match operation {
        Operation::TaskCompile | Operation::TaskCreate => Nanoseconds::from_seconds(10),
        _ => Nanoseconds::from_seconds(1),
    };
    let (over, share) = share_over(&summary.durations, patience)?;
    if over == 0 || summary.hung == summary.durations.count {
        return None;
    }
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let count = summary.durations.count;
    let sentence =
        format!("{over} of {count} `{operation}` ({}) took over {patience}.", share_in_words(share));
    let advice = "Repeat the measurement at different times of the day to see when this happens, and look at server load, \
                  network and quota scans at these times.";
    let longest = duration_in_words(summary.durations.max);
    Some(Finding::new(severity, sentence, advice).with(format!("longest {operation}"), longest))
}

fn failed(summary: &Summary) -> Option<Finding> {
    let failures = summary.failures();
    let most = summary.errors.iter().max_by_key(|error| error.count)?;
    let operation = summary.key.operation;
    let sentence = format!(
        "{failures} of {} `{operation}` failed, mostly with \"{}\" ({}).",
        summary.attempts, most.class, most.count
    );
    let advice = "Failed attempts are in no quantile; repeat after the cause is gone.";
    Some(Finding::new(Severity::Serious, sentence, advice))
}

fn two_modes(summary: &Summary) -> Option<Finding> {
    let modes = summary.durations.modes?;
    let (fast, slow) = (modes.fast_ns, modes.slow_ns);
    // Two modes below what anyone feels are of interest to nobody but the cache's author.
    if slow < Nanoseconds::from_milliseconds(10) {
        return None;
    }
    let share = share_in_words(modes.fast_share);
    let sentence = format!(
        "`{}` is either fast or slow: {share} take about {fast}, the others about {slow}, with hardly anything between.",
        summary.key.operation
    );
    let advice = "That is what a cache and the price of missing it look like: find out what the slow ones have in \
                  common (`iolag export` gives every attempt with its time).";
    Some(Finding::new(Severity::Warning, sentence, advice).with("share of the fast", share))
}

fn too_few_for_p99(summaries: &[Summary]) -> Option<Finding> {
    let measured: Vec<&Summary> = summaries.iter().filter(|summary| summary.durations.count > 0).collect();
    let too_few = |summary: &&&Summary| matches!(summary.durations.p99.value, QuantileValue::TooFew { .. });
    let few: Vec<&&Summary> = measured.iter().filter(too_few).collect();
    let least = few.iter().map(|summary| summary.durations.count).min()?;
    let sentence = format!(
        "{} of {} operations have too few attempts for a p99 ({least} at least, 368 are needed).",
        few.len(),
        measured.len()
    );
    let advice = "If the bad moments matter, measure more: more objects or iterations of a benchmark, or `iolag watch`, \
                  which goes on for as long as you like.";
    Some(Finding::new(Severity::Note, sentence, advice))
}

fn overhead_matters(summaries: &[Summary], overhead_ns: f64) -> Option<Finding> {
    let worst = summaries
        .iter()
        .filter_map(|summary| Some((summary, overhead_ns / median_ns(summary)?)))
        .filter(|(_, share)| share.is_finite())
        .max_by(|left, right| left.1.total_cmp(&right.1))?;
    let (summary, share) = worst;
    if share <= 0.05 {
        return None;
    }
    let sentence = format!(
        "Measuring itself costs {overhead_ns:.0} ns per operation, {} of the median of `{}`.",
        share_in_words(share),
        summary.key.operation
    );
    let advice = "Compare such short operations only with others measured by iolag on the same machine.";
    Some(Finding::new(Severity::Note, sentence, advice).with_median(summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_share_is_not_zero() {
        let told = [0.0, 1e-7, 0.000_004, 0.000_19, 0.000_96, 0.004, 0.123].map(share_in_words);
        assert_eq!(told, ["0 %", "under 0.0001 %", "0.0004 %", "0.02 %", "0.1 %", "0.4 %", "12 %"]);
    }
}
