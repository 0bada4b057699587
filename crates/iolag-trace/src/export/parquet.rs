//! Calls as a Parquet file, a row for each: the columns of the CSV file, with numbers as INT64 and texts as UTF8.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::columns::{COLUMNS, Cell, Kind, row};
use crate::trace::{Call, Edge, Sink, Tables};

/// Rows of a group: some tens of MiB while one is put together.
const GROUP_ROWS: usize = 1 << 16;

/// Writes calls as they come. The file is one when it is finished.
pub struct ParquetCalls<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    pending: Vec<Values>,
    rows: usize,
    calls: u64,
}

/// What a column has of the rows that are not written yet, and in which of them.
enum Values {
    Numbers(Vec<i64>, Vec<i16>),
    Texts(Vec<ByteArray>, Vec<i16>),
}

impl<W: Write + Send> ParquetCalls<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(output: W) -> io::Result<Self> {
        let fields: String = COLUMNS
            .iter()
            .map(|(name, kind)| match kind {
                Kind::Number => format!("OPTIONAL INT64 {name};\n"),
                Kind::Text => format!("OPTIONAL BYTE_ARRAY {name} (UTF8);\n"),
            })
            .collect();
        let writer = parse_message_type(&format!("message call {{\n{fields}}}")).and_then(|schema| {
            let properties = WriterProperties::builder()
                .set_created_by(concat!("iolag version ", env!("CARGO_PKG_VERSION")).to_owned())
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
                .set_max_row_group_row_count(None)
                .build();
            SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
        });
        Ok(Self { writer: writer.map_err(io_error)?, pending: empty(), rows: 0, calls: 0 })
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.writer.into_inner().map_err(io_error)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        let mut group = self.writer.next_row_group()?;
        for values in std::mem::replace(&mut self.pending, empty()) {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                Values::Numbers(numbers, levels) => {
                    column.typed::<Int64Type>().write_batch(&numbers, Some(&levels), None)?
                }
                Values::Texts(texts, levels) => {
                    column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?
                }
            };
            column.close()?;
        }
        group.close().map(drop)
    }
}

impl<W: Write + Send> Sink for ParquetCalls<W> {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        for (cell, values) in row(self.calls, call, tables).into_iter().zip(&mut self.pending) {
            match (cell, values) {
                (Cell::Number(number), Values::Numbers(numbers, levels)) => {
                    levels.push(i16::from(number.is_some()));
                    numbers.extend(number);
                }
                (Cell::Text(text), Values::Texts(texts, levels)) => {
                    levels.push(i16::from(text.is_some()));
                    texts.extend(text.map(|text| ByteArray::from(text.as_ref())));
                }
                // A row has what its columns have: a test says so.
                _ => return Err(io::Error::other("a value of another kind than its column")),
            }
        }
        self.calls += 1;
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group().map_err(io_error) } else { Ok(()) }
    }

    fn edge(&mut self, _: &Edge, _: &Tables) -> io::Result<()> {
        Ok(())
    }
}

fn empty() -> Vec<Values> {
    let values = COLUMNS.iter().map(|(_, kind)| match kind {
        Kind::Number => Values::Numbers(Vec::new(), Vec::new()),
        Kind::Text => Values::Texts(Vec::new(), Vec::new()),
    });
    values.collect()
}

/// A failure of the output keeps its reason.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CallName, Sharing, Task, TaskId};
    use iolag_model::Nanoseconds;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn every_call_is_a_row_of_some_group() {
        let mut tables = Tables::default();
        tables.names.number(b"openat");
        tables.tasks.push(Task { number: 7, parent: None, process: TaskId(0), sharing: Sharing::NOTHING });
        let path = tables.paths.number(b"/a\xff");
        let mut writer = ParquetCalls::new(Vec::new()).unwrap();
        let rows = GROUP_ROWS as u64 + 5;
        for number in 0..rows {
            let call = Call {
                path: (number % 2 == 0).then_some(path),
                errno: 2,
                length: u64::MAX,
                ..Call::new(TaskId(0), CallName(0), Nanoseconds(number))
            };
            writer.call(&call, &tables).unwrap();
        }
        let file = SerializedFileReader::new(bytes::Bytes::from(writer.finish().unwrap())).unwrap();
        assert_eq!(file.num_row_groups(), 2);
        let mut count = 0;
        for (number, row) in file.get_row_iter(None).unwrap().enumerate() {
            let row = row.unwrap();
            assert_eq!((row.get_long(0).unwrap(), row.get_long(3).unwrap()), (number as i64, number as i64));
            if number < 2 {
                assert_eq!(row.get_string(5).unwrap(), "openat");
                assert_eq!(row.get_string(7).ok().map(String::as_str), (number == 0).then_some("/a\\377"));
                assert_eq!((row.get_string(13).unwrap().as_str(), row.get_long(15).unwrap()), ("ENOENT", -1));
                assert!(row.get_long(11).is_err(), "it has no result");
            }
            count += 1;
        }
        assert_eq!(count, rows);
    }
}
