//! The files that a watch keeps in memory, and whether they can be written: told once when they cannot, and once when they can again.
//!
//! A file system in memory that is full refuses now one file, now another, and takes one again whenever somebody frees a page. Who
//! reads a journal wants to know when that began, when it was over, and what it cost.

use std::collections::BTreeSet;

use iolag_model::{MonotonicTime, Nanoseconds, counted};

/// It is over when nothing was refused for so long.
const CALM: Nanoseconds = Nanoseconds::from_seconds(60);

/// A file of the runtime directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuntimeFile {
    /// Records that the history does not have yet.
    Spool,
    /// What the next watch has to know.
    Flights,
    /// Where targets lie.
    Mounts,
    /// What others may see.
    Status,
}

/// What the spool had done by a moment, in records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SpoolCounts {
    /// That wait in the process alone.
    pub unspooled: u64,
    /// That were dropped so far.
    pub dropped: u64,
}

/// Whether memory runs short.
#[derive(Debug, Default)]
pub(crate) struct Shortage {
    /// Those that could not be written the last time.
    refused: BTreeSet<RuntimeFile>,
    /// Why, while that is still to be told.
    why: Option<String>,
    has_refused: bool,
    trouble: Option<Trouble>,
}

#[derive(Debug)]
struct Trouble {
    last_refusal: MonotonicTime,
    /// Records that waited, at some time, in the process alone: the most at once.
    unspooled_max: u64,
    dropped_before: u64,
}

impl Shortage {
    /// This file could not be written.
    pub fn refused(&mut self, file: RuntimeFile, why: &str) {
        self.refused.insert(file);
        self.has_refused = true;
        if self.why.is_none() {
            self.why = Some(why.to_owned());
        }
    }

    /// This file was written.
    pub fn taken(&mut self, file: RuntimeFile) {
        self.refused.remove(&file);
    }

    /// What is to be told now, if anything.
    pub fn news(&mut self, counts: SpoolCounts, now: MonotonicTime) -> Option<String> {
        let why = self.why.take();
        let has_refused = std::mem::take(&mut self.has_refused);
        if let Some(trouble) = &mut self.trouble {
            trouble.unspooled_max = trouble.unspooled_max.max(counts.unspooled);
            if has_refused {
                trouble.last_refusal = now;
            }
            let is_over = self.refused.is_empty() && now.since(trouble.last_refusal) >= CALM;
            return is_over.then(|| self.trouble.take()).flatten().map(|trouble| {
                let kept = counted(trouble.unspooled_max, "record", "records");
                let dropped = counted(counts.dropped - trouble.dropped_before, "was", "were");
                format!("what the watch keeps in memory has room again: {kept} waited in this process meanwhile, {dropped} dropped")
            });
        }
        if !has_refused {
            return None;
        }
        self.trouble = Some(Trouble {
            last_refusal: now,
            unspooled_max: counts.unspooled,
            dropped_before: counts.dropped,
        });
        why.map(|why| format!("{why}; until there is room, what is to outlive this watch waits in it alone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> MonotonicTime {
        MonotonicTime(seconds * 1_000_000_000)
    }

    #[test]
    fn a_file_system_without_room_is_told_once_and_once_more_when_it_is_over() {
        let mut shortage = Shortage::default();
        let counts = |unspooled, dropped| SpoolCounts { unspooled, dropped };
        assert_eq!(shortage.news(counts(0, 2), at(1)), None);
        let mut told = Vec::new();
        for second in 2..200 {
            // Now the one, now the other, and sometimes all of them are taken.
            match second % 4 {
                0 => {
                    shortage.refused(RuntimeFile::Status, "cannot write status.json: No space left on device")
                }
                1 => shortage
                    .refused(RuntimeFile::Flights, "cannot write flights.json: No space left on device"),
                2 => shortage.refused(RuntimeFile::Spool, "the spool has no room"),
                _ => [RuntimeFile::Status, RuntimeFile::Flights, RuntimeFile::Spool]
                    .into_iter()
                    .for_each(|file| shortage.taken(file)),
            }
            told.extend(shortage.news(counts(second, 2), at(second)));
        }
        let [begin] = &told[..] else { panic!("{told:?}") };
        assert!(begin.starts_with("the spool has no room; until there is room, "), "{begin}");
        [RuntimeFile::Status, RuntimeFile::Flights, RuntimeFile::Spool]
            .into_iter()
            .for_each(|file| shortage.taken(file));
        assert_eq!(shortage.news(counts(0, 3), at(240)), None, "not yet calm");
        assert_eq!(
            shortage.news(counts(0, 3), at(260)).as_deref(),
            Some(
                "what the watch keeps in memory has room again: 199 records waited in this process meanwhile, 1 was dropped"
            )
        );
        assert_eq!(shortage.news(counts(0, 3), at(400)), None);
        shortage.refused(RuntimeFile::Status, "again");
        assert!(shortage.news(counts(0, 3), at(500)).unwrap().starts_with("again; "));
    }
}
