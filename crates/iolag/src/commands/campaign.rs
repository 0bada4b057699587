//! Several runs together: sweeps and repetitions.

use iolag_analysis::{
    Repetition, RepetitionJudgement, Stability, StageAnalysis, SweepPoint, analyse_metadata,
    compare_repetitions, stable_from,
};
use iolag_model::{MetadataSpec, Phase, format_count};
use iolag_report::{Colour, Tone};

use super::show;
use crate::conduct::messages::Stored;
use crate::exit_code::Failure;

/// One run of a campaign.
#[derive(Debug, Clone)]
pub struct Point {
    /// Which target.
    pub target: usize,
    /// Clients.
    pub clients: u32,
    /// The spec.
    pub spec: MetadataSpec,
    /// Which repetition, from 1.
    pub repetition: u32,
}

impl Point {
    /// A heading.
    pub fn title(&self, targets: &[String]) -> String {
        format!(
            "{}, {}, {} objects per dataset, repetition {}",
            iolag_backend::redact(&targets[self.target]),
            clients_in_words(self.clients),
            format_count(self.spec.precreated_objects),
            self.repetition
        )
    }
}

/// The runs side by side, from which size on results stop changing, and whether repetitions differ more than chance would.
pub fn text(runs: &[(&Point, &Stored)], colour: Colour) -> String {
    let mut text = format!("{}\n", colour.paint(Tone::Strong, "All runs of this campaign (benchmark phase)"));
    text.push_str(&format!(
        "  {:<20} {:>7} {:>12} {:>11} {:>14}\n",
        "run", "clients", "per dataset", "repetition", "objects/s"
    ));
    for (point, stored) in runs {
        let rates = rates(stored);
        let rate = if rates.is_empty() { "none".to_owned() } else { format!("{:.0}", median(rates)) };
        text.push_str(&format!(
            "  {:<20} {:>7} {:>12} {:>11} {rate:>14}\n",
            stored.record.id.as_str(),
            point.clients,
            format_count(point.spec.precreated_objects),
            point.repetition
        ));
    }
    text.push_str(&working_set_sentence(runs));
    text.push_str(&repetition_sentence(runs));
    text
}

/// The documents of all runs: one object for one run, an array for several.
///
/// # Errors
/// If one cannot be serialised, which is a bug.
pub fn json(runs: &[(&Point, &Stored)]) -> Result<Vec<u8>, Failure> {
    let mut documents = Vec::new();
    for (_, stored) in runs {
        documents.push(show::json(&stored.record, &stored.summaries)?);
    }
    if let [document] = &mut documents[..] {
        return Ok(std::mem::take(document));
    }
    let joined: Vec<_> = documents.iter().map(|document| document.trim_ascii_end()).collect();
    Ok([b"[\n".as_slice(), &joined.join(&b",\n"[..]), b"\n]\n"].concat())
}

fn clients_in_words(clients: u32) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}

fn benchmark_stages(stored: &Stored) -> Vec<StageAnalysis> {
    let analysis = analyse_metadata(&stored.record, &stored.summaries);
    analysis.stages.into_iter().filter(|stage| stage.phase == Phase::Benchmark).collect()
}

fn rates(stored: &Stored) -> Vec<f64> {
    benchmark_stages(stored).iter().map(|stage| stage.objects_per_second).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Sizes that were swept at the same number of clients on the same target.
fn working_set_sentence(runs: &[(&Point, &Stored)]) -> String {
    let mut groups: Vec<(usize, u32)> = runs.iter().map(|(point, _)| (point.target, point.clients)).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut text = String::new();
    for (target, clients) in groups {
        let own: Vec<_> =
            runs.iter().filter(|(point, _)| point.target == target && point.clients == clients).collect();
        let mut sizes: Vec<u64> = own.iter().map(|(point, _)| point.spec.precreated_objects).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() < 2 {
            continue;
        }
        let points: Vec<SweepPoint> = sizes
            .iter()
            .filter_map(|size| {
                let rates: Vec<f64> = own
                    .iter()
                    .filter(|(point, _)| point.spec.precreated_objects == *size)
                    .flat_map(|(_, stored)| rates(stored))
                    .collect();
                SweepPoint::of_rates(*size, &rates)
            })
            .collect();
        let head = format!("With {}: ", clients_in_words(clients));
        text.push_str(&(head + &stability_sentence(&stable_from(&points)) + "\n"));
    }
    text
}

fn stability_sentence(stability: &Stability) -> String {
    match stability {
        Stability::From { size } => {
            format!("from {} objects per dataset on, results no longer change.", format_count(*size))
        }
        Stability::NotYet { largest } => format!(
            "results still change up to {} objects per dataset, the largest that was measured; measure larger ones.",
            format_count(*largest)
        ),
        Stability::TooFew { advice } => {
            format!("too few sizes to say from which on results stop changing. {advice}")
        }
    }
}

/// Runs with the same parameters.
fn repetition_sentence(runs: &[(&Point, &Stored)]) -> String {
    let mut text = String::new();
    let mut seen: Vec<(usize, u32, u64)> = Vec::new();
    for (point, _) in runs {
        let key = (point.target, point.clients, point.spec.precreated_objects);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let repetitions: Vec<Repetition> = runs
            .iter()
            .filter(|(other, _)| (other.target, other.clients, other.spec.precreated_objects) == key)
            .flat_map(|(_, stored)| benchmark_stages(stored))
            .map(|stage| stage.repetition())
            .collect();
        if repetitions.len() > 1 && compare_repetitions(&repetitions).judgement == RepetitionJudgement::Differ
        {
            text.push_str(&format!(
                "The {} passes with {} and {} objects per dataset differ more than chance would: look for write-back timers, other \
                 users, or caches filling; run longer passes or more of them.\n",
                repetitions.len(),
                clients_in_words(key.1),
                format_count(key.2)
            ));
        }
    }
    text
}
