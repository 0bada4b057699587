//! The samples of a history as one table for other programs: CSV or Parquet, a row per sample. Memory does not grow with the history.
//!
//! Only lines of JSON (`write_records`) hold all that a history has, and only they can be imported again.

mod columns;
mod parquet;

use std::collections::BTreeMap;
use std::io::{self, Write};

use iolag_model::{HistoryRecord, HistorySample, Series, SeriesKey, WallSpan};

use crate::history::{History, HistoryError};
use columns::{COLUMNS, Cells, Row};
use parquet::ParquetTable;

/// A form of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableForm {
    /// RFC 4180, a header, lines ended by CR LF.
    Csv,
    /// One Parquet file.
    Parquet,
}

/// Writes a row for each sample of `history` that was intended within `span`, series by series in the order of time; says how many.
///
/// # Errors
/// If the history cannot be read, or `output` not be written ([`HistoryError::Sink`]).
pub fn write_samples(
    history: &mut dyn History,
    span: WallSpan,
    form: TableForm,
    output: impl Write + Send,
) -> Result<u64, HistoryError> {
    match form {
        TableForm::Csv => {
            let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(output);
            table.write_record(COLUMNS.iter().map(|column| column.name)).map_err(sink_failed)?;
            let count =
                each_sample(history, span, &mut |series, sample| write_line(&mut table, series, sample))?;
            table.flush().map_err(|source| HistoryError::Sink { source })?;
            Ok(count)
        }
        TableForm::Parquet => {
            let failed = |source| HistoryError::Sink { source };
            let mut table = ParquetTable::begin(output).map_err(failed)?;
            let count = each_sample(history, span, &mut |series, sample| table.push(series, sample))?;
            table.finish().map_err(failed)?;
            Ok(count)
        }
    }
}

/// Hands every sample to `sink` with what is known of its series.
fn each_sample(
    history: &mut dyn History,
    span: WallSpan,
    sink: &mut dyn FnMut(Option<&Series>, &HistorySample) -> io::Result<()>,
) -> Result<u64, HistoryError> {
    // Descriptions of series come before all samples.
    let mut described: BTreeMap<SeriesKey, Series> = BTreeMap::new();
    let mut count = 0;
    history.counting_records(span, &mut |record| {
        match record {
            HistoryRecord::Series(series) => {
                described.insert(series.key.clone(), series);
            }
            HistoryRecord::Sample(sample) => {
                count += 1;
                sink(described.get(&sample.series), &sample)?;
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(count)
}

fn write_line<W: Write>(
    table: &mut csv::Writer<W>,
    series: Option<&Series>,
    sample: &HistorySample,
) -> io::Result<()> {
    let row = Row { series, sample };
    for column in &COLUMNS {
        match column.cells {
            Cells::Texts(cell) => table.write_field(cell(&row).as_ref()),
            Cells::Integers(cell) => table.write_field(shown(cell(&row))),
            Cells::Numbers(cell) => table.write_field(shown(cell(&row))),
        }
        .map_err(io_error)?;
    }
    table.write_record(None::<&[u8]>).map_err(io_error)
}

fn shown(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn sink_failed(error: csv::Error) -> HistoryError {
    HistoryError::Sink { source: io_error(error) }
}
