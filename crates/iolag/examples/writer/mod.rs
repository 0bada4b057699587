//! The writer of a run, for examples that measure with the roles of one: it brings what clients record into a store.

#[path = "../../../iolag-store/tests/support/mod.rs"]
mod support;

use std::path::Path;

use anyhow::Result;
use iolag_conduct::{Busy, Draining, DrainingPatience as Patience, Source};
use iolag_keeper::Exchange;
use iolag_model::RunState;
use iolag_store::Store;
use support::{record, run_id};

/// Drains the rings into a spool in `place` until everything was measured, and encodes it. Returns how many samples were stored.
pub fn write(exchange: &Exchange, place: &Path) -> Result<u64> {
    let store = Store::open(place)?;
    let mut record = record(&run_id(1), 1, exchange.clients());
    let run = store.create_run(&record)?;
    let spool = run.create_spool()?;
    let measurers = [(0..exchange.clients()).collect()];
    let mut draining = Draining::new(exchange, &measurers, &spool, record.id.clone(), false);
    loop {
        let is_measured = exchange.is_measured();
        let patience = if is_measured { Patience::None } else { Patience::Some };
        let busy = draining.drain(Source::Pending, patience)?;
        if is_measured && busy == Busy::Idle {
            break;
        }
        std::thread::sleep(draining.pause(busy).as_duration());
    }
    draining.finish()?;
    record.state = RunState::Complete;
    Ok(run.finish(&mut record, &spool)?.samples)
}
