//! `iolag bench stream` as it is typed and by a plan: what was moved, how fast, what failed, and what is refused.

use std::os::unix::process::CommandExt;

use serde_json::Value;

use crate::user::{User, number};

pub(super) fn document(user: &User, words: &[&str]) -> Value {
    let all = [&["bench", "stream"], words, &["--format", "json", "-q"]].concat();
    serde_json::from_str(&user.fine(&all).output).unwrap()
}

pub(super) fn phase<'a>(run: &'a Value, name: &str) -> &'a Value {
    let phases = run["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["phase"] == name).unwrap_or_else(|| panic!("{name}: {run:#}"))
}

/// How often an operation was attempted in a stage.
pub(super) fn attempts(run: &Value, stage: u64, operation: &str) -> u64 {
    let stages = run["stages"].as_array().unwrap().iter();
    let rows = stages.filter(|one| one["stage"] == stage).flat_map(|one| one["rows"].as_array().unwrap());
    let of_operation = rows.filter(|row| row["summary"]["operation"] == operation);
    of_operation.map(|row| row["summary"]["attempts"].as_u64().unwrap()).sum()
}

#[test]
fn each_client_moves_all_of_its_file_in_each_phase_and_leaves_nothing() {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    let one_by_one = ["buffered", "direct", "dsync"].map(|io| (io, ["--engine", "sync", "--depth", "1"]));
    let queued = [("buffered", "8"), ("direct", "8"), ("dsync", "3"), ("direct", "1")]
        .map(|(io, depth)| (io, ["--engine", "io_uring", "--depth", depth]));
    for (io, engine) in one_by_one.into_iter().chain(queued) {
        let phases = "write,read,rewrite,random-read,random-write,read";
        let words =
            ["d", "-n", "2", "-s", "260KiB", "-b", "64KiB", "--verify", "--io", io, "--phases", phases];
        let run = document(&user, &[words.as_slice(), &engine].concat());
        for phase in run["phases"].as_array().unwrap() {
            assert_eq!(phase["bytes"], (2 * 260) << 10, "{io}: {phase}");
            assert!(phase["bytes_per_second"].as_f64().unwrap() > 0.0);
            assert!(phase["processor_time_ns"].as_u64().unwrap() > 0);
        }
        let names: Vec<&str> =
            run["phases"].as_array().unwrap().iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
        assert_eq!(names.join(","), phases);
        for (stage, operation, times) in [
            (0, "mkdir", 2),
            (1, "stream.create", 2),
            (1, "stream.write", 10),
            (1, "stream.fsync", 2),
            (1, "stream.close-written", 2),
            (2, "stream.open", 2),
            (2, "stream.read", 10),
            (2, "stream.close", 2),
            (3, "stream.rewrite", 10),
            (4, "stream.random-read", 10),
            (5, "stream.random-write", 10),
            (6, "stream.read", 10),
            (7, "delete", 2),
        ] {
            assert_eq!(attempts(&run, stage, operation), times, "{io}, {engine:?}, {stage}, {operation}");
        }
        assert_eq!(std::fs::read_dir(user.path("d")).unwrap().count(), 0);
    }
}

#[test]
fn a_storage_that_needs_5_ms_for_a_block_moves_no_more_than_that_gives() {
    let user = User::new();
    let target = "delayed:stream.write=5ms,stream.fsync=40ms:memory:";
    let run = document(&user, &[target, "-s", "20KiB", "-b", "1KiB", "--phases", "write"]);
    let write = phase(&run, "write");
    // 20 blocks and the fsync that belongs to them.
    assert!(write["time_ns"].as_u64().unwrap() >= 140_000_000, "{write}");
    assert!(write["bytes_per_second"].as_f64().unwrap() <= 20.0 * 1024.0 / 0.14, "{write}");
    let row = &run["stages"][1]["rows"][1]["summary"];
    assert_eq!((&row["operation"], &row["attempts"]), (&"stream.write".into(), &20.into()));
    assert!(row["durations"]["min"]["exactly_ns"].as_u64().unwrap() >= 5_000_000, "{row:#}");
    let told = user.fine(&["show", "last"]).output;
    assert!(told.contains("\nWrite ") && told.contains(" of one processor."), "{told}");
}

#[test]
fn with_four_in_flight_four_blocks_are_under_way_at_once_and_take_the_time_of_one() {
    let user = User::new();
    let target = "delayed:stream.write=20ms,stream.read=20ms:memory:";
    let size = ["-s", "16KiB", "-b", "1KiB", "--verify", "--engine", "io_uring", "--depth", "4"];
    document(&user, &[&[target], size.as_slice()].concat());
    for operation in ["stream.write", "stream.read"] {
        let blocks = user.operations(&[operation]);
        assert_eq!(blocks.len(), 16);
        let interval = |block: &Value| {
            let start = number(block, "start_ns");
            (start, start + number(block, "duration_ns"))
        };
        let intervals: Vec<(u64, u64)> = blocks.iter().map(interval).collect();
        assert!(intervals.iter().all(|(start, end)| end - start >= 20_000_000), "{intervals:?}");
        let at_once =
            |moment| intervals.iter().filter(|(start, end)| *start <= moment && moment < *end).count();
        assert_eq!(intervals.iter().map(|(start, _)| at_once(*start)).max(), Some(4), "{intervals:?}");
    }
    // The deepest queue of a file that has fewer blocks.
    let deep = ["memory:", "-s", "3k", "-b", "1k", "--engine", "io_uring", "--depth", "1000"];
    assert_eq!(attempts(&document(&user, &deep), 1, "stream.write"), 3);
}

#[test]
fn a_full_storage_breaks_a_queue_off_after_what_was_in_flight() {
    let user = User::new();
    let target = "faulty:stream.write:enospc@#4:memory:";
    let words =
        ["bench", "stream", target, "-s", "10KiB", "-b", "1KiB", "--engine", "io_uring", "--depth", "4"];
    let said = user.iolag(&[words.as_slice(), &["--json", "run.json"]].concat());
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.output.contains("client 0 broke off write after "), "{said:?}");
    let run: Value = serde_json::from_slice(&std::fs::read(user.path("run.json")).unwrap()).unwrap();
    // Up to three behind the one that failed were in flight; what is before it is read.
    assert!((4..=7).contains(&attempts(&run, 1, "stream.write")), "{run:#}");
    assert_eq!((attempts(&run, 2, "stream.read"), attempts(&run, 1, "stream.fsync")), (3, 0));
}

#[test]
fn where_no_program_may_have_an_io_uring_system_calls_do_its_work_and_that_is_told() {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command
        .args(["bench", "stream", "d", "-s", "1MiB", "-b", "64KiB", "--engine", "io_uring", "--depth", "8"]);
    // SAFETY: nothing but two system calls between fork and exec.
    unsafe { command.pre_exec(|| iolag_fixtures::forbid(libc::SYS_io_uring_setup)) };
    let said = crate::user::said(command);
    assert_eq!(said.code, 0, "{said:?}");
    let told = "this system lets no program have an io_uring";
    assert!(said.output.replace("\n  ", " ").contains(told), "{said:?}");
    let spec = &user.record()["spec"]["workload"];
    assert_eq!(
        (&spec["engine"], &spec["depth"]),
        (&"sync".into(), &1.into()),
        "no depth that it did not have"
    );
    let shown = user.fine(&["show", "last"]).output;
    assert!(shown.contains("one block in flight instead of 8"), "{shown}");
    assert_eq!(std::fs::read_dir(user.path("d")).unwrap().count(), 0);
}

#[test]
fn a_full_storage_breaks_the_stream_off_and_what_it_took_is_told_and_read() {
    let user = User::new();
    let target = "faulty:stream.write:enospc@#4:memory:";
    let said = user.iolag(&["bench", "stream", target, "-s", "10KiB", "-b", "1KiB", "--json", "run.json"]);
    assert_eq!(said.code, 4, "{said:?}");
    let broke = "client 0 broke off write after 3.00 KiB of 10.0 KiB: stream.write failed: ";
    assert!(said.output.contains(broke), "{said:?}");
    let run: Value = serde_json::from_slice(&std::fs::read(user.path("run.json")).unwrap()).unwrap();
    assert_eq!((attempts(&run, 1, "stream.write"), attempts(&run, 2, "stream.read")), (4, 3));
    assert_eq!((attempts(&run, 1, "stream.fsync"), attempts(&run, 1, "stream.close-written")), (0, 1));
}

#[test]
fn a_sweep_over_blocks_is_a_campaign_and_sides_are_compared_by_throughput() {
    let user = User::new();
    let slow = "delayed:stream.write=3ms:memory:";
    let words =
        ["bench", "stream", "memory:", slow, "-b", "1k,2k", "-s", "8k", "--repeat", "2", "--phases", "write"];
    let said = user.fine(&words);
    assert!(said.output.contains("the throughput"), "{said:?}");
    assert!(said.output.contains("stream.write, block=1KiB") && said.output.contains("KiB/s"), "{said:?}");
    let listed = user.fine(&["list"]).output;
    assert_eq!(listed.matches("stream, write").count(), 8, "{listed}");
}

#[test]
fn a_plan_says_what_is_typed() {
    let user = User::new();
    let plan = |keys: &str| {
        std::fs::write(user.path("plan.toml"), format!("[[bench]]\nworkload = \"stream\"\n{keys}")).unwrap();
        user.iolag(&["run", "plan.toml", "memory:", "-q"])
    };
    let said = plan(
        "clients = [2]\nblock = [\"1KiB\"]\nphases = [\"write\", \"random-read\"]\nfile-size = \"3KiB\"\nio = \"direct\"\nengine = \"sync\"\n\
         depth = 1\nfsync = 2\npreallocate = true\ncompressible = \"50%\"\nverify = true\ntime-limit = \"9s\"\n",
    );
    assert_eq!(said.code, 0, "{said:?}");
    let spec = &user.record()["spec"]["workload"];
    let expected = serde_json::json!({
        "kind": "stream", "phases": ["write", "random-read"], "file_bytes": 3072, "block_bytes": 1024, "io": "direct",
        "engine": "sync", "depth": 1, "fsync": {"every": 2}, "allocation": "before", "compressible_percent": 50,
        "verification": "content", "time_limit_ns": 9_000_000_000_u64,
    });
    assert_eq!(*spec, expected);
    for (keys, expected) in [
        ("depth = 2\n", "plan.toml:3: engine sync has one block in flight and cannot have 2"),
        ("io = \"raw\"\n", "plan.toml:3: \"raw\": expected one of: buffered, direct, dsync"),
        ("file-size = \"0x\"\n", "plan.toml:3: \"0x\": expected a multiple of the memory"),
        ("phases = [\"append\"]\n", "plan.toml:3: \"append\": expected one of: write, read, rewrite"),
        ("copies = [1]\n", "plan.toml:3: unknown field `copies`, expected one of `workload`, `clients`"),
    ] {
        let said = plan(keys);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains(expected), "{expected}: {said:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let user = User::new();
    std::fs::create_dir(user.path("d")).unwrap();
    for (words, code, expected) in [
        (&["-s", "0"][..], 2, "the size of a file is 0"),
        (&["-s", "4k", "-b", "100", "--io", "direct"], 2, "--io direct moves whole sectors, and --block 100"),
        (&["--phases", ""], 2, "expected one of: write, read"),
        (&["--depth", "8"], 2, "choose --engine io_uring, or --depth 1"),
        (&["-b", "1k,1024"], 2, "--block 1KiB is given 2 times"),
        (&["-s", "1000TiB"], 3, "reduce --file-size or --clients"),
        (&["--fsync", "maybe"], 2, "expected end, never, or after how many blocks"),
        (&["--format", "md-workbench"], 2, "--format md-workbench is for iolag bench metadata"),
    ] {
        let said = user.iolag(&[&["bench", "stream", "d"], words].concat());
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.errors.contains(expected), "{words:?}: {said:?}");
        assert_eq!(std::fs::read_dir(user.path("d")).unwrap().count(), 0);
    }
}

#[test]
fn the_command_of_a_run_does_the_same_again() {
    let user = User::new();
    let words =
        ["memory:", "-s", "6k", "-b", "1k", "--phases", "read", "--fsync", "never", "--compressible", "50%"];
    document(&user, &words);
    let page = user.path("page.html");
    user.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    let again = "iolag bench stream memory: --phases read --file-size 6KiB --block 1KiB --clients 1 --io buffered --engine sync --depth 1 \
                 --fsync never --compressible 50% --on-hang continue";
    assert!(page.contains(again), "{page}");
}
