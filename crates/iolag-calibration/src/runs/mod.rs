//! How often do runs find what is not there?
//!
//! A check of one directory with 16 operations, and of the machine's memory beside it, whose durations are stationary; and a metadata
//! benchmark with three equal iterations. Every finding that concludes something is false there.

pub mod jobs;
pub mod set_up;

use std::num::NonZeroU32;

use anyhow::{Context, Result};
use iolag_analysis::{
    Basis, DEFAULT_THRESHOLDS, Engine, Grouping, Precision, RunFinding, RunFindingKind, Summaries,
    analyse_check, analyse_metadata,
};
use iolag_model::{
    Access, Anchor, Calibration, CheckSpec, Durability, Environment, Granularity, MetadataSpec,
    MonotonicTime, Nanoseconds, OnError, OnHang, Operation, Outcome, Pattern, Phase, Random, RunId,
    RunRecord, RunSpec, RunState, SampleColumns, StageIndex, StageRecord, TargetIndex, TargetRecord, Think,
    Verification, WorkloadSpec,
};

use crate::measured::{Limit, Measured};
use crate::process::{MEDIAN_SECONDS, Process};
use crate::record::nanoseconds;
use crate::seed::noise_of;

/// A task is done so many times, each other operation more often.
const TASK_ATTEMPTS: usize = 206;
const OTHER_ATTEMPTS: usize = 820;
const MEDIAN_IN_DIRECTORY_SECONDS: f64 = 0.005;
const MEDIAN_IN_MEMORY_SECONDS: f64 = 0.000_05;
const ITERATIONS: u32 = 3;

const OPERATIONS: [Operation; 16] = [
    Operation::TaskList,
    Operation::TaskListNumeric,
    Operation::TaskCreate,
    Operation::TaskCompile,
    Operation::Create,
    Operation::Read,
    Operation::Stat,
    Operation::Delete,
    Operation::Write,
    Operation::Rename,
    Operation::List,
    Operation::WriteDurably,
    Operation::CallStat,
    Operation::CallOpen,
    Operation::CallRead,
    Operation::CallClose,
];
const ITERATED: [Operation; 4] = [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create];

/// Runs of one kind of noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Runs {
    /// What makes the durations of each operation.
    pub process: Process,
    /// What is run.
    pub workload: Workload,
}

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// `iolag check`.
    Check,
    /// `iolag bench metadata` with so many objects an iteration.
    Bench(usize),
}

impl Workload {
    /// The kinds that may be concluded from it.
    pub fn kinds(self) -> Vec<RunFindingKind> {
        let is_of_it = |kind: &RunFindingKind| match self {
            Self::Check => *kind != RunFindingKind::RepetitionsDiffer,
            Self::Bench(_) => *kind != RunFindingKind::NamesLookedUp,
        };
        RunFindingKind::ALL
            .iter()
            .copied()
            .filter(|kind| kind.basis() == Basis::Inferred)
            .filter(is_of_it)
            .collect()
    }
}

impl Runs {
    /// Whether a finding of this kind would be false.
    pub fn contradicts(self, kind: RunFindingKind) -> bool {
        let has_modes = matches!(self.process, Process::Storms | Process::ModesInRuns);
        self.workload.kinds().contains(&kind) && !(has_modes && kind == RunFindingKind::TwoModes)
    }

    /// For each kind how many runs have such a finding, and how many any.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Result<Vec<Measured>> {
        let kinds: Vec<RunFindingKind> =
            RunFindingKind::ALL.iter().copied().filter(|kind| self.contradicts(*kind)).collect();
        let mut counts = vec![0; kinds.len()];
        let mut any = 0;
        for number in 0..campaigns {
            let findings = self.findings(&mut noise_of(name, number, seed))?;
            let found = |kind: &RunFindingKind| findings.iter().any(|finding| finding.kind() == *kind);
            any += usize::from(kinds.iter().any(found));
            for (kind, count) in kinds.iter().zip(&mut counts) {
                *count += usize::from(found(kind));
            }
        }
        let limit = match self.process {
            Process::OneOverF => Limit::AtMost(0.1),
            _ => Limit::AtMost(0.05),
        };
        let mut measured: Vec<Measured> = kinds
            .iter()
            .zip(counts)
            .map(|(kind, count)| Measured::share(words(*kind), count, campaigns, limit))
            .collect();
        measured.push(Measured::share("any conclusion", any, campaigns, limit));
        Ok(measured)
    }

    fn findings(self, noise: &mut Random) -> Result<Vec<RunFinding>> {
        match self.workload {
            Workload::Check => {
                let record = check_record()?;
                let mut samples = Samples::default();
                for (target, median) in
                    [MEDIAN_IN_DIRECTORY_SECONDS, MEDIAN_IN_MEMORY_SECONDS].iter().enumerate()
                {
                    for operation in OPERATIONS {
                        let is_task = operation.level() == iolag_model::Level::Task;
                        let count = if is_task { TASK_ATTEMPTS } else { OTHER_ATTEMPTS };
                        samples.add(self.process, operation, (target, 0), (count, *median), noise);
                    }
                }
                let grouping = Grouping { targets: NonZeroU32::new(2), ..Grouping::default() };
                let analysis = analyse_check(&record, &samples.summaries(grouping));
                Ok(analysis.directories.into_iter().flat_map(|directory| directory.findings).collect())
            }
            Workload::Bench(objects) => {
                let record = bench_record(objects)?;
                let mut samples = Samples::default();
                for stage in 0..ITERATIONS as usize {
                    for operation in ITERATED {
                        let size = (objects, MEDIAN_IN_DIRECTORY_SECONDS);
                        samples.add(self.process, operation, (0, stage), size, noise);
                    }
                }
                let grouping = Grouping { stages: NonZeroU32::new(ITERATIONS), ..Grouping::default() };
                Ok(analyse_metadata(&record, &samples.summaries(grouping)).findings)
            }
        }
    }
}

const fn words(kind: RunFindingKind) -> &'static str {
    match kind {
        RunFindingKind::TwoModes => "two modes",
        RunFindingKind::NamesLookedUp => "names looked up slowly",
        RunFindingKind::RepetitionsDiffer => "iterations differ",
        _ => "another conclusion",
    }
}

/// A sample before it has a start: where in its stage it is, 0 to 1, operation, target, stage, duration.
#[derive(Debug, Default)]
struct Samples(Vec<(f64, Operation, usize, usize, i64)>);

impl Samples {
    /// `count` attempts of an operation, evenly spread over their stage.
    fn add(
        &mut self,
        process: Process,
        operation: Operation,
        (target, stage): (usize, usize),
        (count, median_seconds): (usize, f64),
        noise: &mut Random,
    ) {
        let course = process.course(count, noise);
        for (number, seconds) in course.seconds.into_iter().enumerate() {
            let duration = nanoseconds(seconds / MEDIAN_SECONDS * median_seconds).0 as i64;
            self.0.push((number as f64 / count as f64, operation, target, stage, duration));
        }
    }

    /// One after the other, in the order of stages and of their places in these.
    fn summaries(mut self, grouping: Grouping) -> Summaries {
        self.0.sort_by(|one, other| one.3.cmp(&other.3).then(one.0.total_cmp(&other.0)));
        let mut now = 0;
        let mut start_ns = Vec::new();
        for sample in &self.0 {
            start_ns.push(now);
            now += sample.4;
        }
        let same = vec![0; self.0.len()];
        let (target, stage): (Vec<i32>, Vec<i32>) =
            self.0.iter().map(|sample| (sample.2 as i32, sample.3 as i32)).unzip();
        let (operation_code, duration_ns): (Vec<i32>, Vec<i64>) =
            self.0.iter().map(|sample| (sample.1 as i32, sample.4)).unzip();
        let columns = SampleColumns {
            client: &same,
            target: &target,
            stage: &stage,
            operation_code: &operation_code,
            outcome_code: &vec![Outcome::Ok as i32; self.0.len()],
            start_ns: &start_ns,
            duration_ns: &duration_ns,
            ..SampleColumns::default()
        };
        let mut engine = Engine::new(grouping, Precision::Exact);
        engine.batch(columns);
        let mut clustering = engine.clustering();
        clustering.batch(columns);
        engine.finish_with(clustering)
    }
}

fn check_record() -> Result<RunRecord> {
    let spec = WorkloadSpec::Check(CheckSpec {
        budget_ns: Nanoseconds::from_seconds(45),
        listed_files: 1000,
        created_files: 500,
        stream_bytes: 16 << 20,
        block_bytes: 1 << 20,
        object_bytes: 3901,
        thresholds_ns: DEFAULT_THRESHOLDS.to_vec(),
        control: Some(TargetIndex(1)),
    });
    record(spec, &["/scratch", "/dev/shm"], Vec::new())
}

fn bench_record(objects: usize) -> Result<RunRecord> {
    let spec = WorkloadSpec::Metadata(MetadataSpec {
        pattern: Pattern::Code,
        granularity: Granularity::Operations,
        phases: vec![Phase::Benchmark],
        datasets: 1,
        precreated_objects: objects as u64,
        objects: objects as u64,
        iterations: ITERATIONS,
        object_bytes: 3901,
        offset: 1,
        think: Think::None,
        access: Access::Replace,
        time_limit: None,
        durability: Durability::Default,
        verification: Verification::Length,
        dataset_kind: iolag_model::Datasets::Made,
        connections: iolag_model::Connections::Reused,
    });
    let stage = |iteration: u32| StageRecord {
        stage: StageIndex(iteration as u16),
        phase: Phase::Benchmark,
        iteration,
    };
    record(spec, &["/scratch"], (0..ITERATIONS).map(stage).collect())
}

fn record(workload: WorkloadSpec, names: &[&str], stages: Vec<StageRecord>) -> Result<RunRecord> {
    let id = RunId::new("20231120-185900", 1).context("the form of an id")?;
    let spec = RunSpec {
        workload,
        targets: names.iter().map(|name| (*name).to_owned()).collect(),
        clients: 1,
        deadline_ns: Nanoseconds::from_seconds(15),
        deadlines: Vec::new(),
        on_hang: OnHang::Continue,
        on_error: OnError::Continue,
        seed: 1,
        ring_bytes: 1 << 28,
        caches: iolag_model::CacheState::Asis,
        drop_command: None,
        bystander: None,
    };
    Ok(RunRecord {
        command: vec!["iolag".to_owned()],
        environment: Environment { host: "login1".to_owned(), cpus: 8, ..Environment::default() },
        anchors: vec![Anchor { monotonic_ns: MonotonicTime(0), boottime_ns: 0, realtime_ns: 0 }],
        calibration: Calibration {
            clock_read_ns: 20.0,
            clock_resolution_ns: 1.0,
            overhead_per_sample_ns: 60.0,
        },
        targets: names.iter().map(|name| TargetRecord::new(*name, "posix")).collect(),
        stages,
        ..RunRecord::new(id, spec, RunState::Complete)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found() {
        let apart = Process::Step { factor: 1000.0, place: 0.5, lasting: 0.0, coefficient: 0.0 };
        let check = Runs { process: apart, workload: Workload::Check };
        let findings = check.findings(&mut noise_of("test", 0, 1)).unwrap();
        assert!(findings.iter().any(|finding| finding.kind() == RunFindingKind::TwoModes), "{findings:#?}");
    }

    #[test]
    fn quiet_iterations_are_compared_and_modes_that_are_there_are_not_false() {
        let bench = Runs { process: Process::Independent, workload: Workload::Bench(200) };
        let measured = bench.measure("test", 5, 1).unwrap();
        let names: Vec<&str> = measured.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["two modes", "iterations differ", "another conclusion", "any conclusion"]);
        let storms = Runs { process: Process::Storms, ..bench };
        assert!(!storms.contradicts(RunFindingKind::TwoModes));
    }
}
