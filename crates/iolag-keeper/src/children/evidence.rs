//! Evidence: where a hung thread waits, and who works for it in the kernel.
//!
//! Only /proc/PID/task/TID/{stat,schedstat,wchan,stack,syscall,children} are read: counters, without locks. Much else
//! below /proc/PID (cmdline, maps, exe, cwd) may take locks that a hung process holds, and would hang the keeper with it.

use std::fmt::{self, Write as _};
use std::fs;

use iolag_model::ProcessStat;

/// State, wait channel, system call and, where permitted, the kernel stack of a thread and of what it started; of one that waits for what it
/// asked an io_uring also of the kernel's workers that are busy with it.
pub fn evidence(process: u32, thread: u32) -> String {
    let mut text = String::new();
    let own = format!("/proc/{process}/task/{thread}");
    describe(&mut text, &own);
    if may_wait_for_workers(&own) {
        for worker in busy_workers(process, thread) {
            let _ = write!(text, "; worker {worker}: ");
            describe(&mut text, &format!("/proc/{process}/task/{worker}"));
        }
    }
    let children = read(&format!("/proc/{process}/task/{thread}/children")).unwrap_or_default();
    for child in children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()).take(8) {
        let _ = write!(text, "; child {child}: ");
        describe(&mut text, &format!("/proc/{child}"));
    }
    text
}

/// Whether a thread may be waiting for others to do what it asked: not if it does it itself, in another system call.
fn may_wait_for_workers(directory: &str) -> bool {
    // The number is that of all architectures that got the call when it was new.
    let enters_ring = libc::SYS_io_uring_enter.to_string();
    let call = read(&format!("{directory}/syscall")).unwrap_or_default();
    let call = call.split_ascii_whitespace().next().unwrap_or_default();
    // One that runs may be about to wait; of one of which the system does not tell nobody knows.
    call == enters_ring || call == "running" || call.is_empty()
}

/// The threads of the kernel that work on what this thread asked an io_uring; they are threads of its process.
fn busy_workers(process: u32, thread: u32) -> Vec<u32> {
    const THREADS_MAX: usize = 4096;
    const WORKERS_MAX: usize = 8;
    const IDLE: &str = "io_wq_worker";
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let numbers = threads.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let whose = |worker: u32| {
        let stat = read(&format!("/proc/{process}/task/{worker}/stat"))?;
        let name = stat.split_once('(')?.1.split_once(')')?.0;
        name.strip_prefix("iou-wrk-")?.parse::<u32>().ok()
    };
    let is_busy = |worker: u32| waits_in(&format!("/proc/{process}/task/{worker}")).as_deref() != Some(IDLE);
    let workers = numbers.take(THREADS_MAX).filter_map(|number| Some((number, whose(number)?)));
    let busy: Vec<(u32, u32)> = workers.filter(|(worker, _)| is_busy(*worker)).collect();
    // In a container they are called after a number that is not the thread's there.
    let are_named = busy.iter().any(|(_, whose)| *whose == thread);
    let own = busy.into_iter().filter(|(_, whose)| !are_named || *whose == thread);
    own.map(|(worker, _)| worker).take(WORKERS_MAX).collect()
}

/// The same for the first thread of a process and of each of its descendants, nearest first.
pub fn evidence_of_all(process: u32) -> String {
    const PROCESSES_MAX: usize = 32;
    let mut text = String::new();
    let mut family = vec![process];
    let mut described = 0;
    while described < family.len() {
        let member = family[described];
        let separator = if described == 0 { "" } else { "; " };
        let _ = write!(text, "{separator}process {member}: ");
        describe(&mut text, &format!("/proc/{member}/task/{member}"));
        let children = read(&format!("/proc/{member}/task/{member}/children")).unwrap_or_default();
        family.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        family.truncate(PROCESSES_MAX);
        described += 1;
    }
    text
}

/// Why a process stands still as a whole: it waits for nothing, and goes on only when somebody lets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// By a signal: SIGSTOP, a batch system that suspends.
    Stopped,
    /// With its control group. Of version 1 it ignores SIGKILL until it is thawed.
    Frozen,
}

impl fmt::Display for Halt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stopped => "stopped (SIGSTOP)",
            Self::Frozen => "frozen with its control group",
        })
    }
}

/// Whether somebody has made a process stand still. One that a tracer stops (strace, gdb: state t) is let go on by it, and is
/// not meant. Where the kernel does not tell in what a process waits, a frozen one is not recognised.
pub fn halt(process: u32) -> Option<Halt> {
    let stat = read(&format!("/proc/{process}/stat"))?;
    let frozen_in: &[&str] = match ProcessStat::of(&stat).state()? {
        "T" => return Some(Halt::Stopped),
        // Version 1. Who sleeps, or waits for other threads, a descriptor or a child, does so interruptibly, state S: only the freezer makes a
        // D of it, since Linux 6.1.
        "D" => &[
            "__refrigerator",
            "futex_",
            "hrtimer_nanosleep",
            "do_nanosleep",
            "do_poll",
            "do_sys_poll",
            "poll_schedule_timeout",
            "ep_poll",
            "do_epoll_wait",
            "pipe_read",
            "anon_pipe_read",
            "do_wait",
        ],
        // Version 2; nothing else sleeps there, and the compiler may have drawn the inner function into the outer.
        "S" => &["do_freezer_trap", "get_signal"],
        _ => return None,
    };
    let waits_in = read(&format!("/proc/{process}/wchan"))?;
    frozen_in.iter().any(|function| waits_in.starts_with(function)).then_some(Halt::Frozen)
}

/// Whether a process has ended and its parent has not asked how.
pub(crate) fn is_zombie(process: u32) -> bool {
    let stat = read(&format!("/proc/{process}/stat")).unwrap_or_default();
    ProcessStat::of(&stat).state() == Some("Z")
}

/// The start time of a process in clock ticks since boot, which with its id names it for as long as the machine runs.
pub fn start_ticks(process: u32) -> Option<u64> {
    ProcessStat::of(&read(&format!("/proc/{process}/stat"))?).start_ticks()
}

/// How much of the processor a process has used: a number that stands still while the process waits in the kernel, and
/// grows as soon as any thread of it works for a clock tick or, where the kernel counts that, for a nanosecond: each request that
/// comes back makes it grow. Looks at every thread, so it is not for processes with thousands of them.
pub fn processor_use(process: u32) -> Option<u64> {
    let busy_ticks = ProcessStat::of(&read(&format!("/proc/{process}/stat"))?).busy_ticks()?;
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    // Kernels may be built without it; the ticks are enough for all but very slow file systems.
    let worked_ns = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    Some(busy_ticks + worked_ns.sum::<u64>())
}

/// What the first thread of a process is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// It works, or waits for a processor, or is gone.
    NoWaiting,
    /// It waits in this function of the kernel.
    WaitsIn(String),
    /// It waits, and the kernel does not tell where.
    WaitsSomewhere,
}

/// Whether, and in which function of the kernel, the first thread of a process waits.
pub fn doing(process: u32) -> Doing {
    let directory = format!("/proc/{process}/task/{process}");
    let state = told(&directory, "stat").unwrap_or_default();
    if !matches!(ProcessStat::of(&state).state(), Some("S" | "D" | "I" | "K")) {
        return Doing::NoWaiting;
    }
    waits_in(&directory).map_or(Doing::WaitsSomewhere, Doing::WaitsIn)
}

/// The function of the kernel in which a thread waits, if the system tells it.
fn waits_in(directory: &str) -> Option<String> {
    let in_stack = || Some(frames(&told(directory, "stack")?).first()?.split('+').next()?.to_owned());
    told(directory, "wchan").or_else(in_stack)
}

/// What a file of a process or thread says, if it says anything.
fn told(directory: &str, name: &str) -> Option<String> {
    read(&format!("{directory}/{name}")).filter(|told| told != "0" && !told.is_empty())
}

/// The functions of a stack of the kernel, innermost first.
fn frames(stack: &str) -> Vec<&str> {
    stack.lines().filter_map(|line| line.split("] ").nth(1)).take(12).collect()
}

fn describe(text: &mut String, directory: &str) {
    let told = |name: &str| told(directory, name);
    let stat = told("stat").unwrap_or_default();
    let state = ProcessStat::of(&stat).state().unwrap_or("gone");
    let stack = told("stack").unwrap_or_default();
    let frames = frames(&stack);
    // A thread that sleeps and still stands in the scheduler's queue (Linux 6.12 and later) has no wait channel, but a stack.
    let sleeps_in = || Some(frames.first()?.split('+').next()?.to_owned()).filter(|_| state != "R");
    let _ = write!(text, "state {state}");
    for (label, value) in [("waits in", told("wchan").or_else(sleeps_in)), ("system call", told("syscall"))] {
        if let Some(first) = value.as_deref().and_then(|value| value.split_ascii_whitespace().next()) {
            let _ = write!(text, ", {label} {first}");
        }
    }
    if !frames.is_empty() {
        let _ = write!(text, ", stack {}", frames.join(" < "));
    }
}

pub(crate) fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_process_waits_is_looked_up() {
        use crate::{Child, Orphanage};
        use iolag_model::Nanoseconds;
        let mut sleeper = Child::fork("test", Orphanage::Die, || {
            std::thread::sleep(std::time::Duration::from_secs(600));
            0
        })
        .unwrap();
        let is_found = (0..10_000).any(|_| {
            sleeper.wait(Nanoseconds::from_milliseconds(2));
            match doing(sleeper.id()) {
                Doing::WaitsIn(function) => function.contains("sleep"),
                // Where neither is told to us.
                Doing::WaitsSomewhere => true,
                Doing::NoWaiting => false,
            }
        });
        assert!(is_found, "{:?}", doing(sleeper.id()));
        sleeper.end(Nanoseconds::from_seconds(5));
        assert_eq!(doing(sleeper.id()), Doing::NoWaiting);
        assert_eq!(doing(u32::MAX >> 1), Doing::NoWaiting);
    }

    #[test]
    fn a_sleeping_thread_is_described() {
        let own = std::process::id();
        let text = evidence(own, own);
        assert!(text.starts_with("state "), "{text}");
        assert!(start_ticks(own).unwrap() > 0);
        assert_eq!(start_ticks(u32::MAX >> 1), None);
        assert!(evidence_of_all(own).starts_with(&format!("process {own}: state ")));
        assert!(evidence_of_all(u32::MAX >> 1).ends_with("state gone"));
    }

    #[test]
    fn a_sleeper_without_a_wait_channel_waits_where_its_stack_says() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        let described = |state: &str, wchan: &str, stack: &str| {
            fs::write(format!("{path}/stat"), format!("7 (a (b) c) {state} 1 1")).unwrap();
            fs::write(format!("{path}/wchan"), wchan).unwrap();
            fs::write(format!("{path}/stack"), stack).unwrap();
            let mut text = String::new();
            describe(&mut text, path);
            text
        };
        let stack = "[<0>] request_wait_answer+0x112/0x210\n[<0>] fuse_lookup+0x75/0x1b0\n";
        let frames = "request_wait_answer+0x112/0x210 < fuse_lookup+0x75/0x1b0";
        let waits = format!("state D, waits in request_wait_answer, stack {frames}");
        assert_eq!(described("D", "0", stack), waits);
        assert_eq!(described("D", "request_wait_answer", stack), waits);
        assert_eq!(described("R", "0", stack), format!("state R, stack {frames}"));
        assert_eq!(described("S", "0", ""), "state S");
    }

    #[test]
    fn a_process_that_works_is_told_from_one_that_waits() {
        use crate::{Child, Orphanage};
        use iolag_model::Nanoseconds;
        let mut waiting = Child::fork("test", Orphanage::Die, || {
            std::thread::sleep(std::time::Duration::from_secs(60));
            0
        })
        .unwrap();
        // On a busy machine it takes a while until it waits.
        let does_not_work = (0..100).any(|_| {
            let before = processor_use(waiting.id()).unwrap();
            assert_eq!(waiting.wait(Nanoseconds::from_milliseconds(200)), None);
            processor_use(waiting.id()) == Some(before)
        });
        assert!(does_not_work);
        waiting.end(Nanoseconds::from_seconds(1));
        let own = std::process::id();
        let before = processor_use(own).unwrap();
        let worked = (0..u64::from(u32::MAX)).step_by(1000).find(|step| {
            std::hint::black_box(*step);
            *step % 1_000_000 == 0 && processor_use(own).unwrap() > before
        });
        assert!(worked.is_some());
    }

    #[test]
    fn a_process_that_was_stopped_is_told_from_one_that_waits() {
        use crate::{Child, Orphanage};
        use iolag_model::Nanoseconds;
        use rustix::process::Signal;
        let mut child = Child::fork("test", Orphanage::Die, || {
            std::thread::sleep(std::time::Duration::from_secs(600));
            0
        })
        .unwrap();
        assert_eq!(halt(child.id()), None);
        let becomes = |child: &mut Child, signal, expected| {
            child.signal(signal);
            (0..10_000).any(|_| {
                child.wait(Nanoseconds::from_milliseconds(2));
                halt(child.id()) == expected
            })
        };
        assert!(becomes(&mut child, Signal::STOP, Some(Halt::Stopped)));
        assert!(becomes(&mut child, Signal::CONT, None));
        child.end(Nanoseconds::from_seconds(5));
        assert_eq!(halt(u32::MAX >> 1), None);
    }
}
