//! Faults, end to end: the real program on real file systems that hang, fill up, turn read-only or vanish, under signals
//! and kills. The lifecycle table of docs/measurement.md, row by row, and what users may do wrong with disks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod check;
mod cores;
mod hangs;
mod journal;
mod kills;
mod many_clients;
mod rescued;
mod servers;
mod signals;
mod stopped;
mod stores;
mod targets;
mod whole_mount;
mod workloads;
