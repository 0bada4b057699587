//! Records as lines of JSON: exports, and how they are merged into a history.
//!
//! A line is one record and complete in itself, so files may be concatenated, sorted, cut and compressed by any tool. Empty lines are
//! skipped. A last line without an end that is no record was torn by a crash: it is told and left out. Everything else that is
//! no record is refused with its line, so that nothing is lost without a word; what came before it may have been handed out.

use std::io::{BufRead, Read, Write};

use iolag_model::{HistoryRecord, WallSpan};

use super::{Appended, History, HistoryError};

/// Longest line: evidence with stacks of many processes stays far below.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// Records per transaction of a merge.
const RECORDS_PER_APPEND: usize = 5000;

/// How a text of records ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastLine {
    /// As it should.
    Complete,
    /// In the middle of a record, which was left out.
    Torn {
        /// The line, from 1.
        line: u64,
    },
}

/// What a merge did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Records, and rows that are new or changed.
    pub appended: Appended,
    /// How the text ended.
    pub last_line: LastLine,
}

/// Writes everything that `history` holds within `span`; returns the number of records.
///
/// # Errors
/// If the history cannot be read or `output` not be written.
pub fn write_records(
    history: &mut dyn History,
    span: WallSpan,
    output: &mut dyn Write,
) -> Result<u64, HistoryError> {
    let mut count = 0;
    history.records(span, &mut |record| {
        count += 1;
        serde_json::to_writer(&mut *output, &record)?;
        output.write_all(b"\n")
    })?;
    output.flush().map_err(|source| HistoryError::Sink { source })?;
    Ok(count)
}

/// Reads records line by line and hands each to `sink`; `name` is for messages.
///
/// # Errors
/// At the first line that is no record of this version, or what `sink` answers.
pub fn read_records(
    input: &mut dyn BufRead,
    name: &str,
    mut sink: impl FnMut(HistoryRecord) -> Result<(), HistoryError>,
) -> Result<LastLine, HistoryError> {
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = (&mut *input).take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
        read.map_err(|source| HistoryError::Source { name: name.to_owned(), line, source })?;
        let is_ended = bytes.ends_with(b"\n");
        if bytes.is_empty() {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&bytes) {
            Ok(record) => sink(record)?,
            Err(_) if !is_ended && (bytes.len() as u64) < LINE_BYTES_MAX => {
                return Ok(LastLine::Torn { line });
            }
            Err(error) => {
                let what = refusal(&bytes, is_ended, &error);
                return Err(HistoryError::Line { name: name.to_owned(), line, what });
            }
        }
    }
    Ok(LastLine::Complete)
}

/// Reads records and appends them to `history`, thousands in one transaction. What was appended before an error stays: merging the
/// mended file again changes nothing twice.
///
/// # Errors
/// As [`read_records`], or if the history cannot be written.
pub fn merge_records(
    history: &mut dyn History,
    input: &mut dyn BufRead,
    name: &str,
) -> Result<Merged, HistoryError> {
    let mut appended = Appended::default();
    let mut batch = Vec::with_capacity(RECORDS_PER_APPEND);
    let mut add = |batch: &mut Vec<HistoryRecord>| -> Result<(), HistoryError> {
        let one = history.append(batch)?;
        appended.records += one.records;
        appended.changed += one.changed;
        batch.clear();
        Ok(())
    };
    let read = read_records(input, name, |record| {
        batch.push(record);
        if batch.len() < RECORDS_PER_APPEND { Ok(()) } else { add(&mut batch) }
    });
    // What is before a bad line is good.
    add(&mut batch)?;
    let last_line = read?;
    Ok(Merged { appended, last_line })
}

/// Why a line is no record.
fn refusal(bytes: &[u8], is_ended: bool, error: &serde_json::Error) -> String {
    if !is_ended {
        return format!(
            "it is longer than {LINE_BYTES_MAX} bytes; expected a record of `iolag export history`"
        );
    }
    let kind = serde_json::from_slice::<serde_json::Value>(bytes)
        .ok()
        .and_then(|value| value.get("record").and_then(serde_json::Value::as_str).map(str::to_owned));
    match kind {
        Some(kind) if !KINDS.contains(&kind.as_str()) => format!(
            "this iolag knows no record of kind {kind:?}; import it with the iolag that exported it, or a newer one"
        ),
        Some(kind) => format!(
            "it is no {kind} record of this version ({error}); import it with the iolag that exported it"
        ),
        None => format!("it is no record ({error}); expected a line of `iolag export history`"),
    }
}

const KINDS: [&str; 9] =
    ["series", "sample", "configuration", "event", "outage", "evidence", "session", "batch", "rename"];
