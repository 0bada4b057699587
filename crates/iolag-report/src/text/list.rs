//! `iolag list` and the head of `iolag show`.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{CampaignPlan, PutBack, RunId, RunRecord, RunState, TargetIndex, format_count, one_line};

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::numbers::{NOTHING, utc};
use crate::words::server::{meanings, server_words};
use crate::workload::described;

/// A line per run: id, start in UTC, workload, state, samples and targets; and the campaign and the labels, if a run has such.
pub fn list_text(runs: &[RunRecord], colour: Colour) -> String {
    let left = Side::Left;
    let has_labels = runs.iter().any(|run| !run.labels.is_empty());
    let campaigns = campaigns(runs);
    let mut columns = columns([
        ("run", left),
        ("started (UTC)", left),
        ("workload", left),
        ("state", left),
        ("samples", Side::Right),
        ("targets", left),
        ("campaign", left),
        ("labels", left),
    ]);
    columns.retain(|(name, _)| match name.as_ref() {
        "campaign" => !campaigns.is_empty(),
        "labels" => has_labels,
        _ => true,
    });
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for run in runs {
        let (state, tone) = state_of(&run.state);
        let mut row = vec![
            Cell::toned(run.id.as_str(), Tone::Strong),
            Cell::new(started(run)),
            Cell::new(described(&run.spec.workload).in_list()),
            Cell::toned(state_and_place(run, state), tone),
            Cell::new(format_count(run.parts.iter().map(|part| part.samples).sum())),
            Cell::new(targets(run)),
        ];
        let campaign = Some(&run.campaign).filter(|campaign| campaigns.contains(campaign));
        let campaign = campaign.map(RunId::as_str).unwrap_or_default();
        row.extend((!campaigns.is_empty()).then(|| Cell::new(campaign)));
        row.extend(has_labels.then(|| Cell::new(one_line(&labels(&run.labels)))));
        table.row(row);
    }
    table.render(colour)
}

/// What a run was, above its tables.
pub fn show_head(run: &RunRecord, colour: Colour) -> String {
    let mut text = format!("{} {}\n", colour.paint(Tone::Strong, "Run"), run.id);
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("  {name:<9} {}\n", one_line(value)));
        }
    };
    let host = match run.environment.host.as_str() {
        "" => String::new(),
        host => format!(" on {host}"),
    };
    line("started", &format!("{} UTC{host}", started(run)));
    line("command", &run.command.join(" "));
    line("targets", &targets(run));
    let servers = run.targets.iter().filter_map(|target| target.server.as_ref());
    servers.for_each(|server| line("server", &server_words(server)));
    line("kernel", &run.environment.kernel);
    line("labels", &labels(&run.labels));
    let is_of_several = |plan: &CampaignPlan| {
        !plan.sides.is_empty() || plan.coordinates.values().any(|values| values.len() > 1)
    };
    if run.repetition > 1 || run.campaign != run.id || run.plan.as_ref().is_some_and(is_of_several) {
        line("campaign", &format!("{}, repetition {}", run.campaign, run.repetition));
    }
    if let Some(plan) = &run.plan {
        line("plan", plan.name.as_deref().unwrap_or_default());
        let side = plan.side.clone().unwrap_or_default();
        line("before", &side.before.join(" "));
        line("after", &side.after.join(" "));
        if let Some(PutBack::Failed { reason }) = &run.put_back {
            line("failed", reason);
        }
    }
    line("state", &state_in_words(&run.state));
    if let Some(rescue) = &run.rescue {
        let host = &run.environment.host;
        line("rescued", &format!("to {} on {host}: {}", rescue.place, rescue.cause));
    }
    text
}

/// What operations mean on the servers of a run, below its tables; nothing if there are none.
pub fn meanings_text(run: &RunRecord, width: usize) -> String {
    meanings(run).iter().map(|meaning| format!("\n{}\n", wrapped(meaning, width, "  "))).collect()
}

/// `incomplete: interrupted (Ctrl-C)`
pub(crate) fn state_in_words(state: &RunState) -> String {
    let reason = match state {
        RunState::Incomplete { reason } | RunState::Recovered { reason } => format!(": {reason}"),
        RunState::Running { .. } | RunState::Complete => String::new(),
    };
    format!("{}{reason}", state_of(state).0)
}

fn state_and_place(run: &RunRecord, state: &str) -> String {
    match (&run.rescue, &run.state) {
        (None, _) => state.to_owned(),
        // Seen from a host that cannot look there.
        (Some(rescue), RunState::Running { .. }) => {
            format!("rescued to {} on {}", rescue.place, run.environment.host)
        }
        (Some(rescue), _) => format!("{state}, rescued to {}", rescue.place),
    }
}

/// The campaigns of these runs that are of several, by the runs that are not the first.
pub(super) fn campaigns(runs: &[RunRecord]) -> BTreeSet<&RunId> {
    runs.iter().filter(|run| run.campaign != run.id).map(|run| &run.campaign).collect()
}

/// As they were typed: `client=nfs system=quiet`.
pub(super) fn labels(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

pub(super) fn started(run: &RunRecord) -> String {
    run.anchors.first().map_or_else(|| NOTHING.to_owned(), |anchor| utc(anchor.realtime_ns))
}

pub(super) fn targets(run: &RunRecord) -> String {
    // Of a trace it is where the program was, or what was read.
    if run.spec.workload.trace().is_some() {
        return run.spec.targets.join(" ");
    }
    // What others are compared with is nothing that the user asked for.
    let control = run.control();
    let measured = (0..).zip(&run.targets).filter(|(index, _)| control != Some(TargetIndex(*index)));
    let names: Vec<&str> = measured.map(|(index, _)| run.shown_name(TargetIndex(index))).collect();
    names.join(" ")
}

/// The name of a state.
pub const fn state_name(state: &RunState) -> &'static str {
    state_of(state).0
}

const fn state_of(state: &RunState) -> (&'static str, Tone) {
    match state {
        RunState::Running { .. } => ("running", Tone::Plain),
        RunState::Complete => ("complete", Tone::Good),
        RunState::Incomplete { .. } => ("incomplete", Tone::Warning),
        RunState::Recovered { .. } => ("recovered", Tone::Warning),
    }
}
