//! The keeper's side of the writer: it is replaced when it is killed, and left behind when its store hangs.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use iolag_keeper::{Ending, Exchange, KeeperError, Messenger, Orphanage, Sleeps, halt};
use iolag_model::{Activity, Clock, MonotonicClock, MonotonicTime, Nanoseconds, PlaceIdentity, RunRecord};

use crate::messages::{FromWriter, Stored, ToWriter, heard, order};
use crate::run::interruption::{Interruption, Wish};
use crate::storing::writer::{self, WriterPlan};

/// How often a killed writer is replaced.
const RESTARTS_MAX: u32 = 3;
const SIGNAL_GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);
const POLL: Nanoseconds = Nanoseconds::from_milliseconds(5);

/// The writer, as far as the keeper knows it.
pub struct Writing {
    plan: WriterPlan,
    exchange: Exchange,
    messenger: Option<Messenger>,
    places: Option<(PathBuf, PathBuf)>,
    identity: Option<PlaceIdentity>,
    /// Orders for clean-up that a replacement must hear again.
    orders: Vec<ToWriter>,
    restarts: u32,
    deadline: Nanoseconds,
    /// When the writer last made progress: said something, used its processor, or emptied a ring.
    progress_at: MonotonicTime,
    progress_mark: (u64, u64),
    /// When the keeper did not run: that counts for no deadline.
    sleeps: Sleeps,
    /// A writer that somebody stopped, in a sentence.
    halted: Option<String>,
    trouble: Option<Trouble>,
    stored: Option<Box<Stored>>,
    stopped_for_room: bool,
}

/// Why the store does not take the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// It does not answer: nothing that it holds can be read either.
    Hangs(String),
    /// It refuses, or the writer failed: what it took can be read.
    Refuses(String),
    /// The user does not want to wait for it.
    NotWanted,
}

impl Trouble {
    /// One sentence.
    pub fn sentence(&self) -> &str {
        match self {
            Self::Hangs(sentence) | Self::Refuses(sentence) => sentence,
            Self::NotWanted => "told twice to end",
        }
    }
}

impl Writing {
    /// Starts the writer.
    ///
    /// # Errors
    /// If no process can be made.
    pub fn start(plan: WriterPlan, exchange: &Exchange, deadline: Nanoseconds) -> Result<Self, KeeperError> {
        let mut writing = Self {
            plan,
            exchange: exchange.clone(),
            messenger: None,
            places: None,
            identity: None,
            orders: Vec::new(),
            restarts: 0,
            deadline,
            progress_at: MonotonicClock.now(),
            progress_mark: (0, 0),
            sleeps: Sleeps::new(MonotonicClock.now()),
            halted: None,
            trouble: None,
            stored: None,
            stopped_for_room: false,
        };
        writing.fork()?;
        Ok(writing)
    }

    /// Waits until run directory and spool are there; says where.
    ///
    /// # Errors
    /// If the store cannot be used or does not answer, or the user leaves.
    pub fn wait_until_ready(
        &mut self,
        interruption: &mut Interruption<'_>,
    ) -> Result<(PathBuf, PathBuf), Trouble> {
        loop {
            if let Some(places) = &self.places {
                return Ok(places.clone());
            }
            if let Some(trouble) = &self.trouble {
                return Err(trouble.clone());
            }
            if interruption.listen() == Wish::Leave || interruption.is_leaving() {
                return Err(Trouble::NotWanted);
            }
            self.look(&self.exchange.clone(), MonotonicClock.now());
            MonotonicClock.sleep_until(MonotonicClock.now().after(POLL));
        }
    }

    /// Becomes readable when the writer ends; `None` if there is none.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.messenger.as_ref().and_then(|messenger| messenger.child().descriptor())
    }

    /// What is wrong with the store, if something is.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// Where the spool is, if it is known.
    pub fn spool(&self) -> Option<&PathBuf> {
        self.places.as_ref().map(|(_, spool)| spool)
    }

    /// The run directory, if it is known.
    pub fn run(&self) -> Option<&PathBuf> {
        self.places.as_ref().map(|(run, _)| run)
    }

    /// Which directory holds the runs of the store, if it was opened.
    pub const fn identity(&self) -> Option<PlaceIdentity> {
        self.identity
    }

    /// Orders that whoever writes the run elsewhere must hear as well.
    pub fn orders(&self) -> &[ToWriter] {
        &self.orders
    }

    /// That a writer was stopped past its deadline and replaced, as a sentence.
    pub fn halted(&self) -> Option<&str> {
        self.halted.as_deref()
    }

    /// Whether clients were stopped because nobody empties their rings any more.
    pub const fn stopped_for_room(&self) -> bool {
        self.stopped_for_room
    }

    /// Gives an order, also to a replacement.
    pub fn order(&mut self, message: &ToWriter) {
        if let Some(messenger) = &mut self.messenger {
            order(messenger, message);
        }
        if !matches!(message, ToWriter::Finish(_)) {
            self.orders.push(message.clone());
        }
    }

    /// Hears the writer, replaces it if it was killed or stopped, leaves it behind if it hangs.
    pub fn look(&mut self, exchange: &Exchange, now: MonotonicTime) {
        self.sleeps.look(now);
        let Some(messenger) = &mut self.messenger else {
            self.stop_if_memory_is_full(exchange);
            return;
        };
        messenger.flush();
        let ending = messenger.child_mut().ending();
        for message in heard::<FromWriter>(messenger) {
            self.progress_at = now;
            match message {
                FromWriter::Ready { run, spool, store } => {
                    self.places = Some((run, spool));
                    self.identity = store;
                }
                FromWriter::Alive => {}
                FromWriter::Done(stored) => self.stored = Some(stored),
                FromWriter::Failed(sentence) => self.trouble = Some(Trouble::Refuses(sentence)),
            }
        }
        match ending {
            Some(_) if self.stored.is_some() || self.trouble.is_some() => self.messenger = None,
            Some(ending) => self.replace(ending),
            None => self.look_for_progress(exchange, now),
        }
    }

    /// Orders the end and waits for it: the stored run, or why there is none.
    ///
    /// # Errors
    /// If the store failed or does not answer, or the user leaves.
    pub fn finish(
        &mut self,
        record: &RunRecord,
        interruption: &mut Interruption<'_>,
    ) -> Result<Box<Stored>, Trouble> {
        self.progress_at = MonotonicClock.now();
        self.order_finish(record);
        loop {
            let restarts = self.restarts;
            self.look(&self.exchange.clone(), MonotonicClock.now());
            if let Some(stored) = self.stored.take() {
                return Ok(stored);
            }
            if let Some(trouble) = &self.trouble {
                return Err(trouble.clone());
            }
            if interruption.listen() == Wish::Leave || interruption.is_leaving() {
                return Err(Trouble::NotWanted);
            }
            if self.restarts > restarts {
                self.order_finish(record);
            }
            MonotonicClock.sleep_until(MonotonicClock.now().after(POLL));
        }
    }

    /// Waits a moment for a writer that has said everything, and ends one that has not.
    pub fn end(&mut self) {
        if let Some(mut messenger) = self.messenger.take() {
            messenger.child_mut().end(SIGNAL_GRACE);
        }
    }

    fn order_finish(&mut self, record: &RunRecord) {
        if let Some(messenger) = &mut self.messenger {
            order(messenger, &ToWriter::Finish(Box::new(record.clone())));
        }
    }

    fn fork(&mut self) -> Result<(), KeeperError> {
        let (plan, exchange, keeper) = (&self.plan, &self.exchange, rustix::process::getpid());
        let mut messenger = Messenger::fork("writer", Orphanage::Survive, |inbox, outbox| {
            writer::run(plan, exchange, keeper, inbox, outbox)
        })?;
        for message in &self.orders {
            order(&mut messenger, message);
        }
        self.messenger = Some(messenger);
        self.progress_at = MonotonicClock.now();
        Ok(())
    }

    fn replace(&mut self, ending: Ending) {
        let last_words = self.messenger.take().map(|messenger| messenger.last_words()).unwrap_or_default();
        self.restarts += 1;
        self.plan.begun = true;
        let cause = match ending {
            Ending::Exited(status) => format!("ended with status {status} ({last_words})"),
            Ending::Killed(signal) => format!("was ended by signal {signal}"),
        };
        if self.restarts > RESTARTS_MAX {
            let sentence =
                format!("the writer {cause}, after {RESTARTS_MAX} others, and is not started again");
            self.trouble = Some(Trouble::Refuses(sentence));
        } else if let Err(error) = self.fork() {
            self.trouble = Some(Trouble::Refuses(error.to_string()));
        }
    }

    /// A writer that waits for its store uses no processor and moves no tail.
    fn look_for_progress(&mut self, exchange: &Exchange, now: MonotonicTime) {
        let Some(messenger) = &mut self.messenger else { return };
        let consumed = exchange.samples_consumed();
        let mark = (iolag_keeper::processor_use(messenger.child().id()).unwrap_or(0), consumed);
        if mark != self.progress_mark {
            self.progress_mark = mark;
            self.progress_at = now;
        } else if self.sleeps.awake(self.progress_at, now) > self.deadline {
            let process = messenger.child().id();
            let evidence = iolag_keeper::evidence(process, process);
            let halt = halt(process);
            let ending = messenger.child_mut().end(SIGNAL_GRACE);
            if let (Some(halt), Some(ending)) = (halt, ending) {
                // The store has not failed: another writer goes on where this one stood.
                let age = now.since(self.progress_at);
                self.halted =
                    Some(format!("the writer was {halt} for {age}, past its deadline, and was replaced"));
                self.replace(ending);
                return;
            }
            let unkillable = ending.is_none();
            let left =
                if unkillable { format!("; process {process} cannot be ended") } else { String::new() };
            self.messenger = None;
            let age = now.since(self.progress_at);
            self.trouble = Some(Trouble::Hangs(match halt {
                Some(halt) => format!("the writer was {halt} for {age}{left}"),
                None => {
                    let store = self.plan.root.display();
                    format!("the store {store} has not answered for {age} ({evidence}{left})")
                }
            }));
        }
    }

    /// Without a writer rings fill up. A client that waits for room would wait for ever then.
    fn stop_if_memory_is_full(&mut self, exchange: &Exchange) {
        use iolag_model::Coordinator as _;
        let full = (0..exchange.clients()).any(|client| exchange.activity(client) == Activity::Full);
        if full {
            self.stopped_for_room = true;
            exchange.coordinator().stop_all();
        }
    }
}
