//! The samples of imported series, put aside.

use std::sync::Arc;

use iolag_model::{FailureCode, HistorySample, Nanoseconds, Outcome, ProbeId, Series, WallTime};

use crate::import::aside::bytes::{Aside, AsideError, AsideReader, put_number};

/// A sample without the name of its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportedSample {
    /// Its position in time, unique in its series.
    pub probe: ProbeId,
    /// When it started.
    pub time: WallTime,
    /// How long it took, a lower bound if it is a time-out; zero for values.
    pub duration_ns: Nanoseconds,
    /// What was read, for series of values.
    pub value: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    pub failure: FailureCode,
    /// Exit status, if a column has it.
    pub exit_status: Option<i32>,
}

/// The samples of a series by time and probe, put aside together with those of others.
#[derive(Debug, Clone)]
pub struct ImportedSamples {
    all: Arc<Aside>,
    place: SamplesPlace,
}

/// Where in what was put aside the samples of a series are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SamplesPlace {
    pub begin: u64,
    pub count: u64,
}

impl ImportedSamples {
    pub(crate) const fn new(all: Arc<Aside>, place: SamplesPlace) -> Self {
        Self { all, place }
    }

    /// How many there are.
    pub const fn len(&self) -> u64 {
        self.place.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.place.count == 0
    }

    /// From the first one on. Each is an error if what was put aside cannot be read.
    pub fn iter(&self) -> SamplesReader<'_> {
        self.place.read(&self.all)
    }
}

impl SamplesPlace {
    pub fn read(self, all: &Aside) -> SamplesReader<'_> {
        SamplesReader { reader: all.read_from(self.begin), rest: self.count }
    }
}

/// Reads samples.
pub struct SamplesReader<'a> {
    reader: AsideReader<'a>,
    rest: u64,
}

impl Iterator for SamplesReader<'_> {
    type Item = Result<ImportedSample, AsideError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.checked_sub(1)?;
        Some(ImportedSample::read(&mut self.reader))
    }
}

impl ImportedSample {
    /// Appends it.
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        let (value, status) = (self.value, self.exit_status);
        bytes.push(self.outcome as u8 | u8::from(value.is_some()) << 6 | u8::from(status.is_some()) << 7);
        bytes.extend(self.probe.0.to_le_bytes());
        bytes.extend(self.time.0.to_le_bytes());
        put_number(bytes, self.duration_ns.0);
        put_number(bytes, u64::from(self.failure.0));
        bytes.extend(value.into_iter().flat_map(f64::to_le_bytes));
        bytes.extend(status.into_iter().flat_map(i32::to_le_bytes));
    }

    /// Reads what [`ImportedSample::put`] appended.
    pub(crate) fn read(reader: &mut AsideReader<'_>) -> Result<Self, AsideError> {
        let [tag] = reader.bytes()?;
        let outcome = Outcome::ALL.into_iter().find(|outcome| *outcome as u8 == tag & 0x3f);
        Ok(Self {
            outcome: outcome.unwrap_or(Outcome::Ok),
            probe: ProbeId(u64::from_le_bytes(reader.bytes()?)),
            time: WallTime(i64::from_le_bytes(reader.bytes()?)),
            duration_ns: Nanoseconds(reader.number()?),
            failure: FailureCode(reader.number()? as u16),
            value: (tag & 0x40 != 0).then(|| reader.bytes().map(f64::from_le_bytes)).transpose()?,
            exit_status: (tag & 0x80 != 0).then(|| reader.bytes().map(i32::from_le_bytes)).transpose()?,
        })
    }

    /// Everything but time and identity, to be compared.
    pub(crate) fn content(&self) -> (Nanoseconds, Option<u64>, Outcome, Option<i32>) {
        (self.duration_ns, self.value.map(f64::to_bits), self.outcome, self.exit_status)
    }

    pub(crate) fn record(&self, series: &Series) -> HistorySample {
        HistorySample {
            value: self.value,
            failure: self.failure,
            exit_status: self.exit_status,
            ..HistorySample::new(series.key.clone(), self.probe, self.time, self.duration_ns, self.outcome)
        }
    }
}
