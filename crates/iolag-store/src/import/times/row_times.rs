//! When each row was, put aside in the order of the file.

use std::path::Path;
use std::sync::Arc;

use iolag_model::WallTime;

use crate::import::aside::bytes::{Aside, AsideError, AsideReader, put_number};

/// Moments in the order of the file, put aside.
pub(crate) struct Times(Aside);

/// A row and when it was; nothing if it was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RowTime {
    pub line: u64,
    pub time: Option<WallTime>,
}

impl Times {
    pub fn new(directory: &Arc<Path>) -> Self {
        Self(Aside::new(directory))
    }

    pub fn push(&mut self, row: RowTime) -> Result<(), AsideError> {
        self.0.write_with(|bytes| {
            put_number(bytes, row.line);
            // Those that are left out are before 1970.
            bytes.extend(row.time.map_or(0, |time| time.0).to_le_bytes());
        })
    }

    /// Finds times by their number, quickly if these ascend.
    pub fn reader(&self) -> TimesReader<'_> {
        TimesReader { times: self, reader: self.0.read_from(0), read: 0, last: RowTime::default() }
    }
}

pub(crate) struct TimesReader<'a> {
    times: &'a Times,
    reader: AsideReader<'a>,
    read: u64,
    last: RowTime,
}

impl TimesReader<'_> {
    /// The row whose time has this number; nothing of rows that are not there.
    pub fn at(&mut self, number: u64) -> Result<RowTime, AsideError> {
        if number + 1 < self.read {
            *self = self.times.reader();
        }
        while self.read <= number {
            if self.reader.is_at_end() {
                return Ok(RowTime::default());
            }
            let line = self.reader.number()?;
            let time = WallTime(i64::from_le_bytes(self.reader.bytes()?));
            self.last = RowTime { line, time: Some(time).filter(|time| time.0 > 0) };
            self.read += 1;
        }
        Ok(self.last)
    }
}
