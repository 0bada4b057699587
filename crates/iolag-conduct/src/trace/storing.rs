//! A trace that is stored: its run is made before the first call, and completed after the last.
//!
//! ```text
//! NewTrace::record -> TraceRun::begin -> TraceRun::file: the calls are written -> TraceRun::complete
//! ```
//! Invariants: the record says `running` until the file of calls is durable; who is killed in between leaves a run that the next command recovers,
//! with all calls that were written. To be used in a process that may hang: each step touches the store.

use std::collections::BTreeMap;
use std::fs::File;

use iolag_model::{
    Anchor, Environment, Nanoseconds, OnError, OnHang, RunId, RunRecord, RunSpec, RunState, TraceAbout,
    TraceSpec, WorkloadSpec,
};
use iolag_store::{RunDirectory, Store, StoreError};

use crate::run::beginning::running_state;
use crate::storing::place;

/// What is known of a trace before its first call.
#[derive(Debug, Clone, Default)]
pub struct NewTrace {
    /// What it will say of itself.
    pub about: TraceAbout,
    /// The directory that names in it are relative to, or the files that it is made of, as far as they are to be told.
    pub targets: Vec<String>,
    /// What the user attached.
    pub labels: BTreeMap<String, String>,
    /// The command as it was typed, without secrets and without the arguments of the program that is traced.
    pub command: Vec<String>,
    /// The machine on which the program ran, as far as it is known.
    pub environment: Environment,
}

impl NewTrace {
    /// A name for it that no other run of the store gets, and its directory.
    ///
    /// # Errors
    /// If the store takes none.
    pub fn claim(store: &Store) -> Result<RunId, StoreError> {
        store.claim(place::run_ids(Anchor::take().realtime_ns))
    }

    /// Its record while it is running, with this process as the one that closes it.
    pub fn record(self, id: RunId) -> RunRecord {
        let spec = TraceSpec { origin: self.about.origin, program: self.about.program };
        let spec = RunSpec {
            workload: WorkloadSpec::Trace(spec),
            targets: self.targets,
            clients: 0,
            deadline_ns: Nanoseconds::ZERO,
            deadlines: Vec::new(),
            on_hang: OnHang::Wait,
            on_error: OnError::Continue,
            seed: 0,
            ring_bytes: 0,
            caches: iolag_model::CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        RunRecord {
            labels: self.labels,
            command: self.command,
            environment: self.environment,
            anchors: vec![Anchor::take()],
            ..RunRecord::new(id, spec, running_state())
        }
    }
}

/// A trace that is being stored.
#[derive(Debug)]
pub struct TraceRun {
    run: RunDirectory,
    record: RunRecord,
    file: File,
}

impl TraceRun {
    /// Makes the run's directory (or takes the one that was claimed), its record, and the empty file of its calls.
    ///
    /// # Errors
    /// If the store takes none of them.
    pub fn begin(store: &Store, record: RunRecord) -> Result<Self, StoreError> {
        let run = store.create_run(&record)?;
        let file = run.create_trace()?;
        Ok(Self { run, record, file })
    }

    /// Where its calls are to be written, from the beginning of the file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Its record, while it is running.
    pub const fn record(&self) -> &RunRecord {
        &self.record
    }

    /// The run's directory.
    pub const fn directory(&self) -> &RunDirectory {
        &self.run
    }

    /// Makes the calls durable, and then says so: `finish` puts into the record what is known by now, and may say that the run is not whole;
    /// whoever says nothing has all of it.
    ///
    /// # Errors
    /// If either cannot be made durable.
    pub fn complete(
        self,
        finish: impl FnOnce(&mut RunRecord),
    ) -> Result<(RunDirectory, RunRecord), StoreError> {
        let Self { run, mut record, file } = self;
        run.make_trace_durable(&file)?;
        record.state = RunState::Complete;
        record.anchors.push(Anchor::take());
        finish(&mut record);
        run.write_record(&record)?;
        Ok((run, record))
    }

    /// Takes away what was made: there is nothing to keep.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn abandon(self, store: &Store) -> Result<(), StoreError> {
        let id = self.record.id.clone();
        drop(self);
        store.remove_run(&id, |_| false).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use iolag_model::TraceOrigin;
    use iolag_store::{KeeperIdentity, Removal, recover};

    use super::*;

    fn begun(store: &Store) -> TraceRun {
        let about = TraceAbout { program: Some("python3".to_owned()), ..TraceAbout::default() };
        let new =
            NewTrace { about, labels: [("a".to_owned(), "b".to_owned())].into(), ..NewTrace::default() };
        TraceRun::begin(store, new.record(NewTrace::claim(store).unwrap())).unwrap()
    }

    #[test]
    fn a_trace_is_a_run_that_can_be_listed_and_removed() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path()).unwrap();
        let trace = begun(&store);
        assert!(matches!(trace.directory().record().unwrap().state, RunState::Running { .. }));
        trace.file().write_all(b"some calls").unwrap();
        let (run, record) = trace.complete(|record| record.remarks.push("so it was".to_owned())).unwrap();
        assert_eq!(record, run.record().unwrap());
        assert_eq!(record.state, RunState::Complete);
        assert_eq!(record.format.to_string(), "3.0");
        let spec = record.spec.workload.trace().unwrap();
        assert_eq!((spec.program.as_deref(), spec.origin), (Some("python3"), TraceOrigin::Text));
        assert_eq!(std::io::read_to_string(run.open_trace().unwrap().unwrap()).unwrap(), "some calls");
        let listed = store.list().unwrap();
        let [listed] = &listed[..] else { panic!("{listed:?}") };
        assert!(listed.bytes > 10 && listed.record.as_ref().unwrap().remarks == ["so it was"]);
        assert_eq!(
            store.remove_run(&record.id, KeeperIdentity::is_alive).unwrap(),
            Removal::Complete,
            "the file is one that runs write"
        );
    }

    #[test]
    fn whoever_is_killed_leaves_what_was_written() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path()).unwrap();
        let trace = begun(&store);
        trace.file().write_all(b"some calls").unwrap();
        drop(trace);
        recover(&store, |_| false).unwrap();
        let run = store.find("last").unwrap();
        let RunState::Recovered { reason } = run.record().unwrap().state else { panic!("it is recovered") };
        assert_eq!(
            reason,
            "iolag ended without closing the run; its trace goes as far as it had been written"
        );
        assert_eq!(std::io::read_to_string(run.open_trace().unwrap().unwrap()).unwrap(), "some calls");
    }

    #[test]
    fn of_what_is_abandoned_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path()).unwrap();
        begun(&store).abandon(&store).unwrap();
        assert_eq!(store.list().unwrap(), []);
    }
}
