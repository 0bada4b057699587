//! The end of a run: parts, then run.json, then no spool any more.

use iolag_model::RunRecord;

use super::encode::{Encoded, encode};
use super::run_directory::RunDirectory;
use crate::{Directory, StoreError};

/// What has been done, so that tests can stop after each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Parts and details are durable under their names; run.json does not know them yet.
    PartsWritten,
    /// run.json names the parts; the spool is still there.
    RecordReplaced,
}

impl RunDirectory {
    /// Encodes the spool, replaces run.json by `record` with the parts in it, then removes the spool. A kill at any
    /// point loses nothing; doing it again gives the same files.
    ///
    /// # Errors
    /// If any step fails. Until run.json is replaced the spool is kept; after that it is of no use any more.
    pub fn finish(&self, record: &mut RunRecord, spool: &Directory) -> Result<Encoded, StoreError> {
        self.finish_judged(record, spool, |_, _| ())
    }

    /// As [`RunDirectory::finish`]; `judge` may change the record by what was read back from the spool, before it is written.
    ///
    /// # Errors
    /// As [`RunDirectory::finish`].
    pub fn finish_judged(
        &self,
        record: &mut RunRecord,
        spool: &Directory,
        judge: impl FnOnce(&mut RunRecord, &Encoded),
    ) -> Result<Encoded, StoreError> {
        self.finish_by_steps(record, spool, judge, |_| Ok(()))
    }

    pub(crate) fn finish_by_steps(
        &self,
        record: &mut RunRecord,
        spool: &Directory,
        judge: impl FnOnce(&mut RunRecord, &Encoded),
        mut done: impl FnMut(Step) -> Result<(), StoreError>,
    ) -> Result<Encoded, StoreError> {
        let encoded = encode(spool, self.directory(), record)?;
        done(Step::PartsWritten)?;
        record.parts = encoded.parts.clone();
        judge(record, &encoded);
        self.write_record(record)?;
        done(Step::RecordReplaced)?;
        self.remove_spool()?;
        Ok(encoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::recovery::recover::{Recovery, recover_run};
    use crate::support::{Client, record, run_id};
    use crate::{SpoolNumber, SpoolWriter, Store};
    use iolag_model::{AttemptId, Detail, DetailKind, RunState, Sample};

    fn spooled(store: &Store) -> (RunDirectory, RunRecord, Directory, Vec<Sample>) {
        let record = record(&run_id(1), 1, 1);
        let run = store.create_run(&record).unwrap();
        let spool = run.create_spool().unwrap();
        let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
        let samples = Client::new(0).take(5000);
        writer.append(&samples).unwrap();
        let detail = Detail { attempt: AttemptId(1), kind: DetailKind::Message, text: "why".into() };
        writer.append_details(&[detail]).unwrap();
        writer.finish().unwrap();
        (run, record, spool, samples)
    }

    fn stop(at: Step) -> impl FnMut(Step) -> Result<(), StoreError> {
        move |step| if step == at { Err(StoreError::Locked { path: "killed here".into() }) } else { Ok(()) }
    }

    fn stored(run: &RunDirectory) -> Vec<Sample> {
        run.samples().unwrap().map(|stored| stored.unwrap().sample).collect()
    }

    #[test]
    fn a_kill_after_any_step_loses_nothing_and_the_next_command_gives_the_same_files() {
        let place = tempfile::tempdir().unwrap();
        let whole = Store::open(&place.path().join("whole")).unwrap();
        let (run, mut finished, spool, samples) = spooled(&whole);
        run.finish(&mut finished, &spool).unwrap();
        assert!(stored(&run) == samples);
        let expected = run.directory().read_file("samples-0-0.parquet", 1 << 30).unwrap();

        for (step, state_on_disk) in [(Step::PartsWritten, "running"), (Step::RecordReplaced, "complete")] {
            let store = Store::open(&place.path().join(state_on_disk)).unwrap();
            let (run, mut killed, spool, samples) = spooled(&store);
            // What an even earlier kill may have left must not stand in the way.
            run.directory().replace_file("samples-0-0.parquet", b"half a part").unwrap();
            std::fs::write(run.path().join("details.parquet.new"), b"half").unwrap();
            killed.state = RunState::Complete;
            run.finish_by_steps(&mut killed, &spool, |_, _| (), stop(step)).unwrap_err();

            let recovery = recover_run(&run, |_| false).unwrap();
            match step {
                Step::PartsWritten => assert!(matches!(recovery, Recovery::Encoded { samples: 5000, .. })),
                Step::RecordReplaced => assert_eq!(recovery, Recovery::SpoolRemoved),
            }
            assert_eq!(run.directory().read_file("samples-0-0.parquet", 1 << 30).unwrap(), expected);
            assert!(stored(&run) == samples && run.details().unwrap()[0].text == "why");
            assert!(run.open_spool(&run.record().unwrap()).unwrap().is_none());
            assert_eq!(recover_run(&run, |_| false).unwrap(), Recovery::Nothing);
        }
    }
}
