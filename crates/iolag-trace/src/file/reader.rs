//! Reading a trace, block by block.

use std::collections::VecDeque;
use std::io::Read;

use super::about::{About, Ending};
use super::block::{Block, BlockKind, NoBlock, read_block, read_header};
use super::columns::{calls, edges};
use super::error::TraceFileError;
use super::tables::{names, paths, tasks};
use super::varint::Bytes;
use crate::trace::{Call, Edge, Sink, Tables, Trace};

/// A piece of a trace. What it refers to is in the tables of the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Calls, in the order in which they ended.
    Calls(Vec<Call>),
    /// Edges, in the order in which they were seen. Their calls may be of a piece before or after.
    Edges(Vec<Edge>),
}

/// Reads a trace from a file.
#[derive(Debug)]
pub struct TraceReader<R> {
    input: R,
    about: About,
    tables: Tables,
    calls: u64,
    ending: Option<Ending>,
}

impl<R: Read> TraceReader<R> {
    /// Opens a trace, and reads what it says of itself.
    ///
    /// # Errors
    /// If it is none, or one that this iolag does not read.
    pub fn new(mut input: R) -> Result<Self, TraceFileError> {
        read_header(&mut input)?;
        let mut reader =
            Self { input, about: About::default(), tables: Tables::default(), calls: 0, ending: None };
        let first = reader.block()?;
        if first.kind != BlockKind::About {
            return Err(reader.damaged("it does not begin with what it is"));
        }
        reader.about = serde_json::from_slice(&first.plain)
            .map_err(|_| reader.damaged("what it says of itself cannot be read"))?;
        Ok(reader)
    }

    /// What it says of itself.
    pub const fn about(&self) -> &About {
        &self.about
    }

    /// What the pieces so far refer to.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What it says at its end; nothing before that was read.
    pub const fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The next piece; nothing at its end.
    ///
    /// # Errors
    /// If it is cut off or damaged; all pieces before are whole.
    pub fn piece(&mut self) -> Result<Option<Piece>, TraceFileError> {
        while self.ending.is_none() {
            let Block { kind, count, plain } = self.block()?;
            let mut bytes = Bytes(&plain);
            let mut piece = None;
            let read = match kind {
                BlockKind::Names => names(&mut bytes, count, &mut self.tables.names),
                BlockKind::Paths => paths(&mut bytes, count, &mut self.tables.paths),
                BlockKind::Tasks => tasks(&mut bytes, count, &mut self.tables.tasks),
                BlockKind::Calls => calls(&mut bytes, count, &self.tables).map(|calls| {
                    self.calls += calls.len() as u64;
                    piece = Some(Piece::Calls(calls));
                }),
                BlockKind::Edges => edges(&mut bytes, count, &self.tables).map(|edges| {
                    piece = Some(Piece::Edges(edges));
                }),
                BlockKind::Ending => {
                    self.ending = serde_json::from_slice(&plain).ok();
                    bytes = Bytes(&[]);
                    self.ending.as_ref().map(|_| ())
                }
                BlockKind::About | BlockKind::Unknown => continue,
            };
            if read.is_none() || !bytes.is_empty() {
                return Err(self.damaged("a block cannot be understood"));
            }
            if self.ending.as_ref().is_some_and(|ending| ending.calls != self.calls) {
                return Err(self.damaged("it has another number of calls than it says"));
            }
            if piece.is_some() {
                return Ok(piece);
            }
        }
        Ok(None)
    }

    /// Hands all that is left to a sink, and says how it ended; with an error everything before it was handed over.
    ///
    /// # Errors
    /// If it is cut off or damaged, or the sink fails.
    pub fn read_into(&mut self, sink: &mut impl Sink) -> Result<Ending, TraceFileError> {
        // Those whose calls have not come.
        let mut edges: VecDeque<Edge> = VecDeque::new();
        let read = loop {
            let before = self.calls;
            let calls = match self.piece() {
                Ok(Some(Piece::Edges(more))) => {
                    edges.extend(more);
                    continue;
                }
                Ok(Some(Piece::Calls(calls))) => calls,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            for (number, call) in (before..).zip(&calls) {
                while let Some(edge) = edges.pop_front_if(|edge| edge.place() <= number) {
                    sink.edge(&edge, &self.tables)?;
                }
                sink.call(call, &self.tables)?;
            }
        };
        edges.iter().try_for_each(|edge| sink.edge(edge, &self.tables))?;
        read.map(|()| self.ending.clone().unwrap_or_default())
    }

    /// All of it in memory.
    ///
    /// # Errors
    /// If it is cut off or damaged.
    pub fn read_all(mut self) -> Result<(About, Trace, Ending), TraceFileError> {
        let mut trace = Trace::default();
        let ending = self.read_into(&mut trace)?;
        trace.tables = self.tables;
        Ok((self.about, trace, ending))
    }

    fn block(&mut self) -> Result<Block, TraceFileError> {
        read_block(&mut self.input).map_err(|none| match none {
            NoBlock::Cut => TraceFileError::Cut { calls: self.calls },
            NoBlock::Damaged(what) => self.damaged(what),
            NoBlock::Read(error) => TraceFileError::Read(error),
        })
    }

    const fn damaged(&self, what: &'static str) -> TraceFileError {
        TraceFileError::Damaged { what, calls: self.calls }
    }
}
