//! `iolag prune`: removes old runs from the store.

use std::fmt::Write as _;

use iolag_model::Anchor;
use iolag_store::{FlawKind, KeeperIdentity, Removal, Retention, runs_to_remove};

use super::Located;
use crate::args::{Common, Prune};
use crate::exit_code::{ExitCode, Failure};
use crate::output::{self, Printed};

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
    };
    output::with_store(&located.root, common, || {
        let store = located.open()?;
        let listed = store.list().map_err(Failure::unusable)?;
        let doomed =
            runs_to_remove(&listed, &retention, Anchor::take().realtime_ns, KeeperIdentity::is_alive);
        let mut text = String::new();
        for id in &doomed {
            let what = if options.yes {
                match store.remove_run(id, KeeperIdentity::is_alive) {
                    Ok(Removal::Complete) => "removed".to_owned(),
                    Ok(Removal::Strangers(names)) => {
                        format!("removed, except files that are not iolag's: {}", names.join(", "))
                    }
                    Err(error) => format!("not removed: {error}"),
                }
            } else {
                "would be removed (add --yes)".to_owned()
            };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{id}  {what}");
        }
        if doomed.is_empty() {
            text.push_str("nothing to remove by these rules\n");
        }
        // What no rule may remove would stay for ever without a word.
        let complaints = listed.iter().filter_map(|run| run.record.as_ref().err());
        let complaints = complaints.filter(|flaw| flaw.kind != FlawKind::Damaged);
        let complaints = complaints.map(|flaw| format!("not pruned: {}", flaw.sentence));
        let complaints = complaints.chain(located.silence()).collect();
        Ok(Printed { text, complaints, ..Printed::default() })
    })
}
