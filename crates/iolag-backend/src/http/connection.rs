//! One client's connection to a web server, opened by ourselves, so that each part of coming to an answer is known.
//!
//! Invariants: one request at a time, and nothing is asked twice, neither by a pool nor by following what a server says; the connection
//! is worked on by the task that waits for the answer and by no other. What is read goes through one buffer of fixed size.
//!
//! Limits: HTTP/1.1 only. A server that ended a kept connection while nobody looked is noticed before the next request, which then
//! connects again, within its time; if it ends just then, the request fails.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Builder, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use iolag_model::{Clock, Connections, FailureCode, Mark, MonotonicClock, Operation};
use iolag_net::{Stream, Way, code_of};

use super::answer::Answer;
use super::payload::Payload;
use crate::servers::{Driven, FirstByte, Timed};

/// As much is read at once; hyper's own way would grow to 400 KiB for each connection.
const READ_BYTES: usize = 16 << 10;

/// One client's connection.
pub(crate) struct Connection {
    way: Way,
    keeping: Connections,
    open: Option<Open>,
    marks: Vec<Mark>,
    /// About the last failure.
    message: Option<String>,
}

struct Open {
    sender: SendRequest<Payload>,
    driver: Driven<http1::Connection<TokioIo<Timed<Stream>>, Payload>>,
    first_byte: FirstByte,
    peer: Option<std::net::SocketAddr>,
    protection: Option<&'static str>,
}

/// Who takes what is read.
pub(crate) type Sink<'a> = &'a mut (dyn FnMut(&Answer, &[u8]) + Send);

impl Connection {
    pub(crate) fn new(way: Way, keeping: Connections) -> Self {
        Self { way, keeping, open: None, marks: Vec::with_capacity(iolag_model::MARKS_MAX), message: None }
    }

    /// The parts of the last opening or request.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// What is to be said of the last failure.
    pub(crate) fn take_message(&mut self) -> Option<String> {
        self.message.take()
    }

    /// Notes a part of the request.
    pub(crate) fn note(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    /// Notes what is to be said of it.
    pub(crate) fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Who is connected.
    pub(crate) fn peer(&self) -> Option<std::net::SocketAddr> {
        self.open.as_ref().and_then(|open| open.peer)
    }

    /// The version of TLS, if it is protected by that.
    pub(crate) fn protection(&self) -> Option<&'static str> {
        self.open.as_ref().and_then(|open| open.protection)
    }

    /// Forgets the parts of the request before.
    pub(crate) fn begin(&mut self) {
        self.marks.clear();
        self.message = None;
    }

    /// Connects, if it is to be kept.
    pub(crate) async fn open(&mut self) -> Result<(), FailureCode> {
        match self.keeping {
            Connections::Fresh => Ok(()),
            Connections::Reused => self.connect().await.map(drop),
        }
    }

    /// Asks, and hands on what is read. A status that is no success is an answer, too.
    pub(crate) async fn ask(
        &mut self,
        request: Request<Payload>,
        sink: Sink<'_>,
    ) -> Result<Answer, FailureCode> {
        if self.keeping == Connections::Fresh || self.has_ended().await {
            self.open = None;
        }
        let asked = self.ask_once(request, sink).await;
        if asked.is_err() || self.keeping == Connections::Fresh {
            self.open = None;
        }
        asked
    }

    async fn ask_once(&mut self, request: Request<Payload>, sink: Sink<'_>) -> Result<Answer, FailureCode> {
        let mut open = match self.open.take() {
            Some(open) => open,
            // Large, and rarely wanted: not a part of each request.
            None => Box::pin(self.connect_new()).await?,
        };
        let start = MonotonicClock.now();
        open.first_byte.forget();
        let Open { sender, driver, .. } = &mut open;
        let response = driver.wait_for(async { sender.send_request(request).await }).await;
        if let Some(first) = open.first_byte.get() {
            self.marks.push(Mark {
                operation: Operation::CallFirstByte,
                start,
                duration: first.since(start),
            });
        }
        let answer = match response {
            Some(Ok(response)) => self.read(&mut open, response, sink).await,
            Some(Err(error)) => Err(self.failed(&error, open.first_byte.get().is_some())),
            None => Err(self.ended("before it answered", FailureCode::from_errno(libc::ECONNRESET))),
        };
        self.open = Some(open);
        answer
    }

    async fn read(
        &mut self,
        open: &mut Open,
        response: Response<Incoming>,
        sink: Sink<'_>,
    ) -> Result<Answer, FailureCode> {
        let (head, mut body) = response.into_parts();
        let mut answer = Answer::of(head);
        loop {
            match open.driver.wait_for(body.frame()).await {
                Some(Some(Ok(frame))) => {
                    if let Some(bytes) = frame.data_ref() {
                        answer.bytes += bytes.len() as u64;
                        sink(&answer, bytes);
                    }
                }
                Some(Some(Err(error))) => return Err(self.failed(&error, true)),
                Some(None) => return Ok(answer),
                None => return Err(self.ended("in the middle of its answer", FailureCode::SHORT)),
            }
        }
    }

    async fn connect(&mut self) -> Result<&mut Open, FailureCode> {
        let open = self.connect_new().await?;
        Ok(self.open.insert(open))
    }

    async fn connect_new(&mut self) -> Result<Open, FailureCode> {
        let stream = match self.way.connect(&MonotonicClock, &mut self.marks).await {
            Ok(stream) => stream,
            Err(unreached) => {
                self.message = Some(unreached.said);
                return Err(unreached.code);
            }
        };
        let peer = stream.tcp().and_then(|stream| stream.peer_addr().ok());
        let protection = stream.tls_version();
        let first_byte = FirstByte::default();
        let io = TokioIo::new(Timed::new(stream, first_byte.clone()));
        let (sender, driver) = Builder::new()
            .read_buf_exact_size(Some(READ_BYTES))
            .handshake(io)
            .await
            .map_err(|error| self.failed(&error, false))?;
        Ok(Open { sender, driver: Driven::new(Box::pin(driver)), first_byte, peer, protection })
    }

    /// Whether the server has ended a kept connection.
    async fn has_ended(&mut self) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.driver.has_ended().await || open.sender.is_closed()
    }

    fn ended(&mut self, when: &str, code: FailureCode) -> FailureCode {
        self.message = Some(format!("{} ended the connection {when}", self.way));
        code
    }

    fn failed(&mut self, error: &hyper::Error, has_answered: bool) -> FailureCode {
        let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<std::io::Error>());
        if error.is_incomplete_message() || (error.is_closed() || error.is_canceled()) {
            return match has_answered {
                true => self.ended("in the middle of its answer", FailureCode::SHORT),
                false => self.ended("before it answered", FailureCode::from_errno(libc::ECONNRESET)),
            };
        }
        let code = match cause {
            Some(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof && has_answered => {
                return self.ended("in the middle of its answer", FailureCode::SHORT);
            }
            Some(cause) => code_of(cause),
            None => FailureCode::PROTOCOL,
        };
        self.message = Some(format!("{}: {}", self.way, iolag_net::error_chain(error)));
        code
    }
}
