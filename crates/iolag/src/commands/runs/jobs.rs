//! What runs of copies of a job come to together: how the time of a copy goes with their number, and how many of them a node should run.

use iolag_analysis::{
    CopiesFigure, JobQuestion, Recommendation, RunAnalysis, copies_figures, recommendations,
};
use iolag_conduct::{Failure, analyse_stored, summarise};
use iolag_model::{JobTerms, RunRecord};
use iolag_report::{
    all_void_sentence, copies_text, recommendations_text, wrapped, write_copies_json,
    write_recommendations_json,
};
use iolag_store::RunDirectory;

use crate::args::CopiesAsked;
use crate::commands::Located;
use crate::commands::runs::selection::{FoundRuns, Selection};
use crate::look::Look;

/// What runs of copies come to together.
#[derive(Debug, Default)]
pub struct OfCopies {
    /// Why they come to nothing, if all of them are void.
    pub void: Option<String>,
    /// The time of a copy against copies, of several runs.
    pub curves: Vec<CopiesFigure>,
    /// What is advised; nothing if no payload was said.
    pub advised: Vec<Recommendation>,
}

impl OfCopies {
    /// That of these runs, by what was asked of them; nothing if they are no copies.
    pub fn of<'a>(runs: impl IntoIterator<Item = (&'a RunRecord, &'a RunAnalysis)> + Clone) -> Self {
        let of_copies = || runs.clone().into_iter().filter_map(|(record, run)| run.of_copies(record));
        let terms = runs.clone().into_iter().find_map(|(record, _)| record.spec.workload.job_terms());
        let question = terms.and_then(JobQuestion::of);
        Self {
            void: all_void_sentence(runs.clone()),
            curves: if of_copies().count() > 1 { copies_figures(of_copies()) } else { Vec::new() },
            advised: question.map_or_else(Vec::new, |question| recommendations(of_copies(), &question)),
        }
    }

    /// That of the campaign of a run, on these terms as far as they were said, with what is to be known of its runs besides.
    ///
    /// # Errors
    /// If there is no such run, one cannot be read, or the terms cannot be.
    pub fn of_campaign(
        located: &Located,
        name: &str,
        asked: &JobTerms,
    ) -> Result<(Self, Vec<String>), Failure> {
        let (_, FoundRuns { runs, mut complaints, may_belong, .. }) =
            Selection::of(located).campaign(name)?;
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
        Ok((Self::of(read.iter().map(|(record, analysis)| (record, analysis))), complaints))
    }

    /// For a terminal.
    pub fn text(&self, look: Look) -> String {
        let Self { void, curves, advised } = self;
        let void = void.as_ref().map(|void| format!("{}\n", wrapped(void, look.width, "  ")));
        let curves = match curves[..] {
            [] => String::new(),
            _ => copies_text(curves, look.width, look.colour),
        };
        void.unwrap_or_default() + &curves + &recommendations_text(advised, look.width, look.colour)
    }

    /// The documents of what there is to say.
    ///
    /// # Errors
    /// If one cannot be serialised, which is a bug.
    pub fn documents(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let (mut curves, mut advised) = (Vec::new(), Vec::new());
        if !self.curves.is_empty() {
            write_copies_json(&self.curves, &mut curves).map_err(Failure::bug)?;
        }
        if !self.advised.is_empty() {
            write_recommendations_json(&self.advised, &mut advised).map_err(Failure::bug)?;
        }
        Ok([advised, curves].into_iter().filter(|document| !document.is_empty()).collect())
    }
}

/// One document as it is, several as an array.
pub fn joined(mut documents: Vec<Vec<u8>>) -> Vec<u8> {
    if let [document] = &mut documents[..] {
        return std::mem::take(document);
    }
    let all: Vec<_> = documents.iter().map(|document| document.trim_ascii_end()).collect();
    [b"[\n".as_slice(), &all.join(&b",\n"[..]), b"\n]\n"].concat()
}

/// From now on the copies of this run are judged on these terms, whichever it had; what was measured stays as it is.
///
/// # Errors
/// If it is not of copies, or the terms do not go together.
pub fn judge_by(asked: &CopiesAsked, record: &mut RunRecord) -> Result<(), Failure> {
    let Some(given) = asked.given() else { return Ok(()) };
    let workload = record.spec.workload.name();
    let refused = format!("{given} is for runs of iolag bench setup; {} is a {workload}", record.id);
    let Some(terms) = record.spec.workload.job_terms_mut() else { return Err(Failure::usage(refused)) };
    *terms = asked.asked_again()?.or(terms.clone());
    terms.flaw().map_or(Ok(()), |flaw| Err(Failure::usage(flaw)))
}
