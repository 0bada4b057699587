//! The writer: drains rings into the spool, encodes, summarises. It may hang with the store; the keeper does not.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use iolag_keeper::{Exchange, Inbox, Outbox};
use iolag_model::{ClientRecord, PlaceToken, RunRecord, RunState, Trust, counted, ending::NOT_STORED};
use iolag_store::{
    Directory, Encoded, Manifest, ManifestEntry, ManifestKind, RunDirectory, Store, StoreError,
};

use crate::check::measurer::forget_unused_compiler;
use crate::messages::{FromWriter, Stored, ToWriter, tell, told};
use crate::storing::draining::{Busy, Draining, Patience, Source};
use crate::storing::summarising::summarise;
use crate::storing::{place, target_failure};
use rustix::process::Pid;

use crate::environment;

/// The keeper hears from a working writer at least this often.
const ALIVE_EVERY: Duration = Duration::from_millis(500);

/// What a writer has to do.
#[derive(Debug, Clone)]
pub struct WriterPlan {
    /// The store.
    pub root: PathBuf,
    /// A directory for the spool, if the store's own file system is being measured.
    pub spool_parent: Option<PathBuf>,
    /// The run's record as it is at the start.
    pub record: RunRecord,
    /// The clients of each measurer.
    pub measurers: Vec<Vec<u32>>,
    /// What the manifest says before anything is created.
    pub planned_places: Vec<(String, String)>,
    /// What they will be known by.
    pub token: PlaceToken,
    /// Where the samples come from.
    pub source: Source,
    /// The spool of a writer that failed in another store, to be taken over.
    pub inherited_spool: Option<PathBuf>,
    /// Whether an earlier writer began this run and was killed.
    pub begun: bool,
}

/// The writer process. `keeper` is its parent: when that is another one, the keeper is gone.
pub fn run(plan: &WriterPlan, exchange: &Exchange, keeper: Pid, mut inbox: Inbox, outbox: Outbox) -> i32 {
    match work(plan, exchange, keeper, &mut inbox, &outbox) {
        Ok(()) => 0,
        Err(error) => {
            tell(&outbox, &FromWriter::Failed(error.to_string()));
            3
        }
    }
}

fn work(
    plan: &WriterPlan,
    exchange: &Exchange,
    keeper: Pid,
    inbox: &mut Inbox,
    outbox: &Outbox,
) -> Result<(), StoreError> {
    let store = place::open(&plan.root)?;
    let alone;
    let (plan, beginning) = match beginning(&store, plan) {
        // The keeper would have tried without what cannot be taken over; it is gone.
        Err(_) if plan.inherited_spool.is_some() && rustix::process::getppid() != Some(keeper) => {
            alone =
                WriterPlan { source: Source::Retained, inherited_spool: None, begun: true, ..plan.clone() };
            (&alone, beginning(&store, &alone)?)
        }
        beginning => (plan, beginning?),
    };
    let (run, spool, begun) = match beginning {
        Beginning::Draining { run, spool, begun } => (run, spool, begun),
        Beginning::Stored { run, record } => {
            tell_ready(outbox, &store, &run, run.path());
            let stored = summarised(&run, *record)?;
            tell(outbox, &FromWriter::Done(Box::new(stored)));
            return Ok(());
        }
    };
    // As long as this process lives nobody else recovers the run, even if the keeper is gone.
    let _lock = run.lock()?;
    tell_ready(outbox, &store, &run, spool.path());
    let mut draining = Draining::new(exchange, &plan.measurers, &spool, plan.record.id.clone(), begun);
    let mut orders = Orders { run: &run, clients: &plan.record.clients, exchange, finish: None };
    let mut last_alive = Instant::now();
    let samples = loop {
        // The flag is read before the rings: what is drained after it is everything.
        let measured = exchange.is_measured();
        // So is their number: what a process that cannot be ended records afterwards is not due.
        let samples_due = if measured { samples_due(plan.source, exchange) } else { 0 };
        let patience = if measured { Patience::None } else { Patience::Some };
        let busy = draining.drain(plan.source, patience)?;
        while let Some(order) = told::<ToWriter>(inbox) {
            orders.take(order)?;
        }
        if rustix::process::getppid() != Some(keeper) {
            return outlive_keeper(&mut draining, plan.source);
        }
        if measured && orders.finish.is_some() {
            break samples_due;
        }
        if last_alive.elapsed() > ALIVE_EVERY {
            tell(outbox, &FromWriter::Alive);
            last_alive = Instant::now();
        }
        inbox.wait(draining.pause(busy));
    };
    draining.finish()?;
    let record = orders.finish.take().expect("the loop ends only with a final record");
    let due = Due { samples, details_lost: draining.details_lost() };
    let stored = store_finally(&run, &spool, *record, due)?;
    tell(outbox, &FromWriter::Done(Box::new(stored)));
    Ok(())
}

fn tell_ready(outbox: &Outbox, store: &Store, run: &RunDirectory, spool: &Path) {
    let (run, spool) = (run.path().to_owned(), spool.to_owned());
    tell(outbox, &FromWriter::Ready { run, spool, store: store.identity().ok() });
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
            ToWriter::Placed(placed) => {
                let mut manifest = self.run.manifest()?;
                for entry in &mut manifest.entries {
                    if entry.parent == placed.path && entry.name == placed.name {
                        entry.device = placed.identity.and_then(|identity| identity.device);
                        entry.inode = placed.identity.map(|identity| identity.inode);
                        entry.token = placed.token;
                        entry.file_system = placed.file_system;
                    }
                }
                self.run.write_manifest(&manifest)?;
                let told = self.clients.iter().filter(|client| client.target.0 == placed.target);
                told.for_each(|client| self.exchange.set_noted(client.client.0));
                Ok(())
            }
            // Once a file system is unmounted nobody can see what is not there.
            ToWriter::Removed => {
                let mut manifest = self.run.manifest()?;
                manifest
                    .entries
                    .retain(|entry| entry.kind != ManifestKind::WorkingDirectory || entry.inode.is_none());
                self.run.write_manifest(&manifest)
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

fn beginning(store: &Store, plan: &WriterPlan) -> Result<Beginning, StoreError> {
    if plan.begun { reopen(store, plan) } else { begin(store, plan) }
}

fn begin(store: &Store, plan: &WriterPlan) -> Result<Beginning, StoreError> {
    go_on_from_the_beginning(store, store.create_run(&plan.record)?, plan)
}

/// Fills a run directory with everything that is to be there before the first sample.
fn go_on_from_the_beginning(
    store: &Store,
    run: RunDirectory,
    plan: &WriterPlan,
) -> Result<Beginning, StoreError> {
    let mut record = plan.record.clone();
    run.write_record(&record)?;
    let entries = plan.planned_places.iter().map(|(parent, name)| ManifestEntry {
        parent: parent.clone(),
        name: name.clone(),
        device: None,
        inode: None,
        token: Some(plan.token),
        file_system: None,
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
    if let Err(error) = take_over(plan, &spool) {
        // Nothing is here that is not elsewhere. What cannot be removed is only in the way.
        let _ = store.remove_run(run.id(), |_| false);
        return Err(error);
    }
    Ok(Beginning::Draining { run, spool, begun: plan.inherited_spool.is_some() })
}

/// Takes over what a failed writer had spooled elsewhere, as far as that has not been done.
fn take_over(plan: &WriterPlan, spool: &Directory) -> Result<(), StoreError> {
    plan.inherited_spool.iter().try_for_each(|inherited| spool.copy_files(&Directory::open(inherited)?))
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
        Err(error) if error.errno() == Some(libc::ENOENT) => {
            return go_on_from_the_beginning(store, run, plan);
        }
        Err(error) => return Err(error),
    };
    if !matches!(record.state, RunState::Running { .. }) {
        run.remove_spool()?;
        return Ok(Beginning::Stored { run, record: Box::new(record) });
    }
    if plan.source == Source::Retained {
        // What the rings retain does not depend on what an earlier writer had copied of it.
        run.remove_spool()?;
        return go_on_from_the_beginning(store, run, plan);
    }
    // A spool is made after record and manifest. Without one the first writer was killed on its way there.
    match run.open_spool(&record)? {
        Some(spool) => {
            take_over(plan, &spool)?;
            Ok(Beginning::Draining { run, spool, begun: true })
        }
        None => go_on_from_the_beginning(store, run, plan),
    }
}

/// What the rings have given in all.
#[derive(Debug, Clone, Copy)]
struct Due {
    /// Samples that must be in the spools.
    samples: u64,
    /// Texts that found no room.
    details_lost: u64,
}

fn samples_due(source: Source, exchange: &Exchange) -> u64 {
    match source {
        Source::Pending => exchange.samples_recorded(),
        // What was overwritten is told as what only the other store has.
        Source::Retained => exchange.samples_recorded() - exchange.samples_overwritten(),
    }
}

fn store_finally(
    run: &RunDirectory,
    spool: &Directory,
    mut record: RunRecord,
    due: Due,
) -> Result<Stored, StoreError> {
    record.after = Some(environment::memory::capture(Path::new("/proc")));
    // Before the record says that the run is complete, not after: nobody may be told otherwise in between.
    run.finish_judged(&mut record, spool, |record, encoded| judge(record, encoded, due))?;
    summarised(run, record)
}

/// Says in the record what did not arrive.
fn judge(record: &mut RunRecord, encoded: &Encoded, due: Due) {
    for (number, bytes) in &encoded.dropped {
        record.trust.push(Trust {
            doubt: format!("{bytes} bytes of spool {} could not be read back", number.0),
            advice: "check the file system of the store; the samples in them are missing from every figure"
                .into(),
        });
    }
    let missing = due.samples.saturating_sub(encoded.samples + encoded.superseded);
    if missing > 0 {
        // The store may still have them: what it has is not to be removed.
        if let Some(rescue) = &mut record.rescue {
            rescue.only_in_store += missing;
        }
        record.state.add_reason(format!("{} {NOT_STORED}", counted(missing, "sample is", "samples are")));
    }
    if due.details_lost > 0 {
        record.trust.push(Trust {
            doubt: format!(
                "{} found no room and {} missing; the samples themselves are all there",
                counted(
                    due.details_lost,
                    "explanation of a failed operation",
                    "explanations of failed operations"
                ),
                if due.details_lost == 1 { "is" } else { "are" }
            ),
            advice: "put the store on something faster, or look at the first failures: they have theirs"
                .into(),
        });
    }
}

fn summarised(run: &RunDirectory, mut record: RunRecord) -> Result<Stored, StoreError> {
    let summaries = summarise(run, &record)?;
    let has_failed = target_failure::note_in(&mut record, &summaries);
    let lacks_something = target_failure::note_unmeasured(&mut record, &summaries);
    if forget_unused_compiler(&mut record, &summaries) || has_failed || lacks_something {
        run.write_record(&record)?;
    }
    let details = run.details()?;
    Ok(Stored { record, summaries, details })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Rescue;

    fn rescued() -> RunRecord {
        const RECORD: &str =
            include_str!("../../../iolag/tests/written_by_0_1_0/store/runs/20261122-022728-4048/run.json");
        let mut record: RunRecord = serde_json::from_str(RECORD).unwrap();
        record.state = RunState::Complete;
        record.rescue = Some(Rescue {
            store: "/store".into(),
            identity: None,
            place: "/memory".into(),
            cause: "it is full".into(),
            only_in_store: 0,
            keeper_pid: 1,
            keeper_start_ticks: 1,
        });
        record
    }

    #[test]
    fn what_a_rescued_run_lacks_is_noted_as_what_its_store_may_have() {
        let stored = |samples| Encoded {
            parts: Vec::new(),
            samples,
            superseded: 2,
            still_hung: 0,
            details: 0,
            dropped: Vec::new(),
        };
        for (samples, missing) in [(98, 0), (91, 7)] {
            let mut record = rescued();
            judge(&mut record, &stored(samples), Due { samples: 100, details_lost: 0 });
            assert_eq!(record.rescue.unwrap().only_in_store, missing);
            assert_eq!(record.state == RunState::Complete, missing == 0);
        }
    }

    fn plan(root: &Path, inherited: &Path) -> WriterPlan {
        let mut record = rescued();
        record.state = crate::run::beginning::running_state();
        WriterPlan {
            root: root.to_owned(),
            spool_parent: None,
            record,
            measurers: Vec::new(),
            planned_places: Vec::new(),
            token: PlaceToken(1),
            source: Source::Pending,
            inherited_spool: Some(inherited.to_owned()),
            begun: true,
        }
    }

    #[test]
    fn a_writer_that_was_killed_while_it_took_over_a_spool_is_followed_by_one_that_goes_on() {
        let place = tempfile::tempdir().unwrap();
        let inherited = Directory::open_or_create(&place.path().join("inherited")).unwrap();
        inherited.replace_file("ring-0.spool", b"whole").unwrap();
        inherited.replace_file("ring-1.spool", b"whole").unwrap();
        let plan = plan(&place.path().join("store"), inherited.path());
        let store = Store::open(&plan.root).unwrap();
        let spool = store.create_run(&plan.record).unwrap().create_spool().unwrap();
        spool.replace_file("ring-0.spool", b"whole and more").unwrap();
        std::fs::write(spool.path().join("ring-1.spool.new"), "who").unwrap();
        let Beginning::Draining { spool, begun: true, .. } = reopen(&store, &plan).unwrap() else {
            panic!("it was not begun")
        };
        assert_eq!(spool.names().unwrap(), ["ring-0.spool", "ring-1.spool"]);
        assert_eq!(spool.read_file("ring-0.spool", 100).unwrap(), b"whole and more");
        assert_eq!(spool.read_file("ring-1.spool", 100).unwrap(), b"whole");
    }

    #[test]
    fn what_cannot_be_taken_over_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan(&place.path().join("store"), &place.path().join("gone"));
        let store = Store::open(&plan.root).unwrap();
        assert!(reopen(&store, &plan).is_err());
        assert_eq!(std::fs::read_dir(plan.root.join("runs")).unwrap().count(), 0);
    }
}
