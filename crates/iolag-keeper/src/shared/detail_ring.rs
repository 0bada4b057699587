//! The detail ring: variable records on their way to the writer. Few operations need one, so it is small, and a record that
//! finds no room within a second is counted as lost rather than waited for: it explains a sample, it is not one.
//!
//! ```text
//! DetailCounters                       (elsewhere, with those of all rings)
//! bytes[capacity]: u32 length, record, padding to 8; length 0 = skip to the start
//! ```
//! A text that is longer than half of the ring is cut, so that there is room for every one in the end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use iolag_model::Detail;

use super::memory::SharedMemory;

/// How far a ring of texts is.
#[repr(C)]
pub(crate) struct DetailCounters {
    /// Bytes written since the beginning.
    head: AtomicU64,
    /// Bytes consumed since the beginning.
    tail: AtomicU64,
    /// Records that found no room.
    lost: AtomicU64,
}

/// Bytes of a record besides its text, and of its length.
const RECORD_BYTES_BESIDES_TEXT: usize = 24;

/// Where a detail ring lies in the shared memory.
#[derive(Debug, Clone)]
pub(crate) struct DetailPlace {
    pub memory: SharedMemory,
    /// Where the counters are.
    pub counters: usize,
    /// Where the bytes are.
    pub offset: usize,
    pub capacity: usize,
}

impl DetailPlace {
    fn counters(&self) -> &DetailCounters {
        // SAFETY: zeroed memory is valid, and only atomics ever touch it.
        unsafe { self.memory.at::<DetailCounters>(self.counters, 1).as_ref() }
    }

    fn byte(&self, count: u64) -> *mut u8 {
        let index = (count % self.capacity as u64) as usize;
        // SAFETY: `index < capacity`, within the ring.
        unsafe { self.memory.at::<u8>(self.offset, self.capacity).as_ptr().add(index) }
    }

    /// Bytes up to the end of the buffer, where a record must not be split.
    fn contiguous(&self, count: u64) -> u64 {
        self.capacity as u64 - count % self.capacity as u64
    }
}

/// The client's end.
#[derive(Debug)]
pub(crate) struct DetailProducer {
    place: DetailPlace,
}

impl DetailProducer {
    pub(crate) const fn new(place: DetailPlace) -> Self {
        Self { place }
    }

    /// Appends a record; waits up to a second for room. Returns whether it was kept.
    pub(crate) fn push(&mut self, detail: &Detail) -> bool {
        const ATTEMPTS: u32 = 100;
        let record = self.record(detail);
        for _ in 0..ATTEMPTS {
            if self.try_push(&record) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.count_lost()
    }

    /// Appends a record if there is room now. Returns whether it was kept.
    pub(crate) fn push_at_once(&mut self, detail: &Detail) -> bool {
        let record = self.record(detail);
        self.try_push(&record) || self.count_lost()
    }

    fn record(&self, detail: &Detail) -> Vec<u8> {
        let most = self.place.capacity / 2 - RECORD_BYTES_BESIDES_TEXT;
        if detail.text.len() <= most {
            return detail.to_bytes();
        }
        let text = detail.text[..detail.text.floor_char_boundary(most)].to_owned();
        Detail { text, ..*detail }.to_bytes()
    }

    fn count_lost(&self) -> bool {
        self.place.counters().lost.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn try_push(&mut self, record: &[u8]) -> bool {
        let needed = (4 + record.len() as u64).next_multiple_of(8);
        let mut head = self.place.counters().head.load(Ordering::Relaxed);
        let free = self.place.capacity as u64 - (head - self.place.counters().tail.load(Ordering::Acquire));
        let rest = self.place.contiguous(head);
        let skip = if rest < needed { rest } else { 0 };
        if needed + skip > free {
            return false;
        }
        if skip > 0 {
            // SAFETY: positions are multiples of 8, so at least 8 bytes lie before the end of the buffer.
            unsafe { self.place.byte(head).cast::<u32>().write(0) };
            head += skip;
        }
        // SAFETY: `needed` bytes from here are contiguous and free: the reader has passed them.
        unsafe {
            let start = self.place.byte(head);
            start.cast::<u32>().write(record.len() as u32);
            start.add(4).copy_from_nonoverlapping(record.as_ptr(), record.len());
        }
        self.place.counters().head.store(head + needed, Ordering::Release);
        true
    }
}

/// The writer's end.
#[derive(Debug, Clone)]
pub struct DetailReader {
    place: DetailPlace,
}

impl DetailReader {
    pub(crate) const fn new(place: DetailPlace) -> Self {
        Self { place }
    }

    /// Records that were lost because there was no room.
    pub fn lost(&self) -> u64 {
        self.place.counters().lost.load(Ordering::Relaxed)
    }

    /// The records that wait, and what to pass to [`DetailReader::consume`] when they are safe. A damaged record (its client
    /// was killed in the middle of writing) is left out.
    pub fn pending(&self) -> (Vec<Detail>, u64) {
        let head = self.place.counters().head.load(Ordering::Acquire);
        let mut position = self.place.counters().tail.load(Ordering::Relaxed);
        let mut details = Vec::new();
        while position < head {
            // SAFETY: before `head`, so written; positions are multiples of 8.
            let length = u64::from(unsafe { self.place.byte(position).cast::<u32>().read() });
            let rest = self.place.contiguous(position);
            if length == 0 || length + 4 > rest {
                position += rest;
                continue;
            }
            // SAFETY: the record lies before `head` and before the end of the buffer.
            let record =
                unsafe { std::slice::from_raw_parts(self.place.byte(position).add(4), length as usize) };
            if let Ok((detail, _)) = Detail::from_bytes(record) {
                details.push(detail);
            }
            position += (4 + length).next_multiple_of(8);
        }
        (details, position)
    }

    /// Everything before `position` is safe.
    pub fn consume(&self, position: u64) {
        self.place.counters().tail.store(position, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{AttemptId, DetailKind};
    use proptest::prelude::*;

    fn place(capacity: usize) -> DetailPlace {
        let memory = SharedMemory::new(size_of::<DetailCounters>() + capacity).unwrap();
        DetailPlace { memory, counters: 0, offset: size_of::<DetailCounters>(), capacity }
    }

    #[test]
    fn a_long_text_is_cut_to_what_always_finds_room() {
        let place = place(2048);
        let (mut producer, reader) = (DetailProducer::new(place.clone()), DetailReader::new(place));
        let long = |sequence| Detail {
            attempt: AttemptId(sequence),
            kind: DetailKind::Message,
            text: "é".repeat(2000),
        };
        for sequence in 0..20 {
            assert!(producer.push_at_once(&long(sequence)));
            let (details, position) = reader.pending();
            reader.consume(position);
            assert_eq!((details.len(), details[0].attempt.0), (1, sequence));
            assert_eq!(details[0].text, "é".repeat(500));
        }
        assert_eq!(reader.lost(), 0);
    }

    proptest! {
        #[test]
        fn details_arrive_in_order_and_whole(lengths in prop::collection::vec(0_usize..300, 1..100)) {
            let capacity = 1024;
            let place = place(capacity);
            let (mut producer, reader) = (DetailProducer::new(place.clone()), DetailReader::new(place));
            let (mut sent, mut received) = (Vec::new(), Vec::new());
            for (number, length) in lengths.into_iter().enumerate() {
                let detail = Detail { attempt: AttemptId(number as u64), kind: DetailKind::Message, text: "x".repeat(length) };
                if !producer.try_push(&detail.to_bytes()) {
                    let (details, position) = reader.pending();
                    received.extend(details);
                    reader.consume(position);
                    prop_assert!(producer.try_push(&detail.to_bytes()));
                }
                sent.push(detail);
            }
            received.extend(reader.pending().0);
            prop_assert_eq!(sent, received);
        }
    }
}
