//! `iolag prune`: removes old runs from the store.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use iolag_model::{Anchor, RunId, counted};
use iolag_store::{
    Baseline, FlawKind, KeeperIdentity, Removal, Retention, Store, StoreError, runs_to_remove,
};

use crate::args::{Common, Prune};
use crate::commands::Located;
use crate::commands::runs::baseline;
use crate::commands::runs::left_places::{self, LeftPlace};
use crate::output::{self, Printed};
use iolag_conduct::{ExitCode, Failure};

/// A run that is to go, with the working directories that it may have left.
type Doomed = (RunId, Vec<LeftPlace>);

/// Runs the command.
///
/// # Errors
/// If no rule was given, or the store cannot be read.
pub fn run(options: &Prune, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "prune")?;
    if options.older_than.is_none() && options.max_size.is_none() && options.keep_last.is_none() {
        return Err(Failure::usage(
            "prune needs a rule: --keep-last COUNT, --older-than DURATION or --max-size SIZE",
        ));
    }
    let located = Located::of(common)?;
    let retention = Retention {
        keep_last: options.keep_last.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
        older_than: options.older_than,
        bytes_max: options.max_size,
        spared: BTreeSet::new(),
    };
    let (doomed, kept) = output::ask_store(&located.root, || look(&located, &retention))?;
    let runs: Vec<_> = doomed.iter().map(|(id, places)| (id.as_str(), places.as_slice())).collect();
    let needs = left_places::needs(&runs)?;
    output::with_store(&located.root, common, || {
        let store = located.open()?;
        // Baselines may have been set since it was looked.
        let spared = runs_of(&baseline::all(&store)?);
        let mut printed = Printed::default();
        let needed = needs.iter().flatten();
        printed.complaints.extend(needed.map(|need| format!("not pruned: {}: {}", need.clause, need.advice)));
        let free = doomed.iter().zip(&needs);
        let free = free.filter(|((id, _), needs)| needs.is_empty() && !spared.contains(id));
        for ((id, _), _) in free {
            let what = match options.yes {
                true => remove(&store, id),
                false => Ok("would be removed (add --yes)".into()),
            };
            match what {
                // Writing to a String cannot fail.
                Ok(what) => drop(writeln!(printed.text, "{id}  {what}")),
                Err(error) => {
                    printed.complaints.push(format!("run {id} is not removed: {error}"));
                    printed.code = ExitCode::Unusable;
                }
            }
        }
        if doomed.is_empty() {
            printed.text.push_str("nothing to remove by these rules\n");
        }
        printed.complaints.extend(kept.iter().map(|why| format!("not pruned: {why}")));
        printed.complaints.extend(located.silence());
        Ok(printed)
    })
}

/// What goes by these rules; and why other runs stay.
fn look(located: &Located, retention: &Retention) -> Result<(Vec<Doomed>, Vec<String>), Failure> {
    let store = located.open()?;
    let listed = store.list().map_err(Failure::unusable)?;
    let now = Anchor::take().realtime_ns;
    let by_rules = |retention: &Retention| runs_to_remove(&listed, retention, now, KeeperIdentity::is_alive);
    let baselines = baseline::all(&store).map_err(baseline::nothing_is_removed)?;
    let spared = runs_of(&baselines);
    let doomed = by_rules(&Retention { spared, ..retention.clone() });
    // What no rule may remove would stay for ever without a word.
    let flaws = listed.iter().filter_map(|run| run.record.as_ref().err());
    let flaws = flaws.filter(|flaw| flaw.kind != FlawKind::Damaged).map(|flaw| flaw.sentence.clone());
    let mut kept: Vec<String> = flaws.collect();
    let without = by_rules(retention);
    for baseline in &baselines {
        let runs = baseline.runs.iter().filter(|id| without.contains(id)).count() as u64;
        if runs > 0 {
            kept.push(format!("{} of the baseline {}", counted(runs, "run", "runs"), baseline.name));
        }
    }
    let mut removable = Vec::new();
    for id in doomed {
        let record = listed.iter().find(|run| run.id == id).and_then(|run| run.record.as_deref().ok());
        let run = store.run(&id);
        let left = run.and_then(|run| Ok((run.spool_elsewhere()?, left_places::of(&run, record)?)));
        match left {
            Ok((None, places)) => removable.push((id, places)),
            Ok((Some(spool), _)) => {
                let spool = spool.display();
                kept.push(format!(
                    "samples of run {id} are in {spool} still: remove both with iolag rm {id}"
                ));
            }
            Err(error @ StoreError::Stranger { .. }) => kept.push(format!("run {id}: {error}")),
            Err(error) => kept.push(format!("what run {id} left on targets is not known: {error}")),
        }
    }
    Ok((removable, kept))
}

fn runs_of(baselines: &[Baseline]) -> BTreeSet<RunId> {
    baselines.iter().flat_map(|baseline| baseline.runs.iter().cloned()).collect()
}

fn remove(store: &Store, id: &RunId) -> Result<String, StoreError> {
    Ok(match store.remove_run(id, KeeperIdentity::is_alive)? {
        Removal::Complete => "removed".to_owned(),
        Removal::Strangers(names) => {
            format!("removed, except files that are not iolag's: {}", names.join(", "))
        }
    })
}
