//! One client of a web server.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request as HttpRequest};
use iolag_model::{FailureCode, Mark, Operation};

use super::answer::Answer;
use super::listing;
use super::payload::Payload;
use super::speaker::{Speaker, complaint, keep};
use crate::content::Buffers;
use crate::servers::{ServerTag, dataset_name, encoded, object_name};
use crate::{
    AsyncExecution, AsyncSession, BackendError, Completion, NameTable, ObjectKey, Request, SessionOptions,
};

const NOT_SUPPORTED: FailureCode = FailureCode::from_errno(libc::EOPNOTSUPP);
const NOT_FOUND: FailureCode = FailureCode::from_errno(libc::ENOENT);
const EXISTS: FailureCode = FailureCode::from_errno(libc::EEXIST);

/// Where things are, encoded.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    /// What named objects are below of.
    pub(super) target: String,
    /// The URL itself, with what is asked of it: the object whose name is empty.
    pub(super) whole: String,
    /// The working collection; `None` for a client that asks for named objects only.
    pub(super) place: Option<String>,
    /// What stands in front of a path where a whole URL is asked for.
    pub(super) origin: String,
}

/// A client.
pub(super) struct WebSession {
    speaker: Speaker,
    paths: Paths,
    names: Option<Arc<NameTable>>,
    tag: ServerTag<SocketAddr>,
    buffers: Buffers,
    /// What is sent again and again where content is not compared.
    noise: Bytes,
    prepared: Result<HttpRequest<Payload>, FailureCode>,
    size_bytes: u64,
    /// A listing, or what came instead of a success.
    kept: Vec<u8>,
}

impl WebSession {
    pub(super) fn new(
        speaker: Speaker,
        paths: Paths,
        options: &SessionOptions,
    ) -> Result<Self, BackendError> {
        let buffers = Buffers::new(options)?;
        let noise = match buffers.are_compared() {
            true => Bytes::new(),
            false => Bytes::copy_from_slice(&buffers.written),
        };
        Ok(Self {
            speaker,
            paths,
            names: options.names.clone(),
            tag: ServerTag::new(options.tags.clone()),
            buffers,
            noise,
            prepared: Err(NOT_SUPPORTED),
            size_bytes: 0,
            kept: Vec::new(),
        })
    }

    fn object(&self, key: ObjectKey) -> Result<String, FailureCode> {
        match (key.name_index(), &self.names, &self.paths.place) {
            (None, _, Some(place)) => Ok(format!("{place}/{}", object_name(key))),
            (Some(index), Some(names), _) => match names.get(index).ok_or(NOT_FOUND)? {
                "" => Ok(self.paths.whole.clone()),
                name => Ok(format!("{}/{}", self.paths.target, encoded(name))),
            },
            _ => Err(NOT_FOUND),
        }
    }

    fn collection(&self, key: ObjectKey) -> Result<String, FailureCode> {
        let place = self.paths.place.as_ref().ok_or(NOT_FOUND)?;
        Ok(format!("{place}/{}/", dataset_name(key)))
    }

    fn payload(&mut self, request: &Request) -> Payload {
        if !self.buffers.are_compared() {
            return Payload::new(self.noise.clone(), request.bytes);
        }
        self.buffers.prepare_write(request.key, 0, request.bytes);
        let length = self.buffers.written.len().min(request.bytes as usize);
        Bytes::copy_from_slice(&self.buffers.written[..length]).into()
    }

    fn make(&mut self, request: &Request) -> Result<HttpRequest<Payload>, FailureCode> {
        let none = Payload::default;
        let (method, path, headers, payload) = match request.operation {
            Operation::Stat => (Method::HEAD, self.object(request.key)?, vec![], none()),
            Operation::Read => {
                self.buffers.prepare_read(request.bytes);
                (Method::GET, self.object(request.key)?, vec![], none())
            }
            Operation::Create => (Method::PUT, self.object(request.key)?, vec![], self.payload(request)),
            Operation::Delete => (Method::DELETE, self.object(request.key)?, vec![], none()),
            Operation::Rename => {
                let to = format!("{}{}", self.paths.origin, self.object(request.other)?);
                let to = HeaderValue::from_str(&to).map_err(|_| NOT_SUPPORTED)?;
                let headers = vec![(HeaderName::from_static("destination"), to)];
                (extension("MOVE"), self.object(request.key)?, headers, none())
            }
            Operation::List => {
                let (headers, payload) = listing::asked();
                (extension("PROPFIND"), self.collection(request.key)?, headers, payload)
            }
            Operation::MakeDirectory => (extension("MKCOL"), self.collection(request.key)?, vec![], none()),
            Operation::RemoveDirectory => (Method::DELETE, self.collection(request.key)?, vec![], none()),
            _ => return Err(NOT_SUPPORTED),
        };
        self.speaker.request(method, &path, &headers, payload).ok_or(NOT_SUPPORTED)
    }

    async fn run(&mut self, request: &Request) -> Completion {
        let asked = match std::mem::replace(&mut self.prepared, Err(NOT_SUPPORTED)) {
            Ok(asked) => asked,
            Err(code) => return Completion::failed(code),
        };
        let (mut moved, is_listed) = (0, request.operation == Operation::List);
        let Self { speaker, buffers, kept, .. } = self;
        let mut sink = |answer: &Answer, bytes: &[u8]| {
            if is_listed || !answer.is_success() {
                keep(kept, answer, bytes);
            } else if buffers.are_compared() {
                let end = (moved + bytes.len()).min(buffers.read.len());
                let begin = moved.min(end);
                buffers.read[begin..end].copy_from_slice(&bytes[..end - begin]);
            }
            moved += bytes.len();
        };
        match speaker.connection.ask(asked, &mut sink).await {
            Ok(answer) => self.completion(request, &answer),
            Err(code) => Completion::partly(if is_listed { 0 } else { moved as u64 }, code),
        }
    }

    fn completion(&mut self, request: &Request, answer: &Answer) -> Completion {
        self.note_server_time(answer);
        self.size_bytes = answer.length().unwrap_or(u64::MAX);
        if !answer.is_success() {
            self.speaker.connection.say(complaint(answer, &self.kept));
            return Completion::failed(code_of(request.operation, answer));
        }
        match request.operation {
            Operation::Read if answer.bytes < request.bytes => {
                Completion::at_the_end(answer.bytes, request.bytes)
            }
            Operation::Read | Operation::Create => Completion::ok(request.bytes),
            _ => Completion::ok(0),
        }
    }

    /// Where the server tells it, and it is a part of the wait for its answer.
    fn note_server_time(&mut self, answer: &Answer) {
        let first_byte =
            self.speaker.connection.marks().last().filter(|mark| mark.operation == Operation::CallFirstByte);
        if let (Some(waited), Some(told)) = (first_byte, answer.server_time())
            && told <= waited.duration
        {
            let mark = Mark { operation: Operation::CallServer, start: waited.start, duration: told };
            self.speaker.connection.note(mark);
        }
    }
}

/// What a status says of a collection is not what it says of an object.
fn code_of(operation: Operation, answer: &Answer) -> FailureCode {
    match (operation, answer.status) {
        // RFC 4918, 9.3.1 and 9.7.1: there is something already; and there is no collection to make it in.
        (Operation::MakeDirectory, 405) => EXISTS,
        (Operation::MakeDirectory | Operation::Create | Operation::Rename, 409) => NOT_FOUND,
        _ => answer.code(),
    }
}

fn extension(method: &'static str) -> Method {
    Method::from_bytes(method.as_bytes()).expect("a method is a word of capitals")
}

impl AsyncSession for WebSession {
    fn prepare(&mut self, request: &Request) {
        self.speaker.connection.begin();
        self.kept.clear();
        self.prepared = self.make(request);
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(self.run(request))
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        let tag = self.tag.of(self.speaker.connection.peer());
        let completion = match request.operation {
            Operation::List if completion.is_ok() => match listing::count(&self.kept) {
                Some(members) => Completion::ok(members),
                None => Completion::failed(FailureCode::PROTOCOL),
            },
            _ => self.buffers.inspect(request, completion, self.size_bytes),
        };
        completion.tagged(tag)
    }

    fn message(&mut self) -> Option<String> {
        self.speaker.connection.take_message()
    }

    fn marks(&self) -> &[Mark] {
        self.speaker.connection.marks()
    }
}
