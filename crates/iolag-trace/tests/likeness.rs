//! What a set-up that is like a trace has to ask, of traces of which that is known.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use iolag_model::SetUpCounts;
use iolag_trace::{Beginning, Likeness, StraceReader};

fn counts_of(text: &str) -> SetUpCounts {
    let beginning = Beginning { directory: Some(b"/home".to_vec()), ..Beginning::default() };
    let mut reader = StraceReader::new(&beginning, Likeness::default());
    reader.feed(text.as_bytes()).unwrap();
    reader.finish().unwrap().0.finish()
}

#[test]
fn questions_are_counted_by_what_they_ask_and_what_was_there() {
    let text = "7 execve(\"/usr/bin/job\", 0x1, 0x2) = 0\n\
                7 access(\"/etc/ld.so.preload\", R_OK) = -1 ENOENT (No such file or directory)\n\
                7 openat(AT_FDCWD, \"/lib/a.so\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n\
                7 openat(AT_FDCWD, \"/lib64/a.so\", O_RDONLY|O_CLOEXEC) = 3\n\
                7 read(3, 0x1, 832) = 832\n\
                7 pread64(3, 0x1, 68, 64) = 68\n\
                7 fstat(3, {st_mode=S_IFREG|0644, st_size=9000, ...}) = 0\n\
                7 close(3) = 0\n\
                7 stat(\"x.py\", 0x1) = -1 ENOENT (No such file or directory)\n\
                7 stat(\"y.py\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0\n\
                7 stat(\"y.py\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0\n\
                7 stat(\"y.py/z\", 0x1) = -1 ENOTDIR (Not a directory)\n";
    let expected = SetUpCounts {
        program: Some("job".to_owned()),
        stats: 5,
        stats_absent: 3,
        opens: 2,
        opens_absent: 1,
        files: 2,
        directories: 2,
        opens_read: 1,
        read_bytes: 900,
    };
    assert_eq!(counts_of(text), expected);
}

#[test]
fn what_never_came_back_is_no_answer_and_a_file_is_as_large_as_what_was_read_of_it_each_time() {
    let text = "7 openat(AT_FDCWD, \"d\", O_RDONLY|O_DIRECTORY) = 3\n\
                7 openat(AT_FDCWD, \"a\", O_RDONLY) = 4\n\
                7 read(4, 0x1, 4096) = 1000\n\
                7 close(4) = 0\n\
                7 openat(AT_FDCWD, \"a\", O_RDONLY) = 4\n\
                7 read(4, 0x1, 4096) = 1000\n\
                7 openat(AT_FDCWD, \"pipe\", O_RDONLY) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n\
                7 openat(AT_FDCWD, \"hangs\", O_RDONLY <unfinished ...>\n";
    let counts = counts_of(text);
    assert_eq!((counts.opens, counts.opens_absent, counts.files), (3, 0, 2));
    assert_eq!(counts.spec(String::new()).file_bytes, 1000);
}

#[test]
fn what_is_made_and_what_is_no_storage_is_left_out() {
    let text = "7 openat(AT_FDCWD, \"/dev/null\", O_RDWR) = 3\n\
                7 read(3, 0x1, 10) = 0\n\
                7 stat(\"/proc/self/maps\", {st_mode=S_IFREG|0444, st_size=0, ...}) = 0\n\
                7 openat(AT_FDCWD, \"log\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4\n\
                7 write(4, 0x1, 10) = 10\n\
                7 unlink(\"log\") = 0\n\
                7 read(0, 0x1, 10) = 10\n\
                7 chdir(\"/tmp\") = 0\n";
    assert_eq!(counts_of(text), SetUpCounts::default());
}
