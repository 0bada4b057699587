//! What a process has before it is traced, as /proc tells it. Links there are read, never followed: no file system is asked.
//!
//! Limit: what it opens or leaves between this and the first traced call is not known, and counts as what it was.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use iolag_trace::{AtExecute, Beginning, StandingFile, StandingProcess};

/// What this process has.
pub(super) fn standing(process: u32) -> Beginning {
    let root = format!("/proc/{process}");
    let mut threads = numbers(&format!("{root}/task"));
    // Its own first.
    threads.sort_unstable_by_key(|thread| (*thread != process, *thread));
    let files = numbers(&format!("{root}/fd"));
    Beginning {
        directory: path_of(format!("{root}/cwd")),
        process: Some(StandingProcess {
            threads,
            files: files.into_iter().filter_map(|number| file(&root, number)).collect(),
        }),
    }
}

fn numbers(directory: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn file(root: &str, number: u32) -> Option<StandingFile> {
    let information = std::fs::read_to_string(format!("{root}/fdinfo/{number}")).unwrap_or_default();
    let field = |name: &str| information.lines().find_map(|line| Some(line.strip_prefix(name)?.trim()));
    let flags = field("flags:").and_then(|flags| i32::from_str_radix(flags, 8).ok()).unwrap_or(0);
    // A write in append mode goes to the end, wherever that is.
    let position = field("pos:").and_then(|position| position.parse().ok());
    Some(StandingFile {
        descriptor: i32::try_from(number).ok()?,
        path: path_of(format!("{root}/fd/{number}")),
        position: position.filter(|_| flags & libc::O_APPEND == 0),
        at_execute: if flags & libc::O_CLOEXEC == 0 { AtExecute::Stays } else { AtExecute::Closes },
    })
}

/// Where a link leads, if that is a path: pipes and sockets have none. Of a file that was removed it is the path that it had.
fn path_of(link: impl AsRef<Path>) -> Option<Vec<u8>> {
    const REMOVED: &[u8] = b" (deleted)";
    let path = std::fs::read_link(link).ok()?.into_os_string().into_vec();
    let path = path.strip_suffix(REMOVED).map(<[u8]>::to_vec).unwrap_or(path);
    path.starts_with(b"/").then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn this_process_has_what_it_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "content").unwrap();
        let mut file = std::fs::File::open(&path).unwrap();
        file.read_exact(&mut [0; 3]).unwrap();
        let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        log.write_all(b"more").unwrap();
        let (pipe, _ours) = std::io::pipe().unwrap();
        std::fs::remove_file(&path).unwrap();
        let known = standing(std::process::id());
        let process = known.process.unwrap();
        assert_eq!(process.threads[0], std::process::id());
        let of = |number: i32| process.files.iter().find(|file| file.descriptor == number).unwrap().clone();
        let expected = StandingFile {
            descriptor: file.as_raw_fd(),
            path: Some(path.as_os_str().as_bytes().to_vec()),
            position: Some(3),
            at_execute: AtExecute::Closes,
        };
        assert_eq!(of(file.as_raw_fd()), expected);
        assert_eq!(of(log.as_raw_fd()).position, None);
        assert_eq!(of(pipe.as_raw_fd()).path, None);
        assert_eq!(known.directory.as_deref(), Some(std::env::current_dir().unwrap().as_os_str().as_bytes()));
    }
}
