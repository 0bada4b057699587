//! `iolag report --incident --since …`: the draft of an incident report from a history.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use iolag_analysis::history::{Incident, analyse_history, find_incident};
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::{Evidence, Outage, ProbeId};
use iolag_report::{HistoryHead, IncidentHistory, incident_history_text};
use iolag_store::history::{Access, History, HistoryError};

use crate::args::{Common, Report};
use crate::commands::history::access::{Chosen, ask_history, failure, here, now};
use crate::commands::history::reading::{analysis_options, read};
use crate::desktop::open;
use crate::guarded::replace_by;
use crate::output;

/// Probes whose evidence is read: a year of time-outs would be more than anybody reads.
const PROBES_MOST: usize = 500;

/// Writes the draft.
///
/// # Errors
/// If there is no such history, it cannot be read, or the file cannot be written.
pub fn run(options: &Report, common: &Common) -> Result<ExitCode, Failure> {
    let chosen = Chosen::new(&options.span.place)?;
    let path = match &options.output {
        Some(path) => absolute(path),
        None => absolute(&PathBuf::from("iolag-incident-history.md")),
    };
    ask_history(&chosen, || {
        let here = here();
        let span = here
            .span(options.span.since.as_deref(), options.span.until.as_deref())
            .map_err(Failure::usage)?;
        let mut history = chosen.open(Access::ReadOnly)?;
        let input = read(history.as_mut(), span).map_err(failure)?;
        let how = analysis_options(input.covered(), &options.method, &here.zone);
        let analysis = analyse_history(&input, &how);
        let incident = find_incident(&input, &analysis, &how);
        let evidence = read_evidence(history.as_mut(), &incident, &input.outages).map_err(failure)?;
        let text = incident_history_text(&IncidentHistory {
            head: &HistoryHead { place: chosen.shown(), span },
            analysis: &analysis,
            incident: &incident,
            evidence: &evidence,
            zone: &here.zone,
            written: now(),
            iolag_version: env!("CARGO_PKG_VERSION"),
        });
        replace_by(&path, "-o", |file| file.write_all(text.as_bytes()))
    })?;
    output::notice(common, &format!("the report is in {}", path.display()));
    if options.open {
        open(&path)?;
    }
    Ok(ExitCode::Fine)
}

/// What was seen of the probes that found outages, and then of those that passed their deadline.
fn read_evidence(
    history: &mut dyn History,
    incident: &Incident,
    outages: &[Outage],
) -> Result<Vec<Evidence>, HistoryError> {
    let of_outages = outages.iter().map(|outage| (outage.host.as_str(), outage.probe));
    let of_probes = incident.past_deadline.iter().map(|one| (one.series.host.as_str(), one.probe));
    let mut seen: BTreeSet<(&str, ProbeId)> = BTreeSet::new();
    let mut evidence = Vec::new();
    for (host, probe) in of_outages.chain(of_probes) {
        if seen.len() < PROBES_MOST && seen.insert((host, probe)) {
            evidence.extend(history.evidence(host, probe)?);
        }
    }
    Ok(evidence)
}
