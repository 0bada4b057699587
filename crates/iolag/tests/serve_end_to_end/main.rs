//! Serving, end to end: the real program over loopback, with a watch and without, with storage that hangs and with a history that
//! does, and a real Prometheus that scrapes it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../watch_end_to_end/remembered.rs"]
#[allow(dead_code, reason = "this test binary uses a part of it")]
mod remembered;
#[path = "../watch_end_to_end/stage.rs"]
#[allow(dead_code, reason = "this test binary uses a part of it")]
mod stage;
#[path = "../support/mod.rs"]
mod support;

mod certificates;
mod metrics;
mod server;

mod answers;
mod elsewhere;
mod hangs;
mod limits;
mod postgres;
mod prometheus;
mod rehearsal;
mod textfile;
