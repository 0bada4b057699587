//! Measures Parquet encodings for the columns that cannot be dictionaries: bytes per row, ns to write, ns to read.
//!
//! `cargo run --release -p iolag-store --example encodings [ROWS]`: 100 thousand rows by default.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use iolag_model::Sample;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::Int64Type;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use support::Client;

type ValueOf = fn(&Sample) -> i64;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse::<usize>())?;
    let threads: Vec<Sample> = (0..4).flat_map(|client| Client::new(client).take(rows / 4)).collect();
    let mut clients: Vec<Client> = (0..1000).map(Client::new).collect();
    let tasks: Vec<Sample> = (0..rows).map(|row| clients[row * 7919 % 1000].next()).collect();
    println!(
        "{:<10} {:<10} {:<24} {:>10} {:>10} {:>10}",
        "source", "column", "encoding", "bytes/row", "write ns", "read ns"
    );
    for (source, samples) in [("threads", &threads), ("async", &tasks)] {
        let columns: [(&str, ValueOf); 3] = [
            ("duration", |sample| sample.duration.0 as i64),
            ("start", |sample| sample.start.0 as i64),
            ("attempt", |sample| sample.attempt.0 as i64),
        ];
        for (column, value) in columns {
            let values: Vec<i64> = samples.iter().map(value).collect();
            measure(source, column, &values)?;
        }
    }
    Ok(())
}

fn measure(source: &str, column: &str, values: &[i64]) -> Result<(), Box<dyn Error>> {
    let zstd = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let variants = [
        ("plain", Encoding::PLAIN, Compression::UNCOMPRESSED),
        ("plain+zstd", Encoding::PLAIN, zstd),
        ("delta", Encoding::DELTA_BINARY_PACKED, Compression::UNCOMPRESSED),
        ("delta+zstd", Encoding::DELTA_BINARY_PACKED, zstd),
        ("byte-stream-split+zstd", Encoding::BYTE_STREAM_SPLIT, zstd),
        ("dictionary+zstd", Encoding::RLE_DICTIONARY, zstd),
    ];
    for (name, encoding, compression) in variants {
        let begin = Instant::now();
        let file = write(values, encoding, compression)?;
        let write_ns = begin.elapsed().as_nanos() as f64 / values.len() as f64;
        let begin = Instant::now();
        let sum = read(&file)?;
        let read_ns = begin.elapsed().as_nanos() as f64 / values.len() as f64;
        assert_eq!(sum, values.iter().fold(0, |sum: i64, value| sum.wrapping_add(*value)));
        let bytes = file.len() as f64 / values.len() as f64;
        println!("{source:<10} {column:<10} {name:<24} {bytes:>10.3} {write_ns:>10.1} {read_ns:>10.1}");
    }
    Ok(())
}

fn write(values: &[i64], encoding: Encoding, compression: Compression) -> Result<Bytes, Box<dyn Error>> {
    let schema = Arc::new(parse_message_type("message sample { REQUIRED INT64 value; }")?);
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let properties = match encoding {
        Encoding::RLE_DICTIONARY => properties.set_dictionary_enabled(true),
        other => properties.set_dictionary_enabled(false).set_encoding(other),
    };
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    for values in values.chunks(1 << 20) {
        let mut group = writer.next_row_group()?;
        let mut column = group.next_column()?.ok_or("the schema has a column")?;
        column.typed::<Int64Type>().write_batch(values, None, None)?;
        column.close()?;
        group.close()?;
    }
    Ok(writer.into_inner()?.into())
}

fn read(file: &Bytes) -> Result<i64, Box<dyn Error>> {
    let reader = SerializedFileReader::new(file.clone())?;
    let (mut sum, mut values) = (0_i64, Vec::new());
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let mut column: ColumnReaderImpl<Int64Type> = get_typed_column_reader(group.get_column_reader(0)?);
        loop {
            values.clear();
            if column.read_records(1 << 16, None, None, &mut values)?.0 == 0 {
                break;
            }
            sum = values.iter().fold(sum, |sum, value| sum.wrapping_add(*value));
        }
    }
    Ok(sum)
}
