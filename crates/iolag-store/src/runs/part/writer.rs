//! Writes one part.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolag_model::{
    HostIndex, HostView, Operation, Outcome, PartRecord, Phase, RunRecord, Sample, StageIndex, TargetIndex,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{SchemaDescPtr, TypePtr};
use rustix::fs::OFlags;
use zstd::bulk::Compressor;

use super::SCHEMA;
use super::codes::{Codes, Dictionary, ZSTD_LEVEL};
use super::reader::{CHUNK_CRCS_KEY, read_footer};
use crate::directory::new_name;
use crate::{Directory, StoreError};

type Group<'a> = SerializedRowGroupWriter<'a, File>;

/// Samples whose numbers are put into columns at once: few enough for the fastest cache of a processor, or each column would fetch all samples
/// from memory again.
const SAMPLES_AT_ONCE: usize = 256;

/// What all parts of a run share: the schema, the stages, and buffers that are reused.
pub(crate) struct PartContext {
    schema: TypePtr,
    columns: SchemaDescPtr,
    stages: Stages,
    gathered: Gathered,
    compressor: Compressor<'static>,
}

/// The columns of a row group: numbers of many values as they are, others as codes.
#[derive(Default)]
struct Gathered {
    attempt: Vec<i64>,
    intended_ns: Vec<i64>,
    start_ns: Vec<i64>,
    duration_ns: Vec<i64>,
    client: Codes,
    target: Codes,
    stage: Codes,
    operation: Codes,
    outcome: Codes,
    failure_code: Codes,
    phase: Codes,
    iteration: Codes,
    bytes: Codes,
    tag: Codes,
}

/// What is told of a sample by its stage.
struct Stages {
    /// Phase and iteration of every stage, by its number.
    of_number: Vec<(Phase, u32)>,
    /// The first stage with the phase of a stage: stages of one phase share an entry of the dictionary. The last one is of those that run.json does not know.
    first_of_phase: Vec<u64>,
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
        Ok(Self {
            columns: Arc::new(parquet::schema::types::SchemaDescriptor::new(schema.clone())),
            schema,
            stages: Stages::of(record),
            gathered: Gathered::default(),
            compressor: Compressor::new(ZSTD_LEVEL).map_err(|error| unexpected(error.into()))?,
        })
    }

    /// One row group, columns in the order of [`SCHEMA`].
    fn write_group(
        &mut self,
        group: &mut Group<'_>,
        target: TargetIndex,
        samples: &[Sample],
    ) -> Result<(), ParquetError> {
        self.gathered.clear();
        samples
            .chunks(SAMPLES_AT_ONCE)
            .for_each(|samples| self.gathered.extend(samples, target, &self.stages));
        let (columns, compressor) = (&self.columns, &mut self.compressor);
        let mut put = |group: &mut Group<'_>, place, codes: &Codes, dictionary: Dictionary<'_>| {
            let chunk = codes.chunk(columns.column(place), &dictionary, compressor)?;
            group.append_column(&chunk.bytes, chunk.close)
        };
        let of = &self.gathered;
        write::<Int64Type>(group, &of.attempt)?;
        match of.client.is_refused() {
            false => put(group, 1, &of.client, of.client.numbers())?,
            true => write::<Int32Type>(group, &column(samples, |sample| sample.attempt.client().0 as i32))?,
        }
        put(group, 2, &of.target, of.target.numbers())?;
        put(group, 3, &of.stage, of.stage.numbers())?;
        put(group, 4, &of.operation, of.operation.texts(operation_name))?;
        put(group, 5, &of.operation, of.operation.numbers())?;
        put(group, 6, &of.outcome, of.outcome.texts(outcome_name))?;
        put(group, 7, &of.outcome, of.outcome.numbers())?;
        put(group, 8, &of.failure_code, of.failure_code.numbers())?;
        put(group, 9, &of.phase, of.phase.texts(|stage| self.stages.phase_name(stage)))?;
        put(group, 10, &of.iteration, of.iteration.numbers())?;
        write::<Int64Type>(group, &of.intended_ns)?;
        write::<Int64Type>(group, &of.start_ns)?;
        write::<Int64Type>(group, &of.duration_ns)?;
        match of.bytes.is_refused() {
            false => put(group, 14, &of.bytes, of.bytes.wide_numbers())?,
            true => write::<Int64Type>(group, &column(samples, |sample| sample.bytes as i64))?,
        }
        put(group, 15, &of.tag, of.tag.numbers())
    }
}

impl Gathered {
    fn clear(&mut self) {
        for column in [&mut self.attempt, &mut self.intended_ns, &mut self.start_ns, &mut self.duration_ns] {
            column.clear();
        }
        for column in [
            &mut self.client,
            &mut self.target,
            &mut self.stage,
            &mut self.operation,
            &mut self.outcome,
            &mut self.failure_code,
            &mut self.phase,
            &mut self.iteration,
            &mut self.bytes,
            &mut self.tag,
        ] {
            column.clear();
        }
    }

    fn extend(&mut self, samples: &[Sample], target: TargetIndex, stages: &Stages) {
        let of = || samples.iter();
        self.attempt.extend(of().map(|sample| sample.attempt.0 as i64));
        self.intended_ns.extend(of().map(|sample| sample.intended.0 as i64));
        self.start_ns.extend(of().map(|sample| sample.start.0 as i64));
        self.duration_ns.extend(of().map(|sample| sample.duration.0 as i64));
        self.client.extend(of().map(|sample| u64::from(sample.attempt.client().0)));
        self.target.extend(of().map(|_| u64::from(target.0)));
        self.stage.extend(of().map(|sample| u64::from(sample.stage.0)));
        self.operation.extend(of().map(|sample| u64::from(sample.operation_code())));
        self.outcome.extend(of().map(|sample| sample.outcome() as u64));
        self.failure_code.extend(of().map(|sample| u64::from(sample.code.0)));
        self.phase.extend(of().map(|sample| stages.phase(sample.stage)));
        self.iteration.extend(of().map(|sample| stages.iteration(sample.stage)));
        self.bytes.extend(of().map(|sample| sample.bytes));
        self.tag.extend(of().map(|sample| u64::from(sample.tag)));
    }
}

impl Stages {
    fn of(record: &RunRecord) -> Self {
        let mut of_number = Vec::new();
        for stage in &record.stages {
            let number = usize::from(stage.stage.0);
            if of_number.len() <= number {
                of_number.resize(number + 1, (stage.phase, 0));
            }
            of_number[number] = (stage.phase, stage.iteration);
        }
        let first_with = |phase: Phase| of_number.iter().position(|(other, _)| *other == phase);
        let first =
            |(number, (phase, _)): (usize, &(Phase, u32))| first_with(*phase).unwrap_or(number) as u64;
        let mut first_of_phase: Vec<u64> = of_number.iter().enumerate().map(first).collect();
        first_of_phase.push(of_number.len() as u64);
        Self { of_number, first_of_phase }
    }

    fn phase(&self, stage: StageIndex) -> u64 {
        self.first_of_phase[usize::from(stage.0).min(self.of_number.len())]
    }

    fn iteration(&self, stage: StageIndex) -> u64 {
        self.of_number.get(usize::from(stage.0)).map_or(0, |(_, iteration)| u64::from(*iteration))
    }

    /// Phase of a stage; a stage that run.json does not know is of no phase.
    fn phase_name(&self, stage: u64) -> &'static str {
        self.of_number.get(stage as usize).map_or("", |(phase, _)| phase.name())
    }
}

fn column<T>(samples: &[Sample], value: impl Fn(&Sample) -> T) -> Vec<T> {
    samples.iter().map(value).collect()
}

fn write<T: DataType>(group: &mut Group<'_>, values: &[T::T]) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
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
    let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("a level of zstd");
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

fn operation_name(key: u64) -> &'static str {
    Operation::from_code(key as u8).map_or("", Operation::name)
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
