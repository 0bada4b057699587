//! A run as a unit: what of its record matters when it stands beside others.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    Environment, FileSystem, HostIndex, Nanoseconds, Phase, RunRecord, RunSpec, RunState, StageRecord,
    TargetRecord, TreeNames, TreeRecord, TreeSpec, TreeStage, WorkloadSpec, counted, format_bytes,
    format_duration, parse_bytes, parse_duration, whatever_workload,
};
use serde_json::Value;

use super::side::{Fact, Unit, UnitBlock, UnitKind, UnitValue};
use crate::run::values::{CellValue, RunValues};
use crate::run::workload::analysed;
use crate::statistics::runs::table::CampaignEnding;

/// A run, by its record and by what it says.
pub fn unit_of_run(record: &RunRecord, values: &RunValues) -> Unit {
    let spec = &record.spec;
    let workload = analysed(&spec.workload);
    let block = record.plan.as_ref().map(|plan| UnitBlock {
        campaign: record.campaign.clone(),
        order: plan.order,
        ending: plan.stopping.map_or(CampaignEnding::Planned, |_| CampaignEnding::WhenPrecise),
        block: record.block,
    });
    // What the record says counts.
    let mut coordinates = workload.coordinates(spec.clients);
    coordinates.extend(record.coordinates.clone());
    let moments = || record.anchors.iter().map(|anchor| anchor.realtime_ns as i64);
    let names = || record.targets.iter().map(|target| target.name.clone());
    let value = |value: &CellValue| UnitValue {
        cell: value.cell,
        task: None,
        target: names().nth(usize::from(value.target.0)).unwrap_or_default(),
        attempts: value.attempts,
        amounts: value.amounts.clone(),
        profile: value.profile.clone(),
        processors: value.processors,
    };
    let further = record.further_hosts.iter().map(|host| host.calibration);
    let calibrations = std::iter::once(record.calibration).chain(further);
    let of_file_system = |target: &TargetRecord| target.file_system.as_ref().map(facts_of_place);
    let places = record.targets.iter().map(|target| {
        let facts = of_file_system(target).unwrap_or_default().into_iter().chain(facts_of_tree(record));
        (target.name.clone(), facts.collect())
    });
    Unit {
        name: record.id.to_string(),
        kind: UnitKind::Run,
        workload: spec.workload.name().to_owned(),
        usual: workload.compared(),
        block,
        span_ns: [moments().min().unwrap_or_default(), moments().max().unwrap_or_default()],
        coordinates,
        labels: record.labels.clone(),
        facts: facts(record).into_iter().chain(of_copies(values)).collect(),
        places: places.collect(),
        page_cache_bytes: record.before.page_cache_bytes,
        caches: values.caches,
        felt: values.felt.clone(),
        clock_step_ns: calibrations.map(|one| one.clock_resolution_ns).fold(1.0, f64::max),
        quantile_step: values.step,
        standing: values.standing,
        values: values.cells.iter().map(value).collect(),
    }
}

/// What the hosts are, and what was asked for.
fn facts(record: &RunRecord) -> BTreeMap<Fact, String> {
    let hosts = (0..=record.further_hosts.len() as u16).map(|host| record.host(HostIndex(host)).environment);
    // Several hosts that are alike are one fact.
    let all = |of: &dyn Fn(&Environment) -> String| {
        let told: BTreeSet<String> = hosts.clone().map(of).filter(|text| !text.is_empty()).collect();
        told.into_iter().collect::<Vec<_>>().join(", ")
    };
    let known = [
        (Fact::Host, all(&|host| host.host.clone())),
        (Fact::Kernel, all(&|host| host.kernel.clone())),
        (Fact::Processors, all(&|host| if host.cpus == 0 { String::new() } else { host.cpus.to_string() })),
        (Fact::Memory, all(&|host| host.memory_bytes.map(format_bytes).unwrap_or_default())),
        (Fact::Version, all(&|host| host.iolag_version.clone())),
        (Fact::Commands, commands(record)),
    ];
    let known = known.into_iter().filter(|(_, text)| !text.is_empty());
    known.chain(options(&record.spec)).collect()
}

fn of_copies(values: &RunValues) -> Option<(Fact, String)> {
    let told = if values.are_clones? { "clones, of which nothing was moved" } else { "moved" };
    Some((Fact::Copies, told.to_owned()))
}

fn commands(record: &RunRecord) -> String {
    let side = record.plan.iter().filter_map(|plan| plan.side.as_ref());
    side.flat_map(|side| side.before.iter().chain(&side.after)).cloned().collect::<Vec<_>>().join(" ")
}

fn facts_of_place(file_system: &FileSystem) -> BTreeMap<Fact, String> {
    let facts = [
        (Fact::FileSystem, &file_system.kind),
        (Fact::Source, &file_system.source),
        (Fact::Device, &file_system.device),
        (Fact::MountOptions, &file_system.options),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(fact, text)| (fact, text.clone())).collect()
}

/// What a tree has, as far as all of it was found and read: with a time limit nobody knows.
fn facts_of_tree(record: &RunRecord) -> BTreeMap<Fact, String> {
    let (Some(tree), WorkloadSpec::Tree(TreeSpec { time_limit_ns: None, .. })) =
        (&record.tree, &record.spec.workload)
    else {
        return BTreeMap::new();
    };
    let found = tree.found;
    // A run that was not broken off has read the rest of a tree of which something vanished.
    let is_whole = record.state == RunState::Complete;
    let of_all = |all: u64, done: fn(&TreeStage) -> u64| {
        let is_all = |stage: &&TreeStage| done(stage) == all && all > 0;
        let some = || tree.stages.iter().find(|stage| is_whole && done(stage) > 0);
        tree.stages.iter().find(is_all).or_else(some)
    };
    let read = of_all(found.files, |stage| stage.files);
    let asked = of_all(found.asked(), |stage| stage.names);
    let bytes = read.map(|stage| stage.bytes).or(asked.map(|stage| stage.size_bytes));
    let lacking = if is_whole { lacking(record, tree) } else { 0 };
    let facts = [
        (Fact::Tree, Some(names_of(found, lacking))),
        (Fact::TreeBytes, bytes.map(|bytes| counted(bytes, "byte", "bytes"))),
        (Fact::TreeChecksum, read.map(|stage| format!("checksum {:016x}", stage.checksum))),
    ];
    facts.into_iter().filter_map(|(fact, told)| Some((fact, told?))).collect()
}

/// How many names, at the most, a phase did not succeed for, since they vanished or may not be read.
fn lacking(record: &RunRecord, tree: &TreeRecord) -> u64 {
    let of_stage = |stage: &StageRecord| {
        let done = tree.stages.iter().find(|done| done.stage == stage.stage).copied().unwrap_or_default();
        match stage.phase {
            Phase::Sum => tree.found.files.saturating_sub(done.files),
            Phase::Stat | Phase::Combined => tree.found.asked().saturating_sub(done.names),
            _ => 0,
        }
    };
    record.stages.iter().map(of_stage).max().unwrap_or_default()
}

/// As in `120 files, 9 directories`.
fn names_of(found: TreeNames, lacking: u64) -> String {
    let parts = [
        (found.files, "file", "files"),
        (found.directories, "directory", "directories"),
        (found.links, "symbolic link", "symbolic links"),
        (found.special, "special file", "special files"),
        (found.mount_points, "mount point", "mount points"),
        (found.unread_directories, "directory that could not be read", "directories that could not be read"),
        (lacking, "name that was gone or refused", "names that were gone or refused"),
    ];
    let told = parts.iter().map(|(number, one, many)| counted(*number, one, many));
    told.collect::<Vec<_>>().join(",")
}

/// What of a spec is no difference between runs that a user asked for: coordinates and targets, which say it already, and how samples travel.
const NO_OPTION: [&str; 13] = [
    "kind",
    "workload",
    "targets",
    "clients",
    "precreated_objects",
    "control",
    "ring_bytes",
    "thresholds_ns",
    "judge_ns",
    "payload_ns",
    "timeouts_at_most_per_million",
    // They follow from the others, and from the kind of target.
    "deadlines",
    "dataset_kind",
];

/// What users call what is called otherwise in files.
const NAMES: [(&str, &str); 12] = [
    ("payload_command", "payload"),
    ("asked", "bystander"),
    ("rate_per_second", "bystander-rate"),
    ("quiet", "bystander-quiet"),
    ("granularity", "detail"),
    ("connections", "session"),
    ("what", "probe"),
    ("name", "task"),
    ("after", "time-limit"),
    ("block_bytes", "block"),
    ("allocation", "preallocate"),
    ("compressible_percent", "compressible"),
];

/// The options of a spec with their values, by what users call them.
pub fn options_of(spec: &RunSpec) -> BTreeMap<String, String> {
    let of_fact = |(fact, value)| match fact {
        Fact::Option(name) => Some((name, value)),
        _ => None,
    };
    options(spec).into_iter().filter_map(of_fact).collect()
}

/// The options of a spec, field by field, so that no workload is forgotten.
fn options(spec: &RunSpec) -> BTreeMap<Fact, String> {
    let mut options = BTreeMap::new();
    let of_workload = whatever_workload!(&spec.workload, spec => serde_json::to_value(spec));
    for part in [serde_json::to_value(spec), of_workload].into_iter().flatten() {
        add_fields(&part, &mut options);
    }
    options
}

fn add_fields(value: &Value, options: &mut BTreeMap<Fact, String>) {
    let Value::Object(fields) = value else { return };
    for (name, value) in fields.iter().filter(|(name, _)| !NO_OPTION.contains(&name.as_str())) {
        // A choice with an amount, such as a pause of a factor, is told by its own name.
        match value {
            Value::Object(inner) if inner.len() > 1 => add_fields(value, options),
            Value::Object(inner) => {
                let told = inner.iter().map(|(choice, amount)| format!("{choice} {}", told(choice, amount)));
                options.insert(named(name), told.collect());
            }
            Value::Null => {}
            _ => {
                options.insert(named(name), told(name, value));
            }
        }
    }
}

/// As on the command line: `object_bytes` is the object size, `budget_ns` the budget.
fn named(field: &str) -> Fact {
    let field = field.strip_suffix("_ns").unwrap_or(field);
    let by_users = NAMES.iter().find(|(own, _)| *own == field);
    let plain = match (by_users, field.strip_suffix("_bytes")) {
        (Some((_, users)), _) => (*users).to_owned(),
        (None, Some(object)) => format!("{object}-size"),
        (None, None) => field.to_owned(),
    };
    Fact::Option(plain.replace('_', "-"))
}

/// In the words of people where these say all of it.
fn told(field: &str, value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(|value| told(field, value)).collect::<Vec<_>>().join(", "),
        Value::Number(number) => match number.as_u64() {
            Some(ns) if field.ends_with("_ns") || field == "fixed" => duration(ns),
            Some(bytes) if field.ends_with("_bytes") => size(bytes),
            _ => number.to_string(),
        },
        _ => value.to_string(),
    }
}

fn duration(ns: u64) -> String {
    let text = format_duration(Nanoseconds(ns));
    if parse_duration(&text) == Ok(Nanoseconds(ns)) { text } else { format!("{ns} ns") }
}

/// 3901 is a number of its own, 4096 is 4 KiB.
fn size(bytes: u64) -> String {
    let text = format_bytes(bytes);
    let is_round = bytes.is_multiple_of(1024) && parse_bytes(&text) == Ok(bytes);
    if is_round { text } else { format!("{bytes} B") }
}
