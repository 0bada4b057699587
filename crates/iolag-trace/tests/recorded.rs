//! Texts of real programs, recorded by `recorded/record.sh`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;

use iolag_trace::{
    Beginning, Call, CallName, Clockwork, Edge, EdgeKind, Ended, PerProcessError, Reading, StraceReader,
    TaskId, Trace, lexical, read_per_process, write_strace,
};

const WORK: &str = "/tmp/traced/site";

fn text(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/recorded/{name}.strace", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(name: &str) -> (Trace, Reading) {
    read_text(&text(name))
}

fn read_text(text: &[u8]) -> (Trace, Reading) {
    let beginning = Beginning { directory: Some(WORK.into()), ..Beginning::default() };
    let mut reader = StraceReader::new(&beginning, Trace::default());
    // Pieces end anywhere.
    text.chunks(4093).for_each(|piece| reader.feed(piece).unwrap());
    let (mut trace, tables, reading) = reader.finish().unwrap();
    trace.tables = tables;
    (trace, reading)
}

fn name(trace: &Trace, call: &Call) -> String {
    String::from_utf8(trace.tables.names.name(call.name).to_vec()).unwrap()
}

/// A path without detours, what is below the place of the programs relative to that. What -y says has no symbolic links in it.
fn shown(path: &[u8]) -> String {
    let plain = lexical(path).escape_ascii().to_string().replace("/usr/lib/x86_64", "/lib/x86_64");
    plain.strip_prefix(WORK).map_or(plain.clone(), |rest| format!(".{rest}"))
}

/// `name path second` of each call that is about files.
fn told(trace: &Trace) -> Vec<String> {
    // What the program was started with has a name only with -y.
    let is_given = |call: &Call| call.path.is_none_or(|path| trace.tables.paths.path(path) == b"/dev/null");
    let calls = trace.calls.iter().filter(|call| !is_given(call));
    calls
        .map(|call| {
            let path = |path| shown(trace.tables.paths.path(path));
            let second = call.second.map_or(String::new(), |second| format!(" {}", path(second)));
            format!("{} {}{second}", name(trace, call), path(call.path.unwrap()))
        })
        .collect()
}

/// Calls and errors by name, as the text's own table of -C has them.
fn table(text: &[u8]) -> BTreeMap<String, (u64, u64)> {
    let text = String::from_utf8_lossy(text);
    let (_, table) = text.split_once("% time").unwrap();
    let rows = table.lines().skip(2).take_while(|line| !line.starts_with('-'));
    rows.map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let number = |word: &str| word.parse().unwrap();
        let errors = if words.len() == 6 { number(words[4]) } else { 0 };
        (words[words.len() - 1].to_owned(), (number(words[3]), errors))
    })
    .collect()
}

#[test]
fn counts_are_those_of_the_same_execution() {
    for recorded in ["names-y", "tasks-y", "script-y", "script-raw"] {
        let (trace, reading) = read(recorded);
        let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        // What never came back is not in the table.
        for call in trace.calls.iter().filter(|call| call.result.is_some()) {
            let count = counts.entry(name(&trace, call)).or_default();
            count.0 += 1;
            count.1 += u64::from(call.errno != 0);
        }
        assert_eq!(counts, table(&text(recorded)), "{recorded}");
        assert_eq!((reading.foreign, reading.guessed), (0, 0), "{recorded}");
        assert_eq!(reading.calls, trace.calls.len() as u64);
    }
}

#[test]
fn every_name_is_what_the_program_asked_for() {
    let (trace, _) = read("names-y");
    let told = told(&trace);
    let expected = [
        r"openat ./d/a\nb",
        r#"openat ./d/q\"uo\'te"#,
        r"openat ./d/\xff\xfe",
        "openat ./d/a>b<c",
        r"openat ./d/back\\slash",
        "openat ./d/ <unfinished ...>",
        "openat ./d/comma, (bracket)",
        r"openat ./d/0\x019",
        r"write ./d/\xff\xfe",
        r"unlink ./d/a\nb",
        "newfstatat ./d/sub/none",
        "rename ./d ./e",
        "getcwd ./e",
        "openat ./e/sub/x",
        "dup ./e/sub/x",
        "dup2 ./e/sub/x",
        "write ./e/sub/x",
        "lseek ./e/sub/x",
        "symlink ./e/sub/link x",
        "readlink ./e/sub/link x",
        "newfstatat ./e/sub",
        "statx ./e/sub/x",
        "getdents64 ./e/sub",
        "link ./e/sub/x ./e/sub/y",
        "setxattr ./e/sub/x",
        "unlinkat ./e/sub/y",
        "execve /nowhere/true",
        "execve /bin/true",
    ];
    for line in expected {
        assert!(told.iter().any(|told| told == line), "{line} is not in {told:#?}");
    }
}

#[test]
fn without_y_the_descriptors_say_the_same() {
    for (one, other) in [("names-y", "names-raw"), ("tasks-y", "tasks-raw")] {
        // Cut short by -s: what the link to the program says.
        let told = |recorded| -> Vec<String> {
            let without_target = |line: String| match line.starts_with("readlink") {
                true => line.split(' ').take(2).collect::<Vec<_>>().join(" "),
                false => line,
            };
            told(&read(recorded).0).into_iter().map(without_target).collect()
        };
        assert_eq!(told(one), told(other), "{one}");
    }
}

#[test]
fn every_form_of_time_and_place_tells_the_same_calls() {
    let files = |recorded: &str| {
        let (trace, reading) = read(recorded);
        assert_eq!((reading.foreign, reading.guessed), (0, 0), "{recorded}");
        let links = |line: &String| !line.starts_with("readlink");
        (told(&trace).into_iter().filter(links).collect::<Vec<_>>(), reading.clockwork)
    };
    let (names, _) = files("names-y");
    assert_eq!(files("names-tt"), (names.clone(), Clockwork::OfDay));
    assert_eq!(files("names-r"), (names, Clockwork::SinceLast));
    let (tasks, _) = files("tasks-y");
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(files("tasks-stderr"), (tasks.clone(), Clockwork::OfDay));
    assert_eq!(sorted(files("tasks-each").0), sorted(tasks));
}

#[test]
fn files_of_each_task_are_one_trace() {
    let beginning = Beginning { directory: Some(WORK.into()), ..Beginning::default() };
    let read_files = |files: Vec<(u32, Vec<u8>)>| {
        let mut reader = StraceReader::new(&beginning, Trace::default());
        let files = files.iter().map(|(number, text)| (*number, &text[..])).collect();
        read_per_process(&mut reader, files)?;
        let (trace, tables, _) = reader.finish()?;
        Ok::<_, PerProcessError>(Trace { tables, ..trace })
    };
    let mut files: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for line in text("tasks-each").split_inclusive(|byte| *byte == b'\n') {
        let space = line.iter().position(|byte| *byte == b' ').unwrap();
        let number = std::str::from_utf8(&line[..space]).unwrap().parse().unwrap();
        files.entry(number).or_default().extend(&line[space + 1..]);
    }
    assert!(files.len() > 5);
    let trace = read_files(files.into_iter().rev().collect()).unwrap();
    assert_eq!(trace, read("tasks-each").0);
    let relative = read_files(vec![(5, b"     0.000012 close(3) = 0\n".to_vec())]).unwrap_err();
    assert!(relative.to_string().contains("-ttt"), "{relative}");
}

#[test]
fn reads_and_writes_have_their_places_in_the_file() {
    let (trace, _) = read("names-raw");
    let of = |wanted: &str, path: &str| -> Vec<(Option<u64>, u64, Option<i64>)> {
        let is_it = |call: &&Call| {
            name(&trace, call) == wanted
                && call.path.is_some_and(|id| shown(trace.tables.paths.path(id)) == path)
        };
        trace.calls.iter().filter(is_it).map(|call| (call.offset, call.length, call.result)).collect()
    };
    assert_eq!(of("write", "./d/back\\\\slash"), [(Some(0), 11, Some(11)), (Some(11), 1, Some(1))]);
    assert_eq!(of("pread64", "./d/back\\\\slash"), [(Some(2), 4, Some(4))]);
    // Three bytes by one descriptor, back by one, eleven by another: they have one position.
    let written = [(Some(0), 3, Some(3)), (Some(2), 11, Some(11)), (Some(13), 1, Some(1))];
    assert_eq!(of("write", "./e/sub/x"), written);
    let stat = trace.calls.iter().find(|call| call.argument == 0o120_777).unwrap();
    assert_eq!((name(&trace, stat).as_str(), stat.length), ("newfstatat", 1));
}

#[test]
fn nothing_of_a_program_is_kept_but_names_and_numbers() {
    for recorded in ["names-y", "names-raw", "names-tt", "names-r"] {
        let (trace, _) = read(recorded);
        for path in trace.tables.paths.iter() {
            assert!(!path.windows(6).any(|bytes| bytes == b"secret"), "{recorded}: {}", path.escape_ascii());
        }
    }
    let raw = text("names-raw");
    assert!(!raw.windows(6).any(|bytes| bytes == b"secret"), "with these options it is not even in the text");
}

#[test]
fn tasks_share_what_they_share() {
    let expected = [
        "mkdir ./deeper",
        "openat ./kept",
        "openat ./closed",
        "openat ./in-thread",
        "chdir ./deeper",
        "newfstatat ./deeper/after-thread",
        "newfstatat ./in-thread",
        "chdir /",
        "openat /etc",
        "newfstatat ./deeper/still-deeper",
        "newfstatat /etc",
        "chdir /var",
        "newfstatat /var/nothing",
        "newfstatat ./deeper/deeper-yet",
        "chdir /usr",
        "openat /usr/lib",
        "newfstatat /usr/in-usr",
        "execve /tmp/traced/tasks",
        "newfstatat /usr/after-execute",
        "chdir /",
        "newfstatat /usr/at-the-end",
    ];
    for recorded in ["tasks-y", "tasks-raw", "tasks-stderr"] {
        let told: Vec<_> = told(&read(recorded).0)
            .into_iter()
            .skip(1)
            .filter(|line| !line.starts_with("readlink"))
            .collect();
        assert_eq!(told, expected, "{recorded}");
    }
}

#[test]
fn tasks_have_to_do_with_each_other() {
    let (trace, _) = read("tasks-raw");
    let of = |task: u32| -> Vec<EdgeKind> {
        let of_task = trace.edges.iter().filter(|edge| edge.task == TaskId(task)).map(|edge| edge.kind);
        let [rest @ .., EdgeKind::Over(_), end] = &of_task.collect::<Vec<_>>()[..] else {
            panic!("it is over before it ends")
        };
        rest.iter().chain([end]).copied().collect()
    };
    let (fork, wait) = (|task| EdgeKind::Fork(TaskId(task)), |task| EdgeKind::Wait(TaskId(task)));
    let first = [
        EdgeKind::Execute,
        fork(1),
        fork(2),
        wait(2),
        fork(3),
        wait(3),
        fork(4),
        wait(4),
        fork(5),
        wait(5),
        fork(6),
        wait(6),
        EdgeKind::Exit(Ended::Exited(0)),
    ];
    assert_eq!(of(0), first);
    assert_eq!(of(1), [EdgeKind::Exit(Ended::Exited(0))]);
    assert_eq!(of(5), [EdgeKind::Execute, EdgeKind::Exit(Ended::Exited(5))]);
    assert_eq!(of(6), [EdgeKind::Exit(Ended::Killed(9))]);
    let tasks = &trace.tables.tasks;
    assert_eq!(tasks[1].process, TaskId(0), "a thread is of the process");
    assert_eq!(tasks[2].process, TaskId(2));
    let shares = |task: usize| (tasks[task].sharing.descriptors(), tasks[task].sharing.directory());
    assert_eq!(
        [1, 2, 3, 4, 5].map(shares),
        [(true, true), (true, false), (true, true), (false, true), (false, false)]
    );
    assert!(tasks[5].sharing.parent_waits());
    let forks = trace.edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Fork(_)));
    for Edge { call, task, .. } in forks {
        let call = &trace.calls[*call as usize];
        assert_eq!(call.task, *task);
        assert!(name(&trace, call).contains("clone") || name(&trace, call) == "vfork");
    }
}

#[test]
fn a_pipeline_of_children_in_the_background() {
    for recorded in ["script-y", "script-raw"] {
        let (trace, _) = read(recorded);
        let program = |wanted: &str| {
            let edge = trace.edges.iter().find(|edge| {
                let path = trace.calls[edge.call as usize % trace.calls.len()].path;
                edge.kind == EdgeKind::Execute
                    && path.is_some_and(|path| trace.tables.paths.path(path).ends_with(wanted.as_bytes()))
            });
            edge.unwrap_or_else(|| panic!("{recorded}: {wanted} was executed")).task
        };
        for program in ["/sort", "/uniq", "/cat"].map(program) {
            assert_eq!(trace.tables.tasks[program.0 as usize].parent, Some(TaskId(0)), "{recorded}");
        }
        let told = told(&trace);
        for line in
            ["openat ./share/out", "openat ./listed", "openat ./share", "newfstatat ./share/none", "chdir ."]
        {
            let is_it = |told: &String| told == line || told.replace("statx", "newfstatat") == line;
            assert!(told.iter().any(is_it), "{recorded}: {line} is not in {told:#?}");
        }
        let ends = trace.edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Exit(_))).count();
        assert_eq!(ends, trace.tables.tasks.len(), "{recorded}");
    }
}

#[test]
fn what_is_written_as_text_is_read_again() {
    for recorded in
        ["names-y", "names-raw", "names-r", "tasks-y", "tasks-raw", "tasks-each", "script-y", "script-raw"]
    {
        let (trace, reading) = read(recorded);
        let mut text = Vec::new();
        write_strace(&trace, reading.began, &mut text).unwrap();
        let (again, reading) = read_text(&text);
        assert_eq!(
            (reading.foreign, reading.guessed),
            (0, 0),
            "{recorded}: {}",
            String::from_utf8_lossy(&text)
        );
        // Each task's calls, with what numbers stand for, and without what is a matter of order.
        let by_task = |trace: &Trace| -> BTreeMap<u32, Vec<String>> {
            let mut tasks: BTreeMap<u32, Vec<String>> = BTreeMap::new();
            for call in &trace.calls {
                let path = |path: Option<_>| path.map(|path| shown(trace.tables.paths.path(path)));
                let plain = Call { path: None, second: None, name: CallName(0), task: TaskId(0), ..*call };
                let words =
                    format!("{} {:?} {:?} {plain:?}", name(trace, call), path(call.path), path(call.second));
                tasks.entry(trace.tables.tasks[call.task.0 as usize].number).or_default().push(words);
            }
            tasks
        };
        let (one, other) = (by_task(&trace), by_task(&again));
        for (task, calls) in &one {
            let again = other.get(task).unwrap();
            for (one, other) in calls.iter().zip(again) {
                assert_eq!(one, other, "{recorded}: {task}");
            }
            assert_eq!(calls.len(), again.len(), "{recorded}: {task}");
        }
        assert_eq!(one.len(), other.len(), "{recorded}");
        let edges = |trace: &Trace| {
            let number = |task: TaskId| trace.tables.tasks[task.0 as usize].number;
            let mut edges: Vec<String> = trace
                .edges
                .iter()
                .map(|edge| match edge.kind {
                    EdgeKind::Fork(child) => format!("{} fork {}", number(edge.task), number(child)),
                    EdgeKind::Wait(child) => format!("{} wait {}", number(edge.task), number(child)),
                    other => format!("{} {other:?}", number(edge.task)),
                })
                .collect();
            edges.sort();
            edges
        };
        assert_eq!(edges(&trace), edges(&again), "{recorded}");
    }
}
