//! What the calls of a copy read into and write from, made before anything is asked: no page of it is touched for the first time while a clock runs.
//!
//! Small reads of each task have room of their own, as they had in the program. Those that are longer go to one place for all: nobody looks at what was read.

use std::cell::UnsafeCell;

use iolag_model::{GOLDEN, mix};
use iolag_trace::Repetition;

/// What is read at once up to here has room of its own in each task.
const OWN_MAX: u64 = 1 << 20;

/// Bytes to which the kernel writes for several threads at once.
type Bytes = Box<[UnsafeCell<u8>]>;

/// Where what is read goes, and how much of it may come. Nobody looks at it, so that threads may have it together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub data: *mut u8,
    pub bytes: usize,
}

// SAFETY: the kernel writes to it, and nobody reads.
unsafe impl Send for Room {}

/// The buffers of a copy.
#[derive(Debug)]
pub(super) struct Buffers {
    /// By task; of one that reads more at once nothing.
    own: Vec<Bytes>,
    for_all: Bytes,
    noise: Vec<u8>,
}

// SAFETY: what stands in them is written by the kernel alone, and read by nobody.
unsafe impl Sync for Buffers {}

/// Bytes that the buffers of a copy have.
pub fn buffer_bytes(repetition: &Repetition) -> u64 {
    let (own, for_all, written) = needed(repetition);
    own.into_iter().fold(for_all.saturating_add(written), u64::saturating_add)
}

/// How many bytes each task has of its own, all have together, and are written at most at once.
fn needed(repetition: &Repetition) -> (Vec<u64>, u64, u64) {
    let of_tasks = (0..repetition.tasks.len() as u32).map(|task| repetition.bytes_max(task));
    let longest = of_tasks.clone().filter(|bytes| *bytes > OWN_MAX).max().unwrap_or(0);
    let own = of_tasks.map(|bytes| if bytes > OWN_MAX { 0 } else { bytes }).collect();
    let items = repetition.tasks.iter().flat_map(|task| &task.items);
    (own, longest, items.map(|item| item.ask.written()).max().unwrap_or(0))
}

impl Buffers {
    /// Those for a repetition by the copy with this number.
    pub(super) fn new(repetition: &Repetition, rank: u32) -> Self {
        // Written to, so that each page is there.
        let filled = |bytes: u64| (0..bytes).map(|_| UnsafeCell::new(0xff)).collect::<Bytes>();
        let (own, for_all, written) = needed(repetition);
        let own = own.into_iter().map(filled).collect();
        Self { own, for_all: filled(for_all), noise: noise(written, rank) }
    }

    /// Where what a task reads goes. It has one session at a time.
    pub(super) fn room(&self, task: u32) -> Room {
        let own = self.own.get(task as usize).filter(|own| !own.is_empty());
        let buffer = own.unwrap_or(&self.for_all);
        Room { data: UnsafeCell::raw_get(buffer.as_ptr()), bytes: buffer.len() }
    }

    /// What is written.
    pub(super) fn noise(&self) -> &[u8] {
        &self.noise
    }
}

/// Bytes that do not compress, and are others in each copy.
pub(super) fn noise(bytes: u64, rank: u32) -> Vec<u8> {
    let words = bytes.div_ceil(8);
    let mut noise: Vec<u8> =
        (0..words).flat_map(|word| mix(mix(rank.into()) ^ word.wrapping_mul(GOLDEN)).to_le_bytes()).collect();
    noise.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
    noise
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Nanoseconds;
    use iolag_trace::{Ask, Item, Sharing, TaskItems};

    #[test]
    fn small_reads_have_room_of_their_own_and_long_ones_share_it() {
        let task = |bytes| {
            let ask = Ask::Read(0, bytes, bytes);
            let item =
                Item { ask, after: Vec::new(), start: Nanoseconds::ZERO, gap: Nanoseconds::ZERO, errno: 0 };
            TaskItems { sharing: Sharing::NOTHING, items: vec![item] }
        };
        let repetition =
            Repetition { tasks: [10, 5 << 20, 3 << 20, 20].map(task).into(), ..Repetition::default() };
        let buffers = Buffers::new(&repetition, 0);
        let rooms: Vec<usize> = (0..4).map(|task| buffers.room(task).bytes).collect();
        assert_eq!(rooms, [10, 5 << 20, 5 << 20, 20]);
        assert_eq!(buffer_bytes(&repetition), 30 + (5 << 20));
        assert_eq!(buffers.room(1).data, buffers.room(2).data);
        assert_ne!(buffers.room(0).data, buffers.room(3).data);
    }

    #[test]
    fn noise_is_of_a_copy_s_own() {
        assert_eq!(noise(13, 1).len(), 13);
        assert_eq!(noise(64, 1)[..13], noise(13, 1)[..]);
        assert_ne!(noise(64, 1), noise(64, 2));
    }
}
