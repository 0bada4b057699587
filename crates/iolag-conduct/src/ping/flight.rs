//! What a ping has in flight, in memory that its measurer and the keeper share.

use iolag_keeper::{KeeperError, MadeOfWords, SharedWords, Word};
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Operation};

/// What the measurer says of what is in flight; the keeper reads it at any moment.
#[derive(Debug, Clone)]
pub struct PingFlight(SharedWords<Page>);

#[derive(Debug)]
#[repr(C)]
struct Page {
    operation: Word,
    process: Word,
    contact: Word,
    begin: Word,
    contact_end: Word,
}

// SAFETY: nothing but words, and `#[repr(C)]`.
unsafe impl MadeOfWords for Page {}

impl PingFlight {
    /// Nothing in flight.
    ///
    /// # Errors
    /// If the kernel has no memory.
    pub fn new() -> Result<Self, KeeperError> {
        SharedWords::new().map(Self)
    }

    /// This operation begins now.
    pub fn begins(&self, operation: Operation) {
        self.0.begin.store(MonotonicClock.now().0);
        self.0.operation.store(operation as u64);
    }

    /// When that was.
    pub fn since(&self) -> MonotonicTime {
        MonotonicTime(self.0.begin.load())
    }

    /// The operation that began last.
    pub fn operation(&self) -> Option<Operation> {
        u8::try_from(self.0.operation.load()).ok().and_then(Operation::from_code)
    }

    /// This process executes the probe; 0 if the measurer does so itself.
    pub fn executes(&self, process: u32) {
        self.0.process.store(u64::from(process));
    }

    /// Who executes the probe, if that is not the measurer.
    pub fn process(&self) -> Option<u32> {
        u32::try_from(self.0.process.load()).ok().filter(|process| *process != 0)
    }

    /// The first contact has been waited for since then.
    pub fn contacts(&self, since: MonotonicTime) {
        self.0.contact.store(since.0);
    }

    /// Since when the first contact has been waited for, once that is known.
    pub fn contact(&self) -> Option<MonotonicTime> {
        Some(MonotonicTime(self.0.contact.load())).filter(|since| since.0 != 0)
    }

    /// The first contact has been answered, though the client has not told so yet.
    pub fn ends_contact(&self, now: MonotonicTime) {
        self.0.contact_end.store(now.0);
    }

    /// When that was.
    pub fn contact_end(&self) -> Option<MonotonicTime> {
        Some(MonotonicTime(self.0.contact_end.load())).filter(|end| end.0 != 0)
    }
}
