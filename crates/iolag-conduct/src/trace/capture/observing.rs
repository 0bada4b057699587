//! What is made of a trace while it comes: the file, the summary, and what the keeper is to know.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use iolag_model::{TraceList, TraceSummary, TracingCost};
use iolag_trace::{
    Call, Divider, Edge, EdgeKind, Ended, Lists, NamedList, PathId, Peer, ProgramEnd, Sink, Summariser,
    Tables, TaskId, TraceWriter,
};

use super::rights::Rights;

/// Takes a trace.
#[derive(Debug)]
pub(super) struct Observer<W> {
    /// Absent once the file takes nothing more: the result is told all the same.
    writer: Option<TraceWriter<W>>,
    trouble: Option<String>,
    summary: Summariser,
    /// Present where the time that passes is to be divided.
    divider: Option<Divider>,
    lists: Lists,
    rights: Rights,
    calls: u64,
    /// What the last call was about, and why it failed.
    last: (Option<PathId>, u16),
    executed: Executed,
    ended: Option<ProgramEnd>,
}

/// What a trace came to.
#[derive(Debug)]
pub(super) struct Observed<W> {
    /// The file, or why it is not whole.
    pub(super) file: Result<TraceWriter<W>, String>,
    pub(super) summary: TraceSummary,
    /// Where the time that passed went, if that was wanted.
    pub(super) divider: Option<Divider>,
    pub(super) lists: Vec<TraceList>,
    /// Who ran without rights.
    pub(super) without_rights: Vec<String>,
}

/// Whether the command was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Executed {
    /// Nothing was seen of that.
    NotYet,
    /// It was refused, for this reason.
    Refused(u16),
    /// It was.
    Once,
}

impl<W: Write> Observer<W> {
    pub(super) fn new(
        writer: TraceWriter<W>,
        cost: TracingCost,
        lists: &[NamedList],
        rights: Rights,
    ) -> Self {
        Self {
            writer: Some(writer),
            trouble: None,
            summary: Summariser::new(cost.between_ns.median),
            divider: None,
            lists: Lists::new(lists),
            rights,
            calls: 0,
            last: (None, 0),
            executed: Executed::NotYet,
            ended: None,
        }
    }

    /// The same, which also divides the time that passes.
    pub(super) fn dividing(self, divider: Option<Divider>) -> Self {
        Self { divider, ..self }
    }

    /// Whether there was a call.
    pub(super) const fn has_seen(&self) -> bool {
        self.calls > 0
    }

    /// How the first task ended, once it has.
    pub(super) const fn ended(&self) -> Option<ProgramEnd> {
        self.ended
    }

    /// Whether the command was executed.
    pub(super) const fn executed(&self) -> Executed {
        self.executed
    }

    /// Writes what has come since the last time, so that it is there whatever happens next.
    pub(super) fn flush(&mut self, tables: &Tables) {
        self.write(|writer| writer.flush(tables));
    }

    /// What is left once everything has come.
    pub(super) fn finish(self, tables: &Tables) -> Observed<W> {
        Observed {
            file: self.writer.ok_or_else(|| self.trouble.unwrap_or_default()),
            summary: self.summary.finish(tables),
            divider: self.divider,
            lists: self.lists.finish(),
            without_rights: self.rights.lost(),
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut TraceWriter<W>) -> io::Result<()>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = write(writer) {
            self.trouble = Some(error.to_string());
            self.writer = None;
        }
    }
}

impl<W: Write> Sink for Observer<W> {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.write(|writer| writer.call(call, tables));
        self.calls += 1;
        self.last = (call.path, call.errno);
        // Of a command it is the first call.
        if self.executed == Executed::NotYet && call.errno != 0 && tables.names.name(call.name) == b"execve" {
            self.executed = Executed::Refused(call.errno);
        }
        self.divider.as_mut().map_or(Ok(()), |divider| divider.call(call, tables))?;
        self.lists.call(call, tables)?;
        self.summary.call(call, tables)
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.write(|writer| writer.edge(edge, tables));
        match edge.kind {
            EdgeKind::Execute => {
                self.executed = Executed::Once;
                if let (Some(path), _) = self.last {
                    let path = std::ffi::OsStr::from_bytes(tables.paths.path(path));
                    self.rights.executed(Path::new(path));
                }
            }
            EdgeKind::Exit(ended) if edge.task == TaskId(0) => {
                self.ended = match ended {
                    Ended::Exited(status) => Some(ProgramEnd::Exited(status)),
                    Ended::Killed(signal) => Some(ProgramEnd::Killed(signal)),
                    Ended::Superseded => self.ended,
                };
            }
            _ => {}
        }
        self.divider.as_mut().map_or(Ok(()), |divider| divider.edge(edge, tables))?;
        self.summary.edge(edge, tables)
    }

    fn speaks(&mut self, task: TaskId, descriptor: i32, peer: Peer, tables: &Tables) {
        if let Some(divider) = &mut self.divider {
            divider.speaks(task, descriptor, peer, tables);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_trace::{About, Beginning, StraceReader};

    fn observed(text: &str) -> Observer<Vec<u8>> {
        let writer = TraceWriter::new(Vec::new(), &About::default()).unwrap();
        let observer = Observer::new(writer, TracingCost::default(), &[], Rights::of_tracer(0));
        let mut reader = StraceReader::new(&Beginning::default(), observer);
        reader.feed(text.as_bytes()).unwrap();
        reader.finish().unwrap().0
    }

    #[test]
    fn how_the_command_ended_is_not_how_its_children_did() {
        let text = "7 1.000000 execve(\"/bin/sh\", 0x1, 0x2) = 0 <0.001>\n\
                    7 1.100000 fork() = 8 <0.001>\n8 1.200000 +++ exited with 4 +++\n7 1.300000 +++ exited with 3 +++\n";
        let observer = observed(text);
        assert_eq!((observer.ended(), observer.executed()), (Some(ProgramEnd::Exited(3)), Executed::Once));
        let killed = observed(
            "7 1.000000 execve(\"/bin/sh\", 0x1, 0x2) = 0 <0.001>\n7 1.3 +++ killed by SIGTERM +++\n",
        );
        assert_eq!(killed.ended(), Some(ProgramEnd::Killed(15)));
    }

    #[test]
    fn a_program_that_was_not_executed_is_told() {
        let text = "7 1.000000 execve(\"/x\", 0x1, 0x2) = -1 ENOEXEC (Exec format error) <0.001>\n7 1.1 +++ exited with 1 +++\n";
        assert_eq!(observed(text).executed(), Executed::Refused(8));
        let attached =
            observed("7 1.000000 stat(\"/x\", 0x1) = -1 ENOENT (No such file or directory) <0.001>\n");
        assert_eq!(attached.executed(), Executed::NotYet);
    }

    #[test]
    fn a_file_that_takes_nothing_leaves_the_result() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(28))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut room = Room { bytes: 4096, rest: Full };
        let writer = TraceWriter::new(&mut room, &About::default()).unwrap();
        let observer = Observer::new(writer, TracingCost::default(), &[], Rights::of_tracer(0));
        let mut reader = StraceReader::new(&Beginning::default(), observer);
        for number in 0..100_000 {
            reader
                .feed(format!("7 1.{number:06} stat(\"/a{number}\", 0x1) = 0 <0.001>\n").as_bytes())
                .unwrap();
        }
        let (observer, tables, _) = reader.finish().unwrap();
        let Observed { file, summary, .. } = observer.finish(&tables);
        assert!(file.err().unwrap().contains("No space left"));
        assert_eq!(summary.calls, 100_000);
    }

    /// Takes so many bytes.
    struct Room<W> {
        bytes: usize,
        rest: W,
    }

    impl<W: Write> Write for Room<W> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.bytes.checked_sub(bytes.len()) {
                Some(left) => {
                    self.bytes = left;
                    Ok(bytes.len())
                }
                None => self.rest.write(bytes),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            self.rest.flush()
        }
    }
}
