//! Runs made up for tests: a record and samples of which every number is known.
#![allow(dead_code, reason = "each test uses its part")]

use std::num::NonZeroU32;

use iolag_analysis::{Engine, Grouping, Precision, Summaries, analysed};
use iolag_model::Random;
use iolag_model::*;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000 * MS;

/// A run with its samples, in the order in which they are added.
pub struct Scenario {
    pub record: RunRecord,
    pub samples: Vec<Sample>,
    targets: Vec<u16>,
    clock_ns: u64,
    next: u64,
}

impl Scenario {
    /// A check of these directories.
    pub fn check(names: &[&str]) -> Self {
        let spec = WorkloadSpec::Check(CheckSpec {
            budget_ns: Nanoseconds(45 * S),
            listed_files: 6,
            created_files: 500,
            stream_bytes: 16 << 20,
            block_bytes: 1 << 20,
            object_bytes: 3901,
            thresholds_ns: iolag_analysis::DEFAULT_THRESHOLDS.to_vec(),
            control: None,
        });
        Self::new(spec, names, 1)
    }

    /// A metadata benchmark on one target.
    pub fn metadata(clients: u32, datasets: u32, offset: u32, phases: &[(Phase, u32)]) -> Self {
        let spec = WorkloadSpec::Metadata(MetadataSpec {
            pattern: Pattern::Code,
            granularity: Granularity::Operations,
            phases: phases.iter().map(|(phase, _)| *phase).collect(),
            datasets,
            precreated_objects: 3000,
            objects: 1000,
            iterations: 3,
            object_bytes: 3901,
            offset,
            think: Think::None,
            access: Access::Replace,
            time_limit: None,
            durability: Durability::Default,
            verification: Verification::Length,
            dataset_kind: Datasets::Made,
            connections: Connections::Reused,
        });
        let mut scenario = Self::new(spec, &["/scratch/me"], clients);
        scenario.record.stages = phases
            .iter()
            .enumerate()
            .map(|(stage, &(phase, iteration))| StageRecord {
                stage: StageIndex(stage as u16),
                phase,
                iteration,
            })
            .collect();
        scenario
    }

    fn new(workload: WorkloadSpec, names: &[&str], clients: u32) -> Self {
        let id = RunId::new("20261120-185900", 0x3fa7).expect("the form of an id");
        let target = |name: &&str| TargetRecord {
            file_system: Some(FileSystem { kind: "nfs4".to_owned(), ..FileSystem::default() }),
            ..TargetRecord::new(*name, "posix")
        };
        let spec = RunSpec {
            workload,
            targets: names.iter().map(|name| (*name).to_owned()).collect(),
            clients,
            deadline_ns: Nanoseconds(15 * S),
            deadlines: Vec::new(),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            seed: 1,
            ring_bytes: 1 << 28,
            caches: CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        let record = RunRecord {
            command: vec!["iolag".to_owned()],
            environment: Environment { host: "login1".to_owned(), cpus: 8, ..Environment::default() },
            anchors: vec![Anchor {
                monotonic_ns: MonotonicTime(S),
                boottime_ns: S,
                realtime_ns: 1_795_201_140 * S,
            }],
            calibration: Calibration {
                clock_read_ns: 20.0,
                clock_resolution_ns: 1.0,
                overhead_per_sample_ns: 60.0,
            },
            targets: names.iter().map(target).collect(),
            ..RunRecord::new(id, spec, RunState::Complete)
        };
        Self { record, samples: Vec::new(), targets: Vec::new(), clock_ns: S, next: 0 }
    }

    /// A sample that starts when the one before ended.
    pub fn add(&mut self, target: u16, operation: Operation, ns: u64) -> &mut Sample {
        let attempt = AttemptId::new(ClientId(u32::from(target)), self.next);
        let start = MonotonicTime(self.clock_ns);
        self.next += 1;
        self.clock_ns += ns;
        self.targets.push(target);
        self.samples.push(Sample::new(attempt, operation, start, start, Nanoseconds(ns)));
        self.samples.last_mut().expect("it was just added")
    }

    /// `count` samples scattered log-normally around `median_ns`.
    pub fn scatter(&mut self, target: u16, operation: Operation, count: usize, median_ns: u64, spread: f64) {
        let mut noise = Random::new(operation as u64 * 7919 + u64::from(target) + count as u64);
        for _ in 0..count {
            let ns = median_ns as f64 * (spread * noise.normal()).exp();
            self.add(target, operation, ns as u64);
        }
    }

    /// Forgets all other samples.
    pub fn retain(&mut self, is_kept: impl Fn(&Sample) -> bool) {
        let kept: Vec<bool> = self.samples.iter().map(is_kept).collect();
        let mut both = kept.iter().copied();
        self.samples.retain(|_| both.next() == Some(true));
        let mut both = kept.into_iter();
        self.targets.retain(|_| both.next() == Some(true));
    }

    /// A sample of a client in a stage, at a time of its own.
    pub fn at(
        &mut self,
        stage: u16,
        client: u32,
        operation: Operation,
        start_ns: u64,
        ns: u64,
    ) -> &mut Sample {
        let attempt = AttemptId::new(ClientId(client), self.next);
        let start = MonotonicTime(start_ns);
        self.next += 1;
        self.targets.push(0);
        let sample = Sample::new(attempt, operation, start, start, Nanoseconds(ns));
        self.samples.push(sample.in_stage(StageIndex(stage)));
        self.samples.last_mut().expect("it was just added")
    }

    /// Summaries as `iolag check` needs them.
    pub fn by_target(&self) -> Summaries {
        self.summaries(Grouping {
            targets: NonZeroU32::new(self.record.targets.len() as u32),
            ..Grouping::default()
        })
    }

    /// Summaries as `iolag bench metadata` needs them.
    pub fn by_stage(&self) -> Summaries {
        self.summaries(Grouping { stages: NonZeroU32::new(self.record.stage_count()), ..Grouping::default() })
    }

    fn summaries(&self, grouping: Grouping) -> Summaries {
        fn column<T>(samples: &[Sample], of: impl Fn(&Sample) -> T) -> Vec<T> {
            samples.iter().map(of).collect()
        }
        let samples = &self.samples;
        let target: Vec<i32> = self.targets.iter().map(|target| i32::from(*target)).collect();
        let censoring = analysed(&self.record.spec.workload).censoring();
        let mut engine = Engine::new(grouping, Precision::Exact).with_censoring(censoring);
        engine.batch(SampleColumns {
            attempt: &column(samples, |sample| sample.attempt.0 as i64),
            client: &column(samples, |sample| sample.attempt.client().0 as i32),
            target: &target,
            stage: &column(samples, |sample| i32::from(sample.stage.0)),
            operation_code: &column(samples, |sample| i32::from(sample.operation_code())),
            outcome_code: &column(samples, |sample| sample.outcome() as i32),
            failure_code: &column(samples, |sample| i32::from(sample.code.0)),
            intended_ns: &column(samples, |sample| sample.intended.0 as i64),
            start_ns: &column(samples, |sample| sample.start.0 as i64),
            duration_ns: &column(samples, |sample| sample.duration.0 as i64),
            bytes: &column(samples, |sample| sample.bytes as i64),
            tag: &column(samples, |sample| i32::from(sample.tag)),
        });
        engine.finish()
    }
}

/// A check of a slow NFS home, a fast local directory, and one that does not answer.
pub fn three_directories() -> Scenario {
    let mut scenario = Scenario::check(&["/home/me", "/tmp", "/scratch"]);
    scenario.record.targets[1].file_system =
        Some(FileSystem { kind: "tmpfs".to_owned(), ..FileSystem::default() });
    for (target, slower) in [(0, 40), (1, 1)] {
        scenario.scatter(target, Operation::TaskListNumeric, 40, 2 * MS, 0.1);
        scenario.scatter(target, Operation::TaskList, 40, 2 * MS * slower, 0.2);
        scenario.scatter(target, Operation::TaskCreate, 8, 9 * MS * slower, 0.2);
        scenario.scatter(target, Operation::TaskCompile, 4, 300 * MS, 0.1);
        scenario.scatter(target, Operation::Stat, 400, 2_000, 0.3);
        scenario.scatter(target, Operation::Create, 400, 30_000 * slower, 0.3);
        scenario.scatter(target, Operation::CallWrite, 100, 4_000, 0.2);
        scenario.scatter(target, Operation::CallCloseWritten, 100, 2_000 + 3 * MS * (slower - 1) / 39, 0.2);
        scenario.scatter(target, Operation::StreamWrite, 16, 400_000 * slower, 0.2);
    }
    for ns in [2 * S, 3 * S, 1_500 * MS, 12 * S, 1_100 * MS] {
        scenario.add(0, Operation::TaskList, ns);
    }
    let failed = scenario.add(0, Operation::Create, 40_000);
    *failed = failed.with_outcome(Outcome::Error, FailureCode::from_errno(122));
    scenario.record.targets[2].unanswered_ns = Some(Nanoseconds(15 * S));
    let hung = scenario.add(2, Operation::Reach, 15 * S);
    *hung = hung.with_outcome(Outcome::Hung, FailureCode::NONE);
    scenario
}

/// A check of a local disk, an sshfs that creates files slowly, and a directory that needs 0.2 s per request; compared with memory.
pub fn slow_beside_quick() -> Scenario {
    let mut scenario = Scenario::check(&["/scratch", "/home", "/slow", "/dev/shm"]);
    for (target, kind) in ["ext4", "fuse.sshfs", "fuse", "tmpfs"].into_iter().enumerate() {
        scenario.record.targets[target].file_system =
            Some(FileSystem { kind: kind.to_owned(), ..FileSystem::default() });
    }
    let WorkloadSpec::Check(spec) = &mut scenario.record.spec.workload else { panic!("it is a check") };
    spec.control = Some(TargetIndex(3));
    for (target, create_ms) in [(0, 12), (1, 800), (3, 3)] {
        scenario.scatter(target, Operation::TaskList, 40, 3 * MS, 0.1);
        scenario.scatter(target, Operation::TaskCreate, 20, create_ms * MS, 0.1);
        scenario.scatter(target, Operation::TaskCompile, 20, 300 * MS, 0.05);
        scenario.scatter(target, Operation::Create, 100, create_ms * 2_000, 0.1);
        scenario.scatter(target, Operation::Stat, 100, 2_000, 0.1);
    }
    scenario.scatter(2, Operation::TaskList, 2, 3_200 * MS, 0.01);
    scenario.scatter(2, Operation::Create, 7, 1_000 * MS, 0.01);
    let partial = scenario.add(2, Operation::TaskCreate, 5 * S);
    *partial = partial.with_outcome(Outcome::Interrupted, FailureCode::NONE).with_bytes(31 * 64);
    let compile = scenario.add(2, Operation::TaskCompile, 4 * S);
    *compile = compile.with_outcome(Outcome::Interrupted, FailureCode::NONE);
    scenario
}

/// Precreate, three iterations and clean-up by four clients. The rates of the iterations are those of the USB
/// stick of study 004: 200, 404 and 132 operations per second.
pub fn usb_stick() -> Scenario {
    let phases = [
        (Phase::Precreate, 0),
        (Phase::Benchmark, 0),
        (Phase::Benchmark, 1),
        (Phase::Benchmark, 2),
        (Phase::Cleanup, 0),
    ];
    let mut scenario = Scenario::metadata(4, 1, 1, &phases);
    let mut noise = Random::new(11);
    let mut begin_ns = 2 * S;
    for (stage, rate) in [(0_u16, 380.5), (1, 200.2), (2, 404.0), (3, 132.4), (4, 439.6)] {
        let operations: &[Operation] = match stage {
            0 => &[Operation::Create],
            4 => &[Operation::Delete],
            _ => &[Operation::Stat, Operation::Read, Operation::Delete, Operation::Create],
        };
        let per_client_ns = 4.0 * 1e9 / rate;
        let mut longest = 0;
        for client in 0..4 {
            let mut now = begin_ns;
            for _ in 0..250 {
                for operation in operations {
                    let share = if *operation == Operation::Stat { 0.01 } else { 1.0 };
                    let ns = (per_client_ns * share * (0.4 * noise.normal()).exp()) as u64;
                    let bytes =
                        if matches!(operation, Operation::Read | Operation::Create) { 3901 } else { 0 };
                    let sample = scenario.at(stage, client, *operation, now, ns);
                    *sample = sample.with_bytes(bytes);
                    now += ns;
                }
            }
            let done = 250 * operations.len() as u64;
            let ended = scenario.at(stage, client, Operation::Stage, begin_ns, now - begin_ns);
            *ended = ended.with_bytes(done);
            longest = longest.max(now - begin_ns);
        }
        begin_ns += longest + S;
    }
    scenario.samples.sort_by_key(|sample| sample.start);
    scenario
}

/// Two clients that share a processor: the second runs when the first has done its share. Each took 100 ms of its own.
pub fn one_after_the_other() -> Scenario {
    let mut scenario = Scenario::metadata(2, 1, 1, &[(Phase::Benchmark, 0), (Phase::Cleanup, 0)]);
    for stage in 0..2 {
        for client in 0..2 {
            let begin = (1 + u64::from(stage)) * 10 * S + u64::from(client) * 100 * MS;
            for step in 0..100 {
                scenario.at(stage, client, Operation::Read, begin + step * MS, MS);
            }
            let ended = scenario.at(stage, client, Operation::Stage, begin, 100 * MS);
            *ended = ended.with_bytes(100);
        }
    }
    scenario
}
