//! Records and samples for tests, examples and measurements of the store.
#![allow(dead_code, reason = "every test uses a part")]

use std::collections::BTreeMap;

use iolag_model::{
    Access, Anchor, AttemptId, ClientId, ClientRecord, Durability, Environment, FailureCode, Granularity,
    MetadataSpec, MonotonicTime, Nanoseconds, OnHang, Operation, Outcome, Pattern, Phase, RunId, RunRecord,
    RunSpec, RunState, Sample, StageIndex, StageRecord, TargetIndex, TargetRecord, Think, Verification,
    WorkloadSpec,
};

pub fn run_id(salt: u16) -> RunId {
    RunId::new("20261120-185900", salt).expect("the form is right")
}

/// A run of `clients` clients on each of `targets` targets, in three stages.
pub fn record(id: &RunId, targets: u16, clients: u32) -> RunRecord {
    let target = |index| TargetRecord {
        working_place: Some(format!("/scratch/{index}/iolag-{id}")),
        ..TargetRecord::new(format!("/scratch/{index}"), "posix")
    };
    let client = |index: u32| {
        ClientRecord::new(ClientId(index), TargetIndex((index / clients) as u16), index % clients)
    };
    let stage = |index, phase, iteration| StageRecord { stage: StageIndex(index), phase, iteration };
    let spec = spec((0..targets).map(|index| format!("/scratch/{index}")).collect(), clients);
    RunRecord {
        labels: BTreeMap::from([("system".to_owned(), "test \"quoted\", comma".to_owned())]),
        command: vec!["iolag".into(), "bench".into(), "metadata".into()],
        environment: Environment {
            host: "login1".into(),
            kernel: "Linux 6.1".into(),
            boot_id: Some("b0071d00-0000-4000-8000-000000000000".into()),
            cpus: 2,
            iolag_version: "0.1.0".into(),
            ..Environment::default()
        },
        anchors: vec![Anchor {
            monotonic_ns: MonotonicTime(1_000_000_000),
            boottime_ns: 1_000_000_000,
            realtime_ns: 1_795_201_140_000_000_000,
        }],
        targets: (0..targets).map(target).collect(),
        clients: (0..clients * u32::from(targets)).map(client).collect(),
        stages: vec![
            stage(0, Phase::Precreate, 0),
            stage(1, Phase::Benchmark, 0),
            stage(2, Phase::Benchmark, 1),
        ],
        ..RunRecord::new(
            id.clone(),
            spec,
            RunState::Running { keeper_pid: 1, keeper_start_ticks: 1, spool: None },
        )
    }
}

fn spec(targets: Vec<String>, clients: u32) -> RunSpec {
    RunSpec {
        workload: WorkloadSpec::Metadata(MetadataSpec {
            pattern: Pattern::Code,
            granularity: Granularity::Operations,
            phases: vec![Phase::Precreate, Phase::Benchmark],
            datasets: 1,
            precreated_objects: 100,
            objects: 100,
            iterations: 2,
            object_bytes: 3901,
            offset: 1,
            think: Think::None,
            access: Access::Replace,
            time_limit: None,
            durability: Durability::Default,
            verification: Verification::Length,
            dataset_kind: iolag_model::Datasets::Made,
            connections: iolag_model::Connections::Reused,
        }),
        targets,
        clients,
        deadline_ns: Nanoseconds::from_seconds(60),
        deadlines: Vec::new(),
        on_hang: OnHang::Wait,
        on_error: iolag_model::OnError::Continue,
        seed: 1,
        ring_bytes: 1 << 20,
        caches: iolag_model::CacheState::Asis,
        drop_command: None,
        bystander: None,
    }
}

/// An endless closed loop of one client: stat, read, delete, create with log-normal durations around 10 µs and a tail.
#[derive(Debug, Clone)]
pub struct Client {
    client: ClientId,
    sequence: u64,
    now_ns: u64,
    random: u64,
}

impl Client {
    pub fn new(client: u32) -> Self {
        let random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(u64::from(client) + 1);
        Self { client: ClientId(client), sequence: 0, now_ns: 1_000_000_000_000, random }
    }

    pub fn next(&mut self) -> Sample {
        const OPERATIONS: [(Operation, u64, f64); 4] = [
            (Operation::Stat, 0, 2_000.0),
            (Operation::Read, 3901, 9_000.0),
            (Operation::Delete, 0, 6_000.0),
            (Operation::Create, 3901, 20_000.0),
        ];
        let (operation, bytes, median_ns) = OPERATIONS[(self.sequence % 4) as usize];
        let duration_ns = (median_ns * (0.5 * self.normal()).exp()) as u64;
        let stage = StageIndex(1 + (self.sequence >> 20 & 1) as u16);
        let start = MonotonicTime(self.now_ns);
        let attempt = AttemptId::new(self.client, self.sequence);
        self.now_ns += duration_ns + 150 + self.uniform() % 100;
        self.sequence += 1;
        let mut sample = Sample::new(attempt, operation, start, start, Nanoseconds(duration_ns))
            .with_bytes(bytes)
            .in_stage(stage);
        if self.uniform().is_multiple_of(100_000) {
            sample = sample.with_outcome(Outcome::Error, FailureCode::from_errno(5)).with_bytes(0);
        }
        sample
    }

    pub fn take(&mut self, count: usize) -> Vec<Sample> {
        (0..count).map(|_| self.next()).collect()
    }

    /// xorshift64*.
    fn uniform(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Sum of twelve uniforms: near enough to normal for file sizes.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform() as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
    }
}
