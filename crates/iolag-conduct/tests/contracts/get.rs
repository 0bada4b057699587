//! Objects of a web server, by HTTP: names from a table, read to the end into blocks that a worker's sessions share, with the server
//! as tag, connecting and the first byte as marks, and the server's status as the reason of a failure. A toy: no TLS, no redirects.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use iolag_backend::{
    AsyncExecution, AsyncOpening, AsyncSession, BackendError, Blocks, Completion, Mark, NameTable, ObjectKey,
    Request, TagTable,
};
use iolag_conduct::tags_of_run;
use iolag_keeper::Exchange;
use iolag_model::{
    ClientId, Clock, ErrorClass, FailureCode, MonotonicClock, MonotonicTime, Operation, Outcome, Sample,
    TagKind,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveOptions, IfNotOpen, Job, Step, Workers, run_async_clients,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

use crate::DEADLINE;
use crate::server::{LARGE, serve};

/// What is asked of the server, in this order; it is busy when it is first asked for that.
const NAMES: [&str; 4] = ["small", "large", "missing", "busy"];

struct Http {
    stream: TcpStream,
    common: Common,
    asked: Vec<u8>,
    head: Vec<u8>,
    server: u16,
    marks: Vec<Mark>,
}

/// What sessions have in common.
#[derive(Clone)]
struct Common {
    server: SocketAddr,
    names: Arc<NameTable>,
    blocks: Blocks,
    tags: Arc<TagTable>,
}

async fn open(common: Common) -> Result<Box<dyn AsyncSession>, BackendError> {
    let start = MonotonicClock.now();
    let stream = TcpStream::connect(common.server).await.map_err(|error| BackendError::Failed {
        action: "connect to",
        path: common.server.to_string(),
        class: ErrorClass::Connection,
        code: code_of(&error),
    })?;
    let duration = MonotonicClock.now().since(start);
    let marks = vec![Mark { operation: Operation::CallConnect, start, duration }];
    let (asked, head) = (Vec::with_capacity(256), vec![0; 4096]);
    let server = common.tags.tag(TagKind::Server, &common.server.to_string());
    Ok(Box::new(Http { stream, common, asked, head, server, marks }))
}

impl AsyncSession for Http {
    fn prepare(&mut self, request: &Request) {
        self.marks.clear();
        self.asked.clear();
        let name = self.common.names.name_of(request.key).unwrap_or_default();
        write!(self.asked, "GET /{name} HTTP/1.1\r\nHost: toy\r\n\r\n")
            .expect("there is always memory for that");
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            let completion = match self.get().await {
                Ok((200, bytes)) if request.bytes.min(bytes) == bytes => Completion::ok(bytes),
                Ok((200, bytes)) => Completion::partly(bytes, FailureCode::PROTOCOL),
                Ok((status, bytes)) => Completion::partly(bytes, FailureCode::http(status)),
                Err(error) => Completion::failed(code_of(&error)),
            };
            completion.tagged(self.server)
        })
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }
}

impl Http {
    /// Status and bytes of the body.
    async fn get(&mut self) -> io::Result<(u16, u64)> {
        self.stream.write_all(&self.asked).await?;
        let start = MonotonicClock.now();
        let mut known = 0;
        let (status, head, length) = loop {
            known += some(self.stream.read(&mut self.head[known..]).await)?;
            if self.marks.is_empty() {
                let duration = MonotonicClock.now().since(start);
                self.marks.push(Mark { operation: Operation::CallFirstByte, start, duration });
            }
            if let Some(told) = parse(&self.head[..known])? {
                break told;
            }
        };
        let mut bytes = (known - head) as u64;
        while bytes < length {
            let read = || self.common.blocks.read_into(|block| self.stream.try_read(block));
            bytes += some(self.stream.async_io(Interest::READABLE, read).await)? as u64;
        }
        Ok((status, bytes))
    }
}

fn code_of(error: &io::Error) -> FailureCode {
    error.raw_os_error().map_or(FailureCode::PROTOCOL, FailureCode::from_errno)
}

/// Nothing in the middle of an answer means that the server is gone.
fn some(read: io::Result<usize>) -> io::Result<usize> {
    if let Ok(0) = read { Err(io::ErrorKind::UnexpectedEof.into()) } else { read }
}

/// Status, length of the head and of the body, if the head is whole.
fn parse(bytes: &[u8]) -> io::Result<Option<(u16, usize, u64)>> {
    let mut headers = [httparse::EMPTY_HEADER; 8];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let header = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = header.and_then(|header| str::from_utf8(header.value).ok()?.parse().ok());
    Ok(response.code.zip(length).map(|(status, length)| (status, head, length)))
}

/// Asks for each name; again, as long as the server is busy.
struct Gets {
    next: u64,
}

impl Client for Gets {
    fn next(&mut self, _: MonotonicTime) -> Step {
        if self.next == NAMES.len() as u64 {
            return Step::Finished;
        }
        let request = Request::new(Operation::Read, ObjectKey::named(self.next), Request::TO_THE_END);
        Step::Execute { request, intended: None }
    }

    fn asks_again(&self, _: &Request, done: &Done) -> bool {
        done.completion.code.class() == ErrorClass::Throttled
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        self.next += u64::from(!self.asks_again(request, done));
    }
}

#[test]
fn objects_of_a_server_are_read_by_name_to_the_end_and_samples_say_where_and_why() {
    const CLIENTS: u32 = 3;
    let mut names = NameTable::default();
    assert_eq!(NAMES.map(|name| names.push(name)), [0, 1, 2, 3]);
    let (server, names, blocks) = (serve(), Arc::new(names), Blocks::new(1, ClientId(0), 64 << 10));
    let exchange = Exchange::new(CLIENTS, 1 << 20).unwrap();
    let common = Common { server, names, blocks, tags: Arc::new(tags_of_run(&exchange)) };
    let job = |rank| {
        let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
        let common = common.clone();
        let open = move || -> AsyncOpening<'static> { Box::pin(open(common.clone())) };
        let client = ClientLoop::new(Gets { next: 0 }, exchange.recorder(rank), options);
        Job { client, open, if_not_open: IfNotOpen::StopAll }
    };
    let workers = Workers { threads: 1, opening_at_once: 2 };
    let jobs = (0..CLIENTS).map(job).collect();
    run_async_clients(jobs, workers, &exchange.coordinator(), &MonotonicClock).unwrap();
    let servers: Vec<_> = exchange.tags().into_iter().map(|tag| (tag.tag, tag.name)).collect();
    assert_eq!(servers, [(1, common.server.to_string())]);
    for (ring, _) in exchange.readers().iter().take(CLIENTS as usize) {
        let samples = ring.all_pending().concat();
        assert_eq!(samples[1].operation(), Operation::CallConnect, "after the opening of the session");
        assert!(samples[2..].iter().all(|sample| sample.tag == 1), "the only server");
        let told = |sample: &Sample| (sample.operation(), sample.outcome(), sample.code.0, sample.bytes);
        let first_byte = (Operation::CallFirstByte, Outcome::Ok, 0, 0);
        let get = |outcome, code: FailureCode, bytes| (Operation::Read, outcome, code.0, bytes);
        let (none, large) = (FailureCode::NONE, LARGE as u64);
        let gets = [
            get(Outcome::Ok, none, 3),
            get(Outcome::Ok, none, large),
            get(Outcome::Error, FailureCode::http(404), 2),
            get(Outcome::Retried, FailureCode::http(503), 5),
            get(Outcome::Ok, none, 0),
        ];
        let expected: Vec<_> = gets.into_iter().flat_map(|get| [get, first_byte]).collect();
        assert_eq!(samples[2..].iter().map(told).collect::<Vec<_>>(), expected);
    }
}
