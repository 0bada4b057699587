//! Samples for other programs: CSV, JSON lines, or the Parquet files as they are. Memory does not grow with the run.

use std::io::{self, Write};
use std::path::Path;

use iolag_model::{Operation, Outcome, Phase, RunRecord, Sample};

use super::run_directory::RunDirectory;
use super::scan::StoredSample;
use crate::{Directory, StoreError};

/// The columns of the CSV file and the names in JSON lines: those of the Parquet files.
pub const CSV_HEADER: &str = "attempt,client,target,stage,operation,operation_code,outcome,outcome_code,\
failure_code,phase,iteration,intended_ns,start_ns,duration_ns,bytes,tag";

/// A form in which samples are written to one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// RFC 4180, a header, one line per sample, lines ended by CR LF as the standard has it.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl RunDirectory {
    /// Writes all samples in stored order; says how many. `name` is what a failure of `output` is blamed on.
    ///
    /// # Errors
    /// If a part is damaged, or `output` fails.
    pub fn export_text(
        &self,
        form: TextForm,
        output: &mut impl Write,
        name: &Path,
    ) -> Result<u64, StoreError> {
        let record = self.record()?;
        let failed = |error: io::Error| StoreError::system("write", name, error);
        if form == TextForm::Csv {
            write!(output, "{CSV_HEADER}\r\n").map_err(failed)?;
        }
        let mut count = 0;
        for stored in self.samples()? {
            let row = Row::new(&record, stored?);
            match form {
                TextForm::Csv => row.write_csv(output),
                TextForm::JsonLines => row.write_json(output),
            }
            .map_err(failed)?;
            count += 1;
        }
        output.flush().map_err(failed)?;
        Ok(count)
    }

    /// Copies the parts and details into the directory `to`, which must not have them; says their names.
    ///
    /// # Errors
    /// If a part is missing or a copy cannot be written.
    pub fn export_parquet(&self, to: &Directory) -> Result<Vec<String>, StoreError> {
        use rustix::fs::OFlags;
        let mut names: Vec<String> = self.record()?.parts.into_iter().map(|part| part.file).collect();
        if self.directory().look_at(super::part::DETAILS_FILE).is_ok() {
            names.push(super::part::DETAILS_FILE.to_owned());
        }
        for name in &names {
            let mut source = self.directory().open_file(name)?;
            let mut copy = to.open_with(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, "write")?;
            io::copy(&mut source, &mut copy)
                .and_then(|_| copy.sync_all())
                .map_err(|error| StoreError::system("write", to.path().join(name), error))?;
        }
        Ok(names)
    }
}

struct Row {
    stored: StoredSample,
    phase: &'static str,
    iteration: u32,
}

impl Row {
    fn new(record: &RunRecord, stored: StoredSample) -> Self {
        let stage = stored.sample.stage;
        // Stages are numbered as they stand, except in records that somebody edited.
        let guess = record.stages.get(usize::from(stage.0)).filter(|other| other.stage == stage);
        let found = guess.or_else(|| record.stages.iter().find(|other| other.stage == stage));
        Self {
            stored,
            phase: found.map_or("", |stage| Phase::name(stage.phase)),
            iteration: found.map_or(0, |stage| stage.iteration),
        }
    }

    /// Names of operations, outcomes and phases hold no comma and no quote (a test says so), so nothing is quoted.
    fn write_csv(&self, output: &mut impl Write) -> io::Result<()> {
        let sample = &self.stored.sample;
        // What was never sent never started.
        let start = if is_never_sent(sample) { String::new() } else { sample.start.0.to_string() };
        write!(
            output,
            "{},{},{},{},{},{},{},{},{},{},{},{},{start},{},{},{}\r\n",
            sample.attempt.0,
            sample.attempt.client().0,
            self.stored.target,
            sample.stage.0,
            sample.operation().name(),
            sample.operation_code(),
            sample.outcome().name(),
            sample.outcome() as u8,
            sample.code.0,
            self.phase,
            self.iteration,
            sample.intended.0,
            sample.duration.0,
            sample.bytes,
            sample.tag
        )
    }

    fn write_json(&self, output: &mut impl Write) -> io::Result<()> {
        let sample = &self.stored.sample;
        writeln!(
            output,
            "{{\"attempt\":{},\"client\":{},\"target\":{},\"stage\":{},\"operation\":\"{}\",\"operation_code\":{},\
             \"outcome\":\"{}\",\"outcome_code\":{},\"failure_code\":{},\"phase\":\"{}\",\"iteration\":{},\
             \"intended_ns\":{},\"start_ns\":{},\"duration_ns\":{},\"bytes\":{},\"tag\":{}}}",
            sample.attempt.0,
            sample.attempt.client().0,
            self.stored.target,
            sample.stage.0,
            sample.operation().name(),
            sample.operation_code(),
            sample.outcome().name(),
            sample.outcome() as u8,
            sample.code.0,
            self.phase,
            self.iteration,
            sample.intended.0,
            sample.start.0,
            sample.duration.0,
            sample.bytes,
            sample.tag
        )
    }
}

/// Whether this is a probe of a ping that was due, and is on record only as that.
fn is_never_sent(sample: &Sample) -> bool {
    matches!(sample.outcome(), Outcome::Skipped | Outcome::Interrupted)
        && sample.operation() == Operation::Probe
        && sample.attempt.is_unsent()
}

#[cfg(test)]
mod tests {
    use iolag_model::{Operation, Outcome, Phase};

    #[test]
    fn no_name_needs_quotes() {
        let names = Operation::ALL
            .iter()
            .map(|operation| operation.name())
            .chain(Outcome::ALL.iter().map(|outcome| outcome.name()))
            .chain(Phase::ALL.iter().map(|phase| phase.name()));
        for name in names {
            assert!(!name.contains([',', '"', '\\', '\n', '\r']), "{name}");
        }
    }
}
