//! Several runs together: sweeps and repetitions.

use std::path::Path;

use iolag_analysis::figure::{SweepRun, sweep_figures};
use iolag_analysis::{MetadataAnalysis, analyse_metadata};
use iolag_backend::Target;
use iolag_conduct::{Failure, Limits, Stored, Tables, absolute};
use iolag_keeper::Room;
use iolag_model::{
    Access, Durability, MetadataSpec, OnHang, Pattern, TimeLimit, Verification, WearOut, WorkloadSpec,
    format_bytes, format_count,
};
use iolag_report::{CampaignRun, campaign_text, one_line};
use iolag_workload::{can_unshare, recommended_offset, samples_per_client, validate};

use super::show;
use crate::args::Metadata;

/// More clients than this are not threads any more but a mistake.
const CLIENTS_MAX: u64 = 1 << 16;
/// More shared memory than any node has is a mistake.
const BUFFER_MAX: u64 = 1 << 40;

/// One run of a campaign.
#[derive(Debug, Clone)]
pub struct Point {
    /// Which target.
    pub target: usize,
    /// Clients.
    pub clients: u32,
    /// The spec.
    pub spec: MetadataSpec,
    /// Which repetition, from 1.
    pub repetition: u32,
}

impl Point {
    /// A heading.
    pub fn title(&self, targets: &[Target]) -> String {
        format!(
            "{}, {}, {} objects per dataset, repetition {}",
            one_line(&targets[self.target].to_string()),
            clients_in_words(self.clients),
            format_count(self.spec.precreated_objects),
            self.repetition
        )
    }
}

/// Every run of the campaign: targets, then sizes, then clients; repetitions outermost, so that drift hits all alike.
///
/// # Errors
/// If the options ask for nothing, for what cannot be, or for the same point twice.
pub fn points(options: &Metadata) -> Result<Vec<Point>, Failure> {
    let at_least_one = |name: &str, values: &[u64]| match values.iter().find(|value| **value == 0) {
        Some(_) => Err(Failure::usage(format!("{name} 0 measures nothing: give a number of at least 1"))),
        None => Ok(()),
    };
    at_least_one("--clients", &options.clients)?;
    at_least_one("--repeat", &[options.repeat])?;
    if let Some(clients) = options.clients.iter().find(|clients| **clients > CLIENTS_MAX) {
        return Err(Failure::usage(format!(
            "--clients {clients} is more than one node can run: at most {CLIENTS_MAX}"
        )));
    }
    refuse_equal_points(options)?;
    refuse_what_does_not_fit(options)?;
    if options.phases.len() < 3
        && (options.clients.len() > 1 || options.precreate.len() > 1 || options.repeat > 1)
    {
        return Err(Failure::usage(
            "a sweep or --repeat needs all phases: each point has a working set of its own; leave out --phases",
        ));
    }
    let limits = Limits::read(Path::new("/proc"), Path::new("/sys/fs/cgroup"));
    let mut points = Vec::new();
    for repetition in 1..=options.repeat {
        for target in 0..options.targets.len() {
            for precreated in &options.precreate {
                for clients in &options.clients {
                    let spec = spec(options, *clients as u32, *precreated)?;
                    validate(&WorkloadSpec::Metadata(spec.clone()), *clients as u32)
                        .map_err(Failure::usage)?;
                    let clients = *clients as u32;
                    let point = Point { target, clients, spec, repetition: repetition as u32 };
                    if repetition == 1 {
                        refuse_what_cannot_be_had(options, &limits, &point)?;
                    }
                    points.push(point);
                }
            }
        }
    }
    Ok(points)
}

/// What a sweep compares must differ: equal points would stand side by side in every table as if they did.
fn refuse_equal_points(options: &Metadata) -> Result<(), Failure> {
    let targets: Vec<Target> = options.targets.iter().map(absolute_target).collect();
    refuse_equal("the target", &targets, |target| one_line(&target.to_string()))?;
    refuse_equal("--clients", &options.clients, u64::to_string)?;
    refuse_equal("--precreate", &options.precreate, u64::to_string)
}

fn refuse_equal<T: PartialEq>(name: &str, values: &[T], shown: impl Fn(&T) -> String) -> Result<(), Failure> {
    let times = |value: &T| values.iter().filter(|other| *other == value).count();
    match values.iter().find(|value| times(value) > 1) {
        Some(value) => Err(Failure::usage(format!(
            "{name} {} is given {} times: give it once; to measure the same again, add --repeat {}",
            shown(value),
            times(value),
            times(value)
        ))),
        None => Ok(()),
    }
}

/// `x` and `./x` are one directory.
fn absolute_target(target: &Target) -> Target {
    target.directory().map_or_else(|| target.clone(), |path| target.with_directory(&absolute(path)))
}

/// Options that contradict each other, and a buffer that no run can have.
fn refuse_what_does_not_fit(options: &Metadata) -> Result<(), Failure> {
    if options.give_up_after.is_some() && options.on_hang != OnHang::Wait {
        return Err(Failure::usage(format!(
            "--give-up-after needs --on-hang wait: with {} nobody waits for a hung operation",
            options.on_hang
        )));
    }
    if options.read_only && options.pattern == Pattern::Batch {
        return Err(Failure::usage(
            "pattern batch creates and removes what it reads: leave out --read-only, or choose --pattern code",
        ));
    }
    if let Some(buffer) = options.buffer.filter(|buffer| *buffer > BUFFER_MAX) {
        return Err(Failure::usage(format!(
            "--buffer {} is more than a node has: at most {}",
            format_bytes(buffer),
            format_bytes(BUFFER_MAX)
        )));
    }
    Ok(())
}

/// Bytes for the samples of all clients together.
pub fn buffer_bytes(options: &Metadata, clients: u32) -> u64 {
    options.buffer.unwrap_or_else(|| Room::usual_bytes(clients))
}

/// What the system does not give to so many clients is known before anything is created.
fn refuse_what_cannot_be_had(options: &Metadata, limits: &Limits, point: &Point) -> Result<(), Failure> {
    let room = Room {
        clients: point.clients,
        ring_bytes: buffer_bytes(options, point.clients),
        samples_per_client: samples_per_client(&WorkloadSpec::Metadata(point.spec.clone())),
    };
    let tables = || {
        let has_descriptors = options.targets[point.target].directory().is_some();
        if has_descriptors && !can_unshare() { Tables::Shared } else { Tables::Own }
    };
    limits.refuse(room, tables)
}

fn spec(options: &Metadata, clients: u32, precreated_objects: u64) -> Result<MetadataSpec, Failure> {
    let small = |name: &str, value: u64| {
        u32::try_from(value)
            .map_err(|_| Failure::usage(format!("{name} {value} is too large: at most {}", u32::MAX)))
    };
    let wear_out = if options.wear_out { WearOut::Equalise } else { WearOut::Stop };
    let mut phases = options.phases.clone();
    phases.sort_unstable();
    phases.dedup();
    // In a sweep over sizes, an iteration consumes no more than the smallest working set has.
    let objects =
        if options.precreate.len() > 1 { options.objects.min(precreated_objects) } else { options.objects };
    Ok(MetadataSpec {
        pattern: options.pattern,
        granularity: options.detail,
        phases,
        datasets: small("--datasets", options.datasets)?,
        precreated_objects,
        objects,
        iterations: small("--iterations", options.iterations)?,
        object_bytes: options.object_size,
        offset: match options.offset {
            Some(offset) => small("--offset", offset)?,
            None => recommended_offset(clients, clients),
        },
        think: options.think,
        access: if options.read_only { Access::ReadOnly } else { Access::Replace },
        time_limit: options.time_limit.map(|after_ns| TimeLimit { after_ns, wear_out }),
        durability: if options.fsync { Durability::Fsync } else { Durability::Default },
        verification: if options.verify { Verification::Content } else { Verification::Length },
    })
}

/// The runs side by side: see [`campaign_text`].
pub fn text(runs: &[(&Point, &Stored)], targets: &[Target], look: show::Look) -> String {
    let names: Vec<String> = targets.iter().map(Target::to_string).collect();
    let analyses: Vec<MetadataAnalysis> =
        runs.iter().map(|(_, stored)| analyse_metadata(&stored.record, &stored.summaries)).collect();
    let swept = runs.iter().zip(&analyses);
    let swept: Vec<SweepRun<'_>> =
        swept.map(|((_, stored), analysis)| SweepRun { record: &stored.record, analysis }).collect();
    let sweeps = sweep_figures(&swept);
    let rows: Vec<CampaignRun<'_>> = runs
        .iter()
        .zip(&analyses)
        .map(|((point, stored), analysis)| CampaignRun {
            id: stored.record.id.as_str(),
            target: &names[point.target],
            clients: point.clients,
            precreated_objects: point.spec.precreated_objects,
            repetition: point.repetition,
            stages: analysis.stages.clone(),
        })
        .collect();
    campaign_text(&rows, &sweeps, look.width(), look.colour())
}

/// The documents of all runs: one object for one run, an array for several.
///
/// # Errors
/// If one cannot be serialised, which is a bug.
pub fn json(runs: &[(&Point, &Stored)]) -> Result<Vec<u8>, Failure> {
    let mut documents = Vec::new();
    for (_, stored) in runs {
        documents.push(show::json(&stored.record, &stored.summaries)?);
    }
    if let [document] = &mut documents[..] {
        return Ok(std::mem::take(document));
    }
    let joined: Vec<_> = documents.iter().map(|document| document.trim_ascii_end()).collect();
    Ok([b"[\n".as_slice(), &joined.join(&b",\n"[..]), b"\n]\n"].concat())
}

fn clients_in_words(clients: u32) -> String {
    if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") }
}
