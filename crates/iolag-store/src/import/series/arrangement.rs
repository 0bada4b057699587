//! Samples in the order of time, with identities that an import repeated gives again.
//!
//! The identity of an imported sample is its position in time: the second since 1970 in the upper 40 bits, the fraction of the second in
//! the lower 24. Where samples of one series share a position, those later in the file take the next free one. So the same file, and
//! the same file grown at its end, give every sample the identity it had.
//!
//! Whatever the order of a file, its samples are sorted by series and time outside of memory. Rows that say the same have the same time, and
//! lie side by side if samples of one moment are sorted by what they say; then the file's order is made again, moment by moment.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use iolag_model::{Nanoseconds, Outcome, ProbeId, WallSpan, WallTime};

use super::gaps::Gaps;
use super::imported_samples::{ImportedSample, ImportedSamples, SamplesPlace};
use crate::import::aside::bytes::{Aside, AsideError, AsideReader, put_number};
use crate::import::aside::sorter::{Sortable, Sorted, Sorter};
use crate::import::options::import_options::ImportOptions;
use crate::import::options::value_options::IdenticalRows;

/// What is found in a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found {
    Sample(ImportedSample),
    /// It came back, without a value: what hung before it had not ended then.
    WithoutValue,
}

/// Takes what is found in the order of the file.
pub(crate) struct Arrangement {
    directory: Arc<Path>,
    found: Sorter<ByContent>,
    /// When the first and the last sample of each series were.
    ends: Vec<Option<[WallTime; 2]>>,
}

/// A series in order.
pub(crate) struct Arranged {
    pub samples: ImportedSamples,
    pub counts: Counts,
    pub gaps: Gaps,
}

/// What is told of a series.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub timeouts: u64,
    pub hung: u64,
    pub errors: u64,
    /// Of which nothing says how long they took; they are no samples.
    pub hung_without_end: u64,
    pub sharing_a_time: u64,
    pub identical: u64,
    /// From the first sample to the last one.
    pub span: Option<WallSpan>,
}

impl Arrangement {
    pub fn new(series: usize, directory: &Arc<Path>) -> Self {
        Self { directory: Arc::clone(directory), found: Sorter::new(directory), ends: vec![None; series] }
    }

    /// Takes what is found of a series.
    pub fn push(&mut self, series: usize, time: WallTime, found: Found) -> Result<(), AsideError> {
        if let Found::Sample(_) = found {
            self.ends[series].get_or_insert([time; 2])[1] = time;
        }
        let place = Place { series: series as u32, time, order: self.found.len() };
        self.found.push(ByContent { place, found })
    }

    /// The samples of every series.
    pub fn arrange(mut self, options: &ImportOptions) -> Result<Vec<Arranged>, AsideError> {
        let found = self.found.sorted()?;
        let mut series = SeriesArrangement {
            ahead: found.again()?,
            found,
            moment: Sorter::new(&self.directory),
            identical: options.identical_rows,
            samples: Aside::new(&self.directory),
        };
        let mut arranged = Vec::with_capacity(self.ends.len());
        for (index, ends) in self.ends.iter().enumerate() {
            // Where samples share a moment, their order is that of a file that ascends, so that sorting it otherwise changes nothing.
            let descends = ends.is_some_and(|[first, last]| first > last);
            let place = SamplesPlace { begin: series.samples.len(), count: 0 };
            let (place, counts) = series.arrange(index as u32, descends, place)?;
            let gaps = Gaps::of(|| place.read(&series.samples), &self.directory)?;
            arranged.push((place, counts, gaps));
        }
        let all = Arc::new(series.samples);
        let with_samples = |(place, counts, gaps)| {
            let samples = ImportedSamples::new(Arc::clone(&all), place);
            Arranged { samples, counts, gaps }
        };
        Ok(arranged.into_iter().map(with_samples).collect())
    }
}

/// Arranges series after series.
struct SeriesArrangement<'a> {
    found: Sorted<'a, ByContent>,
    /// The same, looked at ahead for what ends a hang.
    ahead: Sorted<'a, ByContent>,
    /// The samples of one moment.
    moment: Sorter<ByOrder>,
    identical: IdenticalRows,
    samples: Aside,
}

impl SeriesArrangement<'_> {
    fn arrange(
        &mut self,
        series: u32,
        descends: bool,
        mut place: SamplesPlace,
    ) -> Result<(SamplesPlace, Counts), AsideError> {
        let mut counts = Counts::default();
        let mut next_free = 1;
        let of_series = |found: &&ByContent| found.place.series == series;
        while let Some(time) = self.found.peek().filter(of_series).map(|found| found.place.time) {
            self.collect(series, time, descends)?;
            let mut moment = self.moment.sorted()?;
            let mut hung_until = None;
            while let Some(ByOrder { mut sample, repeats, .. }) = moment.next()? {
                if sample.outcome == Outcome::Hung {
                    let next = match hung_until {
                        Some(next) => next,
                        None => *hung_until.insert(next_moment(&mut self.ahead, series, time)?),
                    };
                    let Some(next) = next else {
                        counts.hung_without_end += 1;
                        continue;
                    };
                    sample.duration_ns = next.since(time);
                }
                counts.identical += u64::from(repeats);
                if repeats && self.identical == IdenticalRows::Drop {
                    continue;
                }
                sample.probe = ProbeId(position_in_time(time).max(next_free));
                next_free = sample.probe.0 + 1;
                counts.take(&sample);
                place.count += 1;
                self.samples.write_with(|bytes| sample.put(bytes))?;
            }
        }
        Ok((place, counts))
    }

    /// Puts the samples of a moment into `moment`.
    fn collect(&mut self, series: u32, time: WallTime, descends: bool) -> Result<(), AsideError> {
        self.moment.clear();
        let of_moment = |found: &ByContent| found.place.series == series && found.place.time == time;
        let mut before: Option<ByContent> = None;
        while self.found.peek().is_some_and(of_moment)
            && let Some(found) = self.found.next()?
        {
            if let Found::Sample(sample) = found.found {
                let next = self.found.peek().filter(|next| of_moment(next));
                // Of those that say the same the first one in the order of a file that ascends repeats nothing.
                let other = if descends { next } else { before.as_ref() };
                let repeats = other.is_some_and(|other| other.content() == found.content());
                let order = if descends { u64::MAX - found.place.order } else { found.place.order };
                self.moment.push(ByOrder { order, sample, repeats })?;
            }
            before = Some(found);
        }
        Ok(())
    }
}

/// The first moment of a series behind `time`: what hung had not ended then. Where there is none, nothing is known of how long it took.
fn next_moment(
    ahead: &mut Sorted<'_, ByContent>,
    series: u32,
    time: WallTime,
) -> Result<Option<WallTime>, AsideError> {
    while ahead.peek().is_some_and(|found| (found.place.series, found.place.time) <= (series, time)) {
        ahead.next()?;
    }
    Ok(ahead.peek().filter(|found| found.place.series == series).map(|found| found.place.time))
}

impl Counts {
    fn take(&mut self, sample: &ImportedSample) {
        match sample.outcome {
            Outcome::Timeout => self.timeouts += 1,
            Outcome::Hung => self.hung += 1,
            Outcome::Error => self.errors += 1,
            _ => {}
        }
        let last = self.span.map(|span| span.end);
        self.sharing_a_time += u64::from(last == Some(sample.time));
        let begin = self.span.map_or(sample.time, |span| span.begin);
        self.span = Some(WallSpan { begin, end: sample.time });
    }
}

/// Seconds in the upper 40 bits, the fraction in units of 2⁻²⁴ s in the lower ones. Times are after 1970.
fn position_in_time(time: WallTime) -> u64 {
    let ns = u64::try_from(time.0).unwrap_or(0);
    let (seconds, fraction_ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    (seconds << 24) | ((fraction_ns << 24) / 1_000_000_000)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    series: u32,
    time: WallTime,
    /// In the file.
    order: u64,
}

/// Sorted by series, time, what it says, and place in the file.
#[derive(Debug, Clone, Copy)]
struct ByContent {
    place: Place,
    found: Found,
}

impl ByContent {
    fn content(&self) -> Option<(Nanoseconds, Option<u64>, Outcome, Option<i32>)> {
        match &self.found {
            Found::Sample(sample) => Some(sample.content()),
            Found::WithoutValue => None,
        }
    }
}

impl Ord for ByContent {
    fn cmp(&self, other: &Self) -> Ordering {
        let moment = |one: &Self| (one.place.series, one.place.time);
        let contents = || self.content().cmp(&other.content());
        moment(self).cmp(&moment(other)).then_with(contents).then_with(|| self.place.cmp(&other.place))
    }
}

impl PartialOrd for ByContent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByContent {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByContent {}

impl Sortable for ByContent {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, u64::from(self.place.series));
        put_number(bytes, self.place.order);
        match &self.found {
            Found::Sample(sample) => {
                bytes.push(1);
                sample.put(bytes);
            }
            Found::WithoutValue => {
                bytes.push(0);
                bytes.extend(self.place.time.0.to_le_bytes());
            }
        }
    }

    fn read(reader: &mut AsideReader<'_>) -> Result<Self, AsideError> {
        let (series, order) = (reader.number()? as u32, reader.number()?);
        let (time, found) = match reader.bytes()? {
            [0] => (WallTime(i64::from_le_bytes(reader.bytes()?)), Found::WithoutValue),
            [_] => {
                let sample = ImportedSample::read(reader)?;
                (sample.time, Found::Sample(sample))
            }
        };
        Ok(Self { place: Place { series, time, order }, found })
    }
}

/// A sample of one moment, sorted by its place in a file that ascends.
#[derive(Debug, Clone, Copy)]
struct ByOrder {
    order: u64,
    sample: ImportedSample,
    /// It says the same as an earlier one.
    repeats: bool,
}

impl Ord for ByOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }
}

impl PartialOrd for ByOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByOrder {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for ByOrder {}

impl Sortable for ByOrder {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, self.order);
        bytes.push(u8::from(self.repeats));
        self.sample.put(bytes);
    }

    fn read(reader: &mut AsideReader<'_>) -> Result<Self, AsideError> {
        let order = reader.number()?;
        let [repeats] = reader.bytes()?;
        Ok(Self { order, repeats: repeats != 0, sample: ImportedSample::read(reader)? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use iolag_model::FailureCode;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_are_in_time() {
        assert_eq!(position_in_time(WallTime::from_seconds(3)), 3 << 24);
        assert_eq!(position_in_time(WallTime(3_500_000_000)), (3 << 24) + (1 << 23));
        assert_eq!(position_in_time(WallTime(3_999_999_999)) >> 24, 3);
    }

    fn sample(second: i64, duration_ns: u64, outcome: Outcome) -> ImportedSample {
        ImportedSample {
            probe: ProbeId(0),
            time: WallTime::from_seconds(second),
            duration_ns: Nanoseconds(duration_ns),
            value: None,
            outcome,
            failure: FailureCode::NONE,
            exit_status: None,
        }
    }

    fn arranged(found: &[(i64, Found)], identical: IdenticalRows) -> (Vec<ImportedSample>, Counts) {
        let mut arrangement = Arrangement::new(1, &Arc::from(Path::new("/tmp")));
        for (second, found) in found {
            arrangement.push(0, WallTime::from_seconds(*second), *found).unwrap();
        }
        let options = ImportOptions { identical_rows: identical, ..ImportOptions::new("host") };
        let Arranged { samples, counts, .. } = arrangement.arrange(&options).unwrap().remove(0);
        (samples.iter().collect::<Result<_, _>>().unwrap(), counts)
    }

    #[test]
    fn identities_are_never_shared() {
        let found = [5, 5, 5, 6].map(|second| (second, Found::Sample(sample(second, 1, Outcome::Ok))));
        let second = 5 << 24;
        let (samples, _) = arranged(&found, IdenticalRows::Keep);
        let probes: Vec<u64> = samples.iter().map(|sample| sample.probe.0).collect();
        assert_eq!(probes, [second, second + 1, second + 2, 6 << 24]);
    }

    /// The same with everything in memory, as a definition.
    fn expected(found: &[(i64, Found)], identical: IdenticalRows) -> (Vec<ImportedSample>, [u64; 2]) {
        let mut moments: Vec<i64> = found.iter().map(|(second, _)| *second).collect();
        moments.sort_unstable();
        let mut samples: Vec<ImportedSample> = found
            .iter()
            .filter_map(|(_, found)| match found {
                Found::Sample(sample) => Some(*sample),
                Found::WithoutValue => None,
            })
            .collect();
        if samples.first().map(|sample| sample.time) > samples.last().map(|sample| sample.time) {
            samples.reverse();
        }
        samples.sort_by_key(|sample| sample.time);
        for sample in samples.iter_mut().filter(|sample| sample.outcome == Outcome::Hung) {
            let next = moments.iter().find(|moment| WallTime::from_seconds(**moment) > sample.time);
            sample.duration_ns =
                next.map_or(Nanoseconds::ZERO, |next| WallTime::from_seconds(*next).since(sample.time));
        }
        let all = samples.len();
        samples.retain(|sample| sample.outcome != Outcome::Hung || sample.duration_ns > Nanoseconds::ZERO);
        let without_end = (all - samples.len()) as u64;
        let (mut seen, mut repeated) = (HashSet::new(), 0);
        samples.retain(|sample| {
            let is_new = seen.insert((sample.time, sample.content()));
            repeated += u64::from(!is_new);
            is_new || identical == IdenticalRows::Keep
        });
        let mut next_free = 1;
        for sample in &mut samples {
            sample.probe = ProbeId(position_in_time(sample.time).max(next_free));
            next_free = sample.probe.0 + 1;
        }
        (samples, [without_end, repeated])
    }

    proptest! {
        #[test]
        fn any_order_gives_what_memory_would(
            rows in proptest::collection::vec((1_i64..8, 0_u64..3, 0..4), 0..40),
            drop in any::<bool>(),
        ) {
            let found: Vec<(i64, Found)> = rows
                .into_iter()
                .map(|(second, ns, kind)| match kind {
                    0 => (second, Found::WithoutValue),
                    1 => (second, Found::Sample(sample(second, 0, Outcome::Hung))),
                    _ => (second, Found::Sample(sample(second, ns, Outcome::Ok))),
                })
                .collect();
            let identical = if drop { IdenticalRows::Drop } else { IdenticalRows::Keep };
            let (samples, counts) = arranged(&found, identical);
            let (expected, [without_end, repeated]) = expected(&found, identical);
            prop_assert_eq!(samples, expected);
            prop_assert_eq!([counts.hung_without_end, counts.identical], [without_end, repeated]);
        }
    }
}
