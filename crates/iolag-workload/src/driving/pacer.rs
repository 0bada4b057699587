//! Pacers: when the next operation of a client starts.

use iolag_model::{MonotonicTime, Think};

use super::client::Done;

/// Decides when the next operation starts. Pure: it is told when the last one ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pacer {
    think: Think,
    ready: Option<MonotonicTime>,
}

impl Pacer {
    /// A closed loop: after every operation the client thinks, then asks again.
    pub const fn closed_loop(think: Think) -> Self {
        Self { think, ready: None }
    }

    /// When the next operation is intended to start; `None` is at once. Asking again gives the same answer.
    #[inline]
    pub const fn intended(&self) -> Option<MonotonicTime> {
        self.ready
    }

    /// An operation ended: the pause begins.
    #[inline]
    pub fn completed(&mut self, done: &Done) {
        self.ready = match self.think {
            Think::None => None,
            Think::Fixed(pause) => Some(done.end.after(pause)),
            Think::Factor(factor) => {
                let pause_ns = done.end.since(done.start).0 as f64 * factor;
                Some(MonotonicTime(done.end.0.saturating_add(pause_ns as u64)))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::Completion;
    use iolag_model::Nanoseconds;
    use proptest::prelude::*;

    fn done(start: u64, end: u64) -> Done {
        Done { completion: Completion::ok(0), start: MonotonicTime(start), end: MonotonicTime(end) }
    }

    #[test]
    fn a_factor_is_of_the_operations_time() {
        let mut pacer = Pacer::closed_loop(Think::Factor(0.5));
        assert_eq!(pacer.intended(), None);
        pacer.completed(&done(100, 200));
        assert_eq!(pacer.intended(), Some(MonotonicTime(250)));
    }

    proptest! {
        #[test]
        fn a_pacer_is_never_early(start in 0_u64..1 << 40, length in 0_u64..1 << 40, pause in 0_u64..1 << 40, factor in 0.0..1e3) {
            for think in [Think::Fixed(Nanoseconds(pause)), Think::Factor(factor)] {
                let mut pacer = Pacer::closed_loop(think);
                pacer.completed(&done(start, start + length));
                prop_assert!(pacer.intended().unwrap() >= MonotonicTime(start + length));
            }
        }
    }
}
