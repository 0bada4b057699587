//! details.parquet: what few samples need, joined by attempt.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use iolag_model::{AttemptId, Detail, DetailKind};
use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use rustix::fs::OFlags;

use super::reader::check_chunks;
use super::writer::{finish_file, note_checksums, properties};
use crate::directory::new_name;
use crate::{Directory, StoreError};

pub(crate) const DETAILS_FILE: &str = "details.parquet";

const SCHEMA: &str = "message detail {
    REQUIRED INT64 attempt;
    REQUIRED INT32 client;
    REQUIRED BYTE_ARRAY kind (UTF8);
    REQUIRED BYTE_ARRAY text (UTF8);
}";
/// A row group is closed when it has this many rows or bytes of text.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_TEXT_BYTES: usize = 16 << 20;

/// Writes details.parquet; the file is made with the first record, so a run without details has none.
pub(crate) struct DetailsWriter {
    run: Directory,
    path: PathBuf,
    writer: Option<SerializedFileWriter<File>>,
    pending: Vec<Detail>,
    pending_text_bytes: usize,
    rows: u64,
    chunk_crcs: Vec<u32>,
}

impl DetailsWriter {
    pub fn new(run: &Directory) -> Result<Self, StoreError> {
        let path = run.path().join(DETAILS_FILE);
        Ok(Self {
            run: run.try_clone()?,
            path,
            writer: None,
            pending: Vec::new(),
            pending_text_bytes: 0,
            rows: 0,
            chunk_crcs: Vec::new(),
        })
    }

    pub fn append(&mut self, details: &[Detail]) -> Result<(), StoreError> {
        for detail in details {
            self.pending_text_bytes += detail.text.len();
            self.pending.push(detail.clone());
            if self.pending.len() >= GROUP_ROWS || self.pending_text_bytes >= GROUP_TEXT_BYTES {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Makes the file durable and gives it its name; says how many records there are.
    pub fn finish(mut self) -> Result<u64, StoreError> {
        if !self.pending.is_empty() {
            self.write_group()?;
        }
        let Some(mut writer) = self.writer else { return Ok(0) };
        finish_file(&mut writer, &self.chunk_crcs, &self.path)?;
        self.run.put_in_place(DETAILS_FILE)?;
        Ok(self.rows)
    }

    fn write_group(&mut self) -> Result<(), StoreError> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.create()?,
        };
        write_details(&mut writer, &self.pending)
            .map_err(|error| StoreError::parquet("write", &self.path, error))?;
        note_checksums(&mut writer, &mut self.chunk_crcs, &self.path)?;
        self.rows += self.pending.len() as u64;
        self.pending.clear();
        self.pending_text_bytes = 0;
        self.writer = Some(writer);
        Ok(())
    }

    fn create(&self) -> Result<SerializedFileWriter<File>, StoreError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC;
        let file = self.run.open_with(&new_name(DETAILS_FILE), flags, "write")?;
        let properties: WriterProperties = properties(Vec::new())
            .into_builder()
            .set_column_encoding("kind".into(), Encoding::PLAIN)
            .set_column_encoding("text".into(), Encoding::PLAIN)
            .build();
        parse_message_type(SCHEMA)
            .and_then(|schema| SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)))
            .map_err(|error| StoreError::parquet("write", &self.path, error))
    }
}

fn write_details(writer: &mut SerializedFileWriter<File>, details: &[Detail]) -> Result<(), ParquetError> {
    const COLUMNS: &str = "the schema has four columns";
    let mut group = writer.next_row_group()?;

    let attempts: Vec<i64> = details.iter().map(|detail| detail.attempt.0 as i64).collect();
    let mut column = group.next_column()?.expect(COLUMNS);
    column.typed::<Int64Type>().write_batch(&attempts, None, None)?;
    column.close()?;

    let clients: Vec<i32> = details.iter().map(|detail| detail.attempt.client().0 as i32).collect();
    let mut column = group.next_column()?.expect(COLUMNS);
    column.typed::<Int32Type>().write_batch(&clients, None, None)?;
    column.close()?;

    for text in [|detail: &Detail| detail.kind.name().into(), |detail: &Detail| detail.text.as_str().into()] {
        let texts: Vec<ByteArray> = details.iter().map(text).collect();
        let mut column = group.next_column()?.expect(COLUMNS);
        column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
        column.close()?;
    }
    group.close().map(drop)
}

/// The details of a run, in stored order; none if it has no such file.
pub(crate) fn read_details(run: &Directory) -> Result<Vec<Detail>, StoreError> {
    let path = run.path().join(DETAILS_FILE);
    let file = match run.open_file(DETAILS_FILE) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let damaged = |error: ParquetError| StoreError::parquet("read", &path, error);
    check_chunks(&file, &path)?;
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let mut details = Vec::new();
    for row in reader.get_row_iter(None).map_err(damaged)? {
        let row = row.map_err(damaged)?;
        let kind = row.get_string(2).map_err(damaged)?;
        // A kind that a newer minor added is nothing that this program could use.
        if let Some(kind) = kind_named(kind) {
            let attempt = AttemptId(row.get_long(0).map_err(damaged)? as u64);
            details.push(Detail { attempt, kind, text: row.get_string(3).map_err(damaged)?.clone() });
        }
    }
    Ok(details)
}

fn kind_named(name: &str) -> Option<DetailKind> {
    [DetailKind::Subject, DetailKind::Waiting, DetailKind::Blocker, DetailKind::Message]
        .into_iter()
        .find(|kind| kind.name() == name)
}
