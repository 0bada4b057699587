//! One client of a bucket.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{Method as HttpMethod, Request as HttpRequest};
use iolag_model::{FailureCode, Mark, Operation};
use rusty_s3::Method;

use super::asker::Asker;
use super::multipart::{self, PART_BYTES};
use super::signing::Signer;
use crate::content::Buffers;
use crate::http::{Answer, Payload, Speaker, keep, visit};
use crate::servers::{ServerTag, dataset_name, object_name};
use crate::{
    AsyncExecution, AsyncSession, BackendError, Completion, NameTable, ObjectKey, Request, SessionOptions,
};

const NOT_SUPPORTED: FailureCode = FailureCode::from_errno(libc::EOPNOTSUPP);
const NOT_FOUND: FailureCode = FailureCode::from_errno(libc::ENOENT);

/// A client.
pub(super) struct S3Session {
    asker: Asker,
    /// What keys of the working place begin with, and those of named objects.
    beginnings: [String; 2],
    names: Option<Arc<NameTable>>,
    tag: ServerTag<SocketAddr>,
    buffers: Buffers,
    /// What is sent.
    body: Bytes,
    prepared: Result<Prepared, FailureCode>,
    size_bytes: u64,
}

/// What a request is about, and its first message.
struct Prepared {
    key: String,
    first: HttpRequest<Payload>,
}

impl S3Session {
    pub(super) fn new(
        speaker: Speaker,
        signer: Signer,
        beginning: String,
        prefix: String,
        options: &SessionOptions,
    ) -> Result<Self, BackendError> {
        let buffers = Buffers::new(options)?;
        let body = match buffers.are_compared() {
            true => Bytes::new(),
            false => Bytes::copy_from_slice(&buffers.written),
        };
        let of_names = if prefix.is_empty() { prefix } else { format!("{prefix}/") };
        Ok(Self {
            asker: Asker::new(speaker, signer),
            beginnings: [beginning, of_names],
            names: options.names.clone(),
            tag: ServerTag::new(options.tags.clone()),
            buffers,
            body,
            prepared: Err(NOT_SUPPORTED),
            size_bytes: 0,
        })
    }

    fn key(&self, key: ObjectKey) -> Result<String, FailureCode> {
        match (key.name_index(), &self.names) {
            (None, _) => Ok(format!("{}{}", self.beginnings[0], object_name(key))),
            (Some(index), Some(names)) => {
                Ok(format!("{}{}", self.beginnings[1], names.get(index).ok_or(NOT_FOUND)?))
            }
            (Some(_), None) => Err(NOT_FOUND),
        }
    }

    fn make(&mut self, request: &Request) -> Result<Prepared, FailureCode> {
        let none = Payload::default;
        let (key, method, http, payload) = match request.operation {
            Operation::Stat => (self.key(request.key)?, Method::Head, HttpMethod::HEAD, none()),
            Operation::Read => {
                self.buffers.prepare_read(request.bytes);
                (self.key(request.key)?, Method::Get, HttpMethod::GET, none())
            }
            Operation::Create if request.bytes > PART_BYTES => {
                (self.key(request.key)?, Method::Post, HttpMethod::POST, none())
            }
            Operation::Create => {
                self.fill(request);
                let payload = Payload::new(self.body.clone(), request.bytes);
                (self.key(request.key)?, Method::Put, HttpMethod::PUT, payload)
            }
            Operation::Delete => (self.key(request.key)?, Method::Delete, HttpMethod::DELETE, none()),
            Operation::List => {
                let beginning = format!("{}{}/", self.beginnings[0], dataset_name(request.key));
                (beginning, Method::Get, HttpMethod::GET, none())
            }
            _ => return Err(NOT_SUPPORTED),
        };
        let path = match request.operation {
            Operation::List => self.asker.signer.sign(method, None, &listing(&key, "")),
            Operation::Create if request.bytes > PART_BYTES => {
                self.asker.signer.sign(method, Some(&key), multipart::BEGIN)
            }
            _ => self.asker.signer.sign(method, Some(&key), &[]),
        };
        let first = self.asker.speaker.request(http, &path, &[], payload).ok_or(NOT_SUPPORTED)?;
        Ok(Prepared { key, first })
    }

    fn fill(&mut self, request: &Request) {
        if self.buffers.are_compared() {
            self.buffers.prepare_write(request.key, 0, request.bytes);
            let length = self.buffers.written.len().min(request.bytes as usize);
            self.body = Bytes::copy_from_slice(&self.buffers.written[..length]);
        }
    }

    async fn run(&mut self, request: &Request) -> Completion {
        let Prepared { key, first } = match std::mem::replace(&mut self.prepared, Err(NOT_SUPPORTED)) {
            Ok(prepared) => prepared,
            Err(code) => return Completion::failed(code),
        };
        let ended = match request.operation {
            Operation::List => self.list(&key, first).await,
            Operation::Create if request.bytes > PART_BYTES => {
                multipart::upload(&mut self.asker, &self.body, (&key, request.bytes), first)
                    .await
                    .map(|()| request.bytes)
            }
            _ => return self.one(request, first).await,
        };
        ended.map_or_else(Completion::failed, Completion::ok)
    }

    async fn one(&mut self, request: &Request, asked: HttpRequest<Payload>) -> Completion {
        let mut moved = 0;
        let Self { asker: Asker { speaker, kept, .. }, buffers, .. } = self;
        let mut sink = |answer: &Answer, bytes: &[u8]| {
            if !answer.is_success() {
                keep(kept, answer, bytes);
                return;
            }
            if buffers.are_compared() {
                let end = (moved + bytes.len()).min(buffers.read.len());
                let begin = moved.min(end);
                buffers.read[begin..end].copy_from_slice(&bytes[..end - begin]);
            }
            moved += bytes.len();
        };
        let answer = match speaker.connection.ask(asked, &mut sink).await {
            Ok(answer) => answer,
            Err(code) => return Completion::partly(moved as u64, code),
        };
        self.size_bytes = answer.length().unwrap_or(u64::MAX);
        if let Err(code) = self.asker.judge(&answer) {
            return Completion::failed(code);
        }
        match request.operation {
            Operation::Read if answer.bytes < request.bytes => {
                Completion::at_the_end(answer.bytes, request.bytes)
            }
            Operation::Read | Operation::Create => Completion::ok(request.bytes),
            _ => Completion::ok(0),
        }
    }

    /// Counts the keys, page by page.
    async fn list(&mut self, beginning: &str, first: HttpRequest<Payload>) -> Result<u64, FailureCode> {
        let (mut count, mut asked) = (0, first);
        loop {
            let page = self.asker.ask(asked).await?;
            let (mut keys, mut next) = (0, String::new());
            let is_whole = visit(&page, |name, text| match name {
                "Contents" => keys += 1,
                "NextContinuationToken" => text.clone_into(&mut next),
                _ => {}
            });
            count += keys;
            match (is_whole, next.is_empty()) {
                (false, _) => return Err(FailureCode::PROTOCOL),
                (true, true) => return Ok(count),
                (true, false) => {
                    let path = self.asker.signer.sign(Method::Get, None, &listing(beginning, &next));
                    let next = self.asker.speaker.request(HttpMethod::GET, &path, &[], Payload::default());
                    asked = next.ok_or(FailureCode::PROTOCOL)?;
                }
            }
        }
    }
}

/// The query of a page of keys, sorted.
pub(super) fn listing<'a>(beginning: &'a str, next: &'a str) -> Vec<(&'a str, &'a str)> {
    let token = (!next.is_empty()).then_some(("continuation-token", next));
    token.into_iter().chain([("encoding-type", "url"), ("list-type", "2"), ("prefix", beginning)]).collect()
}

impl AsyncSession for S3Session {
    fn prepare(&mut self, request: &Request) {
        self.asker.speaker.connection.begin();
        self.asker.kept.clear();
        self.prepared = self.make(request);
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(self.run(request))
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        let tag = self.tag.of(self.asker.speaker.connection.peer());
        self.buffers.inspect(request, completion, self.size_bytes).tagged(tag)
    }

    fn message(&mut self) -> Option<String> {
        self.asker.speaker.connection.take_message()
    }

    fn marks(&self) -> &[Mark] {
        self.asker.speaker.connection.marks()
    }
}
