//! Datasets and objects in memory, under one lock per shard.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use iolag_model::{FailureCode, mix};

use crate::ObjectKey;

/// An object grows no longer than this: the store shares its memory with iolag.
const OBJECT_BYTES_MAX: u64 = 1 << 30;

const SHARDS: usize = 64;

/// Why an operation failed, in the terms of a directory.
pub(super) const NOT_FOUND: FailureCode = FailureCode::from_errno(libc::ENOENT);
const EXISTS: FailureCode = FailureCode::from_errno(libc::EEXIST);
const NOT_EMPTY: FailureCode = FailureCode::from_errno(libc::ENOTEMPTY);
const TOO_BIG: FailureCode = FailureCode::from_errno(libc::EFBIG);

/// Names a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DatasetKey {
    pub(super) rank: u32,
    pub(super) dataset: u32,
}

impl From<ObjectKey> for DatasetKey {
    fn from(key: ObjectKey) -> Self {
        Self { rank: key.rank, dataset: key.dataset }
    }
}

type Objects = HashMap<u64, Vec<u8>>;
type Shard = HashMap<DatasetKey, Objects>;

/// The store.
#[derive(Debug)]
pub(super) struct Store {
    has_place: AtomicBool,
    shards: [Mutex<Shard>; SHARDS],
}

impl Default for Store {
    fn default() -> Self {
        Self { has_place: AtomicBool::new(false), shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl Store {
    /// Makes the working place; false if there is one with something in it.
    pub(super) fn create_place(&self) -> bool {
        let is_free = self.is_empty();
        if is_free {
            self.has_place.store(true, Ordering::Release);
        }
        is_free
    }

    pub(super) fn has_place(&self) -> bool {
        self.has_place.load(Ordering::Acquire)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| lock(shard).is_empty())
    }

    pub(super) fn remove_place(&self) {
        self.has_place.store(false, Ordering::Release);
        for shard in &self.shards {
            lock(shard).clear();
        }
    }

    pub(super) fn make_dataset(&self, key: DatasetKey) -> Result<(), FailureCode> {
        let mut shard = self.shard(key);
        if shard.contains_key(&key) {
            return Err(EXISTS);
        }
        shard.insert(key, Objects::new());
        Ok(())
    }

    pub(super) fn remove_dataset(&self, key: DatasetKey) -> Result<(), FailureCode> {
        let mut shard = self.shard(key);
        if !shard.get(&key).ok_or(NOT_FOUND)?.is_empty() {
            return Err(NOT_EMPTY);
        }
        shard.remove(&key);
        Ok(())
    }

    /// Number of objects in a dataset.
    pub(super) fn count(&self, key: DatasetKey) -> Result<u64, FailureCode> {
        Ok(self.shard(key).get(&key).ok_or(NOT_FOUND)?.len() as u64)
    }

    /// Makes an empty object, in place of what was there.
    pub(super) fn truncate(&self, key: ObjectKey) -> Result<(), FailureCode> {
        let mut shard = self.shard(key.into());
        let objects = shard.get_mut(&key.into()).ok_or(NOT_FOUND)?;
        objects.entry(key.index).or_default().clear();
        Ok(())
    }

    /// Bytes of an object.
    pub(super) fn length(&self, key: ObjectKey) -> Result<u64, FailureCode> {
        let shard = self.shard(key.into());
        object(&shard, key).map(|object| object.len() as u64)
    }

    pub(super) fn remove(&self, key: ObjectKey) -> Result<(), FailureCode> {
        let mut shard = self.shard(key.into());
        let objects = shard.get_mut(&key.into()).ok_or(NOT_FOUND)?;
        objects.remove(&key.index).map(drop).ok_or(NOT_FOUND)
    }

    /// Writes `bytes` at `offset`; a gap before it reads as zeros.
    pub(super) fn write(&self, key: ObjectKey, offset: u64, bytes: &[u8]) -> Result<(), FailureCode> {
        let end = offset.saturating_add(bytes.len() as u64);
        if end > OBJECT_BYTES_MAX {
            return Err(TOO_BIG);
        }
        let (start, end) = (offset as usize, end as usize);
        let mut shard = self.shard(key.into());
        let object =
            shard.get_mut(&key.into()).and_then(|objects| objects.get_mut(&key.index)).ok_or(NOT_FOUND)?;
        if object.len() < end {
            object.resize(end, 0);
        }
        object[start..end].copy_from_slice(bytes);
        Ok(())
    }

    /// Reads at `offset` what fits into `buffer`; returns how much there was.
    pub(super) fn read(&self, key: ObjectKey, offset: u64, buffer: &mut [u8]) -> Result<usize, FailureCode> {
        let shard = self.shard(key.into());
        let object = object(&shard, key)?;
        let rest = object.get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }

    /// Gives an object another key, in place of what was there.
    pub(super) fn rename(&self, from: ObjectKey, to: ObjectKey) -> Result<(), FailureCode> {
        if from == to {
            return self.length(from).map(drop);
        }
        let (source, destination) = (shard_index(from.into()), shard_index(to.into()));
        if source == destination {
            let mut shard = lock(&self.shards[source]);
            if !shard.contains_key(&to.into()) {
                return Err(NOT_FOUND);
            }
            let object = take(&mut shard, from)?;
            put(&mut shard, to, object);
            return Ok(());
        }
        // Always the lower one first: two renames in opposite directions must not wait for each other.
        let mut lower = lock(&self.shards[source.min(destination)]);
        let mut upper = lock(&self.shards[source.max(destination)]);
        let (source, destination) =
            if source < destination { (&mut *lower, &mut *upper) } else { (&mut *upper, &mut *lower) };
        if !destination.contains_key(&to.into()) {
            return Err(NOT_FOUND);
        }
        let object = take(source, from)?;
        put(destination, to, object);
        Ok(())
    }

    fn shard(&self, key: DatasetKey) -> MutexGuard<'_, Shard> {
        lock(&self.shards[shard_index(key)])
    }
}

fn object(shard: &Shard, key: ObjectKey) -> Result<&Vec<u8>, FailureCode> {
    shard.get(&key.into()).and_then(|objects| objects.get(&key.index)).ok_or(NOT_FOUND)
}

fn take(shard: &mut Shard, key: ObjectKey) -> Result<Vec<u8>, FailureCode> {
    shard.get_mut(&key.into()).and_then(|objects| objects.remove(&key.index)).ok_or(NOT_FOUND)
}

fn put(shard: &mut Shard, key: ObjectKey, object: Vec<u8>) {
    if let Some(objects) = shard.get_mut(&key.into()) {
        objects.insert(key.index, object);
    }
}

fn shard_index(key: DatasetKey) -> usize {
    (mix((u64::from(key.rank) << 32) | u64::from(key.dataset)) % SHARDS as u64) as usize
}

/// A client that panicked leaves no half-made map: every change is one insertion or removal.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ObjectKey = ObjectKey { rank: 0, dataset: 0, index: 1 };

    #[test]
    fn renames_in_opposite_directions_do_not_wait_for_each_other() {
        let store = Store::default();
        let b = ObjectKey { rank: 1, ..A };
        assert_ne!(shard_index(A.into()), shard_index(b.into()));
        store.make_dataset(A.into()).unwrap();
        store.make_dataset(b.into()).unwrap();
        store.truncate(A).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..2000).filter(|_| store.rename(A, b).is_ok()).count());
            scope.spawn(|| (0..2000).filter(|_| store.rename(b, A).is_ok()).count());
        });
        assert_ne!(store.length(A).is_ok(), store.length(b).is_ok());
    }

    #[test]
    fn a_gap_reads_as_zeros_and_an_absurd_object_is_refused() {
        let store = Store::default();
        store.make_dataset(A.into()).unwrap();
        store.truncate(A).unwrap();
        store.write(A, 2, b"x").unwrap();
        let mut buffer = [9; 8];
        assert_eq!(store.read(A, 0, &mut buffer), Ok(3));
        assert_eq!(&buffer[..3], b"\0\0x");
        assert_eq!(store.write(A, u64::MAX, b"x"), Err(TOO_BIG));
        assert_eq!(store.read(A, u64::MAX, &mut buffer), Ok(0));
    }
}
