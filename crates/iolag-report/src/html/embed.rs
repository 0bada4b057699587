//! Figures within the page: small data as JSON, columns as base64 of gzip, which browsers unpack by themselves.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use iolag_analysis::figure::{ColumnKind, DetachedColumn, Figures};
use iolag_model::{Level, TargetIndex};
use serde::Serialize;

use super::markup::json_for_script;

/// What `web/src/run/data.ts` reads.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(super) struct Document<'a> {
    figures: &'a Figures,
    /// What tells each run from the others.
    run_names: &'a [String],
    proof: Option<Proof>,
    columns: Vec<ListedColumn<'a>>,
}

/// The figure that shows the answer, with which the page begins.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(super) struct Proof {
    /// Its kind, which is its id.
    pub(super) figure: &'static str,
    /// Where the worst shows; absent if there is none, or no figure shows it.
    pub(super) at: Option<ProofPlace>,
}

/// What of the figures shows the worst.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(super) struct ProofPlace {
    /// Index of the run.
    pub(super) run: usize,
    /// The target that was in trouble.
    pub(super) target: TargetIndex,
    /// The level of operations on which it shows; absent if it shows on each.
    pub(super) level: Option<Level>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct ListedColumn<'a> {
    pointer: &'a str,
    kind: ColumnKind,
    length: usize,
    /// Id of the element with its bytes.
    element: String,
}

/// Writes the data elements.
///
/// # Errors
/// Those of the writer.
pub(super) fn write_data(
    mut figures: Figures,
    run_names: &[String],
    proof: Option<Proof>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let columns = figures.detach_columns();
    let listed = columns.iter().enumerate().map(|(index, column)| ListedColumn {
        pointer: &column.pointer,
        kind: column.kind,
        length: column.length,
        element: element_id(index),
    });
    let document = Document { figures: &figures, run_names, proof, columns: listed.collect() };
    let json = json_for_script(&serde_json::to_string(&document)?);
    writeln!(writer, "<script type=\"application/json\" id=\"report-data\">{json}</script>")?;
    for (index, column) in columns.iter().enumerate() {
        write_column(&element_id(index), column, writer)?;
    }
    Ok(())
}

fn element_id(index: usize) -> String {
    format!("column-{index}")
}

/// The fastest level: noise hardly shrinks further, and a report of a million points is to be there at once.
pub(super) fn write_column(id: &str, column: &DetachedColumn, writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "<script type=\"application/octet-stream\" id=\"{id}\">")?;
    let mut base64 = EncoderWriter::new(&mut *writer, &STANDARD);
    let mut gzip = GzEncoder::new(&mut base64, Compression::fast());
    gzip.write_all(&column.bytes_le)?;
    gzip.finish()?;
    base64.finish()?;
    drop(base64);
    writer.write_all(b"</script>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    use base64::Engine;
    use flate2::read::GzDecoder;

    #[test]
    fn a_column_comes_back() {
        let bytes_le: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let column = DetachedColumn {
            pointer: "/runs/0/x".to_owned(),
            kind: ColumnKind::U32,
            length: 100_000,
            bytes_le: bytes_le.clone(),
        };
        let mut page = Vec::new();
        write_column("column-7", &column, &mut page).expect("a Vec takes everything");
        let text = String::from_utf8(page).expect("base64 is text");
        let inside = text
            .strip_prefix("<script type=\"application/octet-stream\" id=\"column-7\">")
            .and_then(|rest| rest.strip_suffix("</script>\n"))
            .expect("one element");
        let packed = STANDARD.decode(inside).expect("it is base64");
        let mut unpacked = Vec::new();
        GzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).expect("it is gzip");
        assert_eq!(unpacked, bytes_le);
    }
}
