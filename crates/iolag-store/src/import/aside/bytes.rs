//! What is put aside while a file is read: bytes, in memory as long as they are few, then in a file that has no name and goes with the process.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::history::HistoryError;

/// How much is held in memory of what is put aside at one place.
const MEMORY_BYTES_MAX: usize = 1 << 20;
/// How much is read of a file at once. Many places of one file may be read at the same time.
const READ_BYTES: usize = 8 << 10;

/// What is read of a file cannot be put aside.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot put aside in {} what does not fit into memory: {source}; name a directory with more room with TMPDIR",
    directory.display()
)]
pub struct AsideError {
    /// Where.
    pub directory: PathBuf,
    /// What the system answered.
    pub source: io::Error,
}

impl From<AsideError> for HistoryError {
    fn from(AsideError { directory, source }: AsideError) -> Self {
        Self::System { action: "put samples aside in", path: directory, source }
    }
}

/// Makes a file in `directory` that nobody else sees.
///
/// # Errors
/// What the system answers.
pub fn nameless_file(directory: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let unnamed = options.clone().custom_flags(OFlags::TMPFILE.bits().cast_signed()).open(directory);
    let is_unknown = |error: &io::Error| {
        [Errno::OPNOTSUPP, Errno::ISDIR]
            .contains(&Errno::from_raw_os_error(error.raw_os_error().unwrap_or(0)))
    };
    match unnamed {
        Err(error) if is_unknown(&error) => {
            let named = directory.join(format!(".iolag-aside-{}", std::process::id()));
            let file = options.create_new(true).open(&named)?;
            std::fs::remove_file(named).map(|()| file)
        }
        unnamed => unnamed,
    }
}

/// Bytes that were put aside, to be read from the begin as often as wanted.
#[derive(Debug)]
pub(crate) struct Aside {
    directory: Arc<Path>,
    /// The first ones.
    file: Option<File>,
    filed: u64,
    /// The ones behind these.
    memory: Vec<u8>,
}

impl Aside {
    /// None yet.
    pub fn new(directory: &Arc<Path>) -> Self {
        Self { directory: Arc::clone(directory), file: None, filed: 0, memory: Vec::new() }
    }

    /// How many.
    pub const fn len(&self) -> u64 {
        self.filed + self.memory.len() as u64
    }

    /// Takes all of `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), AsideError> {
        self.memory.extend_from_slice(bytes);
        self.make_room()
    }

    /// Takes what `write` appends.
    pub fn write_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), AsideError> {
        write(&mut self.memory);
        self.make_room()
    }

    fn make_room(&mut self) -> Result<(), AsideError> {
        if self.memory.len() < MEMORY_BYTES_MAX {
            return Ok(());
        }
        let failed = |source| AsideError { directory: self.directory.to_path_buf(), source };
        let file = match self.file.take() {
            Some(file) => file,
            None => nameless_file(&self.directory).map_err(failed)?,
        };
        file.write_all_at(&self.memory, self.filed).map_err(failed)?;
        self.file = Some(file);
        self.filed += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    /// Reads on from the byte `begin`.
    pub fn read_from(&self, begin: u64) -> AsideReader<'_> {
        AsideReader {
            aside: self,
            input: BufReader::with_capacity(READ_BYTES, Bytes { aside: self, at: begin }),
            at: begin,
        }
    }
}

struct Bytes<'a> {
    aside: &'a Aside,
    at: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Aside { file, filed, memory, .. } = self.aside;
        let count = match file.as_ref().filter(|_| self.at < *filed) {
            Some(file) => {
                let length = usize::try_from(filed - self.at).unwrap_or(usize::MAX).min(buffer.len());
                file.read_at(&mut buffer[..length], self.at)?
            }
            None => {
                let begin = usize::try_from(self.at - filed).unwrap_or(usize::MAX).min(memory.len());
                (&memory[begin..]).read(buffer)?
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}

/// Reads what was put aside. Numbers and texts as [`put_number`] and [`put_text`] write them.
pub(crate) struct AsideReader<'a> {
    aside: &'a Aside,
    input: BufReader<Bytes<'a>>,
    at: u64,
}

impl AsideReader<'_> {
    /// Of which byte the next one is.
    pub const fn position(&self) -> u64 {
        self.at
    }

    /// Whether all has been read.
    pub const fn is_at_end(&self) -> bool {
        self.at >= self.aside.len()
    }

    pub fn number(&mut self) -> Result<u64, AsideError> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let [byte] = self.bytes()?;
            number |= u64::from(byte & 0x7f) << (shift & 63);
            if byte < 0x80 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    pub fn bytes<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], AsideError> {
        let mut bytes = [0; COUNT];
        let read = self.read_exact(&mut bytes);
        read.map_err(|source| self.failed(source))?;
        Ok(bytes)
    }

    /// Reads a text into `text`, instead of what was in there.
    pub fn text(&mut self, text: &mut String) -> Result<(), AsideError> {
        let length = self.number()?;
        text.clear();
        let read = self.take(length).read_to_string(text);
        read.map(|_| ()).map_err(|source| self.failed(source))
    }

    /// Reads a line without its end into `line`, instead of what was in there; says whether there was one.
    pub fn line(&mut self, line: &mut String) -> Result<bool, AsideError> {
        line.clear();
        let count = self.read_line(line).map_err(|source| self.failed(source))?;
        if line.ends_with('\n') {
            line.pop();
            if line.ends_with('\r') {
                line.pop();
            }
        }
        Ok(count > 0)
    }

    pub fn failed(&self, source: io::Error) -> AsideError {
        AsideError { directory: self.aside.directory.to_path_buf(), source }
    }
}

impl Read for AsideReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        self.input.read_exact(buffer)?;
        self.at += buffer.len() as u64;
        Ok(())
    }
}

impl BufRead for AsideReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.at += count as u64;
        self.input.consume(count);
    }
}

/// Appends a number: the smaller, the shorter.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a text.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aside() -> Aside {
        Aside::new(&Arc::from(std::env::temp_dir()))
    }

    #[test]
    fn what_was_put_aside_comes_back_from_memory_and_file() {
        let mut aside = aside();
        let text = "a text of some length, again and again";
        for number in 0..60_000_u64 {
            aside
                .write_with(|bytes| {
                    put_number(bytes, number << (number % 40));
                    put_text(bytes, &text[..(number % 30) as usize]);
                })
                .unwrap();
        }
        assert!(aside.file.is_some() && !aside.memory.is_empty());
        for _ in 0..2 {
            let (mut reader, mut back) = (aside.read_from(0), String::new());
            for number in 0..60_000_u64 {
                assert_eq!(reader.number().unwrap(), number << (number % 40));
                reader.text(&mut back).unwrap();
                assert_eq!(back, text[..(number % 30) as usize]);
            }
            assert!(reader.is_at_end() && reader.number().is_err());
        }
    }

    #[test]
    fn lines_are_those_of_the_text() {
        for text in ["", "a", "a\n", "a\r\n\r\nb\r", "\n\n", "ä\rb\n"] {
            let mut aside = aside();
            aside.write(text.as_bytes()).unwrap();
            let (mut reader, mut line, mut lines) = (aside.read_from(0), String::new(), Vec::new());
            while reader.line(&mut line).unwrap() {
                lines.push(line.clone());
            }
            assert_eq!(lines, text.lines().collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn a_directory_that_takes_nothing_is_named() {
        let mut aside = Aside::new(&Arc::from(Path::new("/nowhere/at/all")));
        aside.write(b"few bytes need no file").unwrap();
        let error = aside.write(&[0; MEMORY_BYTES_MAX]).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot put aside in /nowhere/at/all what") && error.ends_with("TMPDIR"),
            "{error}"
        );
    }
}
