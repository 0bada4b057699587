//! From what strace wrote, or from another trace, to a trace.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use iolag_model::{TraceAnonymity, counted, one_line};
use iolag_trace::{
    About, Anonymiser, Beginning, Ending, PerProcessError, Reading, Sink, StraceReader, TRACE_BEGINNING,
    Tables, TraceFileError, TraceReader, TraceWriter, anonymous, anonymous_ending, read_per_process,
};

use crate::failure::Failure;

/// What is read at once.
const GULP_BYTES: usize = 1 << 20;
/// Of a line that is not strace's so much is shown.
const SHOWN_CHARACTERS: usize = 60;
/// How compressed files begin, and what unpacks them.
const COMPRESSED: [(&[u8], &str); 4] = [
    (&[0x1f, 0x8b], "zcat"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstdcat"),
    (b"\xfd7zXZ", "xzcat"),
    (b"BZh", "bzcat"),
];

/// Writes a trace of what these files say: the text of strace, in one file or in a file for each process, or a trace. `-` is standard input.
///
/// # Errors
/// One sentence with the file, and the line if it is one: it cannot be read, is neither, or does not go with the others.
pub fn convert_to_trace<W: Write>(
    sources: &[PathBuf],
    anonymity: TraceAnonymity,
    output: W,
) -> Result<W, Failure> {
    let refused = RefCell::new(None);
    let output = Output { inner: output, refused: &refused };
    let converted = sources.iter().map(|path| Source::open(path)).collect::<Result<Vec<_>, _>>().and_then(
        |mut opened| match (opened.iter().position(Source::is_trace), opened.len()) {
            (Some(_), 1) => from_trace(opened.remove(0), anonymity, output),
            (Some(trace), _) => Err(Failure::usage(format!(
                "{} is a trace, and one trace cannot be joined with other files: name it alone",
                opened[trace].name
            ))),
            (None, 1) => from_text(opened.remove(0), anonymity, output),
            (None, _) => from_texts(opened, anonymity, output),
        },
    );
    let refused =
        refused.take().map(|error: io::Error| Failure::unusable(format!("cannot write the trace: {error}")));
    match (converted, refused) {
        (_, Some(failure)) => Err(failure),
        (converted, None) => Ok(converted?.inner),
    }
}

/// Keeps why it refused, so that nothing else is blamed.
struct Output<'a, W> {
    inner: W,
    refused: &'a RefCell<Option<io::Error>>,
}

impl<W: Write> Output<'_, W> {
    fn told<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let same = io::Error::new(error.kind(), error.to_string());
            self.refused.replace(Some(error));
            same
        })
    }
}

impl<W: Write> Write for Output<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.told(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.told(flushed)
    }
}

/// A file to be read.
struct Source {
    name: String,
    /// The number of the process that `-ff` puts at the end of its name.
    process: Option<u32>,
    input: BufReader<Box<dyn Read>>,
    begins: Vec<u8>,
}

impl Source {
    fn open(path: &Path) -> Result<Self, Failure> {
        let is_standard_input = path == Path::new("-");
        let name = if is_standard_input {
            "standard input".to_owned()
        } else {
            one_line(&path.display().to_string())
        };
        let unreadable = |error: io::Error| Failure::unusable(format!("cannot read {name}: {error}"));
        let input: Box<dyn Read> = match is_standard_input {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(unreadable)?),
        };
        let mut input = BufReader::with_capacity(GULP_BYTES, input);
        let begins = input.fill_buf().map_err(unreadable)?;
        let begins = begins[..begins.len().min(1024)].to_vec();
        if begins.is_empty() {
            return Err(Failure::unusable(format!("{name} is empty: strace wrote nothing to it")));
        }
        if let Some((_, unpack)) = COMPRESSED.iter().find(|(magic, _)| begins.starts_with(magic)) {
            return Err(Failure::unusable(format!(
                "{name} is compressed: unpack it first, as in {unpack} {name} | iolag trace --from -"
            )));
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        let process = ending.and_then(|ending| ending.parse().ok());
        Ok(Self { name, process, input, begins })
    }

    fn is_trace(&self) -> bool {
        self.begins.starts_with(&TRACE_BEGINNING)
    }

    /// Its first line, for people.
    fn first_line(&self) -> String {
        let line = self.begins.split(|byte| *byte == b'\n').next().unwrap_or_default();
        one_line(&String::from_utf8_lossy(line)).chars().take(SHOWN_CHARACTERS).collect()
    }
}

/// Where calls go, with or without their names.
enum Writing<W: Write> {
    Named(TraceWriter<W>),
    Anonymous(Box<Anonymiser<TraceWriter<W>>>),
}

impl<W: Write> Writing<W> {
    fn new(output: W, about: &About, anonymity: TraceAnonymity) -> io::Result<Self> {
        Ok(match anonymity {
            TraceAnonymity::Named => Self::Named(TraceWriter::new(output, about)?),
            TraceAnonymity::Anonymised => {
                Self::Anonymous(Box::new(Anonymiser::new(TraceWriter::new(output, &anonymous(about))?)))
            }
        })
    }

    fn finish(self, tables: &Tables, ending: &Ending) -> io::Result<W> {
        match self {
            Self::Named(writer) => writer.finish(tables, ending),
            Self::Anonymous(anonymiser) => {
                let (writer, tables) = anonymiser.finish();
                writer.finish(&tables, &anonymous_ending(ending))
            }
        }
    }
}

impl<W: Write> Sink for Writing<W> {
    fn call(&mut self, call: &iolag_trace::Call, tables: &Tables) -> io::Result<()> {
        match self {
            Self::Named(writer) => writer.call(call, tables),
            Self::Anonymous(anonymiser) => anonymiser.call(call, tables),
        }
    }

    fn edge(&mut self, edge: &iolag_trace::Edge, tables: &Tables) -> io::Result<()> {
        match self {
            Self::Named(writer) => writer.edge(edge, tables),
            Self::Anonymous(anonymiser) => anonymiser.edge(edge, tables),
        }
    }
}

/// Only writing fails where this is used; why is kept.
fn failed_writing(error: io::Error) -> Failure {
    Failure::unusable(format!("cannot write the trace: {error}"))
}

fn from_trace<W: Write>(source: Source, anonymity: TraceAnonymity, output: W) -> Result<W, Failure> {
    let name = source.name;
    let failed = |error: TraceFileError| Failure::unusable(format!("cannot take {name}: {error}"));
    let mut reader = TraceReader::new(source.input).map_err(failed)?;
    let mut writing = Writing::new(output, &reader.about().clone(), anonymity).map_err(failed_writing)?;
    let ending = reader.read_into(&mut writing).map_err(failed)?;
    writing.finish(reader.tables(), &ending).map_err(failed_writing)
}

fn strace_reader<W: Write>(
    output: W,
    anonymity: TraceAnonymity,
) -> Result<StraceReader<Writing<W>>, Failure> {
    let writing = Writing::new(output, &About::default(), anonymity).map_err(failed_writing)?;
    Ok(StraceReader::new(&Beginning::default(), writing))
}

fn from_text<W: Write>(mut source: Source, anonymity: TraceAnonymity, output: W) -> Result<W, Failure> {
    let mut reader = strace_reader(output, anonymity)?;
    loop {
        let gulp = source
            .input
            .fill_buf()
            .map_err(|error| Failure::unusable(format!("cannot read {}: {error}", source.name)))?;
        if gulp.is_empty() {
            break;
        }
        let bytes = gulp.len();
        reader.feed(gulp).map_err(failed_writing)?;
        source.input.consume(bytes);
    }
    finish(reader, &source.name, &source.first_line())
}

fn from_texts<W: Write>(sources: Vec<Source>, anonymity: TraceAnonymity, output: W) -> Result<W, Failure> {
    if let Some(stranger) = sources.iter().find(|source| source.process.is_none()) {
        return Err(Failure::usage(format!(
            "several files are read together if strace -ff wrote them, which ends their names with the number of a process, and that of {} does not: \
             name the others, or it alone",
            stranger.name
        )));
    }
    let name = sources[0].name.clone();
    let first_line = sources[0].first_line();
    let mut reader = strace_reader(output, anonymity)?;
    let files = sources.into_iter().filter_map(|source| Some((source.process?, source.input))).collect();
    read_per_process(&mut reader, files).map_err(|error| match error {
        PerProcessError::Relative => Failure::usage(error.to_string()),
        PerProcessError::Failed(error) => {
            Failure::unusable(format!("cannot read {name} and the others: {error}"))
        }
    })?;
    finish(reader, &name, &first_line)
}

fn finish<W: Write>(reader: StraceReader<Writing<W>>, name: &str, first_line: &str) -> Result<W, Failure> {
    let (writing, tables, reading) = reader.finish().map_err(failed_writing)?;
    refuse_without_calls(&reading, name, first_line)?;
    writing.finish(&tables, &Ending::from(&reading)).map_err(failed_writing)
}

fn refuse_without_calls(reading: &Reading, name: &str, first_line: &str) -> Result<(), Failure> {
    if reading.calls > 0 {
        return Ok(());
    }
    let lines = counted(reading.lines, "line", "lines");
    Err(Failure::unusable(format!(
        "{name} is no text of strace: none of its {lines} is a system call, line 1 is {first_line:?}; have it written with strace -f -ttt -T -y -o FILE"
    )))
}

#[cfg(test)]
mod tests;
