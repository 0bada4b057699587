//! Reads columns of one part, row group by row group, through reused buffers.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use bytes::buf::{Buf, Reader};
use iolag_model::{HostRecord, PartRecord};
use parquet::basic::Type;
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length, SerializedPageReader};
use parquet::file::statistics::Statistics;

use crate::{Directory, StoreError};

/// Under which key a part's footer holds the CRC-32 of every column chunk: hexadecimal, separated by spaces.
pub(super) const CHUNK_CRCS_KEY: &str = "iolag.chunk_crc32";
const TAIL_BYTES: u64 = 8;

/// A part with its footer read and compared with run.json. Reads at offsets: threads may share it.
pub(crate) struct PartReader {
    file: File,
    path: PathBuf,
    metadata: ParquetMetaData,
    /// CRC-32 of every column chunk, in the order of the file; empty if the file does not tell.
    chunk_crcs: Vec<u32>,
    /// Whose clock its samples have, if not the first host's.
    host: Option<HostRecord>,
}

impl PartReader {
    /// Opens the part and checks that it is whole.
    pub fn open(run: &Directory, part: &PartRecord) -> Result<Self, StoreError> {
        let path = run.path().join(&part.file);
        if part.file.contains('/') || !part.file.ends_with(".parquet") {
            return Err(StoreError::damaged(
                run.path().join("run.json"),
                format!("{:?} is not the name of a part", part.file),
            ));
        }
        let file = run.open_file(&part.file).map_err(|error| {
            let samples = part.samples;
            if error.is_missing() { StoreError::PartMissing { path: path.clone(), samples } } else { error }
        })?;
        let footer = read_footer(&file, &path)?;
        if part.footer_crc32.is_some_and(|crc| crc != crc32fast::hash(&footer)) {
            return Err(StoreError::damaged(path, "the checksum of its footer is not the one in run.json"));
        }
        let metadata = ParquetMetaDataReader::decode_metadata(&footer)
            .map_err(|error| StoreError::parquet("read", &path, error))?;
        let rows = metadata.file_metadata().num_rows();
        if rows != part.samples as i64 {
            let what = format!("it has {rows} samples, run.json says {}", part.samples);
            return Err(StoreError::damaged(path, what));
        }
        let chunk_crcs = chunk_crcs(&metadata);
        Ok(Self { file, path, metadata, chunk_crcs, host: None })
    }

    /// The same, with samples that have this host's clock.
    pub fn on(self, host: Option<HostRecord>) -> Self {
        Self { host, ..self }
    }

    /// Whose clock its samples have, if not the first host's.
    pub fn host(&self) -> Option<&HostRecord> {
        self.host.as_ref()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of row groups.
    pub fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows of a row group.
    pub fn group_rows(&self, group: usize) -> usize {
        usize::try_from(self.metadata.row_group(group).num_rows()).unwrap_or(0)
    }

    /// Starts reading the column `name` of a row group into `buffer`.
    pub fn begin(&self, group: usize, name: &str, buffer: &mut ColumnBuffer) -> Result<(), StoreError> {
        let columns = self.metadata.row_group(group).columns();
        let place = columns
            .iter()
            .position(|column| column.column_path().parts() == [name])
            .ok_or_else(|| StoreError::damaged(&self.path, format!("it has no column {name}")))?;
        let chunk = &columns[place];
        let crc = self.chunk_crcs.get(group * columns.len() + place).copied();
        buffer.narrow.clear();
        buffer.wide.clear();
        buffer.source = match (constant(chunk), chunk.column_type()) {
            (Some(value), _) => Source::Constant(value),
            (None, Type::INT32) => {
                Source::Narrow(get_typed_column_reader(self.column_reader(group, chunk, crc)?))
            }
            (None, Type::INT64) => {
                Source::Wide(get_typed_column_reader(self.column_reader(group, chunk, crc)?))
            }
            (None, other) => {
                let what = format!("its column {name} has type {other}, expected INT32 or INT64");
                return Err(StoreError::damaged(&self.path, what));
            }
        };
        Ok(())
    }

    /// Replaces the buffer's content by the next `rows` values.
    pub fn advance(&self, buffer: &mut ColumnBuffer, rows: usize) -> Result<(), StoreError> {
        let read = match &mut buffer.source {
            Source::Nothing => Ok(0),
            Source::Constant(Value::Narrow(value)) => {
                buffer.narrow.resize(rows, *value);
                Ok(rows)
            }
            Source::Constant(Value::Wide(value)) => {
                buffer.wide.resize(rows, *value);
                Ok(rows)
            }
            Source::Narrow(reader) => {
                buffer.narrow.clear();
                reader.read_records(rows, None, None, &mut buffer.narrow).map(|(records, ..)| records)
            }
            Source::Wide(reader) => {
                buffer.wide.clear();
                reader.read_records(rows, None, None, &mut buffer.wide).map(|(records, ..)| records)
            }
        };
        match read {
            Ok(read) if read == rows => Ok(()),
            Ok(read) => {
                Err(StoreError::damaged(&self.path, format!("a row group ends {} rows early", rows - read)))
            }
            Err(error) => Err(StoreError::parquet("read", &self.path, error)),
        }
    }

    fn column_reader(
        &self,
        group: usize,
        chunk: &ColumnChunkMetaData,
        crc: Option<u32>,
    ) -> Result<parquet::column::reader::ColumnReader, StoreError> {
        let bytes = read_chunk(&self.file, &self.path, chunk)?;
        // The decoders trust their input; what is not what was written must not get there.
        if crc.is_some_and(|crc| crc != crc32fast::hash(&bytes)) {
            let what =
                format!("the checksum of {} in row group {group} is wrong", chunk.column_path().string());
            return Err(StoreError::damaged(&self.path, what));
        }
        let source = Arc::new(ChunkBytes { start: chunk.byte_range().0, bytes: bytes.into() });
        let pages = SerializedPageReader::new(source, chunk, self.group_rows(group), None)
            .map_err(|error| StoreError::parquet("read", &self.path, error))?;
        Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
    }
}

/// The Thrift part of the footer of a Parquet file: `footer, its length (u32), "PAR1"` end the file.
pub(super) fn read_footer(file: &File, path: &Path) -> Result<Vec<u8>, StoreError> {
    let system = |error| StoreError::system("read", path, error);
    let file_bytes = file.metadata().map_err(system)?.len();
    let mut tail = [0; TAIL_BYTES as usize];
    let tail_start = file_bytes.checked_sub(TAIL_BYTES);
    if let Some(start) = tail_start {
        file.read_exact_at(&mut tail, start).map_err(system)?;
    }
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let start = tail_start.and_then(|start| start.checked_sub(u64::from(length)));
    let Some(start) = start.filter(|_| tail[4..] == *b"PAR1") else {
        return Err(StoreError::damaged(
            path,
            "it does not end like a Parquet file; it was cut or overwritten",
        ));
    };
    let mut footer = vec![0; length as usize];
    file.read_exact_at(&mut footer, start).map_err(system)?;
    Ok(footer)
}

/// Compares every column chunk of a file with its checksum, where the file has them.
pub(super) fn check_chunks(file: &File, path: &Path) -> Result<(), StoreError> {
    let metadata = ParquetMetaDataReader::decode_metadata(&read_footer(file, path)?)
        .map_err(|error| StoreError::parquet("read", path, error))?;
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    for (chunk, crc) in chunks.zip(chunk_crcs(&metadata)) {
        if crc32fast::hash(&read_chunk(file, path, chunk)?) != crc {
            let what = format!("the checksum of its column {} is wrong", chunk.column_path().string());
            return Err(StoreError::damaged(path, what));
        }
    }
    Ok(())
}

/// The bytes of a column chunk.
fn read_chunk(file: &File, path: &Path, chunk: &ColumnChunkMetaData) -> Result<Vec<u8>, StoreError> {
    let system = |error| StoreError::system("read", path, error);
    let (start, length) = chunk.byte_range();
    let file_bytes = file.metadata().map_err(system)?.len();
    if start.checked_add(length).is_none_or(|end| end > file_bytes) {
        return Err(StoreError::damaged(path, "a column lies beyond its end"));
    }
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, start).map_err(system)?;
    Ok(bytes)
}

fn chunk_crcs(metadata: &ParquetMetaData) -> Vec<u32> {
    let descriptions = metadata.file_metadata().key_value_metadata();
    let text = descriptions
        .and_then(|descriptions| descriptions.iter().find(|pair| pair.key == CHUNK_CRCS_KEY))
        .and_then(|pair| pair.value.as_deref())
        .unwrap_or_default();
    text.split(' ').map_while(|crc| u32::from_str_radix(crc, 16).ok()).collect()
}

/// One column's values of the present batch, and where the next ones come from.
#[derive(Default)]
pub(crate) struct ColumnBuffer {
    pub narrow: Vec<i32>,
    pub wide: Vec<i64>,
    source: Source,
}

#[derive(Default)]
enum Source {
    #[default]
    Nothing,
    /// The footer says that all values are this one: nothing is read.
    Constant(Value),
    Narrow(ColumnReaderImpl<Int32Type>),
    Wide(ColumnReaderImpl<Int64Type>),
}

#[derive(Clone, Copy)]
enum Value {
    Narrow(i32),
    Wide(i64),
}

fn constant(chunk: &ColumnChunkMetaData) -> Option<Value> {
    match chunk.statistics()? {
        Statistics::Int32(statistics) => {
            let (least, greatest) = (statistics.min_opt()?, statistics.max_opt()?);
            (least == greatest).then_some(Value::Narrow(*least))
        }
        Statistics::Int64(statistics) => {
            let (least, greatest) = (statistics.min_opt()?, statistics.max_opt()?);
            (least == greatest).then_some(Value::Wide(*least))
        }
        _ => None,
    }
}

/// The bytes of one column chunk, addressed as in their file.
struct ChunkBytes {
    start: u64,
    bytes: Bytes,
}

impl ChunkBytes {
    fn place(&self, start: u64) -> Result<usize, ParquetError> {
        start
            .checked_sub(self.start)
            .and_then(|place| usize::try_from(place).ok())
            .filter(|place| *place <= self.bytes.len())
            .ok_or_else(|| ParquetError::EOF("a page lies outside its column".to_owned()))
    }
}

impl Length for ChunkBytes {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for ChunkBytes {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.bytes.slice(self.place(start)?..).reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let place = self.place(start)?;
        let end = place
            .checked_add(length)
            .filter(|end| *end <= self.bytes.len())
            .ok_or_else(|| ParquetError::EOF("a page ends outside its column".to_owned()))?;
        Ok(self.bytes.slice(place..end))
    }
}
