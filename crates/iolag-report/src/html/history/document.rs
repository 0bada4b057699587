//! What the script of the page reads: figures, with their columns beside them as gzip in base64.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use iolag_analysis::figure::{ColumnKind, DetachedColumn};
use iolag_analysis::history::HistoryFigures;
use serde::Serialize;

use super::head::title;
use super::parts::{PARTS, WATCHED};
use super::report::HistoryReport;
use crate::html::embed::write_column;
use crate::html::markup::Markup;

/// What `web/src/history/document.ts` reads.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(in crate::html) struct Document<'a> {
    title: String,
    zone: &'a str,
    written_ns: Option<i64>,
    figures: &'a HistoryFigures,
    columns: Vec<ListedColumn<'a>>,
    /// Only where the page does not carry them itself: parts by the ids of their elements.
    parts: Vec<RenderedPart>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct ListedColumn<'a> {
    pointer: &'a str,
    kind: ColumnKind,
    length: usize,
    /// Id of the element with its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    element: Option<String>,
    /// Or the bytes themselves, packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    packed: Option<String>,
}

/// Markup in which everything from outside is escaped.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
struct RenderedPart {
    id: &'static str,
    html: String,
}

/// Writes the data elements of a file.
///
/// # Errors
/// Those of the writer.
pub(super) fn write_data(
    report: &HistoryReport<'_>,
    mut figures: HistoryFigures,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let columns = figures.detach_columns();
    let listed = columns.iter().enumerate().map(|(index, column)| ListedColumn {
        element: Some(element_id(index)),
        packed: None,
        ..listed(column)
    });
    let json = serde_json::to_vec(&document(report, &figures, listed.collect(), Vec::new()))?;
    write!(writer, "<script type=\"application/octet-stream\" id=\"history-data\">")?;
    writer.write_all(packed(&json)?.as_bytes())?;
    writer.write_all(b"</script>\n")?;
    for (index, column) in columns.iter().enumerate() {
        write_column(&element_id(index), column, writer)?;
    }
    Ok(())
}

/// Writes the document that a live page asks for, as JSON: figures, columns, and all text of the page.
///
/// # Errors
/// Those of the writer.
pub fn write_history_document(
    report: &HistoryReport<'_>,
    mut figures: HistoryFigures,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let columns = figures.detach_columns();
    let with_bytes = columns.iter().map(|column| {
        Ok(ListedColumn { element: None, packed: Some(packed(&column.bytes_le)?), ..listed(column) })
    });
    let listed: io::Result<Vec<ListedColumn<'_>>> = with_bytes.collect();
    let parts = PARTS.into_iter().chain([WATCHED]).map(|(id, write)| {
        let mut part = Markup::default();
        write(report, &mut part);
        RenderedPart { id, html: part.as_str().to_owned() }
    });
    serde_json::to_writer(&mut *writer, &document(report, &figures, listed?, parts.collect()))?;
    writer.write_all(b"\n")
}

fn document<'a>(
    report: &HistoryReport<'a>,
    figures: &'a HistoryFigures,
    columns: Vec<ListedColumn<'a>>,
    parts: Vec<RenderedPart>,
) -> Document<'a> {
    let written_ns = report.written.map(|written| written.0);
    Document { title: title(report), zone: report.zone, written_ns, figures, columns, parts }
}

const fn listed(column: &DetachedColumn) -> ListedColumn<'_> {
    ListedColumn {
        pointer: column.pointer.as_str(),
        kind: column.kind,
        length: column.length,
        element: None,
        packed: None,
    }
}

fn element_id(index: usize) -> String {
    format!("column-{index}")
}

/// The fastest level: a year of samples is to be there at once.
fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes)?;
    Ok(STANDARD.encode(gzip.finish()?))
}
