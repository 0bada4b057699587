//! Checks of what hangs, is slow or stalls.

pub mod hangs;
mod slow;
mod stalls;
