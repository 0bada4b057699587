//! How many copies of a job a node should run, by the runs of a campaign.

use iolag_analysis::{JobQuestion, Recommendation, RunAnalysis, recommendations};
use iolag_conduct::{Failure, analyse_stored, summarise};
use iolag_model::{JobTerms, RunRecord};
use iolag_report::{recommendations_text, write_recommendations_json};
use iolag_store::RunDirectory;

use crate::commands::Located;
use crate::commands::runs::selection::{FoundRuns, Selection};
use crate::look::Look;

/// What is advised of these runs by what was asked of them; nothing if no payload was, or if they are no copies.
pub fn told<'a>(
    runs: impl IntoIterator<Item = (&'a RunRecord, &'a RunAnalysis)> + Clone,
) -> Vec<Recommendation> {
    let terms = runs.clone().into_iter().find_map(|(record, _)| record.spec.workload.job_terms());
    let Some(question) = terms.and_then(JobQuestion::of) else { return Vec::new() };
    recommendations(runs.into_iter().filter_map(|(record, run)| run.of_copies(record)), &question)
}

/// What is advised of the campaign of a run, on these terms as far as they were said, with what is to be known of its runs besides.
///
/// # Errors
/// If there is no such run, one cannot be read, or the terms cannot be.
pub fn of_campaign(
    located: &Located,
    name: &str,
    asked: &JobTerms,
) -> Result<(Vec<Recommendation>, Vec<String>), Failure> {
    let (_, FoundRuns { runs, mut complaints, may_belong, .. }) = Selection::of(located).campaign(name)?;
    complaints.extend(may_belong);
    let mut read = Vec::new();
    for run in runs {
        let mut record = run.record;
        let Some(terms) = record.spec.workload.job_terms_mut() else { continue };
        *terms = asked.clone().or(terms.clone());
        let directory = RunDirectory::open(&run.path).map_err(Failure::unusable)?;
        let summaries = summarise(&directory, &record).map_err(Failure::unusable)?;
        let analysis = analyse_stored(&directory, &record, &summaries).map_err(Failure::unusable)?;
        read.push((record, analysis));
    }
    Ok((told(read.iter().map(|(record, analysis)| (record, analysis))), complaints))
}

/// For a terminal.
pub fn text(told: &[Recommendation], look: Look) -> String {
    recommendations_text(told, look.width, look.colour)
}

/// The document of what is advised; absent if nothing was asked.
///
/// # Errors
/// If it cannot be serialised, which is a bug.
pub fn document(told: &[Recommendation]) -> Result<Option<Vec<u8>>, Failure> {
    if told.is_empty() {
        return Ok(None);
    }
    let mut document = Vec::new();
    write_recommendations_json(told, &mut document).map_err(Failure::bug)?;
    Ok(Some(document))
}

/// One document as it is, several as an array.
pub fn joined(mut documents: Vec<Vec<u8>>) -> Vec<u8> {
    if let [document] = &mut documents[..] {
        return std::mem::take(document);
    }
    let all: Vec<_> = documents.iter().map(|document| document.trim_ascii_end()).collect();
    [b"[\n".as_slice(), &all.join(&b",\n"[..]), b"\n]\n"].concat()
}
