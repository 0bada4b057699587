//! The table as one Parquet file: row groups of bounded size, columns of the physical types that their cells have.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use iolag_model::{HistorySample, Series};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::columns::{COLUMNS, Cells, Row};

/// Rows of a group: with 36 columns some tens of MiB while one is put together.
const GROUP_ROWS: usize = 1 << 15;

/// A table that is being written.
pub(super) struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    pending: Vec<Values>,
    rows: usize,
}

/// What a column holds of the rows that are not written yet. Numbers that are absent have a level of 0, others of 1.
enum Values {
    Texts(Vec<ByteArray>),
    Integers(Vec<i64>, Vec<i16>),
    Numbers(Vec<f64>, Vec<i16>),
}

impl<W: Write + Send> ParquetTable<W> {
    pub fn begin(output: W) -> io::Result<Self> {
        let pending = empty();
        let fields: String = COLUMNS
            .iter()
            .zip(&pending)
            .map(|(column, values)| match values {
                Values::Texts(_) => format!("REQUIRED BYTE_ARRAY {} (UTF8);\n", column.name),
                Values::Integers(..) => format!("OPTIONAL INT64 {};\n", column.name),
                Values::Numbers(..) => format!("OPTIONAL DOUBLE {};\n", column.name),
            })
            .collect();
        let schema = parse_message_type(&format!("message sample {{\n{fields}}}"));
        let properties = schema.and_then(|schema| Ok((schema, properties()?)));
        let writer = properties
            .and_then(|(schema, properties)| {
                SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
            })
            .map_err(io_error)?;
        Ok(Self { writer, pending, rows: 0 })
    }

    pub fn push(&mut self, series: Option<&Series>, sample: &HistorySample) -> io::Result<()> {
        let row = Row { series, sample };
        for (column, values) in COLUMNS.iter().zip(&mut self.pending) {
            values.push(column.cells, &row);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group().map_err(io_error) } else { Ok(()) }
    }

    pub fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.writer.finish().map_err(io_error)?;
        self.writer.flush()
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        let mut group = self.writer.next_row_group()?;
        for values in mem::replace(&mut self.pending, empty()) {
            let mut column = group.next_column()?.expect("the schema has a column for each");
            match values {
                Values::Texts(texts) => column.typed::<ByteArrayType>().write_batch(&texts, None, None)?,
                Values::Integers(numbers, levels) => {
                    column.typed::<Int64Type>().write_batch(&numbers, Some(&levels), None)?
                }
                Values::Numbers(numbers, levels) => {
                    column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?
                }
            };
            column.close()?;
        }
        group.close().map(drop)
    }
}

impl Values {
    const fn of(cells: Cells) -> Self {
        match cells {
            Cells::Texts(_) => Self::Texts(Vec::new()),
            Cells::Integers(_) => Self::Integers(Vec::new(), Vec::new()),
            Cells::Numbers(_) => Self::Numbers(Vec::new(), Vec::new()),
        }
    }

    fn push(&mut self, cells: Cells, row: &Row<'_>) {
        match (self, cells) {
            (Self::Texts(texts), Cells::Texts(cell)) => texts.push(ByteArray::from(cell(row).as_ref())),
            (Self::Integers(numbers, levels), Cells::Integers(cell)) => {
                push_known(cell(row), numbers, levels)
            }
            (Self::Numbers(numbers, levels), Cells::Numbers(cell)) => push_known(cell(row), numbers, levels),
            _ => unreachable!("values are of the kind of their column"),
        }
    }
}

fn push_known<T>(number: Option<T>, numbers: &mut Vec<T>, levels: &mut Vec<i16>) {
    levels.push(i16::from(number.is_some()));
    numbers.extend(number);
}

fn empty() -> Vec<Values> {
    COLUMNS.iter().map(|column| Values::of(column.cells)).collect()
}

fn properties() -> Result<WriterProperties, ParquetError> {
    Ok(WriterProperties::builder()
        .set_created_by(concat!("iolag version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_encoding(Encoding::PLAIN)
        .set_max_row_group_row_count(None)
        .build())
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
