//! In which options a campaign differs from a run of it that an earlier command made.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::compare::options_of;
use iolag_model::{CampaignPlan, RunRecord, RunSpec, SideRecord, one_line};

/// What a run was, or is to be, made with, by what users call it.
pub(super) fn options(
    spec: &RunSpec,
    labels: &BTreeMap<String, String>,
    plan: Option<&CampaignPlan>,
) -> BTreeMap<String, String> {
    let mut options = options_of(spec);
    options.extend(labels.iter().map(|(name, value)| (format!("the label {name}"), value.clone())));
    let Some(CampaignPlan { order, stopping, name, coordinates, side, .. }) = plan else { return options };
    let SideRecord { before, after } = side.clone().unwrap_or_default();
    let given = [
        ("order", Some(order.to_string())),
        ("precision", stopping.map(|stopping| format!("{} %", stopping.precision * 100.0))),
        ("budget", stopping.map(|stopping| stopping.budget_ns.to_string())),
        ("name", name.clone()),
        ("before", (!before.is_empty()).then(|| before.join(" "))),
        ("after", (!after.is_empty()).then(|| after.join(" "))),
    ];
    options.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    options.extend(coordinates.iter().map(|(name, values)| (option_of(name).to_owned(), values.join(", "))));
    options
}

/// As in `objects was 1000 and is 2000; fsync was not given and is fsync`.
pub(super) fn differences(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let shown = |value: Option<&String>| value.map_or("not given".to_owned(), |value| one_line(value));
    let differs = names.into_iter().filter(|name| was.get(*name) != is.get(*name));
    let told = differs.map(|name| {
        format!("{} was {} and is {}", one_line(name), shown(was.get(name)), shown(is.get(name)))
    });
    told.collect::<Vec<_>>().join("; ")
}

/// What of the place of this run in its campaign none of the planned runs has, of which these are coordinates and repetition, as in
/// `clients was 2 and is 1, 4`; nothing if each has its part of it.
pub(super) fn foreign_place(record: &RunRecord, planned: &[(&BTreeMap<String, String>, u32)]) -> String {
    let mut foreign = Vec::new();
    for (name, was) in &record.coordinates {
        let known: BTreeSet<&String> =
            planned.iter().filter_map(|(coordinates, _)| coordinates.get(name)).collect();
        if !known.contains(was) {
            let known: Vec<String> = known.into_iter().map(|known| one_line(known)).collect();
            let is = if known.is_empty() { "not given".to_owned() } else { known.join(", ") };
            let name = option_of(name);
            foreign.push(format!("{name} was {} and is {is}", one_line(was)));
        }
    }
    let most = planned.iter().map(|(_, repetition)| *repetition).max().unwrap_or(0);
    if record.repetition > most {
        foreign.push(format!("repeat was at least {} and is {most}", record.repetition));
    }
    foreign.join("; ")
}

/// What the user says to choose a coordinate: that of objects says how many there are before.
fn option_of(coordinate: &str) -> &str {
    if coordinate == "objects" { "precreate" } else { coordinate }
}
