//! What the job of a copy computes once it is set up, really run: a command of the user's.
//!
//! It runs below a guard, as other commands do, in a session of its own without a terminal. A client's thread may have closed what the process has open, so another thread
//! has it started and waits for it. What it leaves running ends with it.
//!
//! Limits: starting it and hearing of its end each pass the guard, some 0.3 ms in all. Its processor time is what the kernel counts of a child: what nobody has waited for
//! is not in it.

mod program;
mod serving;
mod session;

use iolag_model::{DeadlineRule, Nanoseconds, Operation};

pub use program::{PayloadEnd, PayloadProgram};
pub use serving::{PayloadAsker, PayloadServer};
pub(crate) use session::Payload;
pub use session::PayloadSession;

/// A payload takes as long as it does: no storage is asked.
pub(crate) const fn deadline() -> DeadlineRule {
    DeadlineRule { role: None, operation: Some(Operation::Payload), deadline_ns: Nanoseconds(u64::MAX) }
}
