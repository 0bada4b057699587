//! From the rings to the spools: what clients have recorded, on its way to a place where it survives every process.
//!
//! Each measurer has one spool, and the keeper one of its own. A round visits all rings of a measurer in turn and gathers what
//! waits in them into blocks. A ring's tail moves only when the block with its samples is written, so a writer may be killed at
//! any moment: the next one finds what was stored by the attempts in the spool, and the rest in the rings.

use std::time::{Duration, Instant};

use iolag_keeper::{DetailReader, Exchange, RingReader};
use iolag_model::{Nanoseconds, RunId, Sample};
use iolag_store::{Directory, Resumed, SpoolNumber, SpoolWriter, StoreError};

use super::writer::Source;

/// Whether samples may wait for company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A block on disk has room for 84 samples: fewer wait, up to a second, as long as their rings have room.
    Some,
    /// Everything now.
    None,
}

/// Fewer samples than this leave most of a block empty.
const SAMPLES_WORTH_A_BLOCK: u64 = 84;
/// How long few samples wait.
const WAIT_FOR_COMPANY: Duration = Duration::from_secs(1);

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
    pub const fn pause(self) -> Nanoseconds {
        match self {
            Self::Idle => Nanoseconds::from_milliseconds(50),
            Self::Some => Nanoseconds::from_milliseconds(20),
            Self::Full => Nanoseconds(500_000),
        }
    }
}

/// All rings of a run, and the spools that they are drained into.
pub struct Draining<'a> {
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
        let known = measurers.iter().map(|clients| (clients, Recorded::InOrder));
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
            }
        });
        Self { drains: drains.collect(), place: Place { directory, run, begun }, retained_done: false }
    }

    /// One round over all rings. With [`Patience::None`] everything that was recorded before it is stored after it.
    ///
    /// # Errors
    /// If a spool cannot be written; what was not written stays in the rings.
    pub fn drain(&mut self, source: Source, patience: Patience) -> Result<Busy, StoreError> {
        let mut busy = Busy::Idle;
        match source {
            Source::Pending => {
                for drain in &mut self.drains {
                    busy = busy.max(drain.write_pending(&self.place, patience)?);
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
    /// A client: its attempts are in ascending order.
    InOrder,
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
}

impl Drain {
    fn write_pending(&mut self, place: &Place<'_>, patience: Patience) -> Result<Busy, StoreError> {
        let mut busy = Busy::Idle;
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
        let is_due = waiting >= SAMPLES_WORTH_A_BLOCK || self.written_at.elapsed() >= WAIT_FOR_COMPANY;
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
                Recorded::InOrder => loop {
                    let stored = ring.pending().iter().take_while(|sample| resumed.is_stored(sample)).count();
                    if stored == 0 {
                        break;
                    }
                    ring.consume(stored as u64);
                },
                Recorded::ByTheKeeper => {
                    let waiting = ring.head() - ring.tail();
                    ring.consume(resumed.samples.saturating_sub(ring.tail()).min(waiting));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    use iolag_keeper::SharedRecorder;
    use iolag_model::{
        AttemptId, ClientId, Detail, DetailKind, FailureCode, MonotonicTime, Operation, Outcome, Recorder,
    };
    use iolag_store::{Block, SpoolReader, spools};
    use proptest::prelude::*;

    const CLIENTS: u32 = 5;

    fn run_id() -> RunId {
        RunId::new("20261122-120000", 1).unwrap()
    }

    /// Two measurers: the clients 0, 2 and 4 on one, 1 and 3 on the other.
    fn measurers() -> Vec<Vec<u32>> {
        vec![vec![0, 2, 4], vec![1, 3]]
    }

    fn sample(client: u32, sequence: u64) -> Sample {
        let attempt = AttemptId::new(ClientId(client), sequence);
        Sample::new(attempt, Operation::Stat, MonotonicTime(1), MonotonicTime(1), Nanoseconds(sequence))
    }

    fn all_of(directory: &Directory) -> Vec<Vec<Sample>> {
        let read = |number| {
            let mut reader = SpoolReader::open(directory, &run_id(), number).unwrap();
            let mut samples = Vec::new();
            while let Some(block) = reader.next_block().unwrap() {
                if let Block::Samples(more) = block {
                    samples.extend_from_slice(more);
                }
            }
            assert_eq!(reader.dropped_bytes(), 0);
            samples
        };
        spools(directory).unwrap().into_iter().map(read).collect()
    }

    #[derive(Debug, Clone)]
    enum Action {
        Record {
            client: u32,
            count: usize,
        },
        /// Probes that were due and not sent, as ping notes them among the others.
        RecordUnsent {
            client: u32,
            count: usize,
        },
        KeeperRecords {
            count: usize,
        },
        Drain(Patience),
        /// A writer writes what waits and is killed before it tells the rings; of its last blocks a share is torn away.
        Kill {
            kept: f64,
        },
    }

    fn any_action() -> impl Strategy<Value = Action> {
        prop_oneof![
            6 => (0..CLIENTS, 1_usize..400).prop_map(|(client, count)| Action::Record { client, count }),
            3 => (0..CLIENTS, 1_usize..40).prop_map(|(client, count)| Action::RecordUnsent { client, count }),
            1 => (1_usize..5).prop_map(|count| Action::KeeperRecords { count }),
            2 => Just(Action::Drain(Patience::None)),
            1 => Just(Action::Drain(Patience::Some)),
            2 => (0.0..=1.0_f64).prop_map(|kept| Action::Kill { kept }),
        ]
    }

    /// What a writer does up to the moment before the tails move.
    fn write_and_be_killed(draining: &mut Draining<'_>, directory: &Directory, kept: f64) {
        for drain in &mut draining.drains {
            let waiting = drain.rings.iter().map(|ring| ring.head() - ring.tail()).sum::<u64>();
            if waiting == 0 {
                continue;
            }
            let number = drain.number;
            let rings = drain.rings.clone();
            let spool = drain.open(&draining.place).unwrap();
            let before = spool.bytes();
            for ring in &rings {
                // An earlier one may have been killed at the same place.
                spool.append(ring.pending()).unwrap();
            }
            let after = spool.bytes();
            drain.spool = None;
            let file =
                OpenOptions::new().write(true).open(directory.path().join(number.file_name())).unwrap();
            file.set_len(before + ((after - before) as f64 * kept) as u64).unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Whenever writers are killed, and wherever their last block is torn: everything is stored once, and each client's
        /// samples in their order.
        #[test]
        fn killed_writers_lose_and_double_nothing(actions in prop::collection::vec(any_action(), 1..40)) {
            let exchange = Exchange::new(CLIENTS, u64::from(CLIENTS) * 1500 * Sample::SIZE as u64).unwrap();
            let mut recorders: Vec<SharedRecorder> = (0..CLIENTS).map(|client| exchange.recorder(client)).collect();
            let mut keeper = exchange.keeper_ring();
            let mut recorded = [0_u64; CLIENTS as usize];
            let mut unsent = [0_u64; CLIENTS as usize];
            let mut of_keeper = Vec::new();
            let place = tempfile::tempdir().unwrap();
            let directory = Directory::open(place.path()).unwrap();
            let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), false);
            for action in actions {
                match action {
                    Action::Record { client, count } => {
                        for _ in 0..count {
                            let recorder = &mut recorders[client as usize];
                            if recorder.has_room() {
                                recorder.record(sample(client, recorded[client as usize]));
                                recorded[client as usize] += 1;
                            }
                        }
                    }
                    Action::RecordUnsent { client, count } => {
                        for _ in 0..count {
                            let recorder = &mut recorders[client as usize];
                            if recorder.has_room() {
                                recorder.record(sample(client, AttemptId::UNSENT + unsent[client as usize]));
                                unsent[client as usize] += 1;
                            }
                        }
                    }
                    Action::KeeperRecords { count } => {
                        for number in 0..count {
                            // Out of order, and again and again.
                            let hung = sample(0, (count - number) as u64).with_outcome(Outcome::Hung, FailureCode::NONE);
                            prop_assert!(keeper.record(hung));
                            of_keeper.push(hung);
                        }
                    }
                    Action::Drain(patience) => {
                        draining.drain(Source::Pending, patience).unwrap();
                    }
                    Action::Kill { kept } => {
                        write_and_be_killed(&mut draining, &directory, kept);
                        drop(draining);
                        draining = Draining::new(&exchange, &measurers(), &directory, run_id(), true);
                    }
                }
            }
            draining.drain(Source::Pending, Patience::None).unwrap();
            draining.finish().unwrap();
            prop_assert_eq!(exchange.samples_consumed(), exchange.samples_recorded());
            let mut stored = all_of(&directory);
            if !of_keeper.is_empty() {
                prop_assert!(stored.pop().unwrap() == of_keeper);
            }
            prop_assert!(stored.len() <= measurers().len(), "a spool per measurer");
            let stored = stored.concat();
            for client in 0..CLIENTS {
                let of_client = stored.iter().filter(|sample| sample.attempt.client() == ClientId(client));
                let (unsent_here, sequences): (Vec<u64>, Vec<u64>) =
                    of_client.map(|sample| sample.attempt.sequence()).partition(|sequence| *sequence >= AttemptId::UNSENT);
                prop_assert_eq!(sequences, (0..recorded[client as usize]).collect::<Vec<_>>(), "client {}", client);
                let expected = AttemptId::UNSENT..AttemptId::UNSENT + unsent[client as usize];
                prop_assert_eq!(unsent_here, expected.collect::<Vec<_>>(), "client {}", client);
            }
        }
    }

    #[test]
    fn a_spool_that_lost_blocks_after_their_samples_were_consumed_is_gone_on_with() {
        let exchange = Exchange::new(CLIENTS, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(2);
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), false);
        for sequence in 0..200 {
            recorder.record(sample(2, sequence));
            if sequence % 100 == 99 {
                draining.drain(Source::Pending, Patience::None).unwrap();
            }
        }
        drop(draining);
        // 100 samples are two pages: the second block goes.
        let path = directory.path().join(SpoolNumber(0).file_name());
        OpenOptions::new().write(true).open(path).unwrap().set_len(8192).unwrap();
        let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), true);
        (200..300).for_each(|sequence| recorder.record(sample(2, sequence)));
        draining.drain(Source::Pending, Patience::None).unwrap();
        draining.finish().unwrap();
        let sequences: Vec<u64> =
            all_of(&directory).concat().iter().map(|sample| sample.attempt.sequence()).collect();
        assert_eq!(sequences, (0..100).chain(200..300).collect::<Vec<_>>());
        assert_eq!(exchange.samples_recorded(), 300, "so that the hundred that are missing can be counted");
    }

    #[test]
    fn few_samples_wait_for_company_and_texts_do_not() {
        let exchange = Exchange::new(CLIENTS, 1 << 20).unwrap();
        let mut recorder = exchange.recorder(0);
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let mut draining = Draining::new(&exchange, &measurers(), &directory, run_id(), false);
        recorder.record(sample(0, 0));
        assert_eq!(draining.drain(Source::Pending, Patience::Some).unwrap(), Busy::Idle);
        assert!(spools(&directory).unwrap().is_empty());
        let attempt = AttemptId::new(ClientId(0), 0);
        recorder.record_detail(&Detail { attempt, kind: DetailKind::Message, text: "said".into() });
        draining.drain(Source::Pending, Patience::Some).unwrap();
        assert_eq!(spools(&directory).unwrap(), [SpoolNumber(0)]);
        assert_eq!(draining.drain(Source::Pending, Patience::None).unwrap(), Busy::Some);
        assert_eq!(all_of(&directory).concat(), [sample(0, 0)]);
    }
}
