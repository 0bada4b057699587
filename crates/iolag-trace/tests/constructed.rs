//! Short texts that say one thing each: what several tasks at once make of descriptors, directories and families.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use iolag_trace::{
    AtExecute, Beginning, EdgeKind, Ended, Reading, StandingFile, StandingProcess, StraceReader, TaskId,
    Trace,
};

fn read(text: &str) -> (Trace, Reading) {
    let beginning = Beginning { directory: Some(b"/home".to_vec()), ..Beginning::default() };
    read_from(&beginning, text)
}

fn read_from(beginning: &Beginning, text: &str) -> (Trace, Reading) {
    let mut reader = StraceReader::new(beginning, Trace::default());
    reader.feed(text.as_bytes()).unwrap();
    let (trace, tables, reading) = reader.finish().unwrap();
    (Trace { tables, ..trace }, reading)
}

/// `task name path result` of each call.
fn told(text: &str) -> Vec<String> {
    told_of(&read(text).0)
}

fn told_of(trace: &Trace) -> Vec<String> {
    let calls = trace.calls.iter().map(|call| {
        let number = trace.tables.tasks[call.task.0 as usize].number;
        let name = String::from_utf8_lossy(trace.tables.names.name(call.name)).into_owned();
        let path = call
            .path
            .map_or("-".into(), |path| String::from_utf8_lossy(trace.tables.paths.path(path)).into_owned());
        let result = call.result.map_or("?".to_owned(), |result| result.to_string());
        format!("{number} {name} {path} {result}")
    });
    calls.collect()
}

fn parents(text: &str) -> Vec<(u32, Option<u32>)> {
    let (trace, _) = read(text);
    let tasks = &trace.tables.tasks;
    let number = |task: TaskId| tasks[task.0 as usize].number;
    tasks.iter().map(|task| (task.number, task.parent.map(number))).collect()
}

#[test]
fn a_number_that_is_given_away_while_its_close_waits_is_of_the_new_file() {
    let text = "\
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
1 clone(flags=CLONE_FILES|CLONE_FS|CLONE_VM|CLONE_THREAD) = 2
1 close(3 <unfinished ...>
2 openat(AT_FDCWD, \"b\", O_RDONLY) = 3
1 <... close resumed>) = 0
2 read(3, \"\"..., 10) = 10
";
    let expected =
        ["1 openat /home/a 3", "1 clone - 2", "2 openat /home/b 3", "1 close /home/a 0", "2 read /home/b 10"];
    assert_eq!(told(text), expected);
}

#[test]
fn a_read_is_of_the_file_that_was_open_when_it_began() {
    let text = "\
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
1 clone(flags=CLONE_FILES|CLONE_FS|CLONE_VM|CLONE_THREAD) = 2
1 read(3,  <unfinished ...>
2 close(3) = 0
2 openat(AT_FDCWD, \"b\", O_RDONLY) = 3
1 <... read resumed>\"\"..., 10) = 10
";
    assert_eq!(told(text).last().unwrap(), "1 read /home/a 10");
}

#[test]
fn a_child_before_the_end_of_the_only_fork_is_of_that() {
    let text = "\
1 chdir(\"x\") = 0
1 vfork( <unfinished ...>
2 chdir(\"y\") = 0
2 execve(\"./program\", [\"program\"], 0x7ffd /* 1 var */ <unfinished ...>
1 <... vfork resumed>) = 2
1 access(\"z\", R_OK) = 0
2 <... execve resumed>) = 0
2 +++ exited with 0 +++
1 wait4(-1, NULL, 0, NULL) = 2
";
    assert_eq!(parents(text), [(1, None), (2, Some(1))]);
    let expected = [
        "1 chdir /home/x 0",
        "2 chdir /home/x/y 0",
        "1 vfork - 2",
        "1 access /home/x/z 0",
        "2 execve /home/x/y/./program 0",
        "1 wait4 - 2",
    ];
    // A leading `./` says nothing.
    assert_eq!(told(text), expected.map(|line| line.replace("/./", "/")));
}

#[test]
fn children_of_several_forks_at_once_wait_until_it_is_known_whose_they_are() {
    let text = "\
1 clone(flags=SIGCHLD) = 2
1 chdir(\"one\") = 0
2 chdir(\"two\") = 0
1 vfork( <unfinished ...>
2 vfork( <unfinished ...>
3 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
4 openat(AT_FDCWD, \"b\", O_RDONLY) = 3
3 execve(\"/bin/a\", [\"a\"], NULL) = 0
4 execve(\"/bin/b\", [\"b\"], NULL) = 0
2 <... vfork resumed>) = 3
1 <... vfork resumed>) = 4
3 +++ exited with 0 +++
";
    assert_eq!(parents(text), [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))]);
    let told = told(text);
    assert!(told.contains(&"3 openat /home/two/a 3".to_owned()), "{told:#?}");
    assert!(told.contains(&"4 openat /home/one/b 3".to_owned()), "{told:#?}");
    assert_eq!(read(text).1.guessed, 0);
}

#[test]
fn what_never_is_known_is_guessed_and_counted() {
    let text = "\
1 clone(flags=SIGCHLD) = 2
1 vfork( <unfinished ...>
2 vfork( <unfinished ...>
3 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
";
    assert_eq!(read(text).1.guessed, 1);
    assert_eq!(parents(text).last(), Some(&(3, Some(2))));
}

#[test]
fn a_thread_that_executes_goes_on_as_the_process() {
    let text = "\
1 clone(flags=CLONE_FILES|CLONE_FS|CLONE_VM|CLONE_THREAD) = 2
2 execve(\"/bin/a\", [\"a\"], NULL <unfinished ...>
1 +++ superseded by execve in pid 2 +++
1 <... execve resumed>) = 0
1 openat(AT_FDCWD, \"x\", O_RDONLY) = 3
1 +++ exited with 0 +++
";
    let (trace, reading) = read(text);
    let execute = trace.edges.iter().find(|edge| edge.kind == EdgeKind::Execute).unwrap();
    assert_eq!(execute.task, TaskId(1));
    let ends: Vec<_> = trace.edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Exit(_))).collect();
    assert_eq!((ends[0].task, ends[0].kind), (TaskId(0), EdgeKind::Exit(Ended::Superseded)));
    assert_eq!((ends[1].task, ends[1].kind), (TaskId(1), EdgeKind::Exit(Ended::Exited(0))));
    assert_eq!(reading.foreign, 0);
}

#[test]
fn a_number_that_is_used_again_is_another_task() {
    let text = "\
1 clone(flags=SIGCHLD) = 2
2 +++ exited with 0 +++
1 chdir(\"/tmp\") = 0
1 clone(flags=SIGCHLD) = 2
2 access(\"x\", R_OK) = 0
2 +++ exited with 1 +++
";
    let (trace, _) = read(text);
    assert_eq!(trace.tables.tasks.len(), 3);
    assert_eq!(told(text).last().unwrap(), "2 access /tmp/x 0");
}

#[test]
fn what_is_closed_by_executing_is_closed_for_that_task_alone() {
    let text = "\
1 openat(AT_FDCWD, \"kept\", O_RDONLY) = 3
1 openat(AT_FDCWD, \"closed\", O_RDONLY|O_CLOEXEC) = 4
1 fcntl(3, F_DUPFD_CLOEXEC, 10) = 10
1 fcntl(10, F_SETFD, 0) = 0
1 clone(flags=CLONE_FILES|SIGCHLD) = 2
2 execve(\"/bin/a\", [\"a\"], NULL) = 0
2 fstat(3, 0x1) = 0
2 fstat(4, 0x1) = -1 EBADF (Bad file descriptor)
2 fstat(10, 0x1) = 0
1 fstat(4, 0x1) = 0
";
    let told = told(text);
    let last: Vec<&str> = told[6..].iter().map(String::as_str).collect();
    assert_eq!(
        last,
        ["2 fstat /home/kept 0", "2 fstat - -1", "2 fstat /home/kept 0", "1 fstat /home/closed 0"]
    );
}

#[test]
fn what_lies_in_a_renamed_directory_goes_with_it() {
    let text = "\
1 openat(AT_FDCWD, \"d/e\", O_RDONLY|O_DIRECTORY) = 3
1 openat(AT_FDCWD, \"dd\", O_RDONLY|O_DIRECTORY) = 4
1 chdir(\"d\") = 0
1 rename(\"../d\", \"/home/f\") = 0
1 openat(3, \"x\", O_RDONLY) = 5
1 openat(4, \"x\", O_RDONLY) = 6
1 access(\"y\", R_OK) = 0
1 renameat2(AT_FDCWD, \"/home/f\", AT_FDCWD, \"/home/dd\", RENAME_EXCHANGE) = 0
1 fstat(4, 0x1) = 0
1 access(\"y\", R_OK) = 0
";
    let told = told(text);
    assert_eq!(told[4..7], ["1 openat /home/f/e/x 5", "1 openat /home/dd/x 6", "1 access /home/f/y 0"]);
    assert_eq!(told[8..], ["1 fstat /home/f 0", "1 access /home/dd/y 0"]);
}

#[test]
fn of_processes_that_were_there_before_nothing_is_made_up() {
    let mut reader = StraceReader::new(&Beginning::default(), Trace::default());
    let text = "7 openat(AT_FDCWD, \"a\", O_RDONLY) = 3\n7 openat(5, \"b\", O_RDONLY) = 4\n7 read(9, \"\", 1) = 0\n\
                7 <... futex resumed>) = 0\n8 access(\"/c\", R_OK) = 0\n";
    reader.feed(text.as_bytes()).unwrap();
    let (trace, tables, reading) = reader.finish().unwrap();
    let paths: Vec<_> =
        trace.calls.iter().map(|call| call.path.map(|path| tables.paths.path(path).to_vec())).collect();
    assert_eq!(paths, [Some(b"a".to_vec()), Some(b"b".to_vec()), None, Some(b"/c".to_vec())]);
    assert_eq!(reading.foreign, 1, "the end of a call whose beginning is not there");
}

#[test]
fn what_y_says_is_known_from_then_on() {
    let text = "\
1 fstat(3</opt/x>, 0x1) = 0
1 read(3, 0x1, 0x10) = 0
1 newfstatat(AT_FDCWD</srv>, \"a\", 0x1, 0) = -1 ENOENT (No such file or directory)
1 access(\"b\", R_OK) = 0
";
    let expected = ["1 fstat /opt/x 0", "1 read /opt/x 0", "1 newfstatat /srv/a -1", "1 access /srv/b 0"];
    assert_eq!(told(text), expected);
}

#[test]
fn durations_of_pieces_are_from_piece_to_piece_unless_they_are_told() {
    let text = "\
1 1700000010.000000 x(1 <unfinished ...>
2 1700000010.000001 y() = 0
1 1700000010.000250 <... x resumed>) = 0
1 1700000011.000000 read(0,  <unfinished ...>
1 1700000011.500000 <... read resumed>\"\", 1) = 0 <0.400000>
1 1700000012.000000 read(0,  <unfinished ...>
";
    let (trace, reading) = read(text);
    let durations: Vec<_> = trace.calls.iter().map(|call| call.duration.map(|duration| duration.0)).collect();
    assert_eq!(durations, [None, Some(250_000), Some(400_000_000), None]);
    assert_eq!((reading.unfinished, trace.calls[3].result), (1, None));
    assert_eq!(trace.calls[1].start.0, 0);
}

#[test]
fn what_a_process_had_before_it_was_traced_counts() {
    let file = |descriptor, path: &str, at_execute| StandingFile {
        descriptor,
        path: Some(path.into()),
        position: Some(100),
        at_execute,
    };
    let files = vec![
        file(3, "/data/log", AtExecute::Stays),
        file(4, "/data", AtExecute::Closes),
        StandingFile { descriptor: 0, ..StandingFile::default() },
    ];
    let process = StandingProcess { threads: vec![70, 71], files };
    let beginning = Beginning { directory: Some(b"/home".to_vec()), process: Some(process) };
    let text = "71 1.0 openat(4, \"new\", O_RDONLY) = 5\n70 1.1 read(5, 0x1, 0x10) = 16\n70 1.2 write(3, 0x1, 0x8) = 8\n\
                71 1.3 chdir(\"below\") = 0\n70 1.4 stat(\"x\", 0x1) = 0\n70 1.5 read(0, 0x1, 0x1) = 1\n";
    let (trace, _) = read_from(&beginning, text);
    assert_eq!(
        told_of(&trace),
        [
            "71 openat /data/new 5",
            "70 read /data/new 16",
            "70 write /data/log 8",
            "71 chdir /home/below 0",
            "70 stat /home/below/x 0",
            "70 read - 1",
        ]
    );
    assert_eq!(trace.calls[2].offset, Some(100));
    let tasks = &trace.tables.tasks;
    assert!(tasks.len() == 2 && tasks[1].process == TaskId(0), "{tasks:?}");
    let (executed, _) = read_from(
        &beginning,
        "70 1.0 execve(\"/bin/ls\", 0x1, 0x2) = 0\n70 1.1 fstat(4, 0x1) = -1 EBADF (Bad file descriptor)\n70 1.2 fstat(3, 0x1) = 0\n",
    );
    assert_eq!(told_of(&executed)[1..], ["70 fstat - -1", "70 fstat /data/log 0"]);
}

#[test]
fn a_call_that_hangs_is_kept_with_what_it_asks_for() {
    let text = "7 1.0 openat(AT_FDCWD, \"/data\", O_RDONLY) = 3\n\
                7 1.1 openat(3, \"gone\", O_WRONLY|O_CREAT, 0644 <unfinished ...>\n8 1.2 stat(\"here\",  <unfinished ...>\n\
                9 1.3 stat(\"/cut in the mid <unfinished ...>\n8 1.4 +++ killed by SIGKILL +++\n";
    assert_eq!(
        told(text),
        ["7 openat /data 3", "8 stat /home/here ?", "7 openat /data/gone ?", "9 stat - ?"]
    );
}

/// What the task was in, and for how many ms, of calls that never came back.
fn never_back(text: &str, end_ms: Option<u64>) -> Vec<(String, Option<u64>)> {
    let mut reader = StraceReader::new(&Beginning::default(), Trace::default());
    reader.feed(text.as_bytes()).unwrap();
    if let Some(end) = end_ms {
        reader.ended_at(end * 1_000_000);
    }
    let (trace, tables, reading) = reader.finish().unwrap();
    assert_eq!(reading.foreign, 0, "{text}");
    let calls = trace.calls.iter().filter(|call| call.result.is_none() && call.errno == 0);
    let told = calls.map(|call| {
        let path = call.path.map(|path| String::from_utf8_lossy(tables.paths.path(path)).into_owned());
        (path.unwrap_or_default(), call.duration.map(|duration| duration.0 / 1_000_000))
    });
    told.collect()
}

#[test]
fn how_long_a_call_had_not_come_back_is_known_by_what_ended_it() {
    let open = "7 1700000001.0 openat(AT_FDCWD, \"/data/x\", O_RDONLY";
    let killed = "7 1700000015.5 +++ killed by SIGKILL +++\n";
    const END: u64 = 1_700_000_003_000;
    let told = |ms| vec![("/data/x".to_owned(), ms)];
    // Of a task that is alone; of one of several; and where strace wrote the end of the call.
    assert_eq!(never_back(&format!("{open}) = ?\n{killed}"), None), told(Some(14_500)));
    let others = "8 1700000001.1 close(3) = 0\n";
    assert_eq!(never_back(&format!("{open} <unfinished ...>\n{others}{killed}"), None), told(Some(14_500)));
    let resumed = "7 1700000015.5 <... openat resumed>) = ?\n";
    let in_pieces = format!("{open} <unfinished ...>\n{others}{resumed}{killed}");
    assert_eq!(never_back(&in_pieces, None), told(Some(14_500)));
    // strace lets a task go, or is ended itself in the middle of the line; nobody may know when.
    assert_eq!(never_back(&format!("{open} <detached ...>\n"), Some(END)), told(Some(2000)));
    assert_eq!(never_back(open, Some(END)), told(Some(2000)));
    assert_eq!(never_back(open, None), told(None));
    assert_eq!(
        never_back(&format!("8 1700000000.5 close(3) = 0\n{open}"), Some(END - 2500)),
        told(None),
        "it was later"
    );
    let without_times = "7 openat(AT_FDCWD, \"/data/x\", O_RDONLY) = ?\n7 +++ killed by SIGKILL +++\n";
    assert_eq!(never_back(without_times, None), told(None));
    // Of a path that is cut off nobody knows what it was.
    assert_eq!(
        never_back("7 1700000001.0 openat(AT_FDCWD, \"/data", Some(END)),
        [(String::new(), Some(2000))]
    );
    // Who exits is done.
    let exited = "7 1700000001.0 exit_group(0) = ?\n7 1.1 +++ exited with 0 +++\n";
    assert_eq!(never_back(exited, None), [(String::new(), None)]);
}
