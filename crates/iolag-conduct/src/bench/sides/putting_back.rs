//! What became of the command after a run, on record with the run: who goes on with its campaign is to know what may be in place.

use iolag_model::{PutBack, RunRecord, one_line};
use iolag_store::RunDirectory;

use crate::bench::campaign::PlannedRun;
use crate::bench::sides::{CAMPAIGN_ENDS, Undone};
use crate::contact::scout::{Answer, ask};
use crate::run::conduct::Conducted;
use crate::storing::place::STORE_DEADLINE;

/// Writes it down, if the side has such a command; why that is not possible, as a sentence.
pub(in crate::bench) fn note(
    run: &PlannedRun,
    conducted: &mut Conducted,
    put_back: &Result<(), Undone>,
) -> Option<String> {
    run.point.side.after.as_ref()?;
    let put_back = match put_back {
        Ok(()) => PutBack::Done,
        Err(undone) => PutBack::Failed { reason: undone.failure.sentence.clone() },
    };
    let written = ask("store", STORE_DEADLINE, || {
        let directory = RunDirectory::open(&conducted.run).map_err(|error| error.to_string())?;
        let record = directory.record().map_err(|error| error.to_string())?;
        let noted = RunRecord { put_back: Some(put_back.clone()), ..record };
        directory.write_record(&noted).map_err(|error| error.to_string())
    });
    let trouble = match written {
        Ok(Answer::Given(written)) => written.err(),
        Ok(Answer::None { age, .. }) => Some(format!("the store has not answered for {age}")),
        Err(failure) => Some(failure.sentence),
    };
    let record = &mut conducted.stored.record;
    record.put_back = Some(put_back);
    let id = &record.id;
    trouble.map(|trouble| format!("what became of the command after run {id} is not on record: {trouble}"))
}

/// What is to be known of the command after the last of these runs, as a sentence, unless it ended well.
pub fn not_put_back<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Option<String> {
    let last = records.into_iter().max_by_key(|record| &record.id)?;
    let after = &last.plan.as_ref()?.side.as_ref()?.after;
    if after.is_empty() {
        return None;
    }
    let trouble = match &last.put_back {
        Some(PutBack::Done) => return None,
        // That was then.
        Some(PutBack::Failed { reason }) => reason.strip_suffix(CAMPAIGN_ENDS).unwrap_or(reason).to_owned(),
        None => {
            let command = one_line(&after.join(" "));
            format!(
                "the command after it, {command}, may not have ended, since iolag was killed; nobody knows what is in place now"
            )
        }
    };
    Some(format!("run {} was the last of this campaign: {trouble}", last.id))
}
