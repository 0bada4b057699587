//! Where the clients of a bench run.

use std::ops::Range;
use std::sync::Arc;

use iolag_backend::{
    AsyncOpening, Backend, BackendError, CacheMaker, Copying, InTree, OtherPlace, Session, SessionOpening,
    SessionOptions, TagTable, Target, Tree, expecting_absence_in,
};
use iolag_keeper::{Exchange, SharedRecorder};
use iolag_model::{
    CacheState, ClientId, Connections, Durability, MonotonicClock, Role, RunSpec, StageRecord, StreamIo,
    Verification,
};
use iolag_trace::Repetition;
use iolag_workload::{
    CachesClient, Client, ClientLoop, DriveEnd, DriveOptions, IfNotOpen, Job, LoadClient, Opened,
    PayloadAsker, PayloadSession, Workers, run_async_clients, run_threads, workload,
};

use crate::placed::Placed;

/// A target that is ready to be measured.
pub(super) struct Floor<'a> {
    /// The run's spec.
    pub spec: &'a RunSpec,
    /// The stages.
    pub stages: &'a Arc<[StageRecord]>,
    /// Where an earlier run on the same working set left each client.
    pub positions: Option<&'a [u64]>,
    /// Its sessions.
    pub backend: &'a Arc<dyn Backend>,
    /// Where samples go.
    pub exchange: &'a Exchange,
    /// The clients that run here.
    pub clients: Range<u32>,
    /// Where copies are made, if not here.
    pub copy_to: Option<Arc<dyn OtherPlace>>,
    /// Who makes caches cold or warm for the first of them, where that is asked for.
    pub caches: Option<Arc<dyn CacheMaker>>,
    /// What they say where by.
    pub tags: Arc<TagTable>,
    /// The target.
    pub target: &'a Target,
    /// The working place, if the run has one.
    pub place: &'a Placed,
    /// What a replay asks.
    pub repetition: Option<&'a Repetition>,
    /// Which repetition of its campaign the run is, from 0.
    pub place_of_repetition: u32,
    /// Who runs the payload of a copy, if it has one.
    pub payload: Option<PayloadAsker>,
}

/// What the sessions of a bench are told, and what is made of each.
pub(super) struct Sessions {
    pub durability: Durability,
    pub verification: Verification,
    pub stream_io: StreamIo,
    pub compressible_percent: u32,
    pub connections: Connections,
    /// How the file of a stream is copied, where that is done.
    pub copying: Option<Copying>,
    /// How many requests each has in flight, if it has a queue.
    pub lanes: Option<u32>,
    /// The tree that is read, if it is one.
    pub tree: Option<Arc<Tree>>,
    pub through: fn(Box<dyn Session>) -> Box<dyn Session>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            durability: Durability::Default,
            verification: Verification::Length,
            stream_io: StreamIo::Buffered,
            compressible_percent: 0,
            connections: Connections::Reused,
            copying: None,
            lanes: None,
            tree: None,
            through: |session| session,
        }
    }
}

impl Floor<'_> {
    /// Runs a client of each rank, all to their ends: as a thread, or as a task where a server is waited for. Whether one was stopped.
    pub fn run<K: Client + 'static>(
        &self,
        sessions: &Sessions,
        client: impl Fn(u32) -> K,
    ) -> Result<DriveEnd, String> {
        match &self.spec.bystander {
            None => self.run_with_caches(sessions, client),
            Some(bystander) => self.run_with_caches(sessions, |rank| {
                let (stages, course) = (Arc::clone(self.stages), self.exchange.clone());
                LoadClient::new(client(rank), stages, course, bystander.quiet_ns)
            }),
        }
    }

    fn run_with_caches<K: Client + 'static>(
        &self,
        sessions: &Sessions,
        client: impl Fn(u32) -> K,
    ) -> Result<DriveEnd, String> {
        match self.spec.caches {
            CacheState::Asis => self.run_clients(sessions, client),
            caches => self.run_clients(sessions, |rank| {
                CachesClient::new(client(rank), rank, caches, Arc::clone(self.stages))
            }),
        }
    }

    fn run_clients<K: Client + 'static>(
        &self,
        sessions: &Sessions,
        client: impl Fn(u32) -> K,
    ) -> Result<DriveEnd, String> {
        let semantics = self.backend.capabilities().semantics;
        let ends = match semantics.opening {
            SessionOpening::Asynchronous { at_once } if self.target.is_server() => {
                let workers = Workers {
                    threads: std::thread::available_parallelism().map_or(1, usize::from),
                    opening_at_once: at_once as usize,
                };
                let open = |rank| self.opening(self.session_options(rank, sessions));
                let jobs = self.jobs(client, open);
                run_async_clients(jobs, workers, &self.exchange.coordinator(), &MonotonicClock)
                    .map_err(|error| format!("the threads of the clients could not be made: {error}"))?
            }
            _ => {
                let open = |rank| {
                    let options = self.session_options(rank, sessions);
                    move || self.open(sessions, &options)
                };
                let jobs = self.jobs(client, open);
                run_threads(jobs, semantics.descriptors, &self.exchange.coordinator(), &MonotonicClock)
            }
        };
        let mut all = DriveEnd::Finished;
        for end in ends {
            match end.map_err(|error| error.to_string())? {
                DriveEnd::Finished => {}
                DriveEnd::Stopped if all == DriveEnd::AtError => {}
                ended => all = ended,
            }
        }
        Ok(all)
    }

    fn jobs<K: Client, O>(
        &self,
        client: impl Fn(u32) -> K,
        open: impl Fn(u32) -> O,
    ) -> Vec<Job<SharedRecorder, K, O>> {
        let job = |rank| {
            let deadlines = self.spec.deadlines_of(Role::Load);
            let drive = DriveOptions { client: ClientId(rank), rank, deadlines };
            Job {
                client: ClientLoop::new(client(rank), self.exchange.recorder(rank), drive)
                    .at_error(self.spec.on_error),
                open: open(rank),
                if_not_open: IfNotOpen::StopAll,
            }
        };
        self.clients.clone().map(job).collect()
    }

    /// How a task opens its session, as often as it has to.
    fn opening(&self, options: SessionOptions) -> impl Fn() -> AsyncOpening<'static> + Send + use<> {
        let backend = Arc::clone(self.backend);
        move || {
            let (backend, options) = (Arc::clone(&backend), options.clone());
            Box::pin(async move {
                let opening = backend.open_async_session(&options);
                opening.expect("a backend that declares this form has it always").await
            })
        }
    }

    fn open(&self, sessions: &Sessions, options: &SessionOptions) -> Result<Opened, BackendError> {
        let Some(lanes) = sessions.lanes else {
            let session = self.backend.open_session(options)?;
            return Ok(Opened::Session(match &self.payload {
                // That of a set-up. Only where there is a payload something stands between its calls and the clock: a comparison.
                Some(asker) => expecting_absence_in(PayloadSession::new(session, asker.clone())),
                None => (sessions.through)(session),
            }));
        };
        let opened = self
            .backend
            .open_lanes(options, lanes)
            .unwrap_or_else(|| Err(BackendError::NoQueue { target: self.backend.describe().target }));
        opened.map(|session| Opened::Lanes { session, lanes })
    }

    fn session_options(&self, rank: u32, sessions: &Sessions) -> SessionOptions {
        let bytes_max = workload(&self.spec.workload).object_bytes();
        SessionOptions {
            durability: sessions.durability,
            verification: sessions.verification,
            stream_io: sessions.stream_io,
            compressible_percent: sessions.compressible_percent,
            connections: sessions.connections,
            copying: sessions.copying.clone(),
            caches: self.caches.clone(),
            tree: sessions.tree.clone().map(InTree::Reads),
            tags: Some(Arc::clone(&self.tags)),
            repetition: self.place_of_repetition,
            ..SessionOptions::new(ClientId(rank), rank, self.spec.seed, bytes_max)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_backend::{
        Capabilities, Description, Inventory, Leftover, Place, Request, Target, WORKING_NAME,
    };
    use iolag_model::{MonotonicTime, Nanoseconds, OnError, OnHang, PlaceMaker, TagKind};
    use iolag_workload::{Done, MetadataOptions, Step};
    use std::sync::Mutex;

    /// Notes the tags that its sessions get.
    struct Behind {
        inner: Box<dyn Backend>,
        tags: Mutex<Vec<u16>>,
    }

    impl Backend for Behind {
        fn describe(&self) -> Description {
            self.inner.describe()
        }

        fn capabilities(&self) -> Capabilities {
            self.inner.capabilities()
        }

        fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
            self.inner.create_place(maker)
        }

        fn reopen_place(&self) -> Result<Place, BackendError> {
            self.inner.reopen_place()
        }

        fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
            self.tags.lock().unwrap().push(options.tag(TagKind::Server, "the only one"));
            self.inner.open_session(options)
        }

        fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
            self.inner.inventory(rank, dataset)
        }

        fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
            self.inner.remove_place()
        }
    }

    /// Asks nothing.
    struct Idle;

    impl Client for Idle {
        fn next(&mut self, _now: MonotonicTime) -> Step {
            Step::Finished
        }

        fn completed(&mut self, _request: &Request, _done: &Done) {}
    }

    #[test]
    fn sessions_of_a_bench_get_the_tags_of_the_run() {
        let target = Target::parse("memory:").unwrap();
        let inner = target.backend(WORKING_NAME, Arc::new(MonotonicClock)).unwrap();
        inner.create_place(&iolag_backend::conformance::maker()).unwrap();
        let behind = Arc::new(Behind { inner, tags: Mutex::default() });
        let backend: Arc<dyn Backend> = Arc::clone(&behind) as _;
        let metadata = MetadataOptions { precreated_objects: vec![1000], ..MetadataOptions::default() };
        let spec = RunSpec {
            workload: metadata.workload(metadata.variants()[0].1, 2).unwrap(),
            targets: vec![target.to_string()],
            clients: 2,
            deadline_ns: Nanoseconds::from_seconds(60),
            deadlines: Vec::new(),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            seed: 1,
            ring_bytes: 1 << 20,
            caches: CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        let placed = Placed {
            target: 0,
            path: target.to_string(),
            name: WORKING_NAME.into(),
            identity: None,
            token: None,
            file_system: None,
        };
        let floor = Floor {
            spec: &spec,
            stages: &Arc::from([]),
            positions: None,
            backend: &backend,
            exchange: &Exchange::new(2, 1 << 20).unwrap(),
            clients: 0..2,
            copy_to: None,
            caches: None,
            tags: Arc::new(TagTable::new(|_, _| Some(7))),
            target: &target,
            place: &placed,
            repetition: None,
            place_of_repetition: 0,
            payload: None,
        };
        let driven = floor.run(&Sessions::default(), |_| Idle);
        assert_eq!((driven, behind.tags.lock().unwrap().clone()), (Ok(DriveEnd::Finished), vec![7, 7]));
    }
}
