//! Objects of a web server, by HTTP: names from a table, read to the end into blocks that a worker's sessions share, with the server
//! as tag, connecting and the first byte as marks, and the server's status as the reason of a failure.
//!
//! A toy: no TLS, no redirects, no chunks. What stands between the two readings of the clock allocates nothing.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use iolag_backend::{
    AsyncExecution, AsyncOpening, AsyncSession, BackendError, Blocks, Completion, Descriptors, Mark,
    NameTable, ObjectKey, Request, TagTable,
};
use iolag_keeper::{Exchange, Room};
use iolag_model::{
    ClientId, Clock, ErrorClass, FailureCode, MonotonicClock, MonotonicTime, Nanoseconds, Operation, Outcome,
    Sample, TagKind,
};
use iolag_workload::{
    Client, ClientLoop, Done, DriveEnd, DriveOptions, IfNotOpen, Job, Step, Workers, run_async_clients,
};
use tokio::net::TcpStream;

/// What is asked of the server, in this order; it is busy when it is first asked for that.
const NAMES: [&str; 4] = ["small", "large", "missing", "busy"];
const LARGE: usize = 3 << 20;
const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(60);

struct Http {
    stream: TcpStream,
    names: Arc<NameTable>,
    blocks: Blocks,
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
    let Common { server, names, blocks, tags } = common;
    let start = MonotonicClock.now();
    let stream = TcpStream::connect(server).await.map_err(|error| BackendError::Failed {
        action: "connect to",
        path: server.to_string(),
        class: ErrorClass::Connection,
        code: FailureCode::from_errno(error.raw_os_error().unwrap_or(0)),
    })?;
    let duration = MonotonicClock.now().since(start);
    let mut marks = Vec::with_capacity(1);
    marks.push(Mark { operation: Operation::CallConnect, start, duration });
    let (asked, head) = (Vec::with_capacity(256), vec![0; 4096]);
    let server = tags.tag(TagKind::Server, &server.to_string());
    Ok(Box::new(Http { stream, names, blocks, asked, head, server, marks }))
}

impl AsyncSession for Http {
    fn prepare(&mut self, request: &Request) {
        self.marks.clear();
        self.asked.clear();
        let name = self.names.name_of(request.key).unwrap_or_default();
        write!(self.asked, "GET /{name} HTTP/1.1\r\nHost: toy\r\n\r\n")
            .expect("there is always memory for that");
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async {
            let server = self.server;
            let completion = match self.get().await {
                Ok((200, bytes)) if request.bytes == Request::TO_THE_END || request.bytes == bytes => {
                    Completion::ok(bytes)
                }
                Ok((200, bytes)) => Completion::partly(bytes, FailureCode::SHORT),
                Ok((status, bytes)) => Completion::partly(bytes, FailureCode::http(status)),
                Err(error) => Completion::failed(match error.raw_os_error() {
                    Some(errno) => FailureCode::from_errno(errno),
                    None => FailureCode::PROTOCOL,
                }),
            };
            completion.tagged(server)
        })
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }
}

impl Http {
    /// Status and bytes of the body.
    async fn get(&mut self) -> io::Result<(u16, u64)> {
        let mut sent = 0;
        while sent < self.asked.len() {
            self.stream.writable().await?;
            sent += or_later(self.stream.try_write(&self.asked[sent..]))?;
        }
        let start = MonotonicClock.now();
        let mut known = 0;
        let (status, head, length) = loop {
            self.stream.readable().await?;
            known += or_later(self.stream.try_read(&mut self.head[known..]))?;
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
            self.stream.readable().await?;
            bytes += or_later(self.blocks.read_into(|block| self.stream.try_read(block)))? as u64;
        }
        Ok((status, bytes))
    }
}

/// A socket may turn out not to be ready after all; one that is at its end in the middle of an answer is gone.
fn or_later(moved: io::Result<usize>) -> io::Result<usize> {
    match moved {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        moved => moved,
    }
}

/// Status, length of the head and of the body, if the head is whole.
fn parse(bytes: &[u8]) -> io::Result<Option<(u16, usize, u64)>> {
    let mut headers = [httparse::EMPTY_HEADER; 8];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| str::from_utf8(header.value).ok()?.parse().ok());
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

/// A server with these objects, on a thread for each connection.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback has a free port");
    let server = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || answer(&stream))));
    });
    server
}

fn answer(mut stream: &std::net::TcpStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let mut is_busy = true;
    while let Some(line) = lines.next() {
        let line = line?;
        let large = vec![7; LARGE];
        let (status, body): (&str, &[u8]) = match line.split(' ').nth(1) {
            Some("/small") => ("200 OK", b"abc"),
            Some("/large") => ("200 OK", &large),
            Some("/busy") if std::mem::take(&mut is_busy) => ("503 Slow Down", b"later"),
            Some("/busy") => ("200 OK", b""),
            _ => ("404 Not Found", b"no"),
        };
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len())?;
        stream.write_all(body)?;
    }
    Ok(())
}

#[test]
fn objects_of_a_server_are_read_by_name_to_the_end_and_samples_say_where_and_why() {
    const CLIENTS: u32 = 3;
    let mut names = NameTable::default();
    NAMES.iter().for_each(|name| drop(names.push(name)));
    let tags = Arc::new(TagTable::default());
    let common = Common {
        server: serve(),
        names: Arc::new(names),
        blocks: Blocks::new(1, ClientId(0), 64 << 10),
        tags: Arc::clone(&tags),
    };
    let room = Room { clients: CLIENTS, lanes: 1, ring_bytes: 1 << 20, samples_per_client: None };
    let exchange = Exchange::with_room(room).unwrap();
    let job = |rank| {
        let options = DriveOptions { client: ClientId(rank), rank, deadlines: DEADLINE.into() };
        let common = common.clone();
        let open = move || -> AsyncOpening<'static> { Box::pin(open(common.clone())) };
        let client = ClientLoop::new(Gets { next: 0 }, exchange.recorder(rank), options);
        Job { client, open, if_not_open: IfNotOpen::StopAll }
    };
    let workers = Workers { threads: 1, opening_at_once: 2, descriptors: Descriptors::Shared };
    let jobs = (0..CLIENTS).map(job).collect();
    let ends = run_async_clients(jobs, workers, &exchange.coordinator(), &MonotonicClock).unwrap();
    assert!(ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))), "{ends:?}");
    assert_eq!(tags.records()[0].name, common.server.to_string());
    for (ring, _) in exchange.readers().iter().take(CLIENTS as usize) {
        let samples = ring.all_pending().concat();
        let told =
            |sample: &Sample| (sample.operation(), sample.outcome(), sample.code, sample.bytes, sample.tag);
        let none = FailureCode::NONE;
        let first_byte = (Operation::CallFirstByte, Outcome::Ok, none, 0, 1);
        let get = |outcome, code, bytes| (Operation::Read, outcome, code, bytes, 1);
        let expected = [
            (Operation::OpenSession, Outcome::Ok, none, 0, 0),
            (Operation::CallConnect, Outcome::Ok, none, 0, 0),
            get(Outcome::Ok, none, 3),
            first_byte,
            get(Outcome::Ok, none, LARGE as u64),
            first_byte,
            get(Outcome::Error, FailureCode::http(404), 2),
            first_byte,
            get(Outcome::Retried, FailureCode::http(503), 5),
            first_byte,
            get(Outcome::Ok, none, 0),
            first_byte,
        ];
        assert_eq!(samples.iter().map(told).collect::<Vec<_>>(), expected);
        assert!(samples.windows(2).all(|pair| {
            let [request, mark] = pair else { return false };
            let end = |sample: &Sample| sample.start.after(sample.duration);
            mark.operation() != Operation::CallFirstByte
                || (mark.start >= request.start && end(mark) <= end(request))
        }));
    }
}
