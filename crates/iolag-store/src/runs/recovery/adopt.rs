//! Takes rescued runs home, into the store that had refused them.
//!
//! ```text
//! 1 directory made, if the store has none                     killed here: the rescued run counts
//! 2 parts and details copied, durable, under names that       killed here: the rescued run counts; copied again
//!   the stump does not use
//! 3 run.json replaced: the store's run counts from here on    killed here: the rescued run is superfluous
//! 4 the stump's spool and parts removed                       killed here: done by the next command
//! 5 the rescued run removed, run.json last, and its place     killed here: what is left of it is removed
//! ```
//! If the store has no room but for the stump's spool, and nothing is in that which the rescued run has not, it goes before step 2: else
//! the run would stay in memory for good.
//!
//! Both directories are locked meanwhile. Only what is certain is done: the run was closed by a keeper that has ended, in this
//! boot of this host; the store is the one that it names, and has no more than a stump. Else it is said where it lies.

use std::collections::HashSet;

use iolag_model::{Detail, PartRecord, RunId, RunRecord};
use rustix::io::Errno;

use super::rescue::{RescuedRun, is_closed, is_same_run, samples_of};
use crate::directory::new_name;
use crate::runs::liveness::KeeperIdentity;
use crate::runs::part::{DETAILS_FILE, DetailsWriter, PartReader};
use crate::runs::run_directory::{RunDirectory, TRACE_FILE, is_part};
use crate::runs::spool::{Block, SpoolReader, spools};
use crate::{Directory, Store, StoreError};

/// A run that was found in a place of rescue.
#[derive(Debug)]
pub struct Adopted {
    /// The run.
    pub id: RunId,
    /// Where it lay, and lies if it was not adopted.
    pub from: std::path::PathBuf,
    /// What became of it.
    pub result: Result<Adoption, StoreError>,
}

/// What adoption did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adoption {
    /// The store has the run now; the place of rescue has nothing of it any more.
    Adopted {
        /// How many samples the run has.
        samples: u64,
    },
    /// The store had it already; what lay in the place of rescue is removed.
    Removed,
    /// It stays where it is.
    Left {
        /// Why, as a clause.
        why: String,
    },
}

/// What has been done, so that tests can stop after each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    DirectoryMade,
    PartsCopied,
    RecordReplaced,
    StumpRemoved,
}

/// Adopts every rescued run of the store that may be adopted. One that fails stops neither the others nor the caller: it is
/// as readable as before. What another command has in hand at this moment is passed over.
///
/// # Errors
/// Only if the store belongs to somebody else: nothing is written to it then.
pub fn adopt(store: &Store, is_alive: impl Fn(&KeeperIdentity) -> bool) -> Result<Vec<Adopted>, StoreError> {
    store.refuse_foreign()?;
    let mut adopted = Vec::new();
    for id in store.rescued_ids() {
        let copies = store.rescued(&id);
        let Some(from) = copies.first().map(|copy| copy.run.path().to_owned()) else { continue };
        match adopt_run(store, &copies, &is_alive, |_| Ok(())) {
            Err(StoreError::Locked { .. }) => {}
            result => adopted.push(Adopted { id, from, result }),
        }
    }
    Ok(adopted)
}

/// `copies`: those of one run, the best first.
pub(crate) fn adopt_run(
    store: &Store,
    copies: &[RescuedRun],
    is_alive: impl Fn(&KeeperIdentity) -> bool,
    mut done: impl FnMut(Step) -> Result<(), StoreError>,
) -> Result<Adoption, StoreError> {
    let Some(best) = copies.first() else { return Ok(Adoption::Removed) };
    let keeper = KeeperIdentity::of_rescue(&best.record);
    if keeper.is_some_and(|keeper| keeper.is_of_this_boot() && is_alive(&keeper)) {
        return Err(StoreError::Locked { path: best.run.path().to_owned() });
    }
    if let Some(why) = why_not(store, best) {
        return Ok(Adoption::Left { why });
    }
    let _locks = copies.iter().map(|copy| copy.run.lock()).collect::<Result<Vec<_>, _>>()?;
    let own = match store.own_run(best.run.id()) {
        Err(StoreError::RunMissing { .. }) => {
            RunDirectory::new(store.runs().create_directory(best.run.id().as_str())?, best.run.id().clone())
        }
        other => other?,
    };
    let _lock = own.lock()?;
    done(Step::DirectoryMade)?;
    let stump = match own.record() {
        Err(error) if error.is_missing() => None,
        other => Some(other?),
    };
    let adoption = match &stump {
        Some(whole) if is_closed(whole) => {
            if !is_same_run(whole, &best.record) {
                let why = "the store has another run of this name".to_owned();
                return Ok(Adoption::Left { why });
            }
            if !has_parts_of(whole, &best.record) {
                let why = "the store has it, closed by its keeper, with other samples".to_owned();
                return Ok(Adoption::Left { why });
            }
            Adoption::Removed
        }
        _ => {
            take_in(&own, stump.as_ref(), best, &mut done)?;
            Adoption::Adopted { samples: samples_of(&best.record) }
        }
    };
    remove_stump(&own)?;
    done(Step::StumpRemoved)?;
    for copy in copies {
        store.remove_from_place(&copy.run)?;
    }
    Ok(adoption)
}

/// Why the run is better left where it is.
fn why_not(store: &Store, best: &RescuedRun) -> Option<String> {
    if !store.is_certainly_home_of(&best.record) {
        let keeper = KeeperIdentity::of_rescue(&best.record);
        let why = match keeper.is_some_and(|keeper| keeper.is_of_this_boot()) {
            true => "the store was mounted anew since, and nothing in it shows that it is the same",
            false => "it was rescued before this machine was restarted, or on another",
        };
        return Some(why.to_owned());
    }
    if !best.is_closed() {
        return Some("the rescue was not completed, and the store may have what is missing there".to_owned());
    }
    let own = store.own_run(best.run.id()).and_then(|run| run.record().map(|record| (run, record)));
    match own {
        Err(error) if error.is_missing() || matches!(error, StoreError::RunMissing { .. }) => None,
        Err(error) => Some(format!("it is not known what the store has of it: {error}")),
        Ok((_, own)) if !is_same_run(&own, &best.record) => {
            Some("the store has another run of this name".to_owned())
        }
        Ok((_, own)) if is_closed(&own) => None,
        Ok((_, own)) if samples_of(&own) > samples_of(&best.record) => {
            Some("the store has more samples of it".to_owned())
        }
        Ok((run, own)) if lacking(&best.record) > 0 && may_have_samples(&run, &own) => {
            Some("the store may have samples of it that are not there".to_owned())
        }
        Ok(_) => None,
    }
}

/// Whether a stump holds samples; one whose spool cannot be looked at may.
fn may_have_samples(stump: &RunDirectory, record: &RunRecord) -> bool {
    let has_spools =
        |spool: Option<Directory>| spool.map_or(Ok(false), |spool| Ok(!spools(&spool)?.is_empty()));
    samples_of(record) > 0 || stump.open_spool(record).and_then(has_spools).unwrap_or(true)
}

fn has_parts_of(own: &RunRecord, rescued: &RunRecord) -> bool {
    let content = |part: &PartRecord| PartRecord { file: String::new(), ..part.clone() };
    own.parts.iter().map(content).eq(rescued.parts.iter().map(content))
}

/// Copies the run into its directory in the store; after this the store's run counts.
fn take_in(
    own: &RunDirectory,
    stump: Option<&RunRecord>,
    best: &RescuedRun,
    done: &mut impl FnMut(Step) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut record = best.record.clone();
    let used: Vec<&str> =
        stump.iter().flat_map(|stump| &stump.parts).map(|part| part.file.as_str()).collect();
    for part in &mut record.parts {
        part.file = unused_name(&part.file, &used);
    }
    let texts = Texts::of(own, stump, best)?;
    let copied =
        make_room(own, best, &texts).and_then(|()| copy_content(own.directory(), &record, best, &texts.all));
    if let Err(error) = copied {
        // A full store is not to be left fuller. What cannot be removed is overwritten by the next attempt.
        for part in &record.parts {
            let _ = own.directory().remove_file(&part.file);
        }
        let _ = own.directory().remove_file(&new_name(DETAILS_FILE));
        return Err(error);
    }
    done(Step::PartsCopied)?;
    own.write_manifest(&own.manifest()?.merged(best.run.manifest()?))?;
    record.rescue = None;
    record.format = record.spec.workload.run_format();
    own.write_record(&record)?;
    done(Step::RecordReplaced)
}

/// A name of the same form that the stump does not use.
fn unused_name(file: &str, used: &[&str]) -> String {
    let split = file.strip_suffix(".parquet").and_then(|stem| stem.rsplit_once('-'));
    let Some((stem, number)) = split.and_then(|(stem, number)| Some((stem, number.parse::<u64>().ok()?)))
    else {
        return file.to_owned();
    };
    // A stump has as many parts as it has, so that names above all of theirs are free.
    let of_target = used.iter().filter(|name| name.starts_with(&format!("{stem}-"))).count() as u64;
    format!("{stem}-{}.parquet", number + of_target)
}

/// Refuses a store without room for the run. It may be the run's own spool that fills it: then that goes first, if nothing is in it
/// that the rescued run has not, and if that is enough.
fn make_room(own: &RunDirectory, best: &RescuedRun, texts: &Texts) -> Result<(), StoreError> {
    const REST_BYTES: u64 = 64 << 10;
    let files = best.record.parts.iter().map(|part| part.file.as_str()).chain([DETAILS_FILE, TRACE_FILE]);
    let sizes = files.filter_map(|file| best.run.directory().look_at(file).ok());
    let needed: u64 = sizes.map(|(bytes, _)| bytes).sum::<u64>() + REST_BYTES;
    let Some(free) = own.directory().free_bytes().filter(|free| *free < needed) else { return Ok(()) };
    let is_superfluous = lacking(&best.record) == 0 && texts.only_in_store == 0;
    if is_superfluous && free.saturating_add(own.spool_bytes()) >= needed {
        return own.remove_spool();
    }
    Err(StoreError::system("write to", own.path(), Errno::NOSPC))
}

/// Samples that only the store can have.
fn lacking(record: &RunRecord) -> u64 {
    record.rescue.as_ref().map_or(0, |rescue| rescue.only_in_store)
}

fn copy_content(
    to: &Directory,
    record: &RunRecord,
    best: &RescuedRun,
    texts: &[Detail],
) -> Result<(), StoreError> {
    let from = best.run.directory();
    for (part, source) in record.parts.iter().zip(&best.record.parts) {
        if !is_part(&source.file) {
            return Err(StoreError::damaged(from.path().join(&source.file), "it is not the name of a part"));
        }
        to.take_copy(&part.file, from, &source.file)?;
        PartReader::open(to, part)?;
    }
    if record.spec.workload.trace().is_some() {
        to.take_copy(TRACE_FILE, from, TRACE_FILE)?;
    }
    let mut details = DetailsWriter::new(to)?;
    details.append(texts)?;
    details.finish().map(drop)
}

/// What is explained in both copies, none of it twice.
struct Texts {
    all: Vec<Detail>,
    only_in_store: usize,
}

impl Texts {
    fn of(own: &RunDirectory, stump: Option<&RunRecord>, best: &RescuedRun) -> Result<Self, StoreError> {
        let mut seen = HashSet::new();
        let mut is_new = |detail: &Detail| seen.insert((detail.attempt, detail.kind, detail.text.clone()));
        let mut all = best.run.details()?;
        all.retain(&mut is_new);
        let mut of_stump = stump.map_or(Ok(Vec::new()), |stump| details_of_stump(own, stump))?;
        of_stump.retain(&mut is_new);
        let only_in_store = of_stump.len();
        all.append(&mut of_stump);
        Ok(Self { all, only_in_store })
    }
}

/// Texts that the store has: those that a writer took before its store stopped answering nobody else has.
fn details_of_stump(own: &RunDirectory, stump: &RunRecord) -> Result<Vec<Detail>, StoreError> {
    let mut details = own.details()?;
    let Some(spool) = own.open_spool(stump)? else { return Ok(details) };
    for number in spools(&spool)? {
        let mut reader = SpoolReader::open(&spool, own.id(), number)?;
        while let Some(Block::Details(more)) = reader.next_block_of_details()? {
            details.extend_from_slice(more);
        }
    }
    Ok(details)
}

/// What the stump had and the run does not need: its spool, and parts that run.json does not name.
fn remove_stump(own: &RunDirectory) -> Result<(), StoreError> {
    let record = own.record()?;
    own.remove_spool()?;
    for name in own.directory().names()? {
        let is_needed = record.parts.iter().any(|part| part.file == name);
        if is_part(name.strip_suffix(".new").unwrap_or(&name)) && !is_needed {
            own.directory().remove_file(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
