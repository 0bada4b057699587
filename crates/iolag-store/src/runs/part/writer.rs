//! Writes one part.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolag_model::{
    HostIndex, HostView, Operation, Outcome, PartRecord, Phase, RunRecord, Sample, TargetIndex,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{SchemaDescPtr, TypePtr};
use rustix::fs::OFlags;

use super::SCHEMA;
use super::codes::{Codes, Dictionary};
use super::reader::{CHUNK_CRCS_KEY, read_footer};
use crate::directory::new_name;
use crate::{Directory, StoreError};

type Group<'a> = SerializedRowGroupWriter<'a, File>;

/// What all parts of a run share: the schema, the stages, and buffers that are reused.
pub(crate) struct PartContext {
    schema: TypePtr,
    columns: SchemaDescPtr,
    /// Phase and iteration of every stage, by its number.
    stages: Vec<(Phase, u32)>,
    codes: Codes,
    wide: Vec<i64>,
    narrow: Vec<i32>,
}

/// A part that is being written, under a name that says so until it is whole.
pub(crate) struct PartWriter {
    name: String,
    path: PathBuf,
    target: TargetIndex,
    host: HostIndex,
    writer: SerializedFileWriter<File>,
    rows: u64,
    /// CRC-32 of every column chunk so far, in the order of the file.
    chunk_crcs: Vec<u32>,
}

impl PartContext {
    pub fn new(record: &RunRecord) -> Result<Self, StoreError> {
        let unexpected = |error| StoreError::parquet("lay out", "samples.parquet", error);
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(unexpected)?);
        let mut stages = Vec::new();
        for stage in &record.stages {
            let number = usize::from(stage.stage.0);
            if stages.len() <= number {
                stages.resize(number + 1, (stage.phase, 0));
            }
            stages[number] = (stage.phase, stage.iteration);
        }
        Ok(Self {
            columns: Arc::new(parquet::schema::types::SchemaDescriptor::new(schema.clone())),
            schema,
            stages,
            codes: Codes::new(),
            wide: Vec::new(),
            narrow: Vec::new(),
        })
    }

    /// Phase of a stage; a stage that run.json does not know is of no phase.
    fn phase_name(&self, stage: u64) -> &'static str {
        self.stages.get(stage as usize).map_or("", |(phase, _)| phase.name())
    }

    /// Writes the few different values of `key` under the names or numbers that `dictionary` gives them.
    fn write_codes<'a>(
        &mut self,
        group: &mut Group<'_>,
        place: usize,
        samples: &[Sample],
        key: impl Fn(&Sample) -> u64,
        dictionary: impl Fn(&[u64]) -> Dictionary<'a>,
    ) -> Result<(), ParquetError> {
        let column = self.columns.column(place);
        if self.codes.collect(samples.iter().map(&key)) {
            let chunk = self.codes.chunk(column, &dictionary(&self.codes.distinct))?;
            return group.append_column(&chunk.bytes, chunk.close);
        }
        match dictionary(&[]) {
            Dictionary::Int32(_) => self.write_narrow(group, samples, |sample| key(sample) as i32),
            _ => self.write_wide(group, samples, |sample| key(sample) as i64),
        }
    }

    fn write_wide(
        &mut self,
        group: &mut Group<'_>,
        samples: &[Sample],
        value: impl Fn(&Sample) -> i64,
    ) -> Result<(), ParquetError> {
        self.wide.clear();
        self.wide.extend(samples.iter().map(value));
        let mut column = group.next_column()?.expect("the schema has this column");
        column.typed::<Int64Type>().write_batch(&self.wide, None, None)?;
        column.close()
    }

    fn write_narrow(
        &mut self,
        group: &mut Group<'_>,
        samples: &[Sample],
        value: impl Fn(&Sample) -> i32,
    ) -> Result<(), ParquetError> {
        self.narrow.clear();
        self.narrow.extend(samples.iter().map(value));
        let mut column = group.next_column()?.expect("the schema has this column");
        column.typed::<Int32Type>().write_batch(&self.narrow, None, None)?;
        column.close()
    }

    /// One row group, columns in the order of [`SCHEMA`].
    fn write_group(
        &mut self,
        group: &mut Group<'_>,
        target: TargetIndex,
        samples: &[Sample],
    ) -> Result<(), ParquetError> {
        let numbers = |keys: &[u64]| Dictionary::Int32(keys.iter().map(|key| *key as i32).collect());
        let sizes = |keys: &[u64]| Dictionary::Int64(keys.iter().map(|key| *key as i64).collect());
        let stages = self.stages.clone();
        let iteration = |stage: usize| stages.get(stage).map_or(0, |(_, iteration)| u64::from(*iteration));
        // Stages of one phase share an entry of the dictionary: the key is the first stage with that phase.
        let firsts: Vec<u64> = (0..stages.len() + 1)
            .map(|stage| {
                let name = self.phase_name(stage as u64);
                (0..stage).find(|other| self.phase_name(*other as u64) == name).unwrap_or(stage) as u64
            })
            .collect();
        let phase = |stage: usize| firsts[stage.min(stages.len())];
        let phase_names: Vec<&'static str> =
            (0..=stages.len()).map(|stage| self.phase_name(stage as u64)).collect();

        self.write_wide(group, samples, |sample| sample.attempt.0 as i64)?;
        self.write_codes(group, 1, samples, |sample| u64::from(sample.attempt.client().0), numbers)?;
        self.write_codes(group, 2, samples, |_| u64::from(target.0), numbers)?;
        self.write_codes(group, 3, samples, |sample| u64::from(sample.stage.0), numbers)?;
        self.write_codes(group, 4, samples, operation, |keys| {
            Dictionary::Text(keys.iter().map(|key| operation_name(*key)).collect())
        })?;
        self.write_codes(group, 5, samples, operation, numbers)?;
        self.write_codes(group, 6, samples, outcome, |keys| {
            Dictionary::Text(keys.iter().map(|key| outcome_name(*key)).collect())
        })?;
        self.write_codes(group, 7, samples, outcome, numbers)?;
        self.write_codes(group, 8, samples, |sample| u64::from(sample.code.0), numbers)?;
        self.write_codes(
            group,
            9,
            samples,
            |sample| phase(usize::from(sample.stage.0)),
            |keys| Dictionary::Text(keys.iter().map(|key| phase_names[*key as usize]).collect()),
        )?;
        self.write_codes(group, 10, samples, |sample| iteration(usize::from(sample.stage.0)), numbers)?;
        self.write_wide(group, samples, |sample| sample.intended.0 as i64)?;
        self.write_wide(group, samples, |sample| sample.start.0 as i64)?;
        self.write_wide(group, samples, |sample| sample.duration.0 as i64)?;
        self.write_codes(group, 14, samples, |sample| sample.bytes, sizes)?;
        self.write_codes(group, 15, samples, |sample| u64::from(sample.tag), numbers)
    }
}

impl PartWriter {
    /// Starts the file `name` in the run directory, for samples of clients of this host.
    pub fn create(
        run: &Directory,
        name: String,
        context: &PartContext,
        record: &RunRecord,
        (target, host): (TargetIndex, HostIndex),
    ) -> Result<Self, StoreError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC;
        let file = run.open_with(&new_name(&name), flags, "write")?;
        let path = run.path().join(&name);
        let writer = SerializedFileWriter::new(
            file,
            context.schema.clone(),
            Arc::new(properties(describe(record, (target, host), &path)?)),
        )
        .map_err(|error| StoreError::parquet("write", &path, error))?;
        Ok(Self { name, path, target, host, writer, rows: 0, chunk_crcs: Vec::new() })
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends a row group.
    pub fn write(&mut self, context: &mut PartContext, samples: &[Sample]) -> Result<(), StoreError> {
        let target = self.target;
        self.writer
            .next_row_group()
            .and_then(|mut group| {
                context.write_group(&mut group, target, samples)?;
                group.close().map(drop)
            })
            .map_err(|error| StoreError::parquet("write", &self.path, error))?;
        self.rows += samples.len() as u64;
        note_checksums(&mut self.writer, &mut self.chunk_crcs, &self.path)
    }

    /// Writes the footer, makes the file durable and gives it its name.
    pub fn finish(mut self, run: &Directory) -> Result<PartRecord, StoreError> {
        finish_file(&mut self.writer, &self.chunk_crcs, &self.path)?;
        let footer_crc32 = Some(crc32fast::hash(&read_footer(self.writer.inner(), &self.path)?));
        run.put_in_place(&self.name)?;
        Ok(PartRecord { file: self.name, samples: self.rows, footer_crc32, host: self.host })
    }
}

/// Notes the CRC-32 of every column chunk of the row group just written. It is read back, from memory still: the library
/// does not show its bytes on their way.
pub(super) fn note_checksums(
    writer: &mut SerializedFileWriter<File>,
    crcs: &mut Vec<u32>,
    path: &Path,
) -> Result<(), StoreError> {
    writer.flush().map_err(|error| StoreError::system("write", path, error))?;
    let group = writer.flushed_row_groups().last().expect("a row group was just written");
    let mut bytes = Vec::new();
    for column in group.columns() {
        let (start, length) = column.byte_range();
        bytes.resize(length as usize, 0);
        let read = writer.inner().read_exact_at(&mut bytes, start);
        read.map_err(|error| StoreError::system("read", path, error))?;
        crcs.push(crc32fast::hash(&bytes));
    }
    Ok(())
}

/// Writes the footer with the checksums in it, and makes the file durable.
pub(super) fn finish_file(
    writer: &mut SerializedFileWriter<File>,
    crcs: &[u32],
    path: &Path,
) -> Result<(), StoreError> {
    let crcs = crcs.iter().map(|crc| format!("{crc:08x}")).collect::<Vec<_>>().join(" ");
    writer.append_key_value_metadata(KeyValue::new(CHUNK_CRCS_KEY.to_owned(), crcs));
    writer.finish().map_err(|error| StoreError::parquet("write", path, error))?;
    // Flushed here, because the library would tell a full disk as a text without errno.
    let system = |error| StoreError::system("write", path, error);
    writer.flush().map_err(system)?;
    writer.inner().sync_all().map_err(system)
}

/// How parts and details are written.
pub(super) fn properties(description: Vec<KeyValue>) -> WriterProperties {
    let level = ZstdLevel::try_new(1).expect("1 is a level of zstd");
    WriterProperties::builder()
        .set_created_by(concat!("iolag version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .set_key_value_metadata(Some(description))
        .build()
}

/// What a part says about itself, so that it is understood without its run.json.
fn describe(
    record: &RunRecord,
    (target, host): (TargetIndex, HostIndex),
    path: &Path,
) -> Result<Vec<KeyValue>, StoreError> {
    let json = |value: serde_json::Result<String>| {
        value
            .map_err(|error| StoreError::damaged(path, format!("its description cannot be written: {error}")))
    };
    let HostView { environment, anchors } = record.host(host);
    let of_target = record.targets.get(usize::from(target.0));
    let configuration = serde_json::json!({
        "kernel": environment.kernel,
        "file_system": of_target.and_then(|target| target.file_system.as_ref()),
        "labels": record.labels,
    });
    let mut about = vec![
        ("iolag.format", record.format.to_string()),
        ("iolag.run", record.id.to_string()),
        ("iolag.host", environment.host.clone()),
        ("iolag.boot_id", environment.boot_id.clone().unwrap_or_default()),
        ("iolag.target", of_target.map(|target| target.name.clone()).unwrap_or_default()),
        ("iolag.configuration", configuration.to_string()),
        ("iolag.anchors", json(serde_json::to_string(anchors))?),
    ];
    if !record.tags.is_empty() {
        about.push(("iolag.tags", json(serde_json::to_string(&record.tags))?));
    }
    if let Some(host) = record.further_host(host) {
        about.push(("iolag.clock_offsets", json(serde_json::to_string(&host.offsets))?));
    }
    Ok(about.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect())
}

fn operation(sample: &Sample) -> u64 {
    u64::from(sample.operation_code())
}

fn operation_name(key: u64) -> &'static str {
    Operation::from_code(key as u8).map_or("", Operation::name)
}

fn outcome(sample: &Sample) -> u64 {
    sample.outcome() as u64
}

fn outcome_name(key: u64) -> &'static str {
    Outcome::try_from(key as u8).map_or("", Outcome::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{record, run_id};
    use iolag_model::{ClockOffset, HostRecord, MonotonicTime, Nanoseconds, TagKind, TagRecord};

    #[test]
    fn a_part_tells_of_the_host_whose_clock_its_samples_have() {
        let mut record = record(&run_id(1), 1, 1);
        record.further_hosts.push(HostRecord::new(
            "node2",
            vec![ClockOffset { at: MonotonicTime(5), ahead_ns: -2, error_ns: Nanoseconds(1) }],
        ));
        let value = |host, key: &str| {
            let about = describe(&record, (TargetIndex(0), HostIndex(host)), Path::new("x")).unwrap();
            about.into_iter().find(|about| about.key == key).and_then(|about| about.value)
        };
        assert_eq!(value(0, "iolag.host"), Some(record.environment.host.clone()));
        assert_eq!(value(0, "iolag.clock_offsets"), None);
        assert_eq!(value(1, "iolag.host").unwrap(), "node2");
        assert_eq!(value(1, "iolag.anchors").unwrap(), "[]");
        assert_eq!(value(1, "iolag.clock_offsets").unwrap(), r#"[{"at":5,"ahead_ns":-2,"error_ns":1}]"#);
    }

    #[test]
    fn a_part_names_its_tags_only_where_there_are_some() {
        let mut record = record(&run_id(1), 1, 1);
        let tags = |record: &RunRecord| {
            let about = describe(record, (TargetIndex(0), HostIndex(0)), Path::new("x")).unwrap();
            about.into_iter().find(|about| about.key == "iolag.tags").and_then(|about| about.value)
        };
        assert_eq!(tags(&record), None);
        record.tags.push(TagRecord { tag: 3, kind: TagKind::Server, name: "ost-3".to_owned(), target: None });
        assert_eq!(tags(&record).unwrap(), r#"[{"tag":3,"kind":"server","name":"ost-3"}]"#);
    }
}
