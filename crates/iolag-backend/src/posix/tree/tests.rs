use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;

use iolag_model::{ClientId, Operation, TreeNames, TreeRecord};
use rustix::fs::{CWD, FileType, Mode, mkdirat, mknodat, openat};
use rustix::io::Errno;

use super::reach::Reach;
use super::session::{Change, sum};
use super::shared::Tree;
use crate::posix::directory::{DIRECTORY, LISTING_BYTES};
use crate::{Completion, InTree, ObjectKey, PosixBackend, Request, Session, SessionOptions, WORKING_NAME};

/// With what people have in trees: a name that is no text, links out of it, a pipe, a socket, a file with a hole, an empty one.
fn grown() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    fs::create_dir_all(path("a/deep")).unwrap();
    fs::create_dir(path("empty")).unwrap();
    fs::write(path("a/one"), vec![1; 300_000]).unwrap();
    fs::write(path("a/deep/two"), b"two").unwrap();
    fs::write(path("nothing"), b"").unwrap();
    fs::write(root.path().join(OsStr::from_bytes(b"caf\xe9")), b"no text").unwrap();
    File::create(path("hole")).unwrap().set_len(1 << 20).unwrap();
    symlink("/etc/passwd", path("a/out")).unwrap();
    symlink("..", path("a/up")).unwrap();
    UnixListener::bind(path("socket")).unwrap();
    mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    root
}

const GROWN: TreeNames =
    TreeNames { files: 5, directories: 3, links: 2, special: 2, mount_points: 0, unread_directories: 0 };
const GROWN_BYTES: u64 = 300_000 + 3 + 7 + (1 << 20);

fn session(target: &Path, tree: &Arc<Tree>) -> Box<dyn Session> {
    session_in(target, InTree::Reads(Arc::clone(tree)))
}

fn session_in(target: &Path, tree: InTree) -> Box<dyn Session> {
    let options = SessionOptions { tree: Some(tree), ..SessionOptions::new(ClientId(0), 0, 1, 0) };
    let backend = PosixBackend::new(target.to_owned(), WORKING_NAME).unwrap();
    crate::Backend::open_session(&backend, &options).unwrap()
}

fn ask(session: &mut dyn Session, operation: Operation, stage: u32, number: u64) -> Completion {
    let request = Request::new(operation, ObjectKey { rank: 0, dataset: stage, index: number }, 0);
    session.prepare(&request);
    let completion = session.execute(&request);
    session.inspect(&request, completion)
}

fn walk(session: &mut dyn Session, tree: &Tree) {
    while tree.is_to_be_walked() {
        ask(session, Operation::TreeList, 0, 0);
    }
    tree.end_walk();
}

/// What all of it comes to, read by a session in this order of names.
fn read_all(target: &Path, order: fn(&mut Vec<u64>)) -> TreeRecord {
    let tree = Arc::new(Tree::default());
    let mut session = session(target, &tree);
    walk(session.as_mut(), &tree);
    let mut numbers: Vec<u64> = (0..tree.names()).collect();
    order(&mut numbers);
    for number in numbers {
        if tree.is_asked(number) {
            assert!(ask(session.as_mut(), Operation::TreeStat, 1, number).is_ok());
        }
        if tree.is_file(number) {
            assert!(ask(session.as_mut(), Operation::TreeRead, 2, number).is_ok());
        }
    }
    tree.record()
}

#[test]
fn who_looks_on_asks_for_a_file_and_for_the_names_at_the_top_and_makes_nothing() {
    let root = grown();
    let mut onlooker = session_in(root.path(), InTree::LooksOn);
    let mut asks = |operation| ask(onlooker.as_mut(), operation, 0, 1 << 62);
    let list = Operation::ListWithAttributes;
    let top = fs::read_dir(root.path()).unwrap().count() as u64;
    assert_eq!([Operation::Stat, list].map(&mut asks), [Completion::ok(0), Completion::ok(top)]);
    assert!(asks(Operation::Read).bytes <= 4096 && asks(Operation::Read).is_ok());
    for refused in [Operation::Create, Operation::Delete, Operation::MakeDirectory] {
        assert_eq!(asks(refused), Completion::failed(Errno::OPNOTSUPP.into()), "{refused}");
    }
    fs::create_dir(root.path().join("later")).unwrap();
    assert_eq!(asks(list), Completion::ok(top + 1), "names are asked for anew");
    assert_eq!(fs::read_dir(root.path()).unwrap().count() as u64, top + 1);
}

#[test]
fn who_looks_on_at_a_tree_without_files_finds_none_and_lists_it() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("a/b")).unwrap();
    let mut onlooker = session_in(root.path(), InTree::LooksOn);
    let mut asks = |operation| ask(onlooker.as_mut(), operation, 0, 0);
    let missing = Completion::failed(Errno::NOENT.into());
    let expected = [missing, missing, Completion::ok(1)];
    assert_eq!([Operation::Stat, Operation::Read, Operation::ListWithAttributes].map(&mut asks), expected);
}

#[test]
fn a_tree_is_found_asked_for_and_summed_as_it_is_in_any_order() {
    let root = grown();
    let record = read_all(root.path(), |_| ());
    assert_eq!(record.found, GROWN);
    let [stat, read] = record.stages[..] else { panic!("{record:?}") };
    assert_eq!((stat.names, stat.size_bytes, stat.files), (GROWN.asked(), GROWN_BYTES, 0));
    assert_eq!((read.names, read.files, read.bytes, read.changed), (0, 5, GROWN_BYTES, 0));
    assert_eq!(read_all(root.path(), |numbers| numbers.reverse()), record);
    let other = grown();
    assert_eq!(read_all(other.path(), |_| ()).stages[1].checksum, read.checksum);
    // A byte, and a name, are a difference.
    fs::write(other.path().join("a/deep/two"), b"twO").unwrap();
    let changed = read_all(other.path(), |_| ()).stages[1].checksum;
    assert_ne!(changed, read.checksum);
    fs::write(other.path().join("a/deep/two"), b"two").unwrap();
    fs::rename(other.path().join("a/deep/two"), other.path().join("a/two")).unwrap();
    assert_ne!(read_all(other.path(), |_| ()).stages[1].checksum, read.checksum);
}

#[test]
fn reading_leaves_no_trace_in_it() {
    let root = grown();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let names = ["a", "a/one", "a/deep/two", "hole", "."];
    let times = |name: &str| {
        let told = fs::symlink_metadata(root.path().join(name)).unwrap();
        (told.atime(), told.mtime(), told.ctime_nsec(), told.size())
    };
    for name in names {
        let file = File::open(root.path().join(name)).unwrap();
        file.set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
    }
    let before = names.map(times);
    assert_eq!(read_all(root.path(), |_| ()).stages[1].access_times, 0);
    assert_eq!(names.map(times), before);
}

#[test]
fn what_vanishes_or_becomes_something_else_after_the_walk_is_a_failure_and_leads_nowhere() {
    let root = grown();
    let tree = Arc::new(Tree::default());
    let mut session = session(root.path(), &tree);
    walk(session.as_mut(), &tree);
    fs::remove_file(root.path().join("nothing")).unwrap();
    for name in ["a/one", "hole"] {
        fs::remove_file(root.path().join(name)).unwrap();
    }
    symlink("/etc/passwd", root.path().join("hole")).unwrap();
    mknodat(CWD, root.path().join("a/one"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    // A directory on the way is a link now.
    fs::rename(root.path().join("a/deep"), root.path().join("deep")).unwrap();
    symlink("../deep", root.path().join("a/deep")).unwrap();
    let files = (0..tree.names()).filter(|number| tree.is_file(*number));
    let mut failures: Vec<Completion> = files
        .map(|number| ask(session.as_mut(), Operation::TreeRead, 1, number))
        .filter(|done| !done.is_ok())
        .collect();
    failures.sort_by_key(|done| done.code.0);
    let codes =
        [Errno::NOENT, Errno::NXIO, Errno::NOTDIR, Errno::LOOP].map(|errno| Completion::failed(errno.into()));
    assert_eq!(failures, codes);
    assert_eq!(tree.record().stages[0].files, 1);
}

#[test]
fn files_that_are_longer_or_shorter_than_they_say_are_told() {
    let mut buffer = vec![0; 64];
    let mut of = |path: &str| sum(File::open(path).unwrap().as_fd(), &mut buffer).unwrap();
    let longer = of("/proc/self/status");
    // No further than the block in which that is seen.
    assert_eq!((longer.bytes, longer.change), (64, Change::Changed));
    let shorter = of("/sys/kernel/mm/transparent_hugepage/enabled");
    assert!(shorter.bytes < 4096 && shorter.change == Change::Changed, "{shorter:?}");
    assert_eq!(sum(File::open("/dev/null").unwrap().as_fd(), &mut buffer), Err((0, Errno::NXIO)));
}

#[test]
fn a_list_that_becomes_too_large_ends_the_walk() {
    let root = grown();
    let tree = Arc::new(Tree::of_at_most(120));
    let mut session = session(root.path(), &tree);
    assert_eq!(ask(session.as_mut(), Operation::TreeList, 0, 0), Completion::failed(Errno::NOMEM.into()));
    assert!(tree.is_too_large() && !tree.is_to_be_walked());
}

#[test]
fn where_the_kernel_opens_no_paths_beneath_directories_are_opened_name_by_name() {
    let root = grown();
    let tree = Tree::default();
    let mut space = vec![std::mem::MaybeUninit::uninit(); LISTING_BYTES];
    let opened = || -> OwnedFd { openat(CWD, root.path(), DIRECTORY, Mode::empty()).unwrap() };
    let reach = Reach::name_by_name(opened()).unwrap();
    while tree.is_to_be_walked() {
        tree.walk().read_next(&reach, &mut space).unwrap();
    }
    assert_eq!(tree.record().found, GROWN);
    assert_eq!(reach.directory(c"a/up").unwrap_err(), Errno::NOTDIR);
    // As with a path that the kernel refuses because it is so long.
    let mut at = opened();
    let name = "d".repeat(250);
    for _ in 0..20 {
        mkdirat(&at, &name, Mode::RWXU).unwrap();
        at = openat(&at, &name, DIRECTORY, Mode::empty()).unwrap();
    }
    let path = CString::new(vec![name; 20].join("/")).unwrap();
    for reach in [Reach::below(opened()).unwrap(), reach] {
        assert!(reach.directory(&path).is_ok());
    }
}

#[test]
fn another_directory_by_the_same_name_is_not_read() {
    let (root, tree) = (grown(), Arc::new(Tree::default()));
    let parent = root.path().join("a");
    drop(session(&parent, &tree));
    fs::rename(&parent, root.path().join("b")).unwrap();
    fs::create_dir(&parent).unwrap();
    let options =
        SessionOptions { tree: Some(InTree::Reads(tree)), ..SessionOptions::new(ClientId(0), 0, 1, 0) };
    let backend = PosixBackend::new(parent, WORKING_NAME).unwrap();
    let refused = crate::Backend::open_session(&backend, &options).err().unwrap().to_string();
    assert!(refused.starts_with("cannot open again the directory"), "{refused}");
}
