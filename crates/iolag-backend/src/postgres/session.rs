//! One client of a database.

use std::sync::Arc;

use iolag_model::{Clock, Connections, FailureCode, Mark, MonotonicClock, Operation};
use iolag_net::postgres::Address;
use tokio_postgres::{Row, Statement};

use super::link::{Failed, Link};
use super::statements::{Asked, Statements};
use crate::content::Buffers;
use crate::servers::ServerTag;
use crate::{AsyncExecution, AsyncSession, Completion, ObjectKey, Request, SessionOptions};

const NOT_SUPPORTED: FailureCode = FailureCode::from_errno(libc::EOPNOTSUPP);
const NOT_FOUND: FailureCode = FailureCode::from_errno(libc::ENOENT);

/// A client.
pub(super) struct PostgresSession {
    address: Arc<Address>,
    statements: Statements,
    connections: Connections,
    link: Option<(Link, Prepared)>,
    buffers: Buffers,
    /// What will be asked, with its numbers.
    asked: Option<Asked>,
    written: Vec<u8>,
    size_bytes: u64,
    marks: Vec<Mark>,
    message: Option<String>,
    /// Who was asked last.
    server: Option<String>,
    tag: ServerTag<String>,
}

/// Statements that the server knows already; none where each is sent anew.
type Prepared = Vec<(Operation, Statement)>;

impl PostgresSession {
    pub(super) async fn open(
        address: Arc<Address>,
        statements: Statements,
        options: &SessionOptions,
    ) -> Result<Self, Failed> {
        let buffers = Buffers::new(options)
            .map_err(|error| Failed { code: FailureCode::PROTOCOL, said: error.to_string() })?;
        let written = buffers.written[..].to_vec();
        let mut session = Self {
            address,
            statements,
            connections: options.connections,
            link: None,
            buffers,
            asked: None,
            written,
            size_bytes: 0,
            marks: Vec::with_capacity(iolag_model::MARKS_MAX),
            message: None,
            server: None,
            tag: ServerTag::new(options.tags.clone()),
        };
        if options.connections == Connections::Reused {
            session.link = Some(session.connect().await?);
        }
        Ok(session)
    }

    /// Connects, and lets the server know the statements, if they are the same for every object and the connection is kept.
    async fn connect(&mut self) -> Result<(Link, Prepared), Failed> {
        let mut link = Link::open(&self.address, &mut self.marks).await?;
        self.server = Some(link.server.clone());
        let mut prepared = Vec::new();
        if self.prepares() {
            // The first five executions would each be planned anew (PREPARE, "Notes").
            link.run("SET plan_cache_mode = force_generic_plan").await?;
            for operation in Statements::PREPARED {
                let Some(text) = self.statements.text(*operation, ObjectKey::default()) else { continue };
                let (client, answers) = link.halves();
                let statement = answers.to(client.prepare_typed(&text, Asked::types(*operation))).await?;
                prepared.push((*operation, statement));
            }
        }
        Ok((link, prepared))
    }

    /// Whether the server gets to know all statements when it is connected to.
    fn prepares(&self) -> bool {
        self.connections == Connections::Reused && self.statements.are_fixed()
    }

    /// What is written is all of one piece here: a longer object is the buffer again and again.
    fn fill(&mut self, bytes: u64) {
        let bytes = bytes as usize;
        if self.buffers.are_compared() {
            self.written.clear();
        }
        while self.written.len() < bytes {
            let room = (bytes - self.written.len()).min(self.buffers.written.len());
            self.written.extend_from_slice(&self.buffers.written[..room]);
        }
    }

    async fn run(&mut self, request: &Request) -> Completion {
        let Some(asked) = self.asked.take() else { return Completion::failed(NOT_SUPPORTED) };
        match self.answer(request, &asked).await {
            Ok(completion) => completion,
            Err(Failed { code, said }) => {
                self.message = Some(said);
                Completion::failed(code)
            }
        }
    }

    async fn answer(&mut self, request: &Request, asked: &Asked) -> Result<Completion, Failed> {
        let mut kept = self.link.take();
        if let Some((link, _)) = &mut kept
            && link.has_ended().await
        {
            kept = None;
        }
        let (mut link, prepared) = match kept {
            Some(kept) => kept,
            // Large, and rarely wanted: not a part of each request.
            None => Box::pin(self.connect()).await?,
        };
        let start = MonotonicClock.now();
        link.first_byte.forget();
        let statement = prepared
            .iter()
            .find(|(operation, _)| *operation == request.operation)
            .map(|(_, statement)| statement);
        let (client, answers) = link.halves();
        let answer = answers.to(asked.ask(client, statement, &self.written)).await;
        if let Some(first) = link.first_byte.get() {
            self.marks.push(Mark {
                operation: Operation::CallFirstByte,
                start,
                duration: first.since(start),
            });
        }
        let rows = answer?;
        let completion = self.completion(request, &rows);
        if self.connections == Connections::Reused {
            self.link = Some((link, prepared));
        }
        Ok(completion)
    }

    fn completion(&mut self, request: &Request, (rows, changed): &(Vec<Row>, u64)) -> Completion {
        match request.operation {
            Operation::Stat => {
                match rows.first().and_then(|row| row.try_get::<_, Option<i32>>(0).ok().flatten()) {
                    Some(length) => {
                        self.size_bytes = u64::from(length.unsigned_abs());
                        Completion::ok(0)
                    }
                    None => Completion::failed(NOT_FOUND),
                }
            }
            Operation::Read => match rows.first().and_then(|row| row.try_get::<_, &[u8]>(0).ok()) {
                Some(content) => self.read(request, content),
                None => Completion::failed(NOT_FOUND),
            },
            Operation::Delete if *changed == 0 => Completion::failed(NOT_FOUND),
            Operation::List => Completion::ok(rows.len() as u64),
            Operation::Create => Completion::ok(request.bytes),
            _ => Completion::ok(0),
        }
    }

    fn read(&mut self, request: &Request, content: &[u8]) -> Completion {
        if self.buffers.are_compared() {
            let length = content.len().min(self.buffers.read.len());
            self.buffers.read[..length].copy_from_slice(&content[..length]);
        }
        match content.len() as u64 {
            bytes if bytes < request.bytes => Completion::at_the_end(bytes, request.bytes),
            _ => Completion::ok(request.bytes),
        }
    }
}

impl AsyncSession for PostgresSession {
    fn prepare(&mut self, request: &Request) {
        self.marks.clear();
        self.message = None;
        match request.operation {
            Operation::Create => {
                self.buffers.prepare_write(request.key, 0, request.bytes);
                self.fill(request.bytes);
            }
            Operation::Read => self.buffers.prepare_read(request.bytes),
            _ => {}
        }
        let text = match self.prepares() && Statements::PREPARED.contains(&request.operation) {
            true => Some(String::new()),
            false => self.statements.text(request.operation, request.key),
        };
        let is_named = request.key.name_index().is_some();
        let asked = |text| Asked::new(request.operation, text, request.key, request.bytes as usize);
        self.asked = text.filter(|_| !is_named).map(asked);
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(self.run(request))
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.buffers.inspect(request, completion, self.size_bytes).tagged(self.tag.of(self.server.as_deref()))
    }

    fn message(&mut self) -> Option<String> {
        self.message.take()
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }
}
