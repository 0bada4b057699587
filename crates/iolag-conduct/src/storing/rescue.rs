//! Rescuing a run: the store refused it or does not answer, so another writer puts it into a place of rescue.
//!
//! What the failed writer spooled is taken over if it can be read; else what the rings still hold has to do. A place that fails
//! as well has taken samples out of the rings: the next one takes over its spool, so that no sample is lost or doubled. The
//! rescued run says which store it belongs to, and what the store has of it is told, if it still takes that, where the run is.
//! The next command takes it home (`iolag_store::adopt`).

use std::path::{Path, PathBuf};

use iolag_keeper::Exchange;
use iolag_model::{Rescue, RunRecord, RunState, counted};
use iolag_store::{RunDirectory, StoreError};

use crate::contact::scout::{Answer, ask};
use crate::messages::Stored;
use crate::run::interruption::Interruption;
use crate::storing::draining::Source;
use crate::storing::place::STORE_DEADLINE;
use crate::storing::place::{memory_root, spool_candidates, usual_root};
use crate::storing::writer::WriterPlan;
use crate::storing::writing::{Trouble, Writing};

/// A run whose writer has failed.
pub struct Rescuing<'a> {
    /// The writer that failed.
    pub failed: &'a Writing,
    /// Why.
    pub trouble: &'a Trouble,
    /// What it had to do.
    pub plan: &'a WriterPlan,
    /// Where the samples are.
    pub exchange: &'a Exchange,
}

/// What became of a run whose writer has failed.
pub enum Rescued {
    /// It is stored there.
    Stored { run: PathBuf, stored: Box<Stored> },
    /// The user does not wait until it is stored there.
    Left { place: PathBuf },
}

impl Rescuing<'_> {
    /// Writes the run to the first place of rescue that takes it.
    ///
    /// # Errors
    /// The last trouble, if none takes it.
    pub fn rescue(
        &self,
        record: &RunRecord,
        interruption: &mut Interruption<'_>,
    ) -> Result<Rescued, Trouble> {
        let spool = match self.trouble {
            Trouble::Refuses(_) => self.failed.spool().cloned(),
            Trouble::Hangs(_) | Trouble::NotWanted => None,
        };
        // If no place takes it, it may be the failed writer's spool that cannot be read: once more without.
        let mut begun = Vec::new();
        let mut trouble = self.trouble.clone();
        for spool in spool.map(Some).into_iter().chain([None]) {
            match self.rescue_with(spool, record, &mut begun, interruption) {
                Err(failed) => trouble = failed,
                rescued => return rescued,
            }
        }
        Err(trouble)
    }

    /// `begun`: the places in which an earlier attempt has begun the run.
    fn rescue_with(
        &self,
        mut readable_spool: Option<PathBuf>,
        record: &RunRecord,
        begun: &mut Vec<PathBuf>,
        interruption: &mut Interruption<'_>,
    ) -> Result<Rescued, Trouble> {
        let mut trouble = self.trouble.clone();
        let mut rescue = self.describe();
        for parent in spool_candidates() {
            let root = match ask("scout", STORE_DEADLINE, || memory_root(&parent)) {
                Ok(Answer::Given(root)) => root,
                // A place that does not answer is none.
                Ok(Answer::None { .. }) => continue,
                // The user does not wait any more. The writer finds out whether it is a stranger's.
                Err(_) => usual_root(&parent),
            };
            if root == self.plan.root {
                continue;
            }
            rescue.place = root.display().to_string();
            rescue.only_in_store = match readable_spool {
                Some(_) => 0,
                None => self.exchange.samples_overwritten(),
            };
            let mut record = record.clone();
            if rescue.only_in_store > 0 {
                let samples = counted(rescue.only_in_store, "sample is", "samples are");
                record.state.add_reason(format!("{samples} only in the store, and cannot be read there"));
            }
            record.rescue = Some(rescue.clone());
            let is_begun = begun.contains(&root);
            let plan = rescue_plan(self.plan, root.clone(), readable_spool.clone(), is_begun, &rescue);
            let Ok(mut writing) = Writing::start(plan, self.exchange, STORE_DEADLINE) else { break };
            self.failed.orders().iter().for_each(|order| writing.order(order));
            let stored = writing
                .wait_until_ready(interruption)
                .and_then(|(run, _)| writing.finish(&record, interruption).map(|stored| (run, stored)));
            if matches!(stored, Err(Trouble::NotWanted)) {
                // The writer is at work, and goes on without anybody who waits for it.
                return Ok(Rescued::Left { place: root });
            }
            writing.end();
            trouble = match stored {
                Ok((run, stored)) => {
                    self.tell_stump(&rescue);
                    return Ok(Rescued::Stored { run, stored });
                }
                Err(trouble) => trouble,
            };
            if writing.run().is_some() {
                begun.push(root);
            }
            readable_spool = match &trouble {
                // It has everything that was taken over, and what it took out of the rings itself.
                Trouble::Refuses(_) => readable_spool.map(|spool| writing.spool().cloned().unwrap_or(spool)),
                Trouble::Hangs(_) | Trouble::NotWanted => None,
            };
        }
        Err(trouble)
    }

    /// The rescue as the run's record has it; a run that was kept in a place of rescue from the beginning still belongs to the
    /// store that was asked for.
    fn describe(&self) -> Rescue {
        let store = self.failed.run().and_then(|run| run.ancestors().nth(2)).unwrap_or(&self.plan.root);
        self.plan.record.rescue.clone().unwrap_or_else(|| {
            let keeper = match self.plan.record.state {
                RunState::Running { keeper_pid, keeper_start_ticks, .. } => (keeper_pid, keeper_start_ticks),
                _ => (std::process::id(), 0),
            };
            Rescue {
                store: store.display().to_string(),
                identity: self.failed.identity(),
                place: String::new(),
                cause: self.trouble.sentence().to_owned(),
                only_in_store: 0,
                keeper_pid: keeper.0,
                keeper_start_ticks: keeper.1,
            }
        })
    }

    /// Says in what the store has of the run where the rest is. A store that does not take that either is told by the rescued
    /// run, which the next command finds.
    fn tell_stump(&self, rescue: &Rescue) {
        if let (Trouble::Refuses(_), Some(run)) = (self.trouble, self.failed.run()) {
            let _ = ask("scribe", STORE_DEADLINE, || note_rescue(run, rescue).is_ok());
        }
    }
}

fn note_rescue(run: &Path, rescue: &Rescue) -> Result<(), StoreError> {
    let stump = RunDirectory::open(run)?;
    let mut record = stump.record()?;
    if matches!(record.state, RunState::Running { .. }) {
        record.rescue = Some(rescue.clone());
        stump.write_record(&record)?;
    }
    Ok(())
}

fn rescue_plan(
    plan: &WriterPlan,
    root: PathBuf,
    readable_spool: Option<PathBuf>,
    begun: bool,
    rescue: &Rescue,
) -> WriterPlan {
    let source = if readable_spool.is_some() { Source::Pending } else { Source::Retained };
    let mut rescue_plan = WriterPlan {
        root,
        spool_parent: None,
        source,
        inherited_spool: readable_spool,
        begun,
        ..plan.clone()
    };
    rescue_plan.record.rescue = Some(rescue.clone());
    rescue_plan
}
