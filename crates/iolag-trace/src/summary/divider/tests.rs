use iolag_model::{TraceActivityKind, TraceCost};

use super::*;
use crate::reading::{Beginning, StraceReader};

const MS: u64 = 1_000_000;

fn divided(text: &str, cost: TracingCost, processor: u64, until: Option<u64>) -> TraceElapsed {
    let mount = |point: &str| TraceMount { point: point.into(), ..TraceMount::default() };
    let divider = Divider::new(cost, &["/", "/mnt"].map(mount));
    let mut reader = StraceReader::new(&Beginning { directory: Some(b"/".to_vec()), process: None }, divider);
    reader.feed(text.as_bytes()).unwrap();
    let (divider, _, _) = reader.finish().unwrap();
    let of = |milliseconds: u64| Nanoseconds(milliseconds * MS);
    divider.finish(of(processor), until.map(of))
}

fn free(text: &str, processor: u64) -> TraceElapsed {
    divided(text, TracingCost::default(), processor, None)
}

/// In ms.
fn of(elapsed: &TraceElapsed, kind: &TraceActivityKind) -> u64 {
    let found = elapsed.activities.iter().find(|activity| activity.kind == *kind);
    found.map_or(0, |activity| (activity.elapsed_ns.0 + MS / 2) / MS)
}

fn look_ups() -> TraceActivityKind {
    TraceActivityKind::LookUps("/mnt".into())
}

fn storage(mount: &str) -> TraceActivityKind {
    TraceActivityKind::Storage(mount.into())
}

#[test]
fn the_time_of_one_task_is_divided_as_it_went() {
    let elapsed = free(
        r#"7 1700000001.000000 execve("/bin/x", 0x1, 0x2) = 0 <0.010>
7 1700000001.100000 stat("/mnt/a", 0x1) = -1 ENOENT (No such file or directory) <0.200>
7 1700000001.300000 openat(AT_FDCWD, "/mnt/b", O_RDONLY) = 3 <0.100>
7 1700000001.400000 read(3, 0x1, 4096) = 10 <0.300>
7 1700000001.700000 clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1}, 0x1) = 0 <0.150>
7 1700000001.850000 read(0, 0x1, 4096) = 0 <0.050>
7 1700000001.900000 exit_group(0) = ?
7 1700000001.900500 +++ exited with 0 +++
"#,
        90,
    );
    let (span, told) = (elapsed.span_ns.0 / MS, |kind| of(&elapsed, &kind));
    assert_eq!((span, told(look_ups()), told(storage("/mnt")), told(storage("/"))), (900, 200, 400, 10));
    assert_eq!(
        [TraceActivityKind::Time, TraceActivityKind::Others, TraceActivityKind::Processor].map(told),
        [150, 50, 90]
    );
    assert_eq!(elapsed.activities[0].calls, 2, "{elapsed:?}");
}

#[test]
fn who_waits_for_a_task_does_less_than_that_task() {
    let elapsed = free(
        r#"7 1700000001.000000 fork() = 8 <0.001>
7 1700000001.001000 wait4(-1, <unfinished ...>
8 1700000001.001000 read(0, 0x1, 4096) = 1 <0.099>
8 1700000001.100000 stat("/mnt/b", {st_mode=S_IFREG|0644, st_size=1}) = 0 <0.800>
8 1700000001.900000 exit_group(0) = ?
8 1700000001.900000 +++ exited with 0 +++
7 1700000002.000000 <... wait4 resumed> [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8 <0.999>
"#,
        0,
    );
    assert_eq!(of(&elapsed, &storage("/mnt")), 800);
    assert_eq!(of(&elapsed, &TraceActivityKind::Others), 99);
    assert_eq!(of(&elapsed, &TraceActivityKind::Processes), 101, "{elapsed:?}");
}

#[test]
fn what_tracing_takes_is_of_no_activity() {
    let cost = |milliseconds| TraceCost { median: Nanoseconds(milliseconds * MS), ..TraceCost::default() };
    let cost = TracingCost { between_ns: cost(10), within_ns: cost(5) };
    let text = r#"7 1700000001.000000 stat("/mnt/a", 0x1) = -1 ENOENT (No such file or directory) <0.100>
7 1700000001.200000 stat("/mnt/a", 0x1) = -1 ENOENT (No such file or directory) <0.004>
7 1700000001.204000 stat("/mnt/a", 0x1) = -1 ENOENT (No such file or directory) <0.006>
"#;
    let elapsed = divided(text, cost, 1000, None);
    assert_eq!((of(&elapsed, &look_ups()), of(&elapsed, &TraceActivityKind::Processor)), (96, 90));
    assert_eq!(elapsed.tracing_ns.0 / MS, 5 + 10 + 4 + 5);
}

#[test]
fn time_between_calls_in_which_nobody_worked_is_not_the_processors() {
    let text = "7 1700000001.000000 stat(\"/mnt/a\", 0x1) = -1 EACCES (Permission denied) <0.001>\n7 1700000002.001000 close(9) = -1 EBADF (Bad file descriptor) <0.000001>\n";
    let elapsed = free(text, 250);
    assert_eq!(of(&elapsed, &TraceActivityKind::Processor), 250);
    assert_eq!(of(&elapsed, &TraceActivityKind::Unknown), 750);
}

#[test]
fn who_asks_for_names_waits_for_the_name_service() {
    let elapsed = free(
        r#"7 1700000001.000000 socket(AF_UNIX, SOCK_STREAM, 0) = 3 <0.000001>
7 1700000001.000001 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = 0 <0.001>
7 1700000001.001001 sendto(3, ""..., 17, MSG_NOSIGNAL, NULL, 0) = 17 <0.001>
7 1700000001.002001 poll([...], 1, 5000) = 1 ([...]) <0.500>
7 1700000001.502001 read(3, 0x1, 36) = 36 <0.001>
7 1700000001.503001 close(3) = 0 <0.000001>
7 1700000001.503002 openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3 <0.001>
7 1700000001.504002 socket(AF_INET, SOCK_STREAM, 0) = 4 <0.000001>
7 1700000001.504003 connect(4, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("10.0.0.1")}, 16) = 0 <0.200>
7 1700000001.704003 poll([...], 1, 5000) = 1 ([...]) <0.100>
7 1700000001.804003 poll([...], 1, 5000) = 1 ([...]) <0.100>
7 1700000001.904003 close(9) = -1 EBADF (Bad file descriptor) <0.000001>
7 1700000001.904004 poll([...], 1, 5000) = 1 ([...]) <0.050>
"#,
        0,
    );
    assert_eq!(of(&elapsed, &TraceActivityKind::NameService), 504, "{elapsed:?}");
    assert_eq!(of(&elapsed, &TraceActivityKind::Network), 400);
    assert_eq!(of(&elapsed, &TraceActivityKind::Others), 50);
}

#[test]
fn what_did_not_come_back_lasted_until_the_end_of_its_task_or_of_the_trace() {
    let killed = r#"7 1700000001.000000 stat("/mnt/a",  <unfinished ...>
7 1700000001.600000 +++ killed by SIGINT +++
"#;
    let elapsed = free(killed, 0);
    assert_eq!((of(&elapsed, &storage("/mnt")), elapsed.span_ns.0 / MS), (600, 600), "{elapsed:?}");
    let text = "7 1700000001.000000 openat(AT_FDCWD, \"/mnt/a\", O_RDONLY";
    let mut reader = StraceReader::new(&Beginning::default(), Divider::new(TracingCost::default(), &[]));
    reader.feed(text.as_bytes()).unwrap();
    let (divider, _, reading) = reader.finish().unwrap();
    assert_eq!((reading.foreign, reading.unfinished), (0, 1));
    let elapsed = divider.finish(Nanoseconds::ZERO, Some(Nanoseconds(5000 * MS)));
    assert_eq!(of(&elapsed, &storage("/")), 5000, "{elapsed:?}");
    let cut = "7 1700000001.000000 stat(\"/mnt/a\",  <unfinished ...>\n";
    let elapsed = divided(cut, TracingCost::default(), 0, Some(5000));
    assert_eq!((of(&elapsed, &storage("/mnt")), elapsed.span_ns.0 / MS), (5000, 5000), "{elapsed:?}");
}

#[test]
fn work_before_the_first_call_of_a_task_and_after_the_last_of_a_process_is_told() {
    // The second computes for 600 ms before it calls anything, and 300 ms until it is killed; a thread of it does nothing.
    let text = r#"7 1700000001.000000 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 8 <0.000001>
7 1700000001.000001 wait4(-1,  <unfinished ...>
8 1700000001.600000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 9 <0.000001>
9 1700000001.600001 set_robust_list(0x1, 24) = 0 <0.000001>
8 1700000001.700000 getpid() = 8 <0.000001>
9 1700000002.000000 +++ killed by SIGKILL +++
8 1700000002.000000 +++ killed by SIGKILL +++
7 1700000002.000001 <... wait4 resumed>[{WIFSIGNALED(s)}], 0, NULL) = 8 <1.000000>
7 1700000002.000002 exit_group(0) = ?
7 1700000002.000003 +++ exited with 0 +++
"#;
    let elapsed = free(text, 1000);
    let told = |kind| of(&elapsed, &kind);
    assert_eq!(told(TraceActivityKind::Processor), 1000, "{elapsed:?}");
    assert_eq!((told(TraceActivityKind::Processes), told(TraceActivityKind::Unknown)), (0, 0), "{elapsed:?}");
}

#[test]
fn a_thread_without_calls_worked_as_far_as_somebody_must_have() {
    // The first sleeps while the second works, or waits for a lock.
    let text = r#"7 1700000001.000000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 8 <0.000001>
8 1700000001.000001 set_robust_list(0x1, 24) = 0 <0.000001>
7 1700000001.000002 nanosleep({tv_sec=1}, NULL) = 0 <0.999000>
7 1700000002.000000 exit_group(0) = ?
8 1700000002.000000 +++ exited with 0 +++
7 1700000002.000000 +++ exited with 0 +++
"#;
    for (processor, worked, slept) in [(1000, 1000, 0), (500, 500, 500), (1, 1, 999)] {
        let elapsed = free(text, processor);
        let told = [TraceActivityKind::Processor, TraceActivityKind::Time].map(|kind| of(&elapsed, &kind));
        for (told, expected) in told.iter().zip([worked, slept]) {
            assert!(told.abs_diff(expected) <= 2, "{processor}: {elapsed:?}");
        }
    }
}
