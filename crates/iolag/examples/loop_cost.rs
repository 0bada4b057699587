//! What iolag's metadata loop costs above a bare loop of the same system calls, both in one process and thread.
//!
//! `cargo run --release -p iolag --example loop_cost [OBJECTS] [PAIRS] [clock | blind | itself | ceiling] [DIRECTORY]`
//!
//! iolag's side is what a run's client does: workload, loop, session on a POSIX file system, slot and ring in shared memory. Where it
//! meets the others before an iteration, the bare loop does its iterations, alternated A B, B A, …: so both see the same
//! processor, memory and moment, which two processes do not. The bare loop reads no clock and records nothing (`blind`), or reads
//! it around each operation and stores a record of a sample's size (`clock`). In the place of iolag's, `itself` puts that loop
//! again, which shows what differences can be told, and `ceiling` puts it against the blind one: no loop that records can
//! be expected to do better. Each line is a pair, in nanoseconds per operation: iolag's, and the
//! bare loop's. Time is processor time of the thread: nothing sleeps on tmpfs, and other people's load is left out. Nobody
//! drains the ring meanwhile and no keeper looks: what these cost is not in it.
//!
//! OBJECTS is per data set (of ten) and iteration; the default is a tiny run that shows that it works.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

#[allow(dead_code, reason = "the program of this loop has more modes")]
#[path = "../../../xtask/src/bin/bare_loop/bare.rs"]
mod bare;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow, bail, ensure};
use iolag_backend::{Backend, PosixBackend, SessionOptions, WORKING_NAME};
use iolag_keeper::{Exchange, RingReader, SharedCoordinator};
use iolag_model::{
    Access, Arrival, ClientId, Clock, Coordinator, Durability, Granularity, Meeting, MetadataSpec,
    MonotonicClock, MonotonicTime, Nanoseconds, Operation, Outcome, Pattern, Phase, StageRecord, Think,
    Verification,
};
use iolag_workload::{
    Accounting, ClientLoop, DriveOptions, IfNotOpen, Job, MetadataClient, Workload, run_process,
};
use rustix::time::{ClockId, clock_gettime};

use bare::{Blind, Buffer, Loop, ObjectClock, Shape};

const DATASETS: u32 = 10;
const BYTES: u32 = 3901;
/// As much as the bare loop's records.
const RING_BYTES: u64 = 48 << 20;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let objects: u32 = words.next().map_or(Ok(20), |word| word.parse()).context("OBJECTS is no number")?;
    let pairs: u32 = words.next().map_or(Ok(3), |word| word.parse()).context("PAIRS is no number")?;
    let rival = words.next().unwrap_or_else(|| "clock".to_owned());
    let directory = words.next().map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    ensure!(objects > 0 && pairs > 0, "OBJECTS and PAIRS must be at least 1");
    let place = tempfile::tempdir_in(directory)?;
    let shape = Shape {
        rank: 0,
        datasets: DATASETS as usize,
        precreated: 3 * objects as usize,
        objects: objects as usize,
        bytes: BYTES as usize,
    };
    let blind = |rank| Bare::new(Shape { rank, ..shape }, place.path(), None);
    let clock = |rank| Bare::new(Shape { rank, ..shape }, place.path(), Some(ObjectClock(Buffer::new())));
    let measured = match rival.as_str() {
        "clock" => against_iolag(clock(1)?, place.path(), objects, pairs)?,
        "blind" => against_iolag(blind(1)?, place.path(), objects, pairs)?,
        "itself" => alternated(clock(2)?, clock(1)?, pairs)?,
        "ceiling" => alternated(clock(2)?, blind(1)?, pairs)?,
        _ => bail!("{rival:?} is no rival: there are clock, blind, itself and ceiling"),
    };
    for (ours_ns, bare_ns) in measured {
        println!("{ours_ns:.2} {bare_ns:.2}");
    }
    Ok(())
}

struct Bare {
    bare: Loop,
    recording: Option<ObjectClock<Buffer>>,
}

impl Bare {
    fn new(shape: Shape, place: &Path, recording: Option<ObjectClock<Buffer>>) -> Result<Self> {
        Ok(Self { bare: Loop::precreated(shape, place)?, recording })
    }

    /// One iteration: nanoseconds per operation.
    fn iterate(&mut self) -> Result<f64> {
        self.bare.prepare_names();
        let start_ns = processor_time_ns();
        match &mut self.recording {
            None => self.bare.iterate(&mut Blind),
            Some(recording) => self.bare.iterate(recording),
        }?;
        Ok((processor_time_ns() - start_ns) / self.bare.operations() as f64)
    }
}

fn processor_time_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn alternated(mut first: Bare, mut second: Bare, pairs: u32) -> Result<Vec<(f64, f64)>> {
    let mut pair = |number: u32| {
        Ok(if number.is_multiple_of(2) {
            (first.iterate()?, second.iterate()?)
        } else {
            let second_ns = second.iterate()?;
            (first.iterate()?, second_ns)
        })
    };
    (0..pairs).map(&mut pair).collect()
}

fn against_iolag(bare: Bare, directory: &Path, objects: u32, pairs: u32) -> Result<Vec<(f64, f64)>> {
    let spec = spec(objects, pairs);
    let backend = PosixBackend::new(directory.to_owned(), WORKING_NAME)?;
    backend.create_place(&iolag_backend::conformance::maker())?;
    let exchange = Exchange::new(1, RING_BYTES)?;
    exchange.prefault(0);
    let list: Arc<[StageRecord]> = spec.stages().into();
    let accounting = Accounting::new(&spec, 1, None)?;
    let client = MetadataClient::new(&spec, 0, Arc::clone(&list), &accounting);
    let drive =
        DriveOptions { client: ClientId(0), rank: 0, deadlines: Nanoseconds::from_seconds(60).into() };
    let options = SessionOptions {
        durability: spec.durability,
        verification: spec.verification,
        ..SessionOptions::new(ClientId(0), 0, 1, spec.object_bytes)
    };
    let alternation = Alternation::new(&exchange, bare, list);
    let job = Job {
        client: ClientLoop::new(client, exchange.recorder(0), drive),
        open: || backend.open_session(&options),
        if_not_open: IfNotOpen::StopAll,
    };
    run_process(job, &alternation, &MonotonicClock)?;
    backend.remove_place()?;
    alternation.pairs()
}

fn spec(objects: u32, pairs: u32) -> MetadataSpec {
    MetadataSpec {
        pattern: Pattern::Code,
        granularity: Granularity::Operations,
        phases: vec![Phase::Precreate, Phase::Benchmark, Phase::Cleanup],
        datasets: DATASETS,
        precreated_objects: 3 * u64::from(objects),
        objects: u64::from(objects),
        iterations: pairs,
        object_bytes: u64::from(BYTES),
        offset: 1,
        think: Think::None,
        access: Access::Replace,
        time_limit: None,
        durability: Durability::Default,
        verification: Verification::Length,
        dataset_kind: iolag_model::Datasets::Made,
        connections: iolag_model::Connections::Reused,
    }
}

/// The coordinator of a single client: before that one meets itself, the bare loop has its turn and the ring is emptied.
struct Alternation {
    coordinator: SharedCoordinator,
    stages: Arc<[StageRecord]>,
    turns: Mutex<Turns>,
}

struct Turns {
    bare: Bare,
    ring: RingReader,
    /// Stages begun so far.
    begun: usize,
    /// Processor time when the last of them began.
    begin_ns: f64,
    /// Of each iteration: nanoseconds per operation.
    bare_ns: Vec<Result<f64>>,
    ours_ns: Vec<Result<f64>>,
}

impl Alternation {
    fn new(exchange: &Exchange, bare: Bare, stages: Arc<[StageRecord]>) -> Self {
        let (ring, _) = exchange.readers().swap_remove(0);
        let turns = Turns { bare, ring, begun: 0, begin_ns: 0.0, bare_ns: Vec::new(), ours_ns: Vec::new() };
        Self { coordinator: exchange.coordinator(), stages, turns: Mutex::new(turns) }
    }

    /// Of the iterations, ours first.
    fn pairs(self) -> Result<Vec<(f64, f64)>> {
        let mut turns = self.turns.into_inner().unwrap_or_else(PoisonError::into_inner);
        if turns.bare_ns.len() < turns.ours_ns.len() {
            turns.iterate();
        }
        ensure!(turns.bare_ns.len() == turns.ours_ns.len(), "a side made an iteration less than the other");
        turns.ours_ns.into_iter().zip(turns.bare_ns).map(|(ours, bare)| Ok((ours?, bare?))).collect()
    }
}

impl Turns {
    /// The stage that has ended, and what the client recorded in it, which is taken out of the ring.
    fn end(&mut self, stage: &StageRecord, end_ns: f64) {
        let mut operations = 0;
        let mut failure = None;
        while !self.ring.pending().is_empty() {
            let pending = self.ring.pending();
            for sample in pending.iter().filter(|sample| sample.stage == stage.stage) {
                if sample.outcome() != Outcome::Ok {
                    failure = Some(anyhow!("{} ended as {}", sample.operation(), sample.outcome()));
                }
                operations += u64::from(sample.operation() != Operation::Stage);
            }
            self.ring.consume(pending.len() as u64);
        }
        if stage.phase == Phase::Benchmark {
            let time_ns = (end_ns - self.begin_ns) / operations as f64;
            self.ours_ns.push(failure.map_or(Ok(time_ns), Err));
        }
    }

    fn iterate(&mut self) {
        let iteration = self.bare.iterate();
        self.bare_ns.push(iteration);
    }
}

impl Coordinator for Alternation {
    fn arrive(&self, arrival: Arrival) {
        let end_ns = processor_time_ns();
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ended) = turns.begun.checked_sub(1) {
            turns.end(&self.stages[ended], end_ns);
        }
        let stage = &self.stages[turns.begun];
        turns.begun += 1;
        // A, B B A, A, B B A: neighbours are a pair, and each side is first in half of them.
        if stage.phase == Phase::Benchmark && stage.iteration % 2 == 1 {
            turns.iterate();
            turns.iterate();
        }
        self.coordinator.arrive(Arrival { now: MonotonicClock.now(), ..arrival });
        turns.begin_ns = processor_time_ns();
    }

    fn is_stopped(&self, rank: u32) -> bool {
        self.coordinator.is_stopped(rank)
    }

    fn stop_all(&self) {
        self.coordinator.stop_all();
    }

    fn give_up(&self, rank: u32, now: MonotonicTime) {
        self.coordinator.give_up(rank, now);
    }

    fn meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>> {
        self.coordinator.meeting(rank, number)
    }

    fn wait_for_news(&self, seen: u32) -> u32 {
        self.coordinator.wait_for_news(seen)
    }

    fn wait_for_meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>> {
        self.coordinator.wait_for_meeting(rank, number)
    }
}
