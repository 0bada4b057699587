//! A trace for other programs.

pub mod strace;
