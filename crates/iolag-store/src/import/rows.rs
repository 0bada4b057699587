//! The rows that were found in a file, still as they are written.

use std::path::Path;
use std::sync::Arc;

use iolag_model::SeriesKey;

use crate::import::aside::bytes::{Aside, AsideError, AsideReader, put_number, put_text};
use crate::import::options::value_options::ValueUnit;

/// A time as it is written. Several observations may share it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawTime<'a> {
    pub line: u64,
    pub text: &'a str,
    /// Times of one group are in the order of the file; the series in files where every row names its own.
    pub group: u32,
}

/// A value as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawObservation<'a> {
    /// Number of its time, from 0.
    pub time: u64,
    /// Index of its series.
    pub series: usize,
    pub value: &'a str,
    /// Empty if no column says how it ended.
    pub status: &'a str,
}

/// A series that was found.
#[derive(Debug, Clone)]
pub(crate) struct RawSeries {
    pub key: SeriesKey,
    /// What the caller says.
    pub unit: Option<ValueUnit>,
    /// Name of the column, for a guess of the unit.
    pub column: String,
}

/// All rows of a file as they are written, put aside.
#[derive(Debug)]
pub(crate) struct RawRows {
    pub directory: Arc<Path>,
    times: Aside,
    times_count: u64,
    observations: Aside,
    pub series: Vec<RawSeries>,
    /// Lines of the file.
    pub lines: u64,
    /// Lines with no value in them: comments, noise between blocks, what a pattern does not match.
    pub ignored: u64,
    /// Dates that no value follows.
    pub dates_alone: u64,
}

impl RawRows {
    /// Series in one file: more are a mistake of the options.
    pub const SERIES_MAX: usize = 10_000;

    /// No rows yet of a file with so many lines, of which so many hold nothing.
    pub fn of_lines(lines: u64, ignored: u64, directory: &Arc<Path>) -> Self {
        Self {
            directory: Arc::clone(directory),
            times: Aside::new(directory),
            times_count: 0,
            observations: Aside::new(directory),
            series: Vec::new(),
            lines,
            ignored,
            dates_alone: 0,
        }
    }

    /// How many times there are.
    pub const fn times_count(&self) -> u64 {
        self.times_count
    }

    /// Remembers a time; says its number.
    pub fn add_time(&mut self, line: u64, text: &str, group: u32) -> Result<u64, AsideError> {
        self.times.write_with(|bytes| {
            put_number(bytes, line);
            put_number(bytes, u64::from(group));
            put_text(bytes, text.trim());
        })?;
        self.times_count += 1;
        Ok(self.times_count - 1)
    }

    /// Remembers a value.
    pub fn add_value(&mut self, time: u64, series: u32, value: &str, status: &str) -> Result<(), AsideError> {
        self.observations.write_with(|bytes| {
            put_number(bytes, time);
            put_number(bytes, u64::from(series));
            put_text(bytes, value.trim());
            put_text(bytes, status.trim());
        })
    }

    /// All times in the order of the file.
    pub fn times(&self) -> RawTimes<'_> {
        RawTimes { reader: self.times.read_from(0), text: String::new() }
    }

    /// All values in the order in which they were found.
    pub fn observations(&self) -> RawObservations<'_> {
        RawObservations {
            reader: self.observations.read_from(0),
            value: String::new(),
            status: String::new(),
        }
    }
}

/// Reads times.
pub(crate) struct RawTimes<'a> {
    reader: AsideReader<'a>,
    text: String,
}

impl RawTimes<'_> {
    /// The next one.
    pub fn next(&mut self) -> Result<Option<RawTime<'_>>, AsideError> {
        if self.reader.is_at_end() {
            return Ok(None);
        }
        let (line, group) = (self.reader.number()?, self.reader.number()? as u32);
        self.reader.text(&mut self.text)?;
        Ok(Some(RawTime { line, text: &self.text, group }))
    }
}

/// Reads values.
pub(crate) struct RawObservations<'a> {
    reader: AsideReader<'a>,
    value: String,
    status: String,
}

impl RawObservations<'_> {
    /// The next one.
    pub fn next(&mut self) -> Result<Option<RawObservation<'_>>, AsideError> {
        if self.reader.is_at_end() {
            return Ok(None);
        }
        let (time, series) = (self.reader.number()?, self.reader.number()? as usize);
        self.reader.text(&mut self.value)?;
        self.reader.text(&mut self.status)?;
        Ok(Some(RawObservation { time, series, value: &self.value, status: &self.status }))
    }
}
