//! Writing a trace, as it comes.

use std::io::{self, Write};

use super::about::{About, Ending};
use super::block::{BlockKind, write_block, write_header};
use super::columns::{put_calls, put_edges};
use super::tables::{put_names, put_path, put_tasks};
use crate::trace::{Call, Edge, Sink, Tables};

/// A block of calls or edges has so many, but for the last.
const BLOCK_THINGS: usize = 1 << 14;
/// A block of paths is closed when they are longer together.
const BLOCK_PATHS_BYTES: usize = 4 << 20;

/// Writes a trace to a file, block by block.
#[derive(Debug)]
pub struct TraceWriter<W> {
    output: W,
    calls: Vec<Call>,
    edges: Vec<Edge>,
    written: Written,
    plain: Vec<u8>,
}

/// What is in the file.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    names: usize,
    paths: usize,
    tasks: usize,
    calls: u64,
    edges: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut output: W, about: &About) -> io::Result<Self> {
        write_header(&mut output)?;
        write_block(&mut output, BlockKind::About, 1, &serde_json::to_vec(about)?)?;
        let written = Written::default();
        Ok(Self { output, calls: Vec::new(), edges: Vec::new(), written, plain: Vec::new() })
    }

    /// Writes what has come since the last block, so that it is there whatever happens next.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self, tables: &Tables) -> io::Result<()> {
        self.write_tables(tables)?;
        let mut plain = std::mem::take(&mut self.plain);
        // Before their calls, so that who reads the file can put both in order.
        if !self.edges.is_empty() {
            plain.clear();
            put_edges(&self.edges, &mut plain);
            write_block(&mut self.output, BlockKind::Edges, self.edges.len(), &plain)?;
            self.written.edges += self.edges.len() as u64;
            self.edges.clear();
        }
        if !self.calls.is_empty() {
            plain.clear();
            put_calls(&self.calls, &mut plain);
            write_block(&mut self.output, BlockKind::Calls, self.calls.len(), &plain)?;
            self.written.calls += self.calls.len() as u64;
            self.calls.clear();
        }
        self.plain = plain;
        self.output.flush()
    }

    /// Writes the rest and the end; the numbers of calls and edges are those that were written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, tables: &Tables, ending: &Ending) -> io::Result<W> {
        self.flush(tables)?;
        let Written { calls, edges, .. } = self.written;
        let ending = Ending { calls, edges, ..ending.clone() };
        write_block(&mut self.output, BlockKind::Ending, 1, &serde_json::to_vec(&ending)?)?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn write_tables(&mut self, tables: &Tables) -> io::Result<()> {
        let mut plain = std::mem::take(&mut self.plain);
        let more = tables.names.len() - self.written.names;
        if more > 0 {
            plain.clear();
            put_names(tables.names.iter().skip(self.written.names), &mut plain);
            write_block(&mut self.output, BlockKind::Names, more, &plain)?;
            self.written.names = tables.names.len();
        }
        while self.written.paths < tables.paths.len() {
            plain.clear();
            let (first, mut bytes) = (self.written.paths, 0);
            let mut before = first.checked_sub(1).map_or(&[][..], |last| tables.paths.at(last));
            while self.written.paths < tables.paths.len() && bytes < BLOCK_PATHS_BYTES {
                let path = tables.paths.at(self.written.paths);
                put_path(before, path, &mut plain);
                before = path;
                bytes += path.len();
                self.written.paths += 1;
            }
            write_block(&mut self.output, BlockKind::Paths, self.written.paths - first, &plain)?;
        }
        for tasks in tables.tasks[self.written.tasks..].chunks(BLOCK_THINGS) {
            plain.clear();
            put_tasks(tasks, &mut plain);
            write_block(&mut self.output, BlockKind::Tasks, tasks.len(), &plain)?;
        }
        self.written.tasks = tables.tasks.len();
        self.plain = plain;
        Ok(())
    }
}

impl<W: Write> Sink for TraceWriter<W> {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.calls.push(*call);
        if self.calls.len() >= BLOCK_THINGS { self.flush(tables) } else { Ok(()) }
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.edges.push(*edge);
        if self.edges.len() >= BLOCK_THINGS { self.flush(tables) } else { Ok(()) }
    }
}
