//! Runs tests so that nothing is lost to one of them, and nothing hides behind one.
//!
//! ```text
//! programs -> cases -> run -> attempt -> guard (a process) -> the test (a process)
//!                       └> outcomes -> tally, docs/flaky.md
//! ```
//!
//! Invariants: every test is a process of its own with a limit; what it leaves is ended and named; a test that failed is run twice more,
//! alone, unless its kind forbids that, and is flaky if it passes both times; nothing is retried silently.

mod attempt;
mod case;
mod flaky;
mod guard;
mod processes;
mod programs;
mod report;
mod rules;
mod run;
mod skipped;
mod space;
mod tally;

pub use attempt::{Attempt, Laboratory};
pub use case::{Case, Launch};
pub use flaky::record;
pub use guard::guard;
pub use programs::cases;
pub use rules::{Again, stale};
pub use run::{Audience, Failure, Outcome, Verdict, run};
pub use skipped::skip;
pub use tally::Tally;
