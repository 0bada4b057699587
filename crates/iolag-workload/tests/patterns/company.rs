//! Runs clients on one thread in an arbitrary interleaving, on a set of objects in memory, in simulated time.

use std::collections::{BTreeMap, BTreeSet};

use iolag_backend::{Completion, ObjectKey, Request};
use iolag_model::{FailureCode, Meeting, MonotonicTime, Nanoseconds, Operation, Waiting};
use iolag_workload::{Client, Done, Step};

const NOT_FOUND: FailureCode = FailureCode(2);
const NOT_EMPTY: FailureCode = FailureCode(39);

/// What exists.
#[derive(Debug, Default, Clone)]
pub struct World {
    pub objects: BTreeSet<ObjectKey>,
    pub directories: BTreeSet<(u32, u32)>,
    open: BTreeSet<u32>,
}

impl World {
    pub fn objects_in(&self, rank: u32, dataset: u32) -> u64 {
        self.objects.iter().filter(|key| (key.rank, key.dataset) == (rank, dataset)).count() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.directories.is_empty()
    }

    fn execute(&mut self, client: u32, request: &Request) -> Completion {
        let key = request.key;
        let directory = (key.rank, key.dataset);
        let is_done = match request.operation {
            Operation::MakeDirectory | Operation::CallMkdir => self.directories.insert(directory),
            Operation::RemoveDirectory | Operation::CallRmdir => {
                if self.objects_in(key.rank, key.dataset) > 0 {
                    return Completion::failed(NOT_EMPTY);
                }
                self.directories.remove(&directory)
            }
            Operation::Create | Operation::CallCreate => {
                if request.operation == Operation::CallCreate {
                    assert!(self.open.insert(client), "two objects open");
                }
                self.objects.insert(key);
                self.directories.contains(&directory)
            }
            Operation::CallOpen => {
                let is_there = self.objects.contains(&key);
                assert!(!is_there || self.open.insert(client), "two objects open");
                is_there
            }
            Operation::Delete | Operation::CallUnlink => self.objects.remove(&key),
            Operation::CallClose | Operation::CallCloseWritten => self.open.remove(&client),
            Operation::CallRead | Operation::CallWrite | Operation::CallFsync => self.open.contains(&client),
            Operation::Rename | Operation::CallRename => {
                self.objects.remove(&key) && self.objects.insert(request.other)
            }
            Operation::List | Operation::CallReaddir => self.directories.contains(&directory),
            Operation::StreamWrite | Operation::StreamFsync | Operation::StreamRead => true,
            operation if operation >= Operation::TaskList => true,
            _ => self.objects.contains(&key),
        };
        if is_done { Completion::ok(request.bytes) } else { Completion::failed(NOT_FOUND) }
    }
}

/// One operation as it was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    pub request: Request,
    pub is_ok: bool,
    pub start: MonotonicTime,
    pub end: MonotonicTime,
    pub intended: Option<MonotonicTime>,
}

/// What a client did besides operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Executed(Executed),
    Began(u16),
    Agreed,
    Ended,
}

enum Standing {
    Working,
    Waiting,
    Finished,
    GivenUp,
}

/// What a task takes.
#[derive(Debug, Clone, Copy)]
pub enum TaskCost {
    /// So many files, this long each to make and to remove.
    Files { count: u64, making: Nanoseconds, removing: Nanoseconds },
    /// This long.
    Whole(Nanoseconds),
}

/// Whether the clients work in the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    Shared,
    /// Each in its own: objects of rank 0 belong to the client that asks.
    Own,
}

/// The clients of a run and what they did.
pub struct Company {
    pub world: World,
    pub now: MonotonicTime,
    pub deeds: Vec<Vec<Deed>>,
    clients: Vec<Box<dyn Client>>,
    standing: Vec<Standing>,
    meetings: Vec<u32>,
    /// Operations by client.
    counts: Vec<u64>,
    arrived: BTreeMap<u32, Vec<Option<u64>>>,
    random: u64,
    /// How often each client is chosen, relative to the others.
    pub speeds: Vec<u64>,
    /// Operations after which a client hangs for ever.
    pub hangs_after: BTreeMap<usize, u64>,
    /// What an operation takes.
    pub duration: fn(u32, &Request) -> Nanoseconds,
    pub places: Places,
    /// What a client's task takes per file, or in all; and what removing a file takes. Tasks end when they are told to.
    pub tasks: fn(u32, &Request) -> Option<TaskCost>,
    files: BTreeMap<usize, u64>,
    /// Which operations fail, whatever the world says: 0 to 1.
    pub fails: fn(u32, &Request) -> bool,
    /// Which operations are cut off at their deadline, after they had their effect.
    pub is_cut_off: fn(u32, &Request) -> bool,
}

impl Company {
    pub fn new(clients: Vec<Box<dyn Client>>, seed: u64) -> Self {
        let count = clients.len();
        Self {
            world: World::default(),
            now: MonotonicTime(1_000),
            deeds: vec![vec![]; count],
            clients,
            standing: (0..count).map(|_| Standing::Working).collect(),
            meetings: vec![0; count],
            counts: vec![0; count],
            arrived: BTreeMap::new(),
            random: seed,
            speeds: vec![1; count],
            hangs_after: BTreeMap::new(),
            duration: |_, _| Nanoseconds(10),
            places: Places::Shared,
            tasks: |_, _| None,
            files: BTreeMap::new(),
            fails: |_, _| false,
            is_cut_off: |_, _| false,
        }
    }

    pub fn with_world(mut self, world: World) -> Self {
        self.world = world;
        self
    }

    /// Until everybody has finished or hangs.
    pub fn run(&mut self) {
        while let Some(client) = self.choose() {
            self.step(client);
        }
    }

    pub fn executed(&self, client: usize) -> Vec<Executed> {
        self.deeds[client]
            .iter()
            .filter_map(|deed| if let Deed::Executed(executed) = deed { Some(*executed) } else { None })
            .collect()
    }

    pub fn failures(&self) -> Vec<(usize, Request)> {
        (0..self.deeds.len())
            .flat_map(|client| {
                let failed = self.executed(client).into_iter().filter(|executed| !executed.is_ok);
                failed.map(move |executed| (client, executed.request))
            })
            .collect()
    }

    fn choose(&mut self) -> Option<usize> {
        let weight = |standing: &Standing, speed: &u64| {
            if matches!(standing, Standing::Working) { *speed } else { 0 }
        };
        let weights: Vec<_> = self.standing.iter().zip(&self.speeds).map(|(s, w)| weight(s, w)).collect();
        let total: u64 = weights.iter().sum();
        if total == 0 {
            return None;
        }
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut ticket = (self.random >> 33) % total;
        weights.iter().position(|weight| {
            let is_chosen = ticket < *weight;
            ticket = ticket.saturating_sub(*weight);
            is_chosen
        })
    }

    fn step(&mut self, index: usize) {
        match self.clients[index].next(self.now) {
            Step::Execute { request, intended } => self.execute(index, request, intended),
            Step::Pause { until } => self.now = self.now.max(until),
            Step::Begin { stage, value } => self.arrive(index, value, Deed::Began(stage.0)),
            Step::Agree { value } => self.arrive(index, value, Deed::Agreed),
            Step::Enter { .. } => unreachable!("clients of a company enter no stage by themselves"),
            Step::Note(_) => unreachable!("clients that meet note nothing"),
            Step::End | Step::TimeOut { .. } => self.deeds[index].push(Deed::Ended),
            Step::Finished => self.standing[index] = Standing::Finished,
        }
    }

    fn execute(&mut self, index: usize, request: Request, intended: Option<MonotonicTime>) {
        if self.hangs_after.get(&index) == Some(&self.counts[index]) {
            self.standing[index] = Standing::GivenUp;
            self.open_meetings();
            return;
        }
        if let Some(cost) = (self.tasks)(index as u32, &request) {
            return self.execute_task(index, request, cost);
        }
        let start = self.now.max(intended.unwrap_or_default());
        let end = start.after((self.duration)(index as u32, &request));
        self.now = end;
        let completion = if (self.fails)(index as u32, &request) {
            Completion::failed(FailureCode(5))
        } else {
            let mut there = request;
            if self.places == Places::Own {
                (there.key.rank, there.other.rank) = (index as u32, index as u32);
            }
            let answer = self.world.execute(index as u32, &there);
            if (self.is_cut_off)(index as u32, &request) {
                Completion::failed(FailureCode::DEADLINE)
            } else {
                answer
            }
        };
        self.complete(index, request, Done { completion, start, end }, intended);
    }

    fn execute_task(&mut self, index: usize, request: Request, cost: TaskCost) {
        let (start, took, completion) = match cost {
            TaskCost::Whole(took) => (self.now, took, Completion::ok(0)),
            TaskCost::Files { count, making, removing } => {
                let there = self.files.get(&index).copied().unwrap_or(0);
                let start = self.now.after(Nanoseconds(there * removing.0));
                // One that is under way is finished.
                let made = count.min(request.until().since(start).0.div_ceil(making.0));
                self.files.insert(index, made);
                let bytes = made * iolag_workload::CREATED_FILE_BYTES;
                let completion =
                    if made < count { Completion::interrupted(bytes) } else { Completion::ok(bytes) };
                (start, Nanoseconds(made * making.0), completion)
            }
        };
        let left = request.until().since(start);
        let (took, completion) = match cost {
            TaskCost::Whole(_) if took > left => (left, Completion::interrupted(0)),
            _ => (took, completion),
        };
        self.now = start.after(took);
        self.complete(index, request, Done { completion, start, end: self.now }, None);
    }

    /// Files that the last create task of a client has left.
    pub fn files_left(&self, client: usize) -> u64 {
        self.files.get(&client).copied().unwrap_or(0)
    }

    fn complete(&mut self, index: usize, request: Request, done: Done, intended: Option<MonotonicTime>) {
        let Done { completion, start, end } = done;
        let is_ok = completion.is_ok();
        self.counts[index] += 1;
        self.deeds[index].push(Deed::Executed(Executed { request, is_ok, start, end, intended }));
        self.clients[index].completed(&request, &done);
    }

    fn arrive(&mut self, index: usize, value: u64, deed: Deed) {
        self.deeds[index].push(deed);
        self.meetings[index] += 1;
        let count = self.clients.len();
        let number = self.meetings[index];
        self.arrived.entry(number).or_insert_with(|| vec![None; count])[index] = Some(value);
        self.standing[index] = Standing::Waiting;
        self.open_meetings();
    }

    fn open_meetings(&mut self) {
        let Some((number, values)) = self.arrived.first_key_value().map(|(n, v)| (*n, v.clone())) else {
            return;
        };
        let is_missing =
            |index: usize| values[index].is_none() && !matches!(self.standing[index], Standing::GivenUp);
        if (0..values.len()).any(is_missing) {
            return;
        }
        self.arrived.remove(&number);
        for index in 0..values.len() {
            if matches!(self.standing[index], Standing::Waiting) {
                self.standing[index] = Standing::Working;
                let meeting =
                    Meeting { values: values.clone().into(), begin: self.now, waiting: Waiting::Asleep };
                self.clients[index].met(&meeting, self.now);
            }
        }
    }
}
