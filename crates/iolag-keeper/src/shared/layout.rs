//! What lies where in the shared memory, and what keeper and writer read there.
//!
//! ```text
//! control (4096)   slots (256 each)   counters of texts (24 each)   rings of samples   rings of texts   names behind tags
//! ```
//! There is a slot for each operation that a client may have in flight: those of its first lane come first, in the order of the
//! clients, and say what the client is doing besides. There is one ring per client, and one more, without a slot, for the keeper's own
//! samples (hung attempts). How large they are says [`Room`]. The rings of texts stand last and together, so that they take no memory where
//! nothing fails; their counters, which the writer looks at, stand apart for the same reason.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iolag_model::{Activity, Meeting, MonotonicTime, Nanoseconds, Role, Sample, TagKind, TagRecord};
use rustix::thread::sched_getaffinity;

use super::detail_ring::{DetailCounters, DetailPlace, DetailReader};
use super::memory::SharedMemory;
use super::ring::{LINE, RingPlace, RingReader};
use super::room::{DETAIL_BYTES_MAX, Room};
use super::slot::{EXPECTED, InFlight, Slot};
use super::tags::TagPlaces;
use crate::KeeperError;

const PAGE: usize = 4096;
const KEEPER_SAMPLES: usize = 16 << 10;

#[repr(C)]
pub(crate) struct Control {
    /// By role.
    pub(crate) gatherings: [Gathering; Role::ALL.len()],
    /// Counts what clients should look at; also the futex of those who wait for that.
    pub(crate) news: AtomicU32,
    /// Set when every client is to stop: the writer then also knows that the end is near.
    pub(crate) stop_all: AtomicU32,
    /// Set by the keeper: no measurer will write any more, so the writer may finish.
    measured: AtomicU32,
    /// Set by who has something for the writer that should not wait; taken back by the writer before it looks.
    pub(crate) call: AtomicU32,
    /// How many samples the keeper has put into its ring.
    keepers_head: AtomicU64,
    /// What time of the load it is, and how many of its clients are in its stage.
    pub(crate) load_time: AtomicU32,
    pub(crate) load_clients: AtomicU32,
    /// Since when it was what time, of the last changes; how many there were.
    pub(crate) load_changes: [LoadChange; LOAD_CHANGES],
    pub(crate) load_changes_made: AtomicU32,
    /// Samples that found their ring full although the run was stopped: lost, and said so.
    pub(crate) samples_lost: AtomicU64,
}

/// So many changes of the load's time are remembered: more than come while one attempt waits.
pub(crate) const LOAD_CHANGES: usize = 64;

/// A change of the load's time.
#[repr(C)]
pub(crate) struct LoadChange {
    pub(crate) begin_ns: AtomicU64,
    pub(crate) load_time: AtomicU32,
}

/// Where the clients of one role meet.
#[repr(C, align(128))]
pub(crate) struct Gathering {
    /// Number of the last meeting that is open; also the futex that clients wait on.
    pub(crate) open_meeting: AtomicU32,
    /// Clients of this role, and those of them that were given up.
    pub(crate) members: AtomicU32,
    pub(crate) given_up: AtomicU32,
    /// When those at the meeting begin; the lowest bit is that of the meeting's number.
    pub(crate) begin_ns: AtomicU64,
    /// Arrivals at all meetings so far: only to save looking at every slot.
    pub(crate) arrivals: AtomicU64,
}

const _: () = assert!(size_of::<Control>() <= PAGE && PAGE.is_multiple_of(align_of::<Slot>()));

/// The shared memory of one run.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub(crate) shared: Arc<Places>,
}

#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) memory: SharedMemory,
    pub(crate) clients: usize,
    lanes: usize,
    ring_samples: usize,
    detail_bytes: usize,
    /// Processors that the clients may use, all together.
    pub(crate) processors: usize,
    /// By role the last meeting that this process has looked at, made once for all its clients.
    pub(crate) last_meetings: Mutex<[LastMeeting; Role::ALL.len()]>,
}

/// A meeting with its number.
#[derive(Debug, Default)]
pub(crate) struct LastMeeting {
    pub(crate) number: u32,
    pub(crate) meeting: Option<Arc<Meeting>>,
}

impl Places {
    pub(crate) fn control(&self) -> &Control {
        // SAFETY: at the start of the region; zeroed memory is valid and only atomics touch it.
        unsafe { self.memory.at::<Control>(0, 1).as_ref() }
    }

    pub(crate) fn gathering(&self, role: Role) -> &Gathering {
        &self.control().gatherings[role as usize]
    }

    /// The slot of a client: that of its first lane, and of what it does besides.
    pub(crate) fn slot(&self, client: usize) -> &Slot {
        self.lane(client, 0)
    }

    /// The slot of one lane of a client.
    pub(crate) fn lane(&self, client: usize, lane: usize) -> &Slot {
        assert!(client < self.clients && lane < self.lanes, "no such client, or no such lane");
        let slot = if lane == 0 { client } else { self.clients + client * (self.lanes - 1) + lane - 1 };
        // SAFETY: within the slots; zeroed memory is valid and only atomics touch it.
        unsafe { self.memory.at::<Slot>(PAGE + slot * size_of::<Slot>(), 1).as_ref() }
    }

    fn all_lanes(&self, client: usize) -> impl Iterator<Item = &Slot> {
        (0..self.lanes).map(move |lane| self.lane(client, lane))
    }

    fn counters_offset(clients: usize, lanes: usize) -> usize {
        PAGE + clients * lanes * size_of::<Slot>()
    }

    fn rings_offset(clients: usize, lanes: usize) -> usize {
        let counters = (clients + 1) * size_of::<DetailCounters>();
        (Self::counters_offset(clients, lanes) + counters).next_multiple_of(PAGE)
    }

    fn stride(samples: usize) -> usize {
        RingPlace::bytes(samples).next_multiple_of(LINE)
    }

    fn ring_range(&self, ring: usize) -> (usize, usize) {
        let stride = Self::stride(self.ring_samples);
        let offset = Self::rings_offset(self.clients, self.lanes) + ring * stride;
        if ring == self.clients { (offset, Self::stride(KEEPER_SAMPLES)) } else { (offset, stride) }
    }

    pub(crate) fn details(&self, ring: usize) -> DetailPlace {
        let (keepers, bytes) = self.ring_range(self.clients);
        let offset = (keepers + bytes).next_multiple_of(PAGE) + ring * self.detail_bytes;
        DetailPlace {
            memory: self.memory.clone(),
            counters: Self::counters_offset(self.clients, self.lanes) + ring * size_of::<DetailCounters>(),
            offset,
            capacity: if ring == self.clients { DETAIL_BYTES_MAX } else { self.detail_bytes },
        }
    }

    /// The names behind tags: last, so that they take no memory where there are none.
    fn tags(&self) -> TagPlaces<'_> {
        TagPlaces { memory: &self.memory, offset: self.memory.bytes() - TagPlaces::BYTES }
    }

    pub(crate) fn ring(&self, ring: usize) -> RingPlace {
        assert!(ring <= self.clients, "no such ring");
        let capacity = if ring == self.clients { KEEPER_SAMPLES } else { self.ring_samples };
        let (offset, _) = self.ring_range(ring);
        let head = match ring == self.clients {
            true => offset_of!(Control, keepers_head),
            false => PAGE + ring * size_of::<Slot>() + Slot::HEAD,
        };
        RingPlace { memory: self.memory.clone(), offset, capacity, head, call: offset_of!(Control, call) }
    }
}

impl Exchange {
    /// Shared memory for `clients` clients that share `ring_bytes` bytes for samples, however long they record.
    ///
    /// # Errors
    /// If that is too little for the number of clients, or the kernel has no memory.
    pub fn new(clients: u32, ring_bytes: u64) -> Result<Self, KeeperError> {
        Self::with_room(Room { clients, lanes: 1, ring_bytes, samples_per_client: None })
    }

    /// Shared memory for a run, as much as it can use.
    ///
    /// # Errors
    /// If the bytes are too few for the number of clients, or the kernel has no memory.
    pub fn with_room(room: Room) -> Result<Self, KeeperError> {
        let (clients, lanes) = (room.clients as usize, room.lanes.max(1) as usize);
        let (ring_samples, detail_bytes) = (room.ring_samples()?, room.detail_bytes());
        // Checked with room to spare for headers, details and rounding: an absurd size must be an error, not an overflow.
        let rings = ring_samples
            .checked_mul(Sample::SIZE)
            .and_then(|ring| ring.checked_add(detail_bytes + PAGE + lanes * size_of::<Slot>()))
            .and_then(|ring| ring.checked_mul(clients))
            .filter(|rings| *rings < isize::MAX as usize / 2);
        if rings.is_none() {
            return Err(KeeperError::SharedMemory { bytes: usize::MAX, error: rustix::io::Errno::NOMEM });
        }
        let rings = clients * Places::stride(ring_samples) + Places::stride(KEEPER_SAMPLES);
        let details = clients * detail_bytes + DETAIL_BYTES_MAX;
        let bytes = (Places::rings_offset(clients, lanes) + rings).next_multiple_of(PAGE) + details;
        let memory = SharedMemory::new(bytes + TagPlaces::BYTES)?;
        let processors = sched_getaffinity(None).map_or(1, |set| set.count() as usize).max(1);
        let last_meetings = Mutex::default();
        let places = Places { memory, clients, lanes, ring_samples, detail_bytes, processors, last_meetings };
        places.memory.prefault(0, Places::rings_offset(clients, lanes));
        places.gathering(Role::Load).members.store(room.clients, Ordering::SeqCst);
        Ok(Self { shared: Arc::new(places) })
    }

    /// Number of clients.
    pub fn clients(&self) -> u32 {
        self.shared.clients as u32
    }

    /// Operations that each client may have in flight.
    pub fn lanes(&self) -> u32 {
        self.shared.lanes as u32
    }

    /// Size of the shared memory in bytes.
    pub fn bytes(&self) -> usize {
        self.shared.memory.bytes()
    }

    /// Makes the ring of `client` present in this process, so that recording never faults.
    pub fn prefault(&self, client: u32) {
        let (offset, bytes) = self.shared.ring_range(client as usize);
        self.shared.memory.prefault(offset, bytes);
    }

    /// Readers of all rings, in the order of clients, the keeper's last.
    pub fn readers(&self) -> Vec<(RingReader, DetailReader)> {
        (0..=self.shared.clients)
            .map(|ring| {
                (RingReader::new(self.shared.ring(ring)), DetailReader::new(self.shared.details(ring)))
            })
            .collect()
    }

    /// Whether a client has called the writer since this was asked last: a quarter of its ring waits, or a text does.
    pub fn take_call(&self) -> bool {
        let call = &self.shared.control().call;
        // It is mostly not set, and then stays in everybody's cache.
        call.load(Ordering::Relaxed) != 0 && call.swap(0, Ordering::Acquire) != 0
    }

    /// Samples that clients and keeper have put into their rings so far.
    pub fn samples_recorded(&self) -> u64 {
        self.sum_over_rings(RingReader::head)
    }

    /// Samples that the writer has taken out.
    pub fn samples_consumed(&self) -> u64 {
        self.sum_over_rings(RingReader::tail)
    }

    /// Samples that the rings do not hold any more, because later ones took their places.
    pub fn samples_overwritten(&self) -> u64 {
        self.sum_over_rings(|ring| ring.retained().0)
    }

    fn sum_over_rings(&self, count: impl Fn(&RingReader) -> u64) -> u64 {
        (0..=self.shared.clients).map(|ring| count(&RingReader::new(self.shared.ring(ring)))).sum()
    }

    /// What `client` has in flight in its first lane.
    pub fn in_flight(&self, client: u32) -> Option<InFlight> {
        self.shared.slot(client as usize).in_flight()
    }

    /// By lane what `client` has in flight.
    pub fn all_in_flight(&self, client: u32) -> impl Iterator<Item = Option<InFlight>> {
        self.shared.all_lanes(client as usize).map(Slot::in_flight)
    }

    /// What `client` is doing.
    pub fn activity(&self, client: u32) -> Activity {
        self.shared.slot(client as usize).activity()
    }

    /// A number that changes as long as `client` makes progress.
    pub fn progress(&self, client: u32) -> u64 {
        self.shared.all_lanes(client as usize).map(Slot::progress).fold(0, u64::wrapping_add)
    }

    /// Process and thread of `client`, once it has begun.
    pub fn thread(&self, client: u32) -> Option<(u32, u32)> {
        Some(self.shared.slot(client as usize).thread()).filter(|(_, thread)| *thread != 0)
    }

    /// Says what `client` is there for, before any measurer is started. Of who nothing is said is there for the load.
    pub fn set_role(&self, client: u32, role: Role) {
        let before = self.shared.slot(client as usize).set_role(role);
        self.shared.gathering(before).members.fetch_sub(1, Ordering::SeqCst);
        self.shared.gathering(role).members.fetch_add(1, Ordering::SeqCst);
    }

    /// Says that `client` begins when another of its process lets it, before any measurer is started: it meets nobody, and nobody waits for it at meetings.
    pub fn set_follower(&self, client: u32) {
        let slot = self.shared.slot(client as usize);
        slot.arrived.store(u32::MAX, Ordering::SeqCst);
        self.shared.gathering(slot.role()).members.fetch_sub(1, Ordering::SeqCst);
    }

    /// What `client` is there for.
    pub fn role(&self, client: u32) -> Role {
        self.shared.slot(client as usize).role()
    }

    /// Whether the others still wait for `client`.
    pub fn is_expected(&self, client: u32) -> bool {
        self.shared.slot(client as usize).standing.load(Ordering::Acquire) == EXPECTED
    }

    /// Says that the working place of `client` is noted for a clean-up, or that nobody will note it any more.
    pub fn set_noted(&self, client: u32) {
        self.shared.slot(client as usize).noted.store(1, Ordering::Release);
    }

    /// Returns when that is said, or `client` is to stop. Who makes anything in a working place before, and is killed, leaves
    /// what no clean-up dares to remove.
    pub fn wait_until_noted(&self, client: u32) {
        const POLL: Duration = Duration::from_millis(1);
        let slot = self.shared.slot(client as usize);
        while slot.noted.load(Ordering::Acquire) == 0 && slot.stop.load(Ordering::Acquire) == 0 {
            std::thread::sleep(POLL);
        }
    }

    /// Says that what the measurer of `client` does before or after its clients (a sync, a long file) may take until then, and
    /// that it waits for that and nothing else.
    pub fn occupy(&self, client: u32, until: MonotonicTime) {
        self.shared.slot(client as usize).occupied_until.store(until.0, Ordering::Release);
    }

    /// Whether that is said and the moment has not come.
    pub fn is_occupied(&self, client: u32, now: MonotonicTime) -> bool {
        now.0 < self.shared.slot(client as usize).occupied_until.load(Ordering::Acquire)
    }

    /// How late the timer of this client's worker was at worst since this was asked last; `None` if it did not beat.
    pub fn take_lag(&self, client: u32) -> Option<Nanoseconds> {
        self.shared.slot(client as usize).take_lag()
    }

    /// For how long the timer of this client's worker has been due and the worker has not looked; `None` if it is not due, or there
    /// is none.
    pub fn overdue(&self, client: u32, now: MonotonicTime) -> Option<Nanoseconds> {
        self.shared.slot(client as usize).overdue(now)
    }

    /// The tag of a name: the number that it has in all threads and processes of the run; `None` if there are none left, or no room for the
    /// name.
    pub fn tag(&self, kind: TagKind, name: &str) -> Option<u16> {
        self.shared.tags().tag(kind, name)
    }

    /// All names that were mentioned, in the order of their numbers.
    pub fn tags(&self) -> Vec<TagRecord> {
        self.shared.tags().all()
    }

    /// Whether tags were asked for that there were not.
    pub fn lacked_tags(&self) -> bool {
        self.shared.tags().lacked()
    }

    /// Tells the writer that no measurer will write any more.
    pub fn set_measured(&self) {
        self.shared.control().measured.store(1, Ordering::Release);
    }

    /// Whether no measurer will write any more.
    pub fn is_measured(&self) -> bool {
        self.shared.control().measured.load(Ordering::Acquire) != 0
    }

    /// Samples that could not be recorded: 0, unless a stopped client used up its reserve.
    pub fn samples_lost(&self) -> u64 {
        self.shared.control().samples_lost.load(Ordering::Relaxed)
    }
}
