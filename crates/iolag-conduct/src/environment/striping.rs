//! What a parallel file system's own tool says of the layout of a directory.
//!
//! The tool comes with the file system and talks to its servers: it may hang, fill its output or refuse to die. So its
//! output and time are bounded, and one that does not end when it is killed is left behind.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use iolag_model::{Clock, MonotonicTime, Nanoseconds};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// Where tools are looked for; the search path of the user is not asked.
pub(super) const TOOL_DIRECTORIES: [&str; 9] = [
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/beegfs/sbin",
    "/opt/beegfs/bin",
    "/usr/lpp/mmfs/bin",
];

/// How much a tool may say and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Output beyond this is cut off, in bytes.
    pub(super) output_bytes: usize,
    /// A tool that runs longer is killed.
    pub(super) time: Nanoseconds,
    /// How long a killed tool may take to end before it is left behind.
    pub(super) grace: Nanoseconds,
}

impl Limit {
    pub(super) const STANDARD: Self =
        Self { output_bytes: 4096, time: Nanoseconds::from_seconds(5), grace: Nanoseconds::from_seconds(1) };
}

/// The output of the first tool for `kind` that is there, about `directory` (absolute); `None` if the type has no tool,
/// none is there, or it failed, ran out of time or said nothing.
pub(super) fn capture(
    kind: &str,
    directory: &Path,
    tool_directories: &[&Path],
    limit: Limit,
    clock: &impl Clock,
) -> Option<String> {
    // An absolute path cannot be taken for an option.
    if !directory.is_absolute() {
        return None;
    }
    tools(kind).iter().find_map(|(tool, arguments)| {
        let program = find(tool, tool_directories)?;
        let mut command = Command::new(program);
        command.args(*arguments).arg(directory);
        let output = output_within(command, limit, clock)?;
        let text = String::from_utf8_lossy(&output);
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    })
}

/// Tools by type of file system, with the arguments before the directory.
fn tools(kind: &str) -> &'static [(&'static str, &'static [&'static str])] {
    match kind {
        "lustre" => &[("lfs", &["getstripe", "-d"])],
        "beegfs" | "beegfs_nodev" => &[("beegfs-ctl", &["--getentryinfo"]), ("beegfs", &["entry", "info"])],
        "gpfs" | "mmfs" => &[("mmlsattr", &["-L"])],
        _ => &[],
    }
}

fn find(tool: &str, directories: &[&Path]) -> Option<PathBuf> {
    directories.iter().map(|directory| directory.join(tool)).find(|program| program.is_file())
}

/// The standard output of a command that succeeds within `limit`, or whose output alone reached the limit.
fn output_within(mut command: Command, limit: Limit, clock: &impl Clock) -> Option<Vec<u8>> {
    let deadline = clock.now().after(limit.time);
    command.env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("LC_ALL", "C").current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().ok()?;
    let output =
        child.stdout.take().and_then(|stdout| read_until(stdout, limit.output_bytes, deadline, clock));
    let is_cut = output.as_ref().is_some_and(|output| output.len() >= limit.output_bytes);
    let is_over = output.is_some() && !is_cut && wait_until(&child, deadline, clock);
    if !is_over {
        kill_group(&child);
        // One that cannot be killed is in the kernel's hands; it is not waited for.
        wait_until(&child, clock.now().after(limit.grace), clock);
    }
    let succeeded = child.try_wait().ok().flatten().is_some_and(|status| status.success());
    output.filter(|_| succeeded || is_cut)
}

/// Everything up to the end of the output or `limit_bytes`; `None` at the deadline or if reading fails.
fn read_until(
    mut stdout: ChildStdout,
    limit_bytes: usize,
    deadline: MonotonicTime,
    clock: &impl Clock,
) -> Option<Vec<u8>> {
    let mut output = vec![0; limit_bytes];
    let mut length = 0;
    while length < limit_bytes && is_ready_until(PollFd::new(&stdout, PollFlags::IN), deadline, clock) {
        // Ready means that this does not block: there are bytes, or the end.
        match stdout.read(&mut output[length..]) {
            Ok(0) => {
                output.truncate(length);
                return Some(output);
            }
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    (length == limit_bytes).then_some(output)
}

/// Whether the child ended before the deadline. A pidfd becomes readable at the end of its process.
fn wait_until(child: &Child, deadline: MonotonicTime, clock: &impl Clock) -> bool {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty());
    pidfd.is_ok_and(|pidfd| is_ready_until(PollFd::new(&pidfd, PollFlags::IN), deadline, clock))
}

/// Waits for a descriptor; `false` at the deadline.
fn is_ready_until(descriptor: PollFd<'_>, deadline: MonotonicTime, clock: &impl Clock) -> bool {
    let mut descriptors = [descriptor];
    loop {
        let left = deadline.since(clock.now());
        match poll(&mut descriptors, Some(&left.as_timespec())) {
            Ok(0) if left == Nanoseconds::ZERO => return false,
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return true,
            Err(_) => return false,
        }
    }
}

fn kill_group(child: &Child) {
    // It fails only if the whole group has ended already.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(test)]
mod tests {
    use iolag_model::MonotonicClock;

    use super::*;

    /// A clock that stands still until a file has content and then is an hour ahead: a limit of time is reached exactly
    /// when the tool has come to the point that is tested, on a busy machine too.
    struct HourAheadOnce(PathBuf);

    impl Clock for HourAheadOnce {
        fn now(&self) -> MonotonicTime {
            let has_content = std::fs::metadata(&self.0).is_ok_and(|attributes| attributes.len() > 0);
            MonotonicTime(if has_content { 3_600_000_000_001 } else { 1 })
        }

        fn sleep_until(&self, moment: MonotonicTime) {
            MonotonicClock.sleep_until(moment);
        }

        fn rest_until(&self, moment: MonotonicTime) {
            MonotonicClock.rest_until(moment);
        }
    }

    /// A directory with a program of that name, run by the shell. Another process writes it: a descriptor of ours that is
    /// open for writing could be inherited by the child of a test next door, and then the kernel refuses to run it.
    fn tool(name: &str, script: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = Command::new("/bin/sh");
        writer.args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"", "writer"]);
        assert!(writer.arg(directory.path().join(name)).arg(script).status().unwrap().success());
        directory
    }

    /// For tests that are not about time: a busy machine does not fail them.
    const PATIENT: Limit = Limit { time: Nanoseconds::from_seconds(60), ..Limit::STANDARD };

    /// For tests about time: how often the clock above is looked at while nothing happens.
    const SHORT: Limit = Limit { time: Nanoseconds::from_milliseconds(50), ..Limit::STANDARD };

    fn capture_with(kind: &str, directory: &tempfile::TempDir) -> Option<String> {
        let tool_directories = [Path::new("/nowhere"), directory.path()];
        capture(kind, Path::new("/scratch/me"), &tool_directories, PATIENT, &MonotonicClock)
    }

    /// The time runs out as soon as the tool has written its `pid`.
    fn capture_in_no_time(directory: &tempfile::TempDir) -> Option<String> {
        let clock = HourAheadOnce(directory.path().join("pid"));
        capture("lustre", Path::new("/scratch/me"), &[directory.path()], SHORT, &clock)
    }

    #[test]
    fn each_type_asks_its_tool_about_the_directory() {
        for (kind, name, expected) in [
            ("lustre", "lfs", "getstripe -d /scratch/me"),
            ("beegfs", "beegfs-ctl", "--getentryinfo /scratch/me"),
            ("beegfs", "beegfs", "entry info /scratch/me"),
            ("gpfs", "mmlsattr", "-L /scratch/me"),
        ] {
            let directory = tool(name, "echo \"$@\"; echo \"$HOME\"; echo noise >&2");
            assert_eq!(capture_with(kind, &directory).as_deref(), Some(expected), "{kind}");
        }
    }

    #[test]
    fn no_tool_no_type_no_success_or_no_words_is_none() {
        let echo = tool("lfs", "echo yes");
        assert_eq!(capture_with("ext4", &echo), None);
        assert_eq!(capture_with("gpfs", &echo), None);
        assert_eq!(capture_with("lustre", &tool("lfs", "echo yes; exit 1")), None);
        assert_eq!(capture_with("lustre", &tool("lfs", "true")), None);
        let relative = capture("lustre", Path::new("-d"), &[echo.path()], PATIENT, &MonotonicClock);
        assert_eq!(relative, None);
    }

    #[test]
    fn endless_output_is_cut_and_its_tool_ended() {
        let directory = tool("lfs", "echo $$ > \"${0%/*}/pid\"; while :; do echo 0123456789; done");
        let text = capture_with("lustre", &directory).unwrap();
        assert!(text.len() <= 4096 && text.len() > 4000 && text.starts_with("0123456789\n"));
        assert_ended(&directory);
    }

    #[test]
    fn a_tool_that_hangs_is_killed_with_its_children() {
        // The child in the background inherits the output, so that waiting for its end alone would wait for ever.
        let directory = tool("lfs", "sleep 1000 & echo part; echo $! > \"${0%/*}/pid\"; wait");
        assert_eq!(capture_in_no_time(&directory), None);
        assert_ended(&directory);
    }

    #[test]
    fn a_tool_that_closes_its_output_and_stays_is_killed() {
        let directory = tool("lfs", "echo part; exec >&-; echo $$ > \"${0%/*}/pid\"; exec sleep 1000");
        assert_eq!(capture_in_no_time(&directory), None);
        assert_ended(&directory);
    }

    /// The process whose number the tool left in `pid` is gone, or a zombie that nobody has collected yet.
    fn assert_ended(directory: &tempfile::TempDir) {
        let pid = std::fs::read_to_string(directory.path().join("pid")).unwrap();
        for _ in 0..6000 {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            if status.is_empty() || status.contains(") Z ") {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("process {pid} is still there");
    }
}
