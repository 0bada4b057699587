//! `iolag history remember`, and what `--history` of a bench does: values of runs enter a history.

use iolag_conduct::{ExitCode, Failure, Stored, records_of, records_of_stored};
use iolag_model::{HistoryRecord, RunRecord, counted};
use iolag_store::history::Access;
use iolag_store::{KeeperIdentity, RunDirectory};
use serde::{Deserialize, Serialize};

use crate::args::{Common, Remember};
use crate::commands::Located;
use crate::commands::history::access::{Chosen, Unopened, ask_history, failure};
use crate::commands::runs::opening;
use crate::commands::runs::selection::{FoundRun, Selection};
use crate::output;

/// Before a run, all of whose campaign is meant.
const CAMPAIGN: &str = "campaign:";

/// What runs have to be remembered of them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Found {
    records: Vec<HistoryRecord>,
    /// Runs that have values.
    runs: u64,
    /// Why others have none, in sentences.
    left_out: Vec<String>,
    /// How the command ends because of that.
    code: ExitCode,
}

/// Runs the command.
///
/// # Errors
/// If there is no such run, or it cannot be read, or the history not be written.
pub fn run(options: &Remember, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "history remember")?;
    let chosen = Chosen::new(&options.place)?;
    let located = Located::of(common)?;
    let found = output::ask_store(&located.root, || {
        let selection = Selection::of(&located);
        let mut found = Found::default();
        for name in &options.runs {
            found.add_meant(&located, &selection, name)?;
        }
        Ok(found)
    })?;
    found.left_out.iter().for_each(|sentence| output::complain(sentence));
    if found.records.is_empty() {
        return Err(Failure::unusable("there is nothing to remember: no run of these has a value"));
    }
    let text = append(&chosen, &found)?;
    Ok(output::print(&format!("{text}\n")).max(found.code))
}

/// Whether a history can be used, before anything is measured for it; one that is missing is made. Where it may be used later, why it cannot be now is told.
///
/// # Errors
/// If it cannot be used at all.
pub fn refuse_unusable(chosen: &Chosen, common: &Common) -> Result<(), Failure> {
    let silent = ask_history(chosen, || match chosen.open_now(Access::Create) {
        Ok(_) => Ok(None),
        Err(Unopened::Lasting(failure)) => Err(failure),
        Err(Unopened::Passing(sentence)) => Ok(Some(sentence)),
    })?;
    if let Some(sentence) = silent {
        output::notice(common, &format!("{sentence}; it is asked again when the runs have ended"));
    }
    Ok(())
}

/// Lets a history remember what was just conducted, and says so. The results are told and stored already, so that a history that cannot be written loses
/// nothing: why it cannot is told.
pub fn conducted(chosen: &Chosen, runs: &[&Stored], common: &Common) -> ExitCode {
    let mut found = Found::default();
    for stored in runs {
        found.add(&stored.record, records_of(stored));
    }
    let Some(first) = runs.first().filter(|_| found.runs > 0) else {
        output::notice(common, "there is nothing to remember: no run came far enough to have a value");
        return ExitCode::Fine;
    };
    match append(chosen, &found) {
        Ok(text) => {
            output::notice(common, &text);
            ExitCode::Fine
        }
        Err(failure) => {
            let campaign = &first.record.campaign;
            output::complain(&format!(
                "{}; the runs are stored, and can be remembered later: iolag history remember {CAMPAIGN}{campaign}",
                failure.sentence
            ));
            failure.code
        }
    }
}

impl Found {
    fn add(&mut self, record: &RunRecord, records: Vec<HistoryRecord>) {
        match records.len() {
            0 => self.left_out.push(format!("run {} was broken off before it had a value", record.id)),
            _ => self.runs += 1,
        }
        self.records.extend(records);
    }

    /// Adds the run that a name means, or all runs of its campaign, in whichever store that is.
    fn add_meant(&mut self, located: &Located, selection: &Selection<'_>, name: &str) -> Result<(), Failure> {
        let Some(member) = name.strip_prefix(CAMPAIGN) else {
            let (run, record) = opening::open_measured(located, name, "value for a history")?;
            return self.add_stored(&run, &record);
        };
        let (_, chosen) = selection.campaign(member)?;
        let without = |sentence: String| format!("{sentence}; {name} is remembered without it");
        self.left_out.extend(chosen.complaints.into_iter().map(without));
        let perhaps = |sentence: String| {
            format!("{sentence}; {name}, to which it may belong, is remembered without it")
        };
        self.left_out.extend(chosen.may_belong.into_iter().map(perhaps));
        self.code = self.code.max(chosen.code);
        for FoundRun { path, record } in &chosen.runs {
            let run = RunDirectory::open(path).map_err(Failure::unusable)?;
            self.add_stored(&run, record)?;
        }
        Ok(())
    }

    fn add_stored(&mut self, run: &RunDirectory, record: &RunRecord) -> Result<(), Failure> {
        if KeeperIdentity::of(record).is_some_and(|keeper| keeper.is_alive()) {
            self.left_out.push(format!("run {} is still running, and not remembered yet", record.id));
            return Ok(());
        }
        self.add(record, records_of_stored(run, record).map_err(Failure::unusable)?);
        Ok(())
    }
}

/// As in `remembered 8 runs in /var/lib/iolag/history.sqlite: 32 values`.
fn append(chosen: &Chosen, found: &Found) -> Result<String, Failure> {
    let changed = ask_history(chosen, || {
        let mut history = chosen.open(Access::Create)?;
        Ok(history.append(&found.records).map_err(failure)?.changed)
    })?;
    let is_value = |record: &&HistoryRecord| matches!(record, HistoryRecord::Sample(_));
    let values = found.records.iter().filter(is_value).count() as u64;
    let known = if changed == 0 { ", all of which it knew" } else { "" };
    let (runs, values) = (counted(found.runs, "run", "runs"), counted(values, "value", "values"));
    Ok(format!("remembered {runs} in {}: {values}{known}", chosen.shown()))
}
