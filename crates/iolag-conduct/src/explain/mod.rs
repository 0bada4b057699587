//! Why a place is slow: probes of it, one after the other, each in a process of its own that may hang.
//!
//! ```text
//! scout -> first pass -> second pass -> ls of nothing -> ls -n | ls -l, in turns -> connection to the server
//! ```
//! Invariants: nothing is written; whoever does not answer is ended, and told with the function of the kernel that it waits in. How a whole
//! command is explained, where a trace of it is at hand, is another way of conducting beside [`conduct_explain`].

mod attending;
pub(crate) mod conducting;
mod probes;
#[cfg(test)]
mod tests;
