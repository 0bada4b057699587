//! Doing the same to many things on all processors, with the answer that one processor would give.
//!
//! Invariants: answers stand in the order of the things; what is computed does not depend on the number of threads. The calling thread works
//! as well, so that where no thread can be started everything is done all the same. Limits: no more than [`THREADS_MOST`] threads, and fewer for
//! long series, because each thing may take as much memory as a series of samples.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Threads that work at the same time.
const THREADS_MOST: usize = 4;

/// Values that are worked on at the same time, if there are several threads: about a hundred MiB.
const VALUES_MOST: usize = 2_200_000;

/// What `work` answers for each of `things`.
pub fn map<'a, T: Sync, R: Send>(things: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    map_on(threads(), things, work)
}

/// The same of things that are worked on with so many values each: fewer at the same time if these are many.
pub(crate) fn map_large<'a, T: Sync, R: Send>(
    things: &'a [T],
    values: impl Fn(&T) -> usize,
    work: impl Fn(&'a T) -> R + Sync,
) -> Vec<R> {
    let most = things.iter().map(values).max().unwrap_or(0);
    map_on(threads().min((VALUES_MOST / most.max(1)).max(1)), things, work)
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MOST)
}

fn map_on<'a, T: Sync, R: Send>(threads: usize, things: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(things.len()));
    let labour = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(index) else { return };
            let answer = work(thing);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, answer));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(things.len()) {
            // Fewer threads take longer, and that is all.
            let _ = thread::Builder::new().spawn_scoped(scope, labour);
        }
        labour();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_stand_in_order_whatever_the_number_of_threads(
            things in prop::collection::vec(any::<u32>(), 0..50),
            threads in 0_usize..9,
        ) {
            let expected: Vec<u64> = things.iter().map(|thing| u64::from(*thing) * 3).collect();
            prop_assert_eq!(map_on(threads, &things, |thing| u64::from(*thing) * 3), expected);
        }
    }

    #[test]
    #[should_panic(expected = "scoped thread panicked")]
    fn a_panic_of_a_thread_is_not_swallowed() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let caller = thread::current().id();
        let has_begun = AtomicBool::new(false);
        map_on(2, &[0; 1000], |_| {
            if thread::current().id() != caller {
                has_begun.store(true, Ordering::Relaxed);
                panic!("on another thread");
            }
            // On a busy machine the other thread takes a while to come.
            let begin = std::time::Instant::now();
            while !has_begun.load(Ordering::Relaxed) && begin.elapsed().as_secs() < 60 {
                thread::sleep(std::time::Duration::from_millis(1));
            }
        });
    }
}
