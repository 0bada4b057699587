//! The writer: drains rings into the spool, encodes, summarises. It may hang with the store; the keeper does not.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iolag_analysis::{Engine, Grouping, Summaries};
use iolag_keeper::{DetailReader, Exchange, Inbox, Outbox, RingReader};
use iolag_model::{
    ClientRecord, Column, Nanoseconds, RunRecord, RunState, SampleColumns, Trust, WorkloadSpec,
};
use iolag_store::{
    Directory, Manifest, ManifestEntry, ManifestKind, RingNumber, RunDirectory, Sink, SpoolWriter, Store,
    StoreError,
};

use super::messages::{FromWriter, Stored, ToWriter, tell, told};
use super::target_failure;
use rustix::process::Pid;

use crate::environment;

/// Memory that an exact summary may take; beyond that quantiles come from histograms.
const EXACT_SUMMARY_BYTES: u64 = 512 << 20;
/// The keeper hears from a working writer at least this often.
const ALIVE_EVERY: Duration = Duration::from_millis(500);

/// Where the samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Those that wait in the rings, as they come.
    Pending,
    /// All that the rings still hold, whether consumed or not: the first writer hangs with its store.
    Retained,
}

/// What a writer has to do.
#[derive(Debug, Clone)]
pub struct WriterPlan {
    /// The store.
    pub root: PathBuf,
    /// A directory for the spool, if the store's own file system is being measured.
    pub spool_parent: Option<PathBuf>,
    /// The run's record as it is at the start.
    pub record: RunRecord,
    /// Durations whose share of slower attempts is summarised.
    pub thresholds: Vec<Nanoseconds>,
    /// What the manifest says before anything is created.
    pub planned_places: Vec<(String, String)>,
    /// Where the samples come from.
    pub source: Source,
    /// The spool of a writer that failed in another store, to be taken over.
    pub inherited_spool: Option<PathBuf>,
    /// Whether an earlier writer began this run and was killed.
    pub begun: bool,
}

/// The writer process. `keeper` is its parent: when that is another one, the keeper is gone.
pub fn run(plan: &WriterPlan, exchange: &Exchange, keeper: Pid, mut inbox: Inbox, mut outbox: Outbox) -> i32 {
    match work(plan, exchange, keeper, &mut inbox, &mut outbox) {
        Ok(()) => 0,
        Err(error) => {
            tell(&mut outbox, &FromWriter::Failed(error.to_string()));
            3
        }
    }
}

fn work(
    plan: &WriterPlan,
    exchange: &Exchange,
    keeper: Pid,
    inbox: &mut Inbox,
    outbox: &mut Outbox,
) -> Result<(), StoreError> {
    raise_descriptor_limit();
    let store = Store::open(&plan.root)?;
    let beginning = if plan.begun { reopen(&store, plan)? } else { begin(&store, plan)? };
    let (run, spool, begun) = match beginning {
        Beginning::Draining { run, spool, begun } => (run, spool, begun),
        Beginning::Stored { run, record } => {
            let stored = summarised(plan, &run, *record)?;
            tell(outbox, &FromWriter::Done(Box::new(stored)));
            return Ok(());
        }
    };
    // As long as this process lives nobody else recovers the run, even if the keeper is gone.
    let _lock = run.lock()?;
    tell(outbox, &FromWriter::Ready { run: run.path().to_owned(), spool: spool.path().to_owned() });
    let mut draining = Draining::new(exchange, &spool, plan.record.id.clone(), begun);
    let mut orders = Orders { run: &run, clients: &plan.record.clients, exchange, finish: None };
    let mut last_alive = Instant::now();
    loop {
        // The flag is read before the rings: what is drained after it is everything.
        let measured = exchange.is_measured();
        let patience = if measured { Patience::None } else { Patience::Some };
        let busy = draining.drain(plan.source, patience)?;
        while let Some(order) = told::<ToWriter>(inbox) {
            orders.take(order)?;
        }
        if rustix::process::getppid() != Some(keeper) {
            return outlive_keeper(&mut draining, plan.source);
        }
        if measured && orders.finish.is_some() {
            break;
        }
        if last_alive.elapsed() > ALIVE_EVERY {
            tell(outbox, &FromWriter::Alive);
            last_alive = Instant::now();
        }
        inbox.wait(busy.pause());
    }
    draining.finish()?;
    let record = orders.finish.take().expect("the loop ends only with a final record");
    let stored = store_finally(plan, &run, &spool, *record)?;
    tell(outbox, &FromWriter::Done(Box::new(stored)));
    Ok(())
}

/// The keeper is gone, and the measurers with it: what they left in the rings goes to the spool, and the next command
/// does the rest.
fn outlive_keeper(draining: &mut Draining<'_>, source: Source) -> Result<(), StoreError> {
    const PAUSE: Duration = Duration::from_millis(20);
    const QUIET_ROUNDS: u32 = 10;
    let mut quiet = 0;
    while quiet < QUIET_ROUNDS {
        match draining.drain(source, Patience::None)? {
            Busy::Idle => quiet += 1,
            _ => quiet = 0,
        }
        std::thread::sleep(PAUSE);
    }
    draining.finish()
}

struct Orders<'a> {
    run: &'a RunDirectory,
    clients: &'a [ClientRecord],
    exchange: &'a Exchange,
    finish: Option<Box<RunRecord>>,
}

impl Orders<'_> {
    fn take(&mut self, order: ToWriter) -> Result<(), StoreError> {
        match order {
            ToWriter::Placed { target, path, name, identity } => {
                let mut manifest = self.run.manifest()?;
                for entry in &mut manifest.entries {
                    if entry.parent == path && entry.name == name {
                        entry.device = identity.and_then(|identity| identity.device);
                        entry.inode = identity.map(|identity| identity.inode);
                    }
                }
                self.run.write_manifest(&manifest)?;
                let told = self.clients.iter().filter(|client| client.target.0 == target);
                told.for_each(|client| self.exchange.set_noted(client.client.0));
                Ok(())
            }
            ToWriter::Finish(record) => {
                self.finish = Some(record);
                Ok(())
            }
        }
    }
}

/// Where a writer begins.
enum Beginning {
    /// Samples are to be drained into the spool; `begun` if it holds some already.
    Draining { run: RunDirectory, spool: Directory, begun: bool },
    /// Everything is stored: the writer before was killed while it summarised.
    Stored { run: RunDirectory, record: Box<RunRecord> },
}

/// There is a spool file per client; login nodes often allow 1024 open files, and more on request.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Refused, it stays as it is; a file that cannot be opened is an error of its own.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn begin(store: &Store, plan: &WriterPlan) -> Result<Beginning, StoreError> {
    go_on_from_the_beginning(store.create_run(&plan.record)?, plan)
}

/// Fills a run directory with everything that is to be there before the first sample.
fn go_on_from_the_beginning(run: RunDirectory, plan: &WriterPlan) -> Result<Beginning, StoreError> {
    let mut record = plan.record.clone();
    run.write_record(&record)?;
    let entries = plan.planned_places.iter().map(|(parent, name)| ManifestEntry {
        parent: parent.clone(),
        name: name.clone(),
        device: None,
        inode: None,
        kind: ManifestKind::WorkingDirectory,
    });
    run.write_manifest(&Manifest::new(entries.collect()))?;
    let spool = match &plan.spool_parent {
        None => run.create_spool()?,
        Some(parent) => {
            let spool = run.create_spool_in(&Directory::open(parent)?)?;
            if let RunState::Running { spool: place, .. } = &mut record.state {
                *place = Some(spool.path().display().to_string());
            }
            run.write_record(&record)?;
            spool
        }
    };
    if let Some(inherited) = &plan.inherited_spool {
        spool.copy_files(&Directory::open(inherited)?)?;
    }
    Ok(Beginning::Draining { run, spool, begun: plan.inherited_spool.is_some() })
}

fn reopen(store: &Store, plan: &WriterPlan) -> Result<Beginning, StoreError> {
    let run = match store.run(&plan.record.id) {
        Ok(run) => run,
        // The first writer did not get as far as that.
        Err(StoreError::RunMissing { .. }) => return begin(store, plan),
        Err(error) => return Err(error),
    };
    let record = match run.record() {
        Ok(record) => record,
        Err(error) if error.errno() == Some(libc::ENOENT) => return go_on_from_the_beginning(run, plan),
        Err(error) => return Err(error),
    };
    if !matches!(record.state, RunState::Running { .. }) {
        run.remove_spool()?;
        return Ok(Beginning::Stored { run, record: Box::new(record) });
    }
    if plan.source == Source::Retained {
        // What the rings retain does not depend on what an earlier writer had copied of it.
        run.remove_spool()?;
        return go_on_from_the_beginning(run, plan);
    }
    // A spool is made after record and manifest. Without one the first writer was killed on its way there.
    match run.open_spool(&record)? {
        Some(spool) => Ok(Beginning::Draining { run, spool, begun: true }),
        None => go_on_from_the_beginning(run, plan),
    }
}

/// Whether samples may wait for company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// A block on disk has room for 84 samples: fewer wait, up to a second, as long as their ring has room.
    Some,
    /// Everything now.
    None,
}

/// Fewer samples than this leave most of a block empty.
const SAMPLES_WORTH_A_BLOCK: usize = 84;
/// How long few samples wait.
const WAIT_FOR_COMPANY: Duration = Duration::from_secs(1);

/// How much a round of draining found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Busy {
    Idle,
    Some,
    Full,
}

impl Busy {
    /// Long pauses leave the processors to what is measured; short ones keep rings from filling.
    const fn pause(self) -> Nanoseconds {
        match self {
            Self::Idle => Nanoseconds::from_milliseconds(50),
            Self::Some => Nanoseconds::from_milliseconds(20),
            Self::Full => Nanoseconds(500_000),
        }
    }
}

struct Draining<'a> {
    rings: Vec<(RingReader, DetailReader)>,
    writers: Vec<Option<SpoolWriter>>,
    spool: &'a Directory,
    run: iolag_model::RunId,
    begun: bool,
    retained_done: bool,
    last_appended: Vec<Instant>,
}

impl<'a> Draining<'a> {
    fn new(exchange: &Exchange, spool: &'a Directory, run: iolag_model::RunId, begun: bool) -> Self {
        let rings = exchange.readers();
        let writers = rings.iter().map(|_| None).collect();
        let last_appended = rings.iter().map(|_| Instant::now()).collect();
        Self { rings, writers, spool, run, begun, retained_done: false, last_appended }
    }

    fn drain(&mut self, source: Source, patience: Patience) -> Result<Busy, StoreError> {
        match source {
            Source::Pending => self.drain_pending(patience),
            Source::Retained => self.copy_retained(),
        }
    }

    fn drain_pending(&mut self, patience: Patience) -> Result<Busy, StoreError> {
        let mut busy = Busy::Idle;
        for index in 0..self.rings.len() {
            let (ring, details) = self.rings[index].clone();
            let waiting = (ring.head() - ring.tail()) as usize;
            let may_wait = patience == Patience::Some
                && waiting < SAMPLES_WORTH_A_BLOCK.min(ring.capacity() / 4)
                && self.last_appended[index].elapsed() < WAIT_FOR_COMPANY;
            if waiting > 0 && !may_wait {
                self.last_appended[index] = Instant::now();
                let writer = self.writer(index)?;
                let pending = ring.pending();
                if !pending.is_empty() {
                    let share = pending.len() * 4 / ring.capacity().max(1);
                    busy = busy.max(if share > 0 { Busy::Full } else { Busy::Some });
                    writer.append(pending)?;
                    ring.consume(pending.len() as u64);
                }
            }
            let (texts, position) = details.pending();
            if !texts.is_empty() {
                self.writer(index)?.append_details(&texts)?;
            }
            details.consume(position);
        }
        Ok(busy)
    }

    fn copy_retained(&mut self) -> Result<Busy, StoreError> {
        if std::mem::replace(&mut self.retained_done, true) {
            return Ok(Busy::Idle);
        }
        for index in 0..self.rings.len() {
            let (ring, details) = self.rings[index].clone();
            let (_, pieces) = ring.retained();
            for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
                self.writer(index)?.append(piece)?;
            }
            let (texts, _) = details.pending();
            if !texts.is_empty() {
                self.writer(index)?.append_details(&texts)?;
            }
        }
        Ok(Busy::Some)
    }

    /// The spool file of a ring, made when the ring has its first sample.
    fn writer(&mut self, index: usize) -> Result<&mut SpoolWriter, StoreError> {
        if self.writers[index].is_none() {
            let number = RingNumber(index as u32);
            let ring = &self.rings[index].0;
            let writer = if self.begun && ring.tail() > 0 {
                let (writer, resumed) = SpoolWriter::resume(self.spool, &self.run, number)?;
                // The killed writer may have spooled more than it could still report as consumed.
                ring.consume(resumed.samples_to_skip(ring.tail(), &writer)?);
                writer
            } else {
                match SpoolWriter::create(self.spool, &self.run, number) {
                    Err(error) if self.begun && error.errno() == Some(libc::EEXIST) => {
                        let (writer, resumed) = SpoolWriter::resume(self.spool, &self.run, number)?;
                        ring.consume(resumed.samples_to_skip(ring.tail(), &writer)?);
                        writer
                    }
                    created => created?,
                }
            };
            self.writers[index] = Some(writer);
        }
        Ok(self.writers[index].as_mut().expect("made just now"))
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        for writer in &mut self.writers {
            if let Some(writer) = writer.take() {
                writer.finish()?;
            }
        }
        Ok(())
    }
}

/// Adapts the analysis to the store's scan.
struct Summarising(Engine);

impl Sink for Summarising {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }
}

/// The summary of a stored run: by directory for a check, by stage for a benchmark.
///
/// # Errors
/// If a part cannot be read.
pub fn summarise(
    run: &RunDirectory,
    record: &RunRecord,
    thresholds: &[Nanoseconds],
) -> Result<Summaries, StoreError> {
    const COLUMNS: [Column; 9] = [
        Column::Stage,
        Column::Target,
        Column::Client,
        Column::OperationCode,
        Column::OutcomeCode,
        Column::FailureCode,
        Column::StartNs,
        Column::DurationNs,
        Column::Bytes,
    ];
    let samples = record.parts.iter().map(|part| part.samples).sum();
    let count = |length: usize| NonZeroU32::new(length as u32);
    let grouping = match record.spec.workload {
        WorkloadSpec::Check(_) => Grouping { targets: count(record.targets.len()), ..Grouping::default() },
        WorkloadSpec::Metadata(_) => Grouping { stages: count(record.stages.len()), ..Grouping::default() },
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let make = || {
        Summarising(Engine::for_samples(samples, EXACT_SUMMARY_BYTES, grouping).with_thresholds(thresholds))
    };
    let sinks = run.scan(&COLUMNS, threads, make)?;
    let mut engines = sinks.into_iter().map(|sink| sink.0);
    let mut all = engines.next().unwrap_or_else(|| make().0);
    engines.for_each(|engine| all.merge(engine));
    Ok(all.finish())
}

fn store_finally(
    plan: &WriterPlan,
    run: &RunDirectory,
    spool: &Directory,
    mut record: RunRecord,
) -> Result<Stored, StoreError> {
    record.after = Some(environment::memory::capture(Path::new("/proc")));
    let encoded = run.finish(&mut record, spool)?;
    for (ring, bytes) in &encoded.dropped {
        record.trust.push(Trust {
            doubt: format!("{bytes} bytes of the spool of ring {} could not be read back", ring.0),
            advice: "check the file system of the store; the samples in them are missing from every figure"
                .into(),
        });
    }
    if !encoded.dropped.is_empty() {
        run.write_record(&record)?;
    }
    summarised(plan, run, record)
}

fn summarised(plan: &WriterPlan, run: &RunDirectory, mut record: RunRecord) -> Result<Stored, StoreError> {
    let summaries = summarise(run, &record, &plan.thresholds)?;
    if target_failure::note_in(&mut record, &summaries) {
        run.write_record(&record)?;
    }
    let details = run.details()?;
    Ok(Stored { record, summaries, details })
}
