//! Summaries of traces of which the truth is known.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fmt::Write;

use iolag_model::{Nanoseconds, TraceSlot, TraceSummary, WaitEnd};
use iolag_trace::{About, Beginning, Ending, StraceReader, Summariser, TraceReader, TraceWriter};

fn summary_of(text: &str, overhead: u64) -> TraceSummary {
    let beginning = Beginning { directory: Some(b"/home".to_vec()), ..Beginning::default() };
    let mut reader = StraceReader::new(&beginning, Summariser::new(Nanoseconds(overhead)));
    reader.feed(text.as_bytes()).unwrap();
    let (summariser, tables, _) = reader.finish().unwrap();
    let summary = summariser.finish(&tables);
    // Whoever reads it from a file is told the same.
    let about = About::default();
    let mut reader = StraceReader::new(&beginning, TraceWriter::new(Vec::new(), &about).unwrap());
    reader.feed(text.as_bytes()).unwrap();
    let (writer, tables, reading) = reader.finish().unwrap();
    let file = writer.finish(&tables, &Ending::from(&reading)).unwrap();
    let mut reader = TraceReader::new(&file[..]).unwrap();
    let mut again = Summariser::new(Nanoseconds(overhead));
    reader.read_into(&mut again).unwrap();
    assert_eq!(again.finish(reader.tables()), summary);
    summary
}

/// A line at so many microseconds, that took so many.
fn line(text: &mut String, task: u32, at: u64, call: &str, took: u64) {
    writeln!(text, "{task} 17000{:05}.{:06} {call} <0.{took:06}>", at / 1_000_000, at % 1_000_000).unwrap();
}

const ABSENT: &str = "= -1 ENOENT (No such file or directory)";

#[test]
fn a_search_path_that_is_mostly_in_vain() {
    // 20 modules, each looked for in 9 directories that never have one, and then found in the tenth; two of them are nowhere.
    let mut text = String::new();
    let mut at = 0;
    for module in 0..20 {
        for directory in 0..9 {
            let call = format!("stat(\"/opt/{directory}/module{module}.py\", 0x1) {ABSENT}");
            line(&mut text, 1, at, &call, 100);
            at += 200;
        }
        let result =
            if module < 18 { "{st_mode=S_IFREG|0644, st_size=1, ...}) = 0" } else { "0x1) = -1 ENOENT (x)" };
        line(&mut text, 1, at, &format!("stat(\"/opt/9/module{module}.py\", {result}"), 100);
        at += 200;
    }
    let summary = summary_of(&text, 0);
    assert_eq!((summary.calls, summary.errors), (200, 182));
    assert_eq!((summary.lookups.calls, summary.lookups.absent), (200, 182));
    assert_eq!(summary.lookups.absent_ns, Nanoseconds(182 * 100_000));
    let [path] = &summary.search_paths[..] else { panic!("{:#?}", summary.search_paths) };
    assert_eq!((path.names, path.absent, path.absent_ns), (20, 182, Nanoseconds(182 * 100_000)));
    assert_eq!(path.in_vain(), (9, 180));
    assert_eq!(path.directories.len(), 10);
    assert_eq!(path.directories[3].path, "/opt/3");
    assert_eq!((path.directories[9].asked, path.directories[9].found), (20, 18));
    assert_eq!(path.examples, ["module0.py", "module1.py", "module2.py"]);
}

#[test]
fn searches_that_end_early_belong_to_those_that_go_on() {
    let mut text = String::new();
    let mut look = |name: &str, directories: &[&str], found: bool| {
        for (place, directory) in directories.iter().enumerate() {
            let is_there = found && place + 1 == directories.len();
            let result = if is_there { "= 3" } else { ABSENT };
            line(
                &mut text,
                1,
                0,
                &format!("openat(AT_FDCWD, \"{directory}/{name}\", O_RDONLY) {result}"),
                10,
            );
        }
    };
    look("one", &["/a", "/b"], true);
    look("two", &["/a", "/b", "/c", "/d"], true);
    look("three", &["/a", "/b", "/c"], false);
    look("four", &["/x", "/y"], true);
    look("five", &["/z"], true);
    let summary = summary_of(&text, 0);
    let told: Vec<_> = summary
        .search_paths
        .iter()
        .map(|path| {
            let directories =
                path.directories.iter().map(|told| (told.path.as_str(), told.asked, told.found));
            (path.names, path.absent, directories.collect::<Vec<_>>())
        })
        .collect();
    let long = vec![("/a", 3, 0), ("/b", 3, 1), ("/c", 2, 0), ("/d", 1, 1)];
    assert_eq!(told, [(3, 7, long), (1, 1, vec![("/x", 1, 0), ("/y", 1, 1)])]);
}

#[test]
fn tasks_search_for_themselves() {
    let mut text = String::new();
    for directory in ["/a", "/b", "/c"] {
        for task in [1, 2] {
            line(&mut text, task, 0, &format!("access(\"{directory}/name\", F_OK) {ABSENT}"), 1);
        }
    }
    let summary = summary_of(&text, 0);
    assert_eq!(summary.search_paths.len(), 1);
    assert_eq!((summary.search_paths[0].names, summary.search_paths[0].absent), (2, 6));
}

#[test]
fn time_is_in_storage_on_the_processor_or_elsewhere() {
    let mut text = String::new();
    line(&mut text, 1, 0, "openat(AT_FDCWD, \"a\", O_RDONLY) = 3", 100);
    // 100 µs of its own, of which 30 are the tracer's.
    line(&mut text, 1, 200, "read(3, 0x1, 0x10) = 16", 50);
    line(&mut text, 1, 250, "wait4(-1, NULL, 0, NULL) = -1 ECHILD (No child processes)", 1000);
    // Less than what tracing costs.
    line(&mut text, 1, 1260, "read(9, 0x1, 0x10) = 16", 7);
    // A terminal is no storage, memory that looks like a directory is.
    line(&mut text, 2, 0, "read(0</dev/pts/3>, 0x1, 0x10) = 16", 3);
    line(&mut text, 2, 3, "access(\"/dev/shm/a\", F_OK) = 0", 2);
    line(&mut text, 2, 5, "access(\"/device\", F_OK) = 0", 2);
    let summary = summary_of(&text, 30_000);
    assert_eq!(summary.time.storage_ns, Nanoseconds(154_000));
    assert_eq!(summary.time.elsewhere_ns, Nanoseconds(1_010_000));
    assert_eq!(summary.time.processor_ns, Nanoseconds(70_000));
    assert_eq!(summary.span_ns, Nanoseconds(1_267_000));
    // Slots of 8 µs: the first has a third of the second task, the last the end of the last call.
    let line = summary.time_line.unwrap();
    let sum = |of: fn(&TraceSlot) -> Nanoseconds| line.slots.iter().map(|slot| of(slot).0).sum::<u64>();
    assert_eq!((line.slot_ns, line.slots.len()), (Nanoseconds(8000), 159));
    assert_eq!(sum(|slot| slot.storage_ns), 154_000);
    assert_eq!(sum(|slot| slot.processor_ns), 70_000);
    assert_eq!(sum(|slot| slot.elsewhere_ns), 1_010_000);
    let first = TraceSlot {
        calls: 4,
        errors: 0,
        storage_ns: Nanoseconds(8000 + 4000),
        processor_ns: Nanoseconds(0),
        elsewhere_ns: Nanoseconds(3000),
    };
    assert_eq!(line.slots[0], first);
    assert_eq!(line.slots[100], TraceSlot { elsewhere_ns: Nanoseconds(8000), ..TraceSlot::default() });
    let slowest: Vec<_> =
        summary.slowest.iter().map(|call| (call.name.as_str(), call.duration_ns.0 / 1000)).collect();
    assert_eq!(
        slowest,
        [
            ("wait4", 1000),
            ("openat", 100),
            ("read", 50),
            ("read", 7),
            ("read", 3),
            ("access", 2),
            ("access", 2)
        ]
    );
    let kinds: Vec<_> =
        summary.kinds.iter().map(|kind| (kind.name.as_str(), kind.calls, kind.errors)).collect();
    assert_eq!(kinds, [("wait4", 1, 1), ("openat", 1, 0), ("read", 3, 0), ("access", 2, 0)]);
    assert_eq!(summary.kinds[2].longest_ns, Nanoseconds(50_000));
}

#[test]
fn a_question_is_asked_again_only_if_nothing_has_changed() {
    let mut text = String::new();
    let mut say = |task, call: &str| line(&mut text, task, 0, call, 5);
    say(1, "stat(\"a\", {st_mode=S_IFREG|0644, st_size=1, ...}) = 0");
    say(1, "stat(\"/home/a\", {st_mode=S_IFREG|0644, st_size=1, ...}) = 0");
    say(2, "stat(\"/home/a\", {st_mode=S_IFREG|0644, st_size=1, ...}) = 0");
    say(1, "unlink(\"a\") = 0");
    say(1, "stat(\"a\", 0x1) = -1 ENOENT (No such file or directory)");
    say(1, "stat(\"a\", 0x1) = -1 ENOENT (No such file or directory)");
    say(1, "openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT, 0600) = 3");
    say(1, "openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT, 0600) = 4");
    say(1, "newfstatat(3, \"\", {st_mode=S_IFREG|0644, st_size=1, ...}, AT_EMPTY_PATH) = 0");
    say(1, "newfstatat(3, \"\", {st_mode=S_IFREG|0644, st_size=1, ...}, AT_EMPTY_PATH) = 0");
    let repeats = summary_of(&text, 0).repeats;
    assert_eq!((repeats.questions, repeats.repeats, repeats.own_repeats), (2, 3, 2));
    assert_eq!(repeats.time_ns, Nanoseconds(15_000));
    let most: Vec<_> = repeats.most.iter().map(|most| (most.path.as_str(), most.asked)).collect();
    assert_eq!(most, [("/home/a", 3), ("/home/a", 2)]);
}

#[test]
fn processes_and_directories_have_what_was_asked_of_them() {
    let mut text = String::new();
    line(&mut text, 1, 0, "execve(\"/bin/sh\", [\"sh\"], NULL) = 0", 10);
    line(&mut text, 1, 10, "clone(flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD) = 2", 10);
    line(&mut text, 2, 30, "openat(AT_FDCWD, \"d/../e/x\\377\", O_RDONLY) = 3", 40);
    line(&mut text, 1, 40, "clone(flags=SIGCHLD) = 3", 10);
    line(&mut text, 3, 60, &format!("execve(\"/bin/ls\", [\"ls\"], NULL) {ABSENT}"), 20);
    let summary = summary_of(&text, 0);
    let programs: Vec<_> = summary
        .programs
        .iter()
        .map(|told| {
            (told.process, told.program.as_deref(), told.calls, told.errors, told.storage_ns.0 / 1000)
        })
        .collect();
    assert_eq!(programs, [(1, Some("/bin/sh"), 4, 0, 50), (3, None, 1, 1, 20)]);
    assert_eq!((summary.tasks, summary.processes), (3, 2));
    let directories: Vec<_> =
        summary.directories.iter().map(|told| (told.path.as_str(), told.calls, told.errors)).collect();
    assert_eq!(directories, [("/home/e", 1, 0), ("/bin", 2, 1)]);
    let tree: Vec<_> = summary
        .tree
        .iter()
        .map(|told| {
            (told.depth, told.path.as_str(), told.all.calls, told.all.errors, told.all.time_ns.0 / 1000)
        })
        .collect();
    assert_eq!(tree, [(0, "/", 3, 1, 70), (1, "/home/e", 1, 0, 40), (1, "/bin", 2, 1, 30)]);
    assert_eq!(summary.slowest[0].path.as_deref(), Some("/home/d/../e/x\\377"));
}

#[test]
fn of_a_text_without_times_there_are_counts() {
    let summary = summary_of("access(\"a\", R_OK) = 0\nclose(3) = 0\n", 0);
    assert_eq!((summary.calls, summary.time.untimed, summary.slowest.len()), (2, 2, 0));
    assert_eq!((summary.span_ns, summary.time_line), (Nanoseconds::ZERO, None));
}

#[test]
fn directories_that_never_had_anything_are_told_however_they_were_asked() {
    let directory = "{st_mode=S_IFDIR|0755, st_size=4096, ...}";
    let mut text = String::new();
    let mut say = |call: &str| line(&mut text, 1, 0, call, 10);
    for round in 0..5 {
        // Listed once, and asked for each name whether they have changed.
        for place in ["/a/1", "/a/2", "/lib"] {
            say(&format!("newfstatat(AT_FDCWD, \"{place}\", {directory}, 0) = 0"));
            if round == 0 {
                say(&format!("openat(AT_FDCWD, \"{place}\", O_RDONLY|O_DIRECTORY) = 3"));
                say("getdents64(3, 0x1 /* 2 entries */, 32768) = 48");
                say("close(3) = 0");
            }
        }
        say(&format!("openat(AT_FDCWD, \"/lib/module{round}\", O_RDONLY) = 3"));
        // Asked for each name, and not even there.
        say(&format!("access(\"/gone/name{round}\", F_OK) {ABSENT}"));
    }
    // Listed for its own sake.
    say("openat(AT_FDCWD, \"/home/me\", O_RDONLY|O_DIRECTORY) = 3");
    say(&format!("newfstatat(3, \"\", {directory}, AT_EMPTY_PATH) = 0"));
    say("getdents64(3, 0x1 /* 2 entries */, 32768) = 48");
    let vain = summary_of(&text, 0).in_vain;
    assert_eq!((vain.directories, vain.calls, vain.time_ns), (3, 8 + 8 + 5, Nanoseconds(210_000)));
    let told: Vec<_> = vain.most.iter().map(|most| (most.path.as_str(), most.exists, most.calls)).collect();
    assert_eq!(told, [("/a/1", Some(true), 8), ("/a/2", Some(true), 8), ("/gone", None, 5)]);
    assert_eq!((vain.most[0].names, vain.most[2].names, vain.of_loader), (0, 5, 0));
}

#[test]
fn work_before_the_first_call_of_a_task_is_its_own() {
    let text = "1 1700000000.000000 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>\n\
                2 1700000000.600100 getpid() = 2 <0.000001>\n\
                1 1700000000.600200 getpid() = 1 <0.000001>\n";
    // The first waited nowhere, so that it worked as long.
    assert_eq!(summary_of(text, 0).time.processor_ns, Nanoseconds(1_200_100_000));
}

#[test]
fn work_until_a_process_was_killed_is_its_own_and_a_lock_is_no_storage() {
    let text = "1 1700000000.000000 flock(3</d/lock>, LOCK_EX) = 0 <0.400000>\n\
                1 1700000000.500000 fcntl(3</d/lock>, F_SETLKW, 0x1) = 0 <0.100000>\n\
                1 1700000000.600000 fcntl(3</d/lock>, F_GETFL) = 0 <0.050000>\n\
                1 1700000002.650000 +++ killed by SIGKILL +++\n";
    let summary = summary_of(text, 0);
    assert_eq!(summary.time.processor_ns, Nanoseconds(2_100_000_000));
    assert_eq!(
        (summary.time.storage_ns, summary.time.elsewhere_ns),
        (Nanoseconds(50_000_000), Nanoseconds(500_000_000))
    );
    assert_eq!(summary.span_ns, Nanoseconds(2_650_000_000));
}

#[test]
fn what_never_came_back_was_neither_in_vain_nor_answered() {
    let mut text = String::new();
    for _ in 0..4 {
        line(
            &mut text,
            1,
            0,
            "openat(AT_FDCWD, \"/w/pipe\", O_RDONLY) = ? ERESTARTSYS (To be restarted)",
            1000,
        );
    }
    let summary = summary_of(&text, 0);
    assert_eq!((summary.in_vain.directories, summary.repeats.repeats, summary.lookups.calls), (0, 0, 0));
    assert_eq!(summary.directories[0].calls, 4);
}

#[test]
fn names_that_are_asked_for_again_and_again_are_told_with_their_directory() {
    let mut text = String::new();
    for round in 0..40 {
        let name = if round % 4 == 0 { format!("other{round}") } else { "site.cfg".to_owned() };
        line(&mut text, 1, 0, &format!("openat(AT_FDCWD, \"/etc/app/{name}\", O_RDONLY) {ABSENT}"), 10);
        line(&mut text, 1, 0, &format!("access(\"/etc/app/site.cfg\", R_OK) {ABSENT}"), 10);
    }
    let vain = summary_of(&text, 0).in_vain;
    let [app] = &vain.most[..] else { panic!("{vain:?}") };
    assert_eq!((app.names, app.calls, app.asked_most.len()), (11, 80, 3));
    assert_eq!((app.asked_most[0].name.as_str(), app.asked_most[0].calls), ("site.cfg", 70));
    assert_eq!((app.asked_most[1].name.as_str(), app.asked_most[1].calls), ("other0", 1));
}

#[test]
fn what_the_loader_looks_for_is_of_the_directory_that_was_named() {
    let mut text = String::new();
    for directory in ["/opt/one", "/opt/two"] {
        for below in ["/glibc-hwcaps/x86-64-v3", "/tls/haswell", "/tls", ""] {
            line(
                &mut text,
                1,
                0,
                &format!("openat(AT_FDCWD, \"{directory}{below}/libm.so.6\", O_RDONLY) {ABSENT}"),
                10,
            );
        }
    }
    // This one has libraries, though none for just this processor.
    line(&mut text, 1, 0, &format!("openat(AT_FDCWD, \"/lib/tls/libm.so.6\", O_RDONLY) {ABSENT}"), 10);
    line(&mut text, 1, 0, "openat(AT_FDCWD, \"/lib/libm.so.6\", O_RDONLY) = 3", 10);
    let vain = summary_of(&text, 0).in_vain;
    assert_eq!((vain.directories, vain.of_loader), (9, 6));
}

#[test]
fn calls_on_storage_that_never_came_back_are_told_with_what_ended_them() {
    let text = "\
1 1700000001.0 openat(AT_FDCWD, \"/data/killed\", O_RDONLY) = ?
1 1700000015.0 +++ killed by SIGKILL +++
2 1700000016.0 stat(\"/data/asked-again\", 0x1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <3.0>
2 1700000020.0 stat(\"/data/interrupted\", 0x1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <2.0>
2 1700000022.0 +++ killed by SIGTERM +++
3 1700000023.0 unlink(\"/data/thread\" <unfinished ...>
4 1700000023.0 exit_group(0) = ?
3 1700000023.5 +++ exited with 0 +++
5 1700000024.0 read(0</dev/pts/1>,  <unfinished ...>
6 1700000024.0 read(4<pipe:[5]>,  <unfinished ...>
7 1700000024.0 flock(3</data/lock>, LOCK_EX <unfinished ...>
8 1700000024.0 fstat(3</data/fifo>, {st_mode=S_IFIFO|0644, st_size=0, ...}) = 0 <0.1>
8 1700000024.1 read(3</data/fifo>,  <unfinished ...>
9 1700000024.0 openat(AT_FDCWD, \"/proc/1/x\", O_RDONLY <unfinished ...>
10 1700000024.0 read(3</data/goes-on>,  <unfinished ...>
10 1700000025.0 read(3</data/last>,  <unfinished ...>
11 1700000026.0 wait4(-1,  <unfinished ...>
12 1700000028.0 close(3) = 0
";
    let never_back = summary_of(text, 0).never_back;
    let told: Vec<_> = never_back
        .longest
        .iter()
        .map(|told| (told.call.path.as_deref().unwrap(), told.call.duration_ns.0 / 1_000_000, told.until))
        .collect();
    let expected = [
        ("/data/killed", 14_000, WaitEnd::Killed(9)),
        ("/data/last", 3000, WaitEnd::TraceEnded),
        ("/data/interrupted", 2000, WaitEnd::Killed(15)),
        ("/data/thread", 500, WaitEnd::ProcessEnded),
    ];
    assert_eq!(told, expected);
    assert_eq!((never_back.calls, never_back.longest[0].call.call), (4, 0));
}
