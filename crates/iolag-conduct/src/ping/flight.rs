//! What a ping has in flight, in memory that its measurer and the keeper share.

use iolag_keeper::{KeeperError, SharedWords};
use iolag_model::{Clock, MonotonicClock, MonotonicTime, Operation};

/// What the measurer says of what is in flight; the keeper reads it at any moment.
#[derive(Debug, Clone)]
pub struct PingFlight(SharedWords);

impl PingFlight {
    /// Nothing in flight.
    ///
    /// # Errors
    /// If the kernel has no memory.
    pub fn new() -> Result<Self, KeeperError> {
        SharedWords::new(5).map(Self)
    }

    /// This operation begins now.
    pub fn begins(&self, operation: Operation) {
        self.0.store(3, MonotonicClock.now().0);
        self.0.store(0, operation as u64);
    }

    /// When that was.
    pub fn since(&self) -> MonotonicTime {
        MonotonicTime(self.0.load(3))
    }

    /// The operation that began last.
    pub fn operation(&self) -> Option<Operation> {
        u8::try_from(self.0.load(0)).ok().and_then(Operation::from_code)
    }

    /// This process executes the probe; 0 if the measurer does so itself.
    pub fn executes(&self, process: u32) {
        self.0.store(1, u64::from(process));
    }

    /// Who executes the probe, if that is not the measurer.
    pub fn process(&self) -> Option<u32> {
        u32::try_from(self.0.load(1)).ok().filter(|process| *process != 0)
    }

    /// The first contact has been waited for since then.
    pub fn contacts(&self, since: MonotonicTime) {
        self.0.store(2, since.0);
    }

    /// Since when the first contact has been waited for, once that is known.
    pub fn contact(&self) -> Option<MonotonicTime> {
        Some(MonotonicTime(self.0.load(2))).filter(|since| since.0 != 0)
    }

    /// The first contact has been answered, though the client has not told so yet.
    pub fn ends_contact(&self, now: MonotonicTime) {
        self.0.store(4, now.0);
    }

    /// When that was.
    pub fn contact_end(&self) -> Option<MonotonicTime> {
        Some(MonotonicTime(self.0.load(4))).filter(|end| end.0 != 0)
    }
}
