//! A program that imports: it lists packages, looks for each module under names that are not there, and then finds, opens, looks at, reads and closes it.
//! There are about six look-ups to an open, as in the set-up that study 002 traced.

use std::ffi::CString;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// Where the program finds everything; iolag maps this.
const ROOT: &str = "/site";
const FILES_OF_DIRECTORY: usize = 100;
/// Look-ups in vain of each file.
const ABSENT: usize = 5;
pub const FILE_BYTES: usize = 4096;
/// Room for names, as the C library asks for.
pub const LIST_BYTES: usize = 32_768;

/// One call; of those without a path, on what was opened last.
#[derive(Debug, Clone)]
pub enum Call {
    /// newfstatat(2) of what is not there.
    StatAbsent(CString),
    /// The same of what is.
    Stat(CString),
    Open(CString),
    OpenDirectory(CString),
    Attributes,
    /// lseek(2): where it is.
    Seek,
    /// read(2) of one byte more than there is, or at the end of none.
    Read,
    ReadEnd,
    /// getdents64(2), by which so many bytes come, and the same at the end.
    List(usize),
    ListEnd,
    Close,
}

/// All calls, in their order.
#[derive(Debug)]
pub struct Program {
    files: usize,
    pub calls: Vec<Call>,
}

impl Program {
    /// One that reads so many files.
    pub fn of(files: usize) -> Self {
        let text = |path: String| CString::new(path).expect("letters hold no zero byte");
        let mut calls = Vec::new();
        for file in 0..files {
            if file % FILES_OF_DIRECTORY == 0 {
                calls.push(Call::OpenDirectory(text(directory_of(file))));
                let listed = (file..files.min(file + FILES_OF_DIRECTORY)).map(record_bytes).sum();
                calls.extend([Call::Attributes, Call::List(listed), Call::ListEnd, Call::Close]);
            }
            let absent = |name| Call::StatAbsent(text(format!("{}.abi{name}.so", module(file))));
            calls.extend((0..ABSENT).map(absent));
            let path = text(format!("{}.py", module(file)));
            calls.extend([Call::Stat(path.clone()), Call::Open(path)]);
            calls.extend([Call::Attributes, Call::Seek, Call::Read, Call::ReadEnd, Call::Close]);
        }
        Self { files, calls }
    }

    /// Makes what it finds.
    pub fn make(&self, root: &Path) -> Result<()> {
        for file in 0..self.files {
            if file % FILES_OF_DIRECTORY == 0 {
                fs::create_dir_all(root.join(directory_of(file)))?;
            }
            let path = root.join(format!("{}.py", module(file)));
            fs::write(&path, [b'x'; FILE_BYTES]).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }

    /// As strace writes it.
    pub fn write_text(&self, mut output: impl Write) -> Result<()> {
        let attributes = |kind: &str| format!("{{st_mode={kind}|0644, st_size={FILE_BYTES}, ...}}");
        let (file, mut opened) = (attributes("S_IFREG"), attributes("S_IFDIR"));
        for call in &self.calls {
            let path = |path: &CString| format!("AT_FDCWD, \"{ROOT}/{}\"", path.to_string_lossy());
            let line = match call {
                Call::StatAbsent(name) => {
                    format!("newfstatat({}, 0x1, 0) = -1 ENOENT (No such file or directory)", path(name))
                }
                Call::Stat(name) => format!("newfstatat({}, {file}, 0) = 0", path(name)),
                Call::Open(name) => {
                    opened.clone_from(&file);
                    format!("openat({}, O_RDONLY|O_CLOEXEC) = 3", path(name))
                }
                Call::OpenDirectory(name) => {
                    opened = attributes("S_IFDIR");
                    format!("openat({}, O_RDONLY|O_CLOEXEC|O_DIRECTORY) = 3", path(name))
                }
                Call::Attributes => format!("newfstatat(3, \"\", {opened}, AT_EMPTY_PATH) = 0"),
                Call::Seek => "lseek(3, 0, SEEK_CUR) = 0".to_owned(),
                Call::Read => format!("read(3, \"\"..., {}) = {FILE_BYTES}", FILE_BYTES + 1),
                Call::ReadEnd => "read(3, \"\", 1) = 0".to_owned(),
                Call::List(bytes) => format!("getdents64(3, 0x1, {LIST_BYTES}) = {}", bytes + DOTS_BYTES),
                Call::ListEnd => format!("getdents64(3, 0x1, {LIST_BYTES}) = 0"),
                Call::Close => "close(3) = 0".to_owned(),
            };
            writeln!(output, "1 {line}")?;
        }
        output.flush().context("writing text")
    }
}

/// Those of `.` and `..`.
const DOTS_BYTES: usize = 48;

/// Bytes of the record of a file's name: 19 before it, a zero after it, and a multiple of eight.
fn record_bytes(file: usize) -> usize {
    (19 + format!("module_{file}.py").len() + 1).div_ceil(8) * 8
}

fn directory_of(file: usize) -> String {
    format!("package_{}", file / FILES_OF_DIRECTORY)
}

fn module(file: usize) -> String {
    format!("{}/module_{file}", directory_of(file))
}
