//! One client of the toy.

use std::sync::Arc;

use iolag_backend::{
    AsyncExecution, AsyncSession, Completion, NameTable, ObjectKey, Request, SessionOptions,
};
use iolag_model::{FailureCode, Operation, Random, Verification, mix};

use super::{Bucket, key_of};

const NOT_FOUND: FailureCode = FailureCode::http(404);
const NOT_SUPPORTED: FailureCode = FailureCode::http(501);

/// A client.
pub struct ToySession {
    bucket: Bucket,
    prefix: String,
    seed: u64,
    verification: Verification,
    names: Option<Arc<NameTable>>,
    /// The key of the request; `None` where the table of names has none.
    key: Option<String>,
    /// What is written, and what was read.
    body: Vec<u8>,
    /// How long the object is.
    length: u64,
}

impl ToySession {
    pub fn new(bucket: Bucket, prefix: &str, options: &SessionOptions) -> Self {
        Self {
            bucket,
            prefix: prefix.to_owned(),
            seed: options.seed,
            verification: options.verification,
            names: options.names.clone(),
            key: None,
            body: Vec::new(),
            length: 0,
        }
    }

    async fn answer(&mut self, request: &Request) -> Completion {
        let Some(key) = self.key.take() else { return Completion::failed(NOT_FOUND) };
        match request.operation {
            Operation::Create => {
                let body = std::mem::take(&mut self.body);
                self.bucket.request(|objects| drop(objects.insert(key, body))).await;
                Completion::ok(request.bytes)
            }
            Operation::Read => {
                let Some(body) = self.bucket.request(|objects| objects.get(&key).cloned()).await else {
                    return Completion::failed(NOT_FOUND);
                };
                self.body = body;
                let moved = request.bytes.min(self.body.len() as u64);
                match moved < request.bytes && request.bytes != Request::TO_THE_END {
                    true => Completion::partly(moved, FailureCode::SHORT),
                    false => Completion::ok(moved),
                }
            }
            Operation::Stat => match self.bucket.request(|objects| objects.get(&key).map(Vec::len)).await {
                Some(length) => {
                    self.length = length as u64;
                    Completion::ok(0)
                }
                None => Completion::failed(NOT_FOUND),
            },
            Operation::Delete => {
                self.bucket.request(|objects| drop(objects.remove(&key))).await;
                Completion::ok(0)
            }
            Operation::List => {
                let dataset = &key[..=key.rfind('/').unwrap_or(0)];
                let keys = |objects: &mut super::Objects| {
                    objects.keys().filter(|key| key.starts_with(dataset)).count() as u64
                };
                Completion::ok(self.bucket.request(keys).await)
            }
            _ => Completion::failed(NOT_SUPPORTED),
        }
    }
}

impl AsyncSession for ToySession {
    fn prepare(&mut self, request: &Request) {
        self.key = match (request.key.name_index(), &self.names) {
            (None, _) => Some(format!("{}{}", self.prefix, key_of(request.key))),
            (Some(index), Some(names)) => names.get(index).map(str::to_owned),
            (Some(_), None) => None,
        };
        if request.operation == Operation::Create {
            self.body = content(self.seed, request.key, request.bytes);
        }
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(self.answer(request))
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        let is_compared = self.verification == Verification::Content && completion.is_ok();
        let is_as_written = match request.operation {
            Operation::Read if is_compared && request.bytes != Request::TO_THE_END => {
                self.body == content(self.seed, request.key, request.bytes)
            }
            Operation::Stat if is_compared => self.length == request.bytes,
            _ => true,
        };
        if is_as_written { completion } else { Completion { code: FailureCode::MISMATCH, ..completion } }
    }
}

/// What an object has in it.
fn content(seed: u64, key: ObjectKey, bytes: u64) -> Vec<u8> {
    let dataset = (u64::from(key.rank) << 32) | u64::from(key.dataset);
    let mut random = Random::of_stream(seed, mix(dataset).wrapping_add(key.index));
    let words = std::iter::repeat_with(|| random.bits().to_le_bytes());
    words.flatten().take(bytes as usize).collect()
}
