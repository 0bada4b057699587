//! Why a place is slow: probes of it, one after the other, each in a process of its own that may hang.
//!
//! ```text
//! scout -> first pass -> second pass -> ls of nothing -> ls -n | ls -l, in turns -> connection to the server
//! ```
//! Invariants: nothing is written; whoever does not answer is ended, and told with the function of the kernel that it waits in.
//! A command ([`command`]) is not probed but traced, once, as it would run anyway.

mod attending;
pub(crate) mod command;
pub(crate) mod conducting;
mod probes;
#[cfg(test)]
mod tests;
