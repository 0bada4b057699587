//! In the measurer of a copy.

use std::thread;

use iolag_keeper::Exchange;
use iolag_model::{Coordinator, one_line};
use iolag_workload::{PayloadAsker, PayloadProgram, PayloadServer};
use rustix::fs::{Mode, OFlags, open};

use super::finding::PayloadCommand;

/// Gets a payload ready, if there is one; called as long as this process has one thread.
pub(in crate::bench) fn prepare_payload(
    payload: Option<&PayloadCommand>,
) -> Result<Option<(PayloadServer, PayloadAsker)>, String> {
    let Some(PayloadCommand { command, directory }) = payload else { return Ok(None) };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let here = open(directory, flags, Mode::empty()).map_err(|errno| {
        let directory = one_line(&directory.display().to_string());
        format!("cannot run the payload in {directory}, where iolag was started: {errno}")
    })?;
    let program = PayloadProgram::new(command, std::os::fd::AsFd::as_fd(&here));
    let program = program.map_err(|errno| format!("cannot get ready to run the payload: {errno}"))?;
    Ok(Some(PayloadServer::new(program)))
}

/// Measures beside a thread that runs the payload of this client when it is asked to, and ends it when the client is stopped.
pub(in crate::bench) fn beside_payload<T>(
    payload: Option<(PayloadServer, PayloadAsker)>,
    exchange: &Exchange,
    client: u32,
    measure: impl FnOnce(Option<PayloadAsker>) -> T,
) -> T {
    let (server, asker) = payload.unzip();
    thread::scope(|scope| {
        let coordinator = exchange.coordinator();
        // Who serves ends when nobody can ask any more.
        server.map(|server| scope.spawn(move || server.serve(|| coordinator.is_stopped(client))));
        measure(asker)
    })
}
