//! One client of a database.

use std::sync::Arc;

use iolag_model::{Clock, FailureCode, Mark, MonotonicClock, Operation};
use mongodb::Collection;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Document, RawDocumentBuf, doc, rawdoc};
use mongodb::error::Error;
use mongodb::options::{ClientOptions, ServerAddress};

use super::driver::{Driver, Notes};
use super::failure::Failed;
use super::url::Collections;
use crate::content::Buffers;
use crate::servers::{ServerTag, dataset_name, object_name};
use crate::{AsyncExecution, AsyncSession, Completion, ObjectKey, Request, TagTable};

const NOT_SUPPORTED: FailureCode = FailureCode::from_errno(libc::EOPNOTSUPP);
const NOT_FOUND: FailureCode = FailureCode::from_errno(libc::ENOENT);
/// Bytes of a document, at most: 16 MiB (maxBsonObjectSize of every server), of which its names take less than the last KiB.
const CONTENT_MAX: u64 = (16 << 20) - 1024;

/// By whom requests are made.
pub(super) enum Drivers {
    /// By the driver of the worker.
    Kept(Arc<Driver>),
    /// By a driver for each request.
    Fresh(Arc<ClientOptions>),
}

/// What things are called.
pub(super) struct Names {
    pub(super) database: String,
    /// Of the working place.
    pub(super) name: String,
    pub(super) collections: Collections,
}

/// A client.
pub(super) struct MongoSession {
    drivers: Drivers,
    names: Names,
    buffers: Buffers,
    prepared: Option<Result<Prepared, Failed>>,
    /// The driver of a request that has ended, until the clock was read.
    spent: Option<Arc<Driver>>,
    size_bytes: u64,
    notes: Notes,
    marks: Vec<Mark>,
    message: Option<String>,
    tag: ServerTag<ServerAddress>,
}

struct Prepared {
    collection: Where,
    filter: Document,
    /// What is to come of a document.
    projection: Document,
    /// What is written.
    document: Option<RawDocumentBuf>,
}

/// The collection of a dataset.
enum Where {
    Known(Arc<Driver>, Collection<RawDocumentBuf>),
    /// By a driver that is made of these options in the request.
    Anew(Box<ClientOptions>, String),
}

/// The name of the collection in which a dataset's objects are.
pub(super) fn collection_name(name: &str, collections: Collections, key: ObjectKey) -> String {
    match collections {
        Collections::One => format!("{name}.objects"),
        Collections::Dataset => format!("{name}.{}", dataset_name(key)),
    }
}

/// The documents of a dataset: those whose `_id` begins with its name and a slash. The `0` comes after the slash in ASCII.
pub(super) fn of_dataset(key: ObjectKey) -> Document {
    let name = dataset_name(key);
    doc! { "_id": { "$gte": format!("{name}/"), "$lt": format!("{name}0") } }
}

/// Refuses objects that do not fit into a document.
///
/// # Errors
/// With the code of a file that is too large, and what to do.
pub(super) fn refuse_too_long(bytes: u64) -> Result<(), Failed> {
    if bytes <= CONTENT_MAX || bytes == Request::TO_THE_END {
        return Ok(());
    }
    let said = format!(
        "objects of {bytes} bytes do not fit into a document of MongoDB: use --object-size of at most {CONTENT_MAX} bytes"
    );
    Err(Failed { code: FailureCode::from_errno(libc::EFBIG), said })
}

impl MongoSession {
    /// Asks once, where the driver is kept: whether a server is there that lets us in.
    pub(super) async fn open(
        drivers: Drivers,
        names: Names,
        buffers: Buffers,
        tags: Option<Arc<TagTable>>,
    ) -> Result<Self, Failed> {
        if let Drivers::Kept(driver) = &drivers {
            let answer = driver.database(&names.database).run_command(doc! { "ping": 1 }).await;
            answer.map_err(|error| driver.why(&error))?;
        }
        Ok(Self {
            drivers,
            names,
            buffers,
            prepared: None,
            spent: None,
            size_bytes: 0,
            notes: Notes::default(),
            marks: Vec::with_capacity(iolag_model::MARKS_MAX),
            message: None,
            tag: ServerTag::new(tags),
        })
    }

    fn make(&mut self, request: &Request) -> Result<Prepared, Failed> {
        let key = request.key;
        let is_operation = matches!(
            request.operation,
            Operation::Create | Operation::Read | Operation::Stat | Operation::Delete | Operation::List
        );
        if key.name_index().is_some() || !is_operation {
            return Err(not_supported());
        }
        let filter = match request.operation {
            Operation::List => of_dataset(key),
            _ => doc! { "_id": object_name(key) },
        };
        let projection = match request.operation {
            Operation::Stat => doc! { "length": 1, "_id": 0 },
            Operation::Read => doc! { "content": 1, "_id": 0 },
            _ => doc! { "_id": 1 },
        };
        let document = match request.operation {
            Operation::Create => Some(self.document(request)?),
            _ => None,
        };
        if request.operation == Operation::Read {
            self.buffers.prepare_read(request.bytes);
        }
        let name = collection_name(&self.names.name, self.names.collections, key);
        let collection = match &self.drivers {
            Drivers::Kept(driver) => {
                Where::Known(Arc::clone(driver), driver.database(&self.names.database).collection(&name))
            }
            Drivers::Fresh(options) => Where::Anew(Box::new((**options).clone()), name),
        };
        Ok(Prepared { collection, filter, projection, document })
    }

    fn document(&mut self, request: &Request) -> Result<RawDocumentBuf, Failed> {
        refuse_too_long(request.bytes)?;
        self.buffers.prepare_write(request.key, 0, request.bytes);
        let length = request.bytes as usize;
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let room = (length - bytes.len()).min(self.buffers.written.len());
            bytes.extend_from_slice(&self.buffers.written[..room]);
        }
        Ok(rawdoc! {
            "_id": object_name(request.key),
            "length": request.bytes as i64,
            "content": Binary { subtype: BinarySubtype::Generic, bytes },
        })
    }

    async fn run(&mut self, request: &Request) -> Completion {
        let notes = self.notes.clone();
        let answered = match self.prepared.take() {
            Some(Ok(prepared)) => notes.of(self.answer(request, prepared)).await,
            Some(Err(failed)) => Err(failed),
            None => Err(not_supported()),
        };
        answered.unwrap_or_else(|Failed { code, said }| {
            self.message = Some(said);
            Completion::failed(code)
        })
    }

    async fn answer(&mut self, request: &Request, prepared: Prepared) -> Result<Completion, Failed> {
        let Prepared { collection, filter, projection, document } = prepared;
        let (driver, collection) = match collection {
            Where::Known(driver, collection) => (driver, collection),
            Where::Anew(options, name) => {
                let driver = Arc::new(Driver::new(*options)?);
                let collection = driver.database(&self.names.database).collection(&name);
                self.spent = Some(Arc::clone(&driver));
                (driver, collection)
            }
        };
        let asked = self.ask(request, &collection, (filter, projection), document);
        asked.await.map_err(|error| driver.why(&error))
    }

    async fn ask(
        &mut self,
        request: &Request,
        collection: &Collection<RawDocumentBuf>,
        (filter, projection): (Document, Document),
        document: Option<RawDocumentBuf>,
    ) -> Result<Completion, Error> {
        match (request.operation, document) {
            (Operation::Create, Some(document)) => {
                collection.replace_one(filter, document).upsert(true).await?;
                self.note_answer();
                Ok(Completion::ok(request.bytes))
            }
            (Operation::Delete, _) => {
                let deleted = collection.delete_one(filter).await?.deleted_count;
                self.note_answer();
                Ok(if deleted == 0 { Completion::failed(NOT_FOUND) } else { Completion::ok(0) })
            }
            (Operation::List, _) => {
                let mut cursor = collection.find(filter).projection(projection).await?;
                self.note_answer();
                let mut count = 0;
                while cursor.advance().await? {
                    count += 1;
                }
                Ok(Completion::ok(count))
            }
            _ => {
                let found = collection.find_one(filter).projection(projection).await?;
                self.note_answer();
                Ok(found.map_or(Completion::failed(NOT_FOUND), |found| self.completion(request, &found)))
            }
        }
    }

    /// The first answer is there.
    fn note_answer(&mut self) {
        let answered = MonotonicClock.now();
        self.marks.extend(self.notes.get().map(|taken| Mark {
            operation: Operation::CallFirstByte,
            start: taken.at,
            duration: answered.since(taken.at),
        }));
    }

    fn completion(&mut self, request: &Request, found: &RawDocumentBuf) -> Completion {
        if request.operation == Operation::Stat {
            self.size_bytes = found.get_i64("length").map_or(u64::MAX, i64::unsigned_abs);
            return Completion::ok(0);
        }
        let Ok(content) = found.get_binary("content") else {
            return Completion::failed(FailureCode::PROTOCOL);
        };
        if self.buffers.are_compared() {
            let length = content.bytes.len().min(self.buffers.read.len());
            self.buffers.read[..length].copy_from_slice(&content.bytes[..length]);
        }
        match content.bytes.len() as u64 {
            bytes if bytes < request.bytes => Completion::at_the_end(bytes, request.bytes),
            _ => Completion::ok(request.bytes),
        }
    }
}

fn not_supported() -> Failed {
    Failed { code: NOT_SUPPORTED, said: "a database of MongoDB has no such operation".to_owned() }
}

impl AsyncSession for MongoSession {
    fn prepare(&mut self, request: &Request) {
        self.spent = None;
        self.message = None;
        self.marks.clear();
        self.notes.forget();
        self.prepared = Some(self.make(request));
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(self.run(request))
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.spent = None;
        let server = self.notes.get().map(|taken| taken.server);
        self.buffers.inspect(request, completion, self.size_bytes).tagged(self.tag.of(server))
    }

    fn message(&mut self) -> Option<String> {
        self.message.take()
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }
}
