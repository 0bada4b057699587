//! `iolag check`: per directory a verdict and findings.

use iolag_model::{Nanoseconds, Operation, RunRecord, TargetIndex, Trust};
use serde::{Deserialize, Serialize};

use crate::finding::{
    Finding, Severity, common_findings, factor_in_words, median_ns, share_in_words, summary_of,
};
use crate::quantile::median_of;
use crate::summary::{Precision, SUMMARY_SCHEMA, Summaries, Summary};
use crate::sweep::drift;
use crate::verdict::{Verdict, verdict};

/// `ls -l` this many times slower than `ls -n` means that names are looked up somewhere slow.
const LOOKUP_FACTOR: f64 = 3.0;
/// Below this difference nobody feels the looking up.
const LOOKUP_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(5);

/// What `iolag check` found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The directories, in the order of the run's targets.
    pub directories: Vec<DirectoryAnalysis>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// How the numbers came about: for example which compiler was used.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// What was found out about one directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectoryAnalysis {
    /// Its number among the run's targets.
    pub target: TargetIndex,
    /// Its name as the user gave it.
    pub name: String,
    /// Kind of its file system, if known.
    pub file_system: Option<String>,
    /// It did not answer; so long was it waited for.
    pub unanswered_ns: Option<Nanoseconds>,
    /// Its operations, iolag's own left out.
    pub summaries: Vec<Summary>,
    /// How it feels.
    pub verdict: Verdict,
    /// What else was found, the gravest first.
    pub findings: Vec<Finding>,
}

/// Judges a run of `iolag check` by summaries that tell targets apart, but neither stages nor clients.
pub fn analyse_check(run: &RunRecord, summaries: &Summaries) -> CheckAnalysis {
    let overhead_ns = run.calibration.overhead_per_sample_ns;
    let directory = |(index, target): (usize, &iolag_model::TargetRecord)| {
        let target_index = TargetIndex(index as u16);
        let of_target = |summary: &&Summary| summary.key.target.is_none_or(|target| target == target_index);
        let of_target: Vec<&Summary> = summaries.summaries.iter().filter(of_target).collect();
        let (own, measured): (Vec<&Summary>, Vec<&Summary>) = of_target
            .into_iter()
            .partition(|summary| summary.key.operation.level() == iolag_model::Level::Harness);
        let unanswered_ns = target.unanswered_ns.or_else(|| hung_age(&own));
        let summaries: Vec<Summary> = measured.into_iter().cloned().collect();
        let mut findings = check_findings(&summaries, unanswered_ns, overhead_ns);
        findings.sort_by_key(|finding| finding.severity);
        DirectoryAnalysis {
            target: target_index,
            name: target.name.clone(),
            file_system: target.file_system.as_ref().map(|file_system| file_system.kind.clone()),
            unanswered_ns,
            verdict: verdict(&summaries, unanswered_ns),
            summaries,
            findings,
        }
    };
    CheckAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        directories: run.targets.iter().enumerate().map(directory).collect(),
        trust: run.trust.iter().cloned().chain(summaries.unknown.trust()).collect(),
        remarks: run.remarks.clone(),
    }
}

/// Age of a first contact or of an opening of a session that did not end.
fn hung_age(own: &[&Summary]) -> Option<Nanoseconds> {
    own.iter()
        .filter(|summary| matches!(summary.key.operation, Operation::Reach | Operation::OpenSession))
        .filter(|summary| summary.hung + summary.timeout > 0)
        .filter_map(|summary| summary.durations.max.lower_bound())
        .max()
}

fn check_findings(
    summaries: &[Summary],
    unanswered_ns: Option<Nanoseconds>,
    overhead_ns: f64,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(unanswered_ns.map(not_answering));
    findings.extend(summaries.iter().filter_map(hung_operation));
    findings.extend(names_looked_up(summaries));
    findings.extend(fsync_dominates(summaries));
    findings.extend(close_flushes(summaries));
    findings.extend(create_slower_than_stat(summaries));
    findings.extend(summaries.iter().filter_map(slow_first));
    findings.extend(summaries.iter().filter_map(drifting));
    findings.extend(common_findings(summaries, overhead_ns));
    findings
}

fn not_answering(age: Nanoseconds) -> Finding {
    let sentence = format!("The directory does not answer: the first contact has been waiting for {age}.");
    let advice = "Ask on the server side; on this host see `dmesg` and /proc/mounts. Programs that touch this mount \
                  will hang too.";
    Finding::new(Severity::Serious, sentence, advice).with("age", age.to_string())
}

fn hung_operation(summary: &Summary) -> Option<Finding> {
    if summary.hung + summary.timeout == 0 {
        return None;
    }
    let operation = summary.key.operation;
    let age = summary.durations.max.lower_bound()?;
    let sentence = format!(
        "{} of {} `{operation}` did not end; the longest had been waiting for {age}.",
        summary.hung + summary.timeout,
        summary.attempts
    );
    let advice = "They count as \"at least\" this long. `iolag show RUN` tells where they were waiting.";
    Some(Finding::new(Severity::Serious, sentence, advice).with("longest age", age.to_string()))
}

fn names_looked_up(summaries: &[Summary]) -> Option<Finding> {
    let (names, numbers) =
        (summary_of(summaries, Operation::TaskList)?, summary_of(summaries, Operation::TaskListNumeric)?);
    let (with_names, without) = (median_ns(names)?, median_ns(numbers)?);
    let factor = with_names / without.max(1.0);
    // Two medians whose intervals meet are no difference.
    let apart = match (names.durations.median.interval.bounds(), numbers.durations.median.interval.bounds()) {
        (Some((low, _)), Some((_, high))) => low > high,
        _ => factor >= 2.0 * LOOKUP_FACTOR,
    };
    if factor < LOOKUP_FACTOR || with_names - without < LOOKUP_LEAST.0 as f64 || !apart {
        return None;
    }
    let sentence = format!(
        "`ls -l` is {} times slower than `ls -n`: names of users and groups are being looked up over the network.",
        factor_in_words(factor)
    );
    let advice = "Enable a cache of the name service on this host (nscd, or sssd with caching) and check that its \
                  server answers quickly (`time getent passwd $USER`).";
    Some(Finding::new(Severity::Warning, sentence, advice).with_median(names).with_median(numbers))
}

fn fsync_dominates(summaries: &[Summary]) -> Option<Finding> {
    let fsync = summary_of(summaries, Operation::CallFsync)?;
    let write = summary_of(summaries, Operation::CallWrite)?;
    let create = summary_of(summaries, Operation::CallCreate).and_then(median_ns).unwrap_or(0.0);
    let durable = median_ns(fsync)?;
    let rest = create + median_ns(write)?;
    if durable < 5.0 * rest || durable < 1e6 {
        return None;
    }
    let share = durable / (durable + rest);
    let sentence = format!(
        "Making a small file durable takes {}: fsync is {} of it.",
        Nanoseconds((durable + rest) as u64),
        share_in_words(share)
    );
    let advice = "Databases, editors and package managers wait for this. A device or server with a protected write \
                  cache would shorten it.";
    Some(Finding::new(Severity::Note, sentence, advice).with_median(fsync).with_median(write))
}

fn close_flushes(summaries: &[Summary]) -> Option<Finding> {
    let close = summary_of(summaries, Operation::CallCloseWritten)?;
    let write = summary_of(summaries, Operation::CallWrite)?;
    let (closing, writing) = (median_ns(close)?, median_ns(write)?);
    if closing < 5.0 * writing.max(1.0) || closing < 1e6 {
        return None;
    }
    let sentence = format!(
        "Closing a written file takes {}, {} times its write: the file system sends data to the server when files are \
         closed.",
        Nanoseconds(closing as u64),
        factor_in_words(closing / writing.max(1.0))
    );
    let advice = "This is how NFS keeps close-to-open consistency; many small files pay it each. Put scratch and build \
                  directories on local storage, or pack small files.";
    Some(Finding::new(Severity::Note, sentence, advice).with_median(close).with_median(write))
}

fn create_slower_than_stat(summaries: &[Summary]) -> Option<Finding> {
    let (create, stat) = (summary_of(summaries, Operation::Create)?, summary_of(summaries, Operation::Stat)?);
    let (creating, asking) = (median_ns(create)?, median_ns(stat)?);
    let factor = creating / asking.max(1.0);
    if factor < 100.0 || creating < 1e6 {
        return None;
    }
    let sentence = format!(
        "Creating a small file takes {}, {} times as long as asking for one's attributes.",
        Nanoseconds(creating as u64),
        factor_in_words(factor)
    );
    let advice = "Attributes come from a cache here, creations from the server: unpacking archives and building software \
                  will feel slow although browsing feels fast.";
    Some(Finding::new(Severity::Note, sentence, advice).with_median(create).with_median(stat))
}

/// The first part against the median of the others.
fn slow_first(summary: &Summary) -> Option<Finding> {
    let (first, others) = summary.durations.part_means_ns.split_first()?;
    if others.len() < 3 {
        return None;
    }
    let usual = median_of(others)?;
    let slowest_other = others.iter().copied().fold(f64::MIN, f64::max);
    if *first < 3.0 * usual || *first < 1.5 * slowest_other || *first < 10e6 {
        return None;
    }
    let operation = summary.key.operation;
    let sentence = format!(
        "The first `{operation}` took {}, later ones about {}: the first met cold caches.",
        Nanoseconds(*first as u64),
        Nanoseconds(usual as u64)
    );
    let advice = "Who comes back after a break feels the first number, who works on feels the second.";
    Some(Finding::new(Severity::Note, sentence, advice))
}

fn drifting(summary: &Summary) -> Option<Finding> {
    let parts = &summary.durations.part_means_ns;
    if parts.len() < 8 {
        return None;
    }
    let rho = drift(parts)?;
    let (early, late) = parts.split_at(parts.len() / 2);
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    let factor = mean(late) / mean(early);
    // |rho| sqrt(n-1) is about standard normal without drift: 3.3 is one in a thousand.
    let significant = rho.abs() * (parts.len() as f64 - 1.0).sqrt() > 3.3;
    if !significant || (0.67..1.5).contains(&factor) || mean(parts) < 1e6 {
        return None;
    }
    let operation = summary.key.operation;
    let direction = if factor > 1.0 { "slower" } else { "faster" };
    let times = factor_in_words(if factor > 1.0 { factor } else { 1.0 / factor });
    let sentence = format!("`{operation}` got {direction} during the measurement, by a factor of {times}.");
    let advice = "The state was not steady: measure longer, or several times, before comparing.";
    Some(
        Finding::new(Severity::Warning, sentence, advice)
            .with("rank correlation with time", format!("{rho:.2}")),
    )
}
