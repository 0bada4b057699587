//! The user's wish to end, heard in every phase of a run: the first signal ends the measuring, the second everything.

use iolag_keeper::Signals;
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Nanoseconds, ending};

/// Signals closer together than this are one wish: a closing terminal sends SIGHUP and SIGTERM, `timeout` signals twice.
const SAME_WISH: Nanoseconds = Nanoseconds::from_milliseconds(250);

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Nothing new.
    GoOn,
    /// For the first time: stop, clean up, report. The text says how it was told.
    Stop(&'static str),
    /// Once more: leave at once.
    Leave,
}

/// Listens to signals and remembers what was heard.
#[derive(Debug)]
pub struct Interruption<'a> {
    signals: &'a Signals,
    first: Option<(MonotonicTime, &'static str)>,
    leave: bool,
}

impl<'a> Interruption<'a> {
    /// Nothing heard yet.
    pub const fn new(signals: &'a Signals) -> Self {
        Self { signals, first: None, leave: false }
    }

    /// What has been heard since the last call. Never blocks.
    pub fn listen(&mut self) -> Wish {
        while let Some(signal) = self.signals.next() {
            let wish = self.hear(signal, MonotonicClock.now());
            if wish != Wish::GoOn {
                return wish;
            }
        }
        Wish::GoOn
    }

    /// How the user told to stop, if that was.
    pub fn told(&self) -> Option<&'static str> {
        self.first.map(|(_, name)| name)
    }

    /// Whether the user told twice.
    pub const fn is_leaving(&self) -> bool {
        self.leave
    }

    /// The signals, to wait for.
    pub const fn signals(&self) -> &'a Signals {
        self.signals
    }

    fn hear(&mut self, signal: i32, now: MonotonicTime) -> Wish {
        match self.first {
            None => {
                let name = match signal {
                    libc::SIGINT => ending::INTERRUPTED,
                    libc::SIGHUP => ending::TERMINAL_CLOSED,
                    _ => ending::TOLD_TO_END,
                };
                self.first = Some((now, name));
                Wish::Stop(name)
            }
            Some((first, _)) if now.since(first) < SAME_WISH => Wish::GoOn,
            Some(_) => {
                self.leave = true;
                Wish::Leave
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_stops_and_a_later_one_leaves() {
        let signals = Signals::block().unwrap();
        let mut interruption = Interruption::new(&signals);
        assert_eq!(interruption.hear(libc::SIGINT, MonotonicTime(1)), Wish::Stop("interrupted (Ctrl-C)"));
        assert_eq!(interruption.hear(libc::SIGTERM, MonotonicTime(1).after(Nanoseconds(1000))), Wish::GoOn);
        assert!(!interruption.is_leaving());
        assert_eq!(interruption.hear(libc::SIGINT, MonotonicTime(1).after(SAME_WISH)), Wish::Leave);
        assert!(interruption.is_leaving() && interruption.told().is_some());
    }
}
