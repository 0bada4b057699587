//! Runs made up for the tests of the page: good ones, bad ones, and none at all.

#[path = "../../../iolag-analysis/tests/scenario/mod.rs"]
#[expect(clippy::wildcard_imports, reason = "it is written as a module of tests, where they are allowed")]
mod scenario;

use iolag_analysis::figure::{FigureEngine, FigurePlan, RunFigures, TimeSpan};
use iolag_analysis::{Engine, Grouping, Precision, Summaries};
use iolag_model::{
    Anchor, AttemptId, ClientId, FailureCode, FileSystem, MonotonicTime, Nanoseconds, Operation, Outcome,
    Phase, Random, RunId, RunRecord, RunState, Sample, SampleColumns, StageIndex,
};

use scenario::{MS, S, Scenario};

const US: f64 = 1e3;
const BENCHMARK: [(Operation, f64); 4] = [
    (Operation::Stat, 18.0 * US),
    (Operation::Read, 85.0 * US),
    (Operation::Delete, 190.0 * US),
    (Operation::Create, 420.0 * US),
];

/// A run with its samples and the target of each.
pub struct MadeUp {
    pub record: RunRecord,
    samples: Vec<(u16, Sample)>,
    noise: Random,
    next: u64,
}

impl MadeUp {
    fn new(mut record: RunRecord, seed: u64) -> Self {
        record.environment.iolag_version = "0.1.0".to_owned();
        record.environment.kernel = "Linux 6.1.0".to_owned();
        record.environment.memory_bytes = Some(256 << 30);
        Self { record, samples: Vec::new(), noise: Random::new(seed), next: 0 }
    }

    fn id(mut self, salt: u16) -> Self {
        self.record.id = RunId::new("20261120-185900", salt).expect("the form of an id");
        self
    }

    fn lognormal(&mut self, median_ns: f64, spread: f64) -> u64 {
        // One in fifty misses a cache.
        let slow = if self.noise.unit() < 0.02 { 30.0 } else { 1.0 };
        (median_ns * slow * (spread * self.noise.normal()).exp()).max(80.0) as u64
    }

    fn add(&mut self, target: u16, client: u32, operation: Operation, start_ns: u64, ns: u64) -> &mut Sample {
        let attempt = AttemptId::new(ClientId(client), self.next);
        self.next += 1;
        let start = MonotonicTime(start_ns);
        self.samples.push((target, Sample::new(attempt, operation, start, start, Nanoseconds(ns))));
        &mut self.samples.last_mut().expect("it was just added").1
    }

    /// The run has lasted so long.
    fn ended(mut self, span_ns: u64) -> Self {
        let first = self.record.anchors[0];
        self.record.anchors.push(Anchor {
            monotonic_ns: MonotonicTime(first.monotonic_ns.0 + span_ns),
            boottime_ns: first.boottime_ns + span_ns,
            realtime_ns: first.realtime_ns + span_ns,
        });
        self.samples.sort_by_key(|(_, sample)| sample.start);
        self
    }

    /// `iolag check` of a slow home, a fast local directory and one that hangs at times.
    pub fn check() -> Self {
        let mut scenario = Scenario::check(&["/home/me", "/tmp", "/scratch/project/me"]);
        let kinds =
            [("nfs4", "filer:/export/home"), ("ext4", "/dev/sda2"), ("lustre", "10.0.0.1@o2ib:/scratch")];
        for (target, (kind, source)) in scenario.record.targets.iter_mut().zip(kinds) {
            target.file_system = Some(FileSystem {
                kind: kind.to_owned(),
                source: source.to_owned(),
                mount_point: "/mnt".to_owned(),
                options: "rw,relatime".to_owned(),
                free_bytes: Some(3 << 40),
                size_bytes: Some(11 << 40),
                ..FileSystem::default()
            });
        }
        scenario.record.command = ["iolag", "check", "/home/me", "/tmp"].map(str::to_owned).to_vec();
        scenario.record.remarks.push("Compiled with `gcc` 12.2.0.".to_owned());
        let mut run = Self::new(scenario.record, 1);
        let tasks = [
            (Operation::TaskListNumeric, 2.0e6),
            (Operation::TaskList, 7.0e7),
            (Operation::TaskCreate, 3.0e8),
            (Operation::TaskCompile, 9.0e8),
        ];
        let calls = [(Operation::CallStat, 3e3), (Operation::CallOpen, 9e3), (Operation::CallFsync, 4e6)];
        for (target, factor) in [(0_u16, 1.0), (1, 0.05), (2, 0.6)] {
            let round = |count: u64| 44 * S / count;
            for (operation, median) in tasks {
                for index in 0..36 {
                    let ns = run.lognormal(median * factor, 0.3);
                    let jitter = (run.noise.unit() * S as f64) as u64;
                    run.add(target, u32::from(target), operation, S + index * round(36) + jitter, ns);
                }
            }
            for (operation, median) in BENCHMARK.into_iter().chain(calls) {
                for index in 0..400 {
                    let ns = run.lognormal(median * (0.2 + factor), 0.35);
                    run.add(target, u32::from(target), operation, S + index * round(400), ns);
                }
            }
            for index in 0..64 {
                let ns = run.lognormal(2.2e6 * (0.5 + factor), 0.2);
                let block =
                    run.add(target, u32::from(target), Operation::StreamWrite, 20 * S + index * 9 * MS, ns);
                *block = block.with_bytes(1 << 20);
            }
        }
        for (at, outcome, ns) in [
            (24, Outcome::Hung, 15 * S),
            (25, Outcome::Timeout, 15 * S),
            (27, Outcome::Late, 17 * S),
            (26, Outcome::Error, 40 * MS),
            (28, Outcome::Error, 45 * MS),
        ] {
            let code =
                if outcome == Outcome::Error { FailureCode::from_errno(28) } else { FailureCode::NONE };
            let sample = run.add(2, 2, Operation::TaskList, at * S, ns);
            *sample = sample.with_outcome(outcome, code);
        }
        run.ended(45 * S)
    }

    /// `iolag bench metadata` by `clients`; each does `objects` per stage, and more clients wait for each other.
    pub fn metadata(clients: u32, objects: u64, salt: u16) -> Self {
        let phases = [
            (Phase::Precreate, 0),
            (Phase::Benchmark, 0),
            (Phase::Benchmark, 1),
            (Phase::Benchmark, 2),
            (Phase::Cleanup, 0),
        ];
        let scenario = Scenario::metadata(clients, 10, clients, &phases);
        let mut run = Self::new(scenario.record, u64::from(salt)).id(salt);
        run.record.campaign = RunId::new("20261120-185900", 1).expect("the form of an id");
        let factor = 1.0 + 0.25 * f64::from(clients * clients) / 8.0;
        let mut begin_ns = S + 100 * MS;
        for (stage, (phase, _)) in phases.into_iter().enumerate() {
            let operations: &[(Operation, f64)] = match phase {
                Phase::Precreate => &BENCHMARK[3..],
                Phase::Cleanup => &BENCHMARK[2..3],
                _ => &BENCHMARK,
            };
            let mut last_ns = begin_ns;
            for client in 0..clients {
                let mut now = begin_ns;
                for _ in 0..objects {
                    for &(operation, median) in operations {
                        let ns = run.lognormal(median * factor * (1.0 + 0.03 * f64::from(client)), 0.35);
                        let bytes =
                            if matches!(operation, Operation::Read | Operation::Create) { 3901 } else { 0 };
                        let sample = run.add(0, client, operation, now, ns);
                        *sample = sample.with_bytes(bytes).in_stage(StageIndex(stage as u16));
                        now += ns;
                    }
                }
                let done = run.add(0, client, Operation::Stage, begin_ns, now - begin_ns);
                *done = done.with_bytes(objects * operations.len() as u64).in_stage(StageIndex(stage as u16));
                last_ns = last_ns.max(now);
            }
            begin_ns = last_ns + 50 * MS;
        }
        run.ended(begin_ns - S)
    }

    /// Nothing was measured at all.
    pub fn empty() -> Self {
        let mut scenario = Scenario::check(&["/home/me"]);
        scenario.record.state =
            RunState::Incomplete { reason: "it was interrupted before the first operation".to_owned() };
        Self::new(scenario.record, 3)
    }

    /// Everything failed.
    pub fn all_errors() -> Self {
        let mut run = Self::new(Scenario::check(&["/full"]).record, 4);
        for index in 0..60 {
            for operation in [Operation::Create, Operation::Stat] {
                let ns = run.lognormal(4e4, 0.3);
                let sample = run.add(0, 0, operation, S + index * 100 * MS, ns);
                *sample = sample.with_outcome(Outcome::Error, FailureCode::from_errno(28));
            }
        }
        run.ended(7 * S)
    }

    /// A single attempt.
    pub fn one_sample() -> Self {
        let mut run = Self::new(Scenario::check(&["/home/me"]).record, 5);
        run.add(0, 0, Operation::TaskList, 2 * S, 3_200_000);
        run.ended(4 * S)
    }

    /// Every text from outside tries to be a script.
    pub fn script() -> Self {
        let attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)><!--\u{202e}";
        let mut run = Self::check();
        run.record.labels.insert(attack.to_owned(), attack.to_owned());
        run.record.environment.host = attack.to_owned();
        run.record.environment.kernel = attack.to_owned();
        run.record.command = vec![attack.to_owned()];
        run.record.state = RunState::Incomplete { reason: attack.to_owned() };
        run.record.remarks.push(attack.to_owned());
        for target in &mut run.record.targets {
            target.name = attack.to_owned();
            target.file_system = Some(FileSystem {
                kind: attack.to_owned(),
                options: attack.to_owned(),
                ..FileSystem::default()
            });
        }
        run.record.spec.targets = vec![attack.to_owned()];
        run
    }

    pub fn summaries(&self, grouping: Grouping) -> Summaries {
        let mut engine = Engine::new(grouping, Precision::Exact);
        self.give(&mut |columns| engine.batch(columns));
        engine.finish()
    }

    pub fn figures(&self) -> RunFigures {
        let span = TimeSpan::of_record(&self.record)
            .unwrap_or(TimeSpan { begin: MonotonicTime(S), end: MonotonicTime(2 * S) });
        let mut engine = FigureEngine::new(FigurePlan::new(&self.record, span));
        self.give(&mut |columns| engine.batch(columns));
        engine.finish()
    }

    fn give(&self, take: &mut dyn FnMut(SampleColumns<'_>)) {
        let all = |of: &dyn Fn(&Sample) -> i64| -> Vec<i64> {
            self.samples.iter().map(|(_, sample)| of(sample)).collect()
        };
        let small = |of: &dyn Fn(&Sample) -> i32| -> Vec<i32> {
            self.samples.iter().map(|(_, sample)| of(sample)).collect()
        };
        take(SampleColumns {
            attempt: &all(&|sample| sample.attempt.0 as i64),
            client: &small(&|sample| sample.attempt.client().0 as i32),
            target: &self.samples.iter().map(|(target, _)| i32::from(*target)).collect::<Vec<_>>(),
            stage: &small(&|sample| i32::from(sample.stage.0)),
            operation_code: &small(&|sample| i32::from(sample.operation_code())),
            outcome_code: &small(&|sample| sample.outcome() as i32),
            failure_code: &small(&|sample| i32::from(sample.code.0)),
            intended_ns: &all(&|sample| sample.intended.0 as i64),
            start_ns: &all(&|sample| sample.start.0 as i64),
            duration_ns: &all(&|sample| sample.duration.0 as i64),
            bytes: &all(&|sample| sample.bytes as i64),
            tag: &small(&|sample| i32::from(sample.tag)),
        });
    }
}
