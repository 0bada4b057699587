//! A measurer as the keeper sees it: whether it works, waits or has ended, by its clients' slots and its processor time.

use iolag_keeper::{Ending, Exchange, Halt, Messenger, Sleeps, halt, processor_use};
use iolag_model::{Activity, Clock, Coordinator as _, MonotonicClock, MonotonicTime, Nanoseconds};
use rustix::process::Signal;

use crate::messages::MeasurerEnd;
use crate::run::halting::Halting;
use crate::run::policy::{Policy, Schedule};

/// How long a client may take to stop when it is told to.
pub(super) const STOP_GRACE: Nanoseconds = Nanoseconds::from_seconds(5);
/// How long each signal is given to take effect.
const SIGNAL_GRACE: Nanoseconds = Nanoseconds::from_seconds(1);

/// A measurer and what it has said.
pub struct Measurer {
    /// The process, and the conversation with it.
    pub messenger: Messenger,
    /// The clients that it runs.
    pub clients: Vec<u32>,
    /// What to call it: its targets.
    pub name: String,
    /// What it said at its end.
    pub(super) end: Option<MeasurerEnd>,
    /// How its process ended, where that was seen.
    pub(super) ending: Option<Ending>,
    /// No longer waited for: ended, or abandoned.
    pub(super) done: bool,
    pub(super) halting: Halting,
    stop_since: Option<MonotonicTime>,
    silence: Silence,
}

/// Since when a measurer has neither run a client nor used its processor: it waits for its file system in what it does
/// before and after its clients, which is making and removing working directories.
#[derive(Debug, Clone, Copy)]
struct Silence {
    since: MonotonicTime,
    processor_use: u64,
}

impl Measurer {
    /// A measurer that has just been started.
    pub fn new(messenger: Messenger, clients: Vec<u32>, name: String) -> Self {
        let now = MonotonicClock.now();
        let silence = Silence { since: now, processor_use: 0 };
        let halting = Halting::new(now);
        Self {
            messenger,
            clients,
            name,
            end: None,
            ending: None,
            done: false,
            stop_since: None,
            silence,
            halting,
        }
    }

    /// Sees whether its process has ended.
    pub(super) fn look_at_ending(&mut self) {
        self.ending = self.messenger.child_mut().ending();
    }

    /// Whether it is waited for and nobody has stopped it.
    pub(super) fn moves(&self) -> bool {
        !self.done && self.halting.since().is_none()
    }

    /// Nobody waits for it any more. It dies with the keeper; what it started (a compiler, an `ls`) would not.
    pub(super) fn leave(&self) {
        if !self.done {
            self.messenger.child().signal_group(Signal::KILL);
        }
    }

    /// Since when it is silent.
    pub(super) const fn silent_since(&self) -> MonotonicTime {
        self.silence.since
    }

    /// What it would do with its processor it could not do until now.
    pub(super) fn was_halted(&mut self, now: MonotonicTime) {
        self.silence.since = now;
    }

    /// Its clients that have not begun.
    pub(super) fn unstarted(&self, exchange: &Exchange) -> Vec<u32> {
        let is_unstarted = |client: &u32| exchange.activity(*client) == Activity::Unstarted;
        self.clients.iter().copied().filter(is_unstarted).collect()
    }

    /// Whether it runs no client, does not say that it is occupied, and has not used its processor for longer than the deadline.
    pub(super) fn is_silent(
        &mut self,
        exchange: &Exchange,
        sleeps: &Sleeps,
        policy: Policy,
        is_over: bool,
        now: MonotonicTime,
    ) -> bool {
        let is_idle =
            |client: &u32| matches!(exchange.activity(*client), Activity::Unstarted | Activity::Ended);
        let idle = self.clients.iter().all(is_idle);
        let is_occupied = self.clients.iter().any(|client| exchange.is_occupied(*client, now));
        let used = if idle { processor_use(self.messenger.child().id()).unwrap_or(0) } else { 0 };
        if !idle || is_occupied || used != self.silence.processor_use {
            self.silence = Silence { since: now, processor_use: used };
        }
        let silent = sleeps.awake(self.silence.since, now);
        match policy.schedule {
            Schedule::Closed => silent > policy.deadline,
            // Until the end what hangs before the clients is waited for; after it only a clean-up is.
            Schedule::Open => {
                let is_making = !is_over && !self.unstarted(exchange).is_empty();
                !is_making && silent > STOP_GRACE
            }
        }
    }

    /// Whether none of its clients makes load any more. What it does after them is still load, unless others measure in the same
    /// process: it waits for these before.
    pub(super) fn load_is_over(&self, exchange: &Exchange) -> bool {
        let (load, others): (Vec<u32>, Vec<u32>) =
            self.clients.iter().partition(|client| exchange.role(**client).is_load());
        let has_ended =
            |client| !exchange.is_expected(client) || exchange.activity(client) == Activity::Ended;
        self.done || load.is_empty() || (!others.is_empty() && load.into_iter().all(has_ended))
    }

    /// Whether only clients are left in it that nobody waits for.
    pub(super) fn only_given_up_are_left(&self, exchange: &Exchange) -> bool {
        let mut given_up = false;
        for client in self.clients.iter().copied() {
            if exchange.is_expected(client) {
                if exchange.activity(client) != Activity::Ended {
                    return false;
                }
            // One that never began needs no ending: its measurer goes on with the others, or ends by itself.
            } else if !matches!(exchange.activity(client), Activity::Ended | Activity::Unstarted) {
                given_up = true;
            }
        }
        given_up
    }

    /// Whether it was told to stop and takes too long over it. Its clean-up counts only as long as a client runs.
    pub(super) fn overstays(
        &mut self,
        exchange: &Exchange,
        sleeps: &Sleeps,
        schedule: Schedule,
        now: MonotonicTime,
    ) -> bool {
        let coordinator = exchange.coordinator();
        let is_told =
            |client: &u32| coordinator.is_stopped(*client) || exchange.activity(*client) == Activity::Ended;
        if !self.clients.iter().all(is_told) {
            return false;
        }
        let since = *self.stop_since.get_or_insert(now);
        // One that was given up before it began has nothing left but what its measurer removes.
        let runs = |client: &u32| match exchange.activity(*client) {
            Activity::Ended => false,
            Activity::Unstarted => exchange.is_expected(*client),
            _ => true,
        };
        let clients_run = self.clients.iter().any(runs);
        let grace = match schedule {
            Schedule::Closed => STOP_GRACE,
            Schedule::Open => SIGNAL_GRACE,
        };
        clients_run && sleeps.awake(since, now) > grace
    }

    /// Ends it. Who is left behind, and why, as a sentence; `None` if nobody is.
    pub(super) fn end(&mut self) -> Option<String> {
        let child = self.messenger.child_mut();
        let (process, name) = (child.id(), &self.name);
        let who = if child.end(SIGNAL_GRACE).is_none() {
            format!("process {process}, which measured {name}")
        } else if child.has_left_something(SIGNAL_GRACE) {
            format!("a program of process group {process}, which ran in {name}")
        } else {
            return None;
        };
        let why = match halt(process) {
            Some(Halt::Frozen) => {
                "is frozen with its control group and cannot be ended; it goes when that is thawed"
            }
            _ => "waits in the kernel and cannot be ended; it goes when the file system answers",
        };
        Some(format!("{who}, {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::policy::AtSignal;
    use iolag_keeper::{Orphanage, evidence};
    use iolag_model::OnHang;

    #[test]
    fn a_measurer_that_is_occupied_is_not_silent_until_the_moment_that_it_has_named() {
        const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);
        let policy = Policy {
            deadline: DEADLINE,
            on_hang: OnHang::Continue,
            give_up_after: DEADLINE,
            schedule: Schedule::Closed,
            at_signal: AtSignal::Incomplete,
        };
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let messenger = Messenger::fork("measurer", Orphanage::Die, |_, _| {
            loop {
                std::thread::park();
            }
        })
        .unwrap();
        let process = messenger.child().id();
        let mut measurer = Measurer::new(messenger, vec![0, 1], "x".into());
        while !evidence(process, process).contains("state S") {
            std::thread::yield_now();
        }
        let begin = MonotonicClock.now();
        let sleeps = Sleeps::new(begin);
        let mut is_silent = |ahead: u64| {
            let now = begin.after(Nanoseconds::from_seconds(ahead));
            measurer.is_silent(&exchange, &sleeps, policy, false, now)
        };
        assert!(!is_silent(0) && !is_silent(59) && is_silent(61));
        exchange.occupy(1, begin.after(Nanoseconds::from_seconds(600)));
        assert!(!is_silent(62) && !is_silent(500) && !is_silent(599));
        assert!(!is_silent(600) && !is_silent(658));
        assert!(is_silent(660), "what may take until then has taken longer");
        assert!(measurer.end().is_none());
    }
}
