//! A traced program, asked again by copies: its campaign, and what a copy does in its measurer. Nothing is made in the target, and nothing is removed, but for a working place
//! in which each copy has files of its own, if it may change any.

pub(crate) mod looking;
mod own_files;
pub(crate) mod preparing;
pub(crate) mod reading;
mod roots;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolag_backend::{Target, WORKING_NAME};
use iolag_keeper::{Exchange, SharedRecorder};
use iolag_model::{
    CacheState, ClientId, JobTerms, MonotonicClock, Nanoseconds, ReplayMap, ReplayOwn, ReplaySpec,
    ReplayTiming, Role, RunSpec, Trust, WorkloadSpec,
};
use iolag_trace::Repetition;
use iolag_workload::{
    CopyClients, DriveEnd, DriveOptions, MapRoot, Paths, ProcessorTimes, ReplayCopy, ReplayPace, Workload,
    buffer_bytes, run_copy,
};

use self::own_files::make_own_files;
use self::roots::{refuse_others, roots};
use crate::bench::campaign::Campaign;
use crate::bench::floor::Floor;
use crate::bench::options::{BenchOptions, Crew};
use crate::bench::plan::plan_bench;
use crate::bench::{Benched, Ground};
use crate::environment::limits::Limits;
use crate::environment::processors::Processors;
use crate::failure::Failure;
use crate::messages::MeasurerEnd;

/// What is said of a replay besides its trace and its targets.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayOptions {
    /// The trace, as it was named.
    pub trace: String,
    /// The directory of the program that targets stand for.
    pub base: String,
    /// Other directories of the program, wherever the target is.
    pub maps: Vec<ReplayMap>,
    /// All is restricted to these directories of the program, if to any.
    pub only: Vec<String>,
    /// What tracing the program cost, which is none of its time.
    pub tracing: Nanoseconds,
    /// When calls are made.
    pub timing: ReplayTiming,
    /// How much faster than they were.
    pub speed: f64,
    /// How long one copy begins after the other.
    pub stagger: Stagger,
    /// What is asked of the copies.
    pub terms: JobTerms,
    /// After how long it is ended.
    pub kill_after: Option<Nanoseconds>,
    /// Why it is only a part of a trace, if it is.
    pub doubt: Option<String>,
}

/// When copies begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stagger {
    /// All at once.
    Together,
    /// So long one after the other.
    By(Nanoseconds),
    /// One after the other, all within the time that the program took.
    WithinProgram,
}

/// What is repeated in one target.
#[derive(Debug, Clone)]
pub struct Repeated {
    /// The target.
    pub target: Target,
    /// What is asked there.
    pub repetition: Arc<Repetition>,
}

/// Plans the runs of a replay; `program` is what was traced, and `repeated` what is asked in each target.
///
/// # Errors
/// As [`plan_bench`], and if it cannot be replayed so.
pub fn plan_replay(
    options: BenchOptions,
    replay: &ReplayOptions,
    program: Option<&str>,
    repeated: &[Repeated],
    limits: &Limits,
) -> Result<Campaign, Failure> {
    refuse_what_is_not_done(&options, replay)?;
    let replay = &ReplayOptions { terms: options.with_payload(&replay.terms)?, ..replay.clone() };
    let of_target = |target: &Target| repeated.iter().find(|repeated| repeated.target == *target);
    let first = repeated.first().ok_or_else(|| Failure::bug("a replay has a target"))?;
    let workload = |repetition: &Repetition, copies: u32| -> Result<WorkloadSpec, String> {
        let spec = spec(replay, program, repetition, copies);
        spec.validate(copies).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::Replay(spec))
    };
    let general = |(): &(), copies| workload(&first.repetition, copies);
    let options = BenchOptions { crew: Crew::Copies, ..options };
    let mut campaign = plan_bench(options, &[(BTreeMap::new(), ())], general, limits)?;
    for run in &mut campaign.runs {
        let point = &mut run.point;
        let repeated =
            of_target(&point.side.target).ok_or_else(|| Failure::bug("each target was looked at"))?;
        let buffers = buffer_bytes(&repeated.repetition);
        limits
            .refusal_of_buffers(point.spec.clients, buffers)
            .map_or(Ok(()), |why| Err(Failure::usage(why)))?;
        point.spec.workload = workload(&repeated.repetition, point.spec.clients).map_err(Failure::usage)?;
        point.repetition = Some(Arc::clone(&repeated.repetition));
        point.doubt = point.doubt.take().or_else(|| replay.doubt.as_deref().map(only_a_part));
    }
    Ok(campaign)
}

/// Whether a target is a directory, and nothing around one.
///
/// # Errors
/// If it is not: what the user has to say instead.
pub fn refuse_other_than_directory(target: &Target) -> Result<&Path, Failure> {
    target.directory().filter(|_| target.kind() == "posix").ok_or_else(|| {
        Failure::usage(format!(
            "{target} has no files of a program: name a directory, as in /scratch/skeleton"
        ))
    })
}

fn only_a_part(doubt: &str) -> Trust {
    Trust {
        doubt: format!("only a part of the program is repeated: {doubt}"),
        advice: "trace it again, to its end".to_owned(),
    }
}

fn refuse_what_is_not_done(options: &BenchOptions, replay: &ReplayOptions) -> Result<(), Failure> {
    let refused = |sentence: &str| Err(Failure::usage(sentence));
    if options.working_name != WORKING_NAME {
        return refused("a replay has no working directory: leave out the working name");
    }
    if options.bystander.is_some() {
        return refused(
            "--bystander measures beside benches: leave it out, and let iolag ping DIR --task list measure beside this",
        );
    }
    if options.caches == CacheState::Warm {
        return refused(
            "--caches warm would read all that lies below the target: leave it out, and repeat everything (--repeat 2), the second finds what the \
             first left in memory",
        );
    }
    if replay.timing == ReplayTiming::Asap && replay.speed != 1.0 {
        return refused(
            "--speed is that of gaps or exact moments: as soon as possible is as fast as it gets",
        );
    }
    Ok(())
}

fn spec(replay: &ReplayOptions, program: Option<&str>, repetition: &Repetition, copies: u32) -> ReplaySpec {
    ReplaySpec {
        trace: replay.trace.clone(),
        program: program.map(str::to_owned),
        base: replay.base.clone(),
        maps: replay.maps.clone(),
        only: replay.only.clone(),
        timing: replay.timing,
        speed: replay.speed,
        stagger_ns: match replay.stagger {
            Stagger::Together => Nanoseconds::ZERO,
            Stagger::By(stagger) => stagger,
            Stagger::WithinProgram => Nanoseconds(repetition.traced.0 / u64::from(copies.max(1))),
        },
        tasks: repetition.tasks.len() as u32,
        items_max: repetition.items_max(),
        traced_ns: repetition.traced,
        tracing_ns: replay.tracing,
        coverage: repetition.coverage.clone(),
        terms: replay.terms.clone(),
        kill_after_ns: replay.kill_after,
        own: repetition.own.as_ref().map(|own| ReplayOwn { files: own.files, bytes: own.bytes }),
    }
}

impl Benched for ReplaySpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--copies", "--copies")
    }

    fn objects_held(&self, clients: u32) -> u64 {
        self.objects_needed(clients)
    }

    fn ground(&self) -> Ground {
        if self.own.is_some() { Ground::WorkingPlace } else { Ground::Named }
    }

    /// What the program only reads lies around the working place.
    fn ground_of_caches(&self) -> Ground {
        Ground::Named
    }

    fn removes_working_set(&self) -> bool {
        self.own.is_some()
    }

    /// Copies do not wait for each other at their ends.
    fn ends_together(&self) -> bool {
        false
    }

    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let repetition = floor.repetition.ok_or("a copy without what it repeats")?;
        let target = floor.target.directory().ok_or("a replay in no directory")?;
        let open = |path: PathBuf| {
            MapRoot::open(&path).map_err(|errno| format!("cannot open {}: {errno}", path.display()))
        };
        let rank = floor.clients.start;
        let mut all = roots(target, &self.maps);
        if let Some(own) = &repetition.own {
            // As the map after all others.
            all.push(make_own_files(target, floor.place, own, rank)?);
        }
        let roots = all.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        refuse_others(&roots, &repetition.roots)?;
        let copy = ReplayCopy {
            repetition,
            paths: Paths::new(roots, &repetition.places),
            pace: ReplayPace::new(self, rank),
            rank,
            followers: floor.spec.followers_of(rank).start,
            caches: (floor.spec.caches, floor.caches.clone()),
            stages: Arc::clone(floor.stages),
            processors: ProcessorTimes::new(floor.stages.len(), Processors::WholeProcess),
            payload: floor.payload.clone(),
        };
        let clients = OfExchange { exchange: floor.exchange, spec: floor.spec };
        let driven = run_copy(&copy, &clients, &floor.exchange.coordinator(), &MonotonicClock);
        Ok((driven.map_err(|error| error.to_string())?, MeasurerEnd::default()))
    }
}

/// The tasks of a copy as clients of the run.
struct OfExchange<'a> {
    exchange: &'a Exchange,
    spec: &'a RunSpec,
}

impl CopyClients for OfExchange<'_> {
    type Recorder = SharedRecorder;

    fn recorder(&self, client: u32) -> SharedRecorder {
        self.exchange.recorder(client)
    }

    fn options(&self, client: u32) -> DriveOptions {
        DriveOptions { client: ClientId(client), rank: client, deadlines: self.spec.deadlines_of(Role::Load) }
    }

    fn is_expected(&self, client: u32) -> bool {
        self.exchange.is_expected(client)
    }
}
