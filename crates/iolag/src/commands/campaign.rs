//! Several runs together: sweeps and repetitions.

use iolag_analysis::analyse_metadata;
use iolag_model::{MetadataSpec, format_count};
use iolag_report::{CampaignRun, campaign_text, one_line};

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
            one_line(&iolag_backend::redact(&targets[self.target])),
            clients_in_words(self.clients),
            format_count(self.spec.precreated_objects),
            self.repetition
        )
    }
}

/// The runs side by side: see [`campaign_text`].
pub fn text(runs: &[(&Point, &Stored)], targets: &[String], look: show::Look) -> String {
    let names: Vec<String> = targets.iter().map(|target| iolag_backend::redact(target)).collect();
    let rows: Vec<CampaignRun<'_>> = runs
        .iter()
        .map(|(point, stored)| CampaignRun {
            id: stored.record.id.as_str(),
            target: &names[point.target],
            clients: point.clients,
            precreated_objects: point.spec.precreated_objects,
            repetition: point.repetition,
            stages: analyse_metadata(&stored.record, &stored.summaries).stages,
        })
        .collect();
    campaign_text(&rows, look.width(), look.colour())
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
