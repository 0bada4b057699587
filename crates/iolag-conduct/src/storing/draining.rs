//! From the rings to the spools: what clients have recorded, on its way to a place where it survives every process.
//!
//! Each measurer has one spool, and the keeper one of its own. A round visits all rings of a measurer in turn and gathers what
//! waits in them into blocks. A ring's tail moves only when the block with its samples is written, so a writer may be killed at
//! any moment: the next one finds by the last attempt of each client in the spool what was stored, and the rest in the rings.

use std::time::{Duration, Instant};

use iolag_keeper::{DetailReader, Exchange, RingReader};
use iolag_model::{Nanoseconds, RunId, Sample};
use iolag_store::{Directory, Resumed, SpoolNumber, SpoolWriter, StoreError};

/// Where the samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Those that wait in the rings, as they come.
    Pending,
    /// All that the rings still hold, whether consumed or not: the first writer hangs with its store.
    Retained,
}

/// Whether samples may wait for company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A block on disk has room for 84 samples: fewer wait, up to a second, as long as their rings have room.
    Some,
    /// Everything now.
    None,
}

/// Fewer samples than this leave most of a block empty. Fewer than one in each ring are not worth the round.
const SAMPLES_WORTH_A_BLOCK: u64 = 84;
/// How long few samples wait.
const WAIT_FOR_COMPANY: Duration = Duration::from_secs(1);
/// More rings than this are looked at only when a client calls, or that long after the last look: each look at thousands of them
/// takes as long as many requests.
const RINGS_LOOKED_AT: usize = 500;

/// How much a round of draining found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Busy {
    /// Nothing.
    Idle,
    /// Samples.
    Some,
    /// A ring of which a quarter or more waits.
    Full,
}

impl Busy {
    /// Long pauses leave the processors to what is measured; short ones keep rings from filling.
    const fn pause(self) -> Nanoseconds {
        match self {
            Self::Idle => Nanoseconds::from_milliseconds(50),
            Self::Some => Nanoseconds::from_milliseconds(20),
            Self::Full => Nanoseconds(500_000),
        }
    }
}

/// All rings of a run, and the spools that they are drained into.
pub struct Draining<'a> {
    exchange: Exchange,
    place: Place<'a>,
    drains: Vec<Drain>,
    retained_done: bool,
}

/// Where the spools are.
struct Place<'a> {
    directory: &'a Directory,
    run: RunId,
    /// Whether an earlier writer may have left some.
    begun: bool,
}

impl<'a> Draining<'a> {
    /// The rings of `exchange`; `measurers` says which clients each measurer runs. `begun` if the directory may hold spools of an
    /// earlier writer of this run.
    pub fn new(
        exchange: &Exchange,
        measurers: &[Vec<u32>],
        directory: &'a Directory,
        run: RunId,
        begun: bool,
    ) -> Self {
        let mut readers: Vec<_> = exchange.readers().into_iter().map(Some).collect();
        let keeper = vec![exchange.clients()];
        let known = measurers.iter().map(|clients| (clients, Recorded::ByAClient));
        let groups = known.chain([(&keeper, Recorded::ByTheKeeper)]);
        let drains = (0..).zip(groups).map(|(number, (rings, recorded))| {
            let taken = rings.iter().filter_map(|ring| readers.get_mut(*ring as usize)?.take());
            let (rings, details) = taken.unzip();
            Drain {
                number: SpoolNumber(number),
                recorded,
                rings,
                details,
                spool: None,
                gathered: Vec::new(),
                written_at: Instant::now(),
                looked_at: None,
            }
        });
        let place = Place { directory, run, begun };
        Self { exchange: exchange.clone(), drains: drains.collect(), place, retained_done: false }
    }

    /// One round over all rings. With [`Patience::None`] everything that was recorded before it is stored after it.
    ///
    /// # Errors
    /// If a spool cannot be written; what was not written stays in the rings.
    pub fn drain(&mut self, source: Source, patience: Patience) -> Result<Busy, StoreError> {
        let mut busy = Busy::Idle;
        match source {
            Source::Pending => {
                // Taken before the rings are looked at: who calls from now on finds the next look.
                let is_called = self.exchange.take_call();
                for drain in &mut self.drains {
                    if is_called || patience == Patience::None || drain.is_to_be_looked_at() {
                        busy = busy.max(drain.write_pending(&self.place, patience)?);
                    }
                }
            }
            Source::Retained if !std::mem::replace(&mut self.retained_done, true) => {
                busy = Busy::Some;
                self.drains.iter_mut().try_for_each(|drain| drain.write_retained(&self.place))?;
            }
            Source::Retained => {}
        }
        Ok(busy)
    }

    /// How long to pause after a round that found this. Thousands of rings are a long round, and each of them fills slowly.
    pub fn pause(&self, busy: Busy) -> Nanoseconds {
        const USUAL_RINGS: usize = 1000;
        let rings: usize = self.drains.iter().map(|drain| drain.rings.len()).sum();
        match busy {
            Busy::Full => busy.pause(),
            Busy::Idle | Busy::Some => {
                Nanoseconds(busy.pause().0 * rings.div_ceil(USUAL_RINGS).clamp(1, 5) as u64)
            }
        }
    }

    /// Syncs and closes all spools.
    ///
    /// # Errors
    /// If the system cannot promise that they are durable.
    pub fn finish(&mut self) -> Result<(), StoreError> {
        self.drains.iter_mut().filter_map(|drain| drain.spool.take()).try_for_each(SpoolWriter::finish)
    }

    /// Texts of attempts that found no room in their rings.
    pub fn details_lost(&self) -> u64 {
        self.drains.iter().flat_map(|drain| &drain.details).map(DetailReader::lost).sum()
    }
}

/// Who recorded the samples of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    /// A client, about its own attempts, of each once.
    ByAClient,
    /// The keeper, about attempts of any client, and of some twice.
    ByTheKeeper,
}

/// The rings that share a spool.
struct Drain {
    number: SpoolNumber,
    recorded: Recorded,
    rings: Vec<RingReader>,
    details: Vec<DetailReader>,
    /// Made with the first sample.
    spool: Option<SpoolWriter>,
    /// What is in the block that is being filled: rings, and how many samples of each.
    gathered: Vec<(usize, u64)>,
    written_at: Instant,
    looked_at: Option<Instant>,
}

impl Drain {
    /// Whether nobody has to call.
    fn is_to_be_looked_at(&self) -> bool {
        self.rings.len() <= RINGS_LOOKED_AT
            || self.looked_at.is_none_or(|looked_at| looked_at.elapsed() >= WAIT_FOR_COMPANY)
    }

    fn write_pending(&mut self, place: &Place<'_>, patience: Patience) -> Result<Busy, StoreError> {
        let mut busy = Busy::Idle;
        self.looked_at = Some(Instant::now());
        if self.has_enough(patience) {
            self.written_at = Instant::now();
            self.open(place)?;
            for index in 0..self.rings.len() {
                let ring = self.rings[index].clone();
                // All of it, also across the end of the ring: this may be the last round.
                let pending = ring.all_pending();
                let waiting = pending[0].len() + pending[1].len();
                if waiting > 0 {
                    let is_filling = waiting * 4 >= ring.capacity();
                    busy = busy.max(if is_filling { Busy::Full } else { Busy::Some });
                    pending.into_iter().try_for_each(|piece| self.gather(index, piece))?;
                }
            }
            self.flush()?;
        }
        self.write_details(place)?;
        Ok(busy)
    }

    /// Whether what waits is worth a block.
    fn has_enough(&self, patience: Patience) -> bool {
        let (mut waiting, mut is_urgent) = (0, patience == Patience::None);
        for ring in &self.rings {
            let here = ring.head() - ring.tail();
            waiting += here;
            is_urgent |= here * 4 >= ring.capacity() as u64;
        }
        let is_due = waiting >= SAMPLES_WORTH_A_BLOCK.max(self.rings.len() as u64)
            || self.written_at.elapsed() >= WAIT_FOR_COMPANY;
        waiting > 0 && (is_urgent || is_due)
    }

    fn gather(&mut self, index: usize, mut samples: &[Sample]) -> Result<(), StoreError> {
        while !samples.is_empty() {
            let spool = self.spool.as_mut().expect("opened before anything is gathered");
            let taken = spool.gather(samples)?;
            samples = &samples[taken..];
            if taken > 0 {
                self.gathered.push((index, taken as u64));
            }
            if !samples.is_empty() {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the block, and only then gives the places of its samples back to their clients.
    fn flush(&mut self) -> Result<(), StoreError> {
        if let Some(spool) = &mut self.spool {
            spool.flush()?;
        }
        for (index, count) in self.gathered.drain(..) {
            self.rings[index].consume(count);
        }
        Ok(())
    }

    fn write_details(&mut self, place: &Place<'_>) -> Result<(), StoreError> {
        let mut texts = Vec::new();
        let mut positions = Vec::new();
        for (index, details) in self.details.iter().enumerate() {
            let (mut more, position) = details.pending();
            if !more.is_empty() {
                texts.append(&mut more);
                positions.push((index, position));
            }
        }
        if !texts.is_empty() {
            self.open(place)?.append_details(&texts)?;
        }
        for (index, position) in positions {
            self.details[index].consume(position);
        }
        Ok(())
    }

    /// Everything that has not been overwritten. The tails stay where they are: nobody records any more.
    fn write_retained(&mut self, place: &Place<'_>) -> Result<(), StoreError> {
        let rings = self.rings.clone();
        for piece in rings.iter().flat_map(|ring| ring.retained().1) {
            if !piece.is_empty() {
                self.open(place)?.append(piece)?;
            }
        }
        let texts: Vec<_> = self.details.iter().flat_map(|details| details.pending().0).collect();
        if !texts.is_empty() {
            self.open(place)?.append_details(&texts)?;
        }
        Ok(())
    }

    fn open(&mut self, place: &Place<'_>) -> Result<&mut SpoolWriter, StoreError> {
        let spool = match self.spool.take() {
            Some(spool) => spool,
            None => self.make(place)?,
        };
        Ok(self.spool.insert(spool))
    }

    fn make(&self, place: &Place<'_>) -> Result<SpoolWriter, StoreError> {
        if place.begun {
            match SpoolWriter::resume(place.directory, &place.run, self.number) {
                Ok((spool, resumed)) => {
                    self.pass_over_stored(&resumed);
                    return Ok(spool);
                }
                Err(error) if error.errno() == Some(libc::ENOENT) => {}
                Err(error) => return Err(error),
            }
        }
        SpoolWriter::create(place.directory, &place.run, self.number)
    }

    /// The killed writer may have stored more than it could still tell the rings.
    fn pass_over_stored(&self, resumed: &Resumed) {
        for ring in &self.rings {
            match self.recorded {
                Recorded::ByAClient => ring.consume(resumed.stored_of(ring.all_pending()) as u64),
                Recorded::ByTheKeeper => {
                    let waiting = ring.head() - ring.tail();
                    ring.consume(resumed.samples.saturating_sub(ring.tail()).min(waiting));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
