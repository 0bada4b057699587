//! `iolag watch --status`: what a watch is doing.

use iolag_model::{Clock, MonotonicClock, Outcome, WatchStatus};
use iolag_report::watch_status_text;
use iolag_watch::{PublishedStatus, probes_left, read_status};

use crate::args::Common;
use crate::output::{self, Kept};
use crate::watching::Places;
use iolag_conduct::{ExitCode, Failure};

/// Prints the status. The code says whether a target hangs, or no watch runs: what a covariate's command waits for is no storage of anybody.
///
/// # Errors
/// If the runtime directory is no safe place, or no watch has ever run.
pub fn status(places: &Places, common: &Common) -> Result<ExitCode, Failure> {
    let none = || {
        Failure::unusable(format!(
            "no watch has written to {} since this machine was started; start one with: iolag watch DIR…",
            places.shown_history()
        ))
    };
    let runtime = places.present_runtime().ok_or_else(none)?;
    let published = read_status(&runtime).map_err(Failure::unusable)?;
    let (status, is_live, left) = match &published {
        PublishedStatus::Live(status) => (status, true, Vec::new()),
        // Between two rounds of cron a probe may end, and nobody notices before the next.
        PublishedStatus::Ended(status) => (status, false, probes_left(&runtime).map_err(Failure::unusable)?),
        PublishedStatus::None => return Err(none()),
    };
    let now = MonotonicClock.now();
    let colour = output::colour(common, |name| std::env::var_os(name));
    let text = watch_status_text(status, is_live, &left, now, colour);
    output::deliver(common, &text, Kept::Sources, || {
        let mut present = status.clone();
        present.in_flight.retain(|probe| is_live || left.contains(&probe.probe));
        serde_json::to_vec_pretty(&present).map_err(Failure::bug)
    })?;
    Ok(code(status, is_live))
}

fn code(status: &WatchStatus, is_live: bool) -> ExitCode {
    let hangs = !status.outages.is_empty()
        || status.last.iter().any(|last| {
            !last.series.is_of_host() && matches!(last.outcome, Outcome::Hung | Outcome::Timeout)
        });
    match (is_live, hangs) {
        (false, _) => ExitCode::Unusable,
        (true, true) => ExitCode::Found,
        (true, false) => ExitCode::Fine,
    }
}
