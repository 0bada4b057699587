//! Passwords that were typed: in no command line and no environment of a process, whatever the command is.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::support::{PATIENCE, wait_until};
use crate::user::User;

const PASSWORD: &str = "geheim";

/// Whoever runs until it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It leads its group.
        let group = rustix::process::Pid::from_raw(self.0.id() as i32).unwrap();
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

/// What everybody, and what its owner, may read of a process.
fn told(process: u32) -> String {
    let read = |name: &str| std::fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
    let bytes: Vec<u8> = ["cmdline", "environ", "comm"].iter().flat_map(|name| read(name)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Starts iolag after `before` in a shell, and asserts that `process` stops telling the password, and goes on.
fn assert_hides_it(user: &User, before: &str, arguments: &[&str]) {
    let mut command: Command = user.command("sh");
    let script = format!("{before} exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_iolag")]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut running = Running(command.spawn().unwrap());
    let process = running.0.id();
    let hides = || {
        let told = told(process);
        told.contains("***") && !told.contains(PASSWORD)
    };
    assert!(wait_until(PATIENCE, hides), "{before} {arguments:?}: {}", told(process));
    assert!(told(process).ends_with("iolag\n"), "{}", told(process));
    assert!(matches!(running.0.try_wait(), Ok(None)), "{arguments:?}");
}

#[test]
fn a_password_that_was_typed_is_hidden_by_every_command() {
    let user = User::new();
    // A server that takes connections and says nothing: whoever asks it waits.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = silent.local_addr().unwrap();
    let url = format!("postgres://u:{PASSWORD}@{server}/x");
    let spaced = format!("postgres://u:a {PASSWORD}@{server}/x");
    let parameter = format!("postgres://u@{server}/x?password={PASSWORD}");
    let assigned = format!("--history={url}");
    let bucket = format!("s3://KEY:{PASSWORD}@bucket#endpoint=http://{server}");
    for arguments in [
        &["show", "history", "--history", &url][..],
        &["show", "history", &assigned],
        &[&assigned, "show", "history"],
        &["show", "history", "--history", &spaced],
        &["show", "history", "--history", &parameter],
        &["report", "history", &assigned],
        &["export", "history", &assigned],
        &["note", "something", &assigned],
        &["import", "-", "--history", &url],
        &["serve", "--listen", "127.0.0.1:0", "--history", &url],
        &["watch", "--status", "--history", &url],
        &["check", &url],
        &["ping", &url],
        &["ping", &bucket],
    ] {
        // Options of one command do not stand before it, and a watch that does not run has no status: they end at once.
        if arguments[0].starts_with("--") || arguments.contains(&"--status") {
            let said = user.iolag(arguments);
            assert!(!said.errors.contains(PASSWORD) && said.code != 0, "{said:?}");
            continue;
        }
        assert_hides_it(&user, "", arguments);
    }
    // Where no program can be started from memory: its copy would be larger than files may be.
    assert_hides_it(&user, "ulimit -f 60000;", &["note", "something", &assigned]);
    assert_hides_it(&user, "ulimit -f 60000;", &["serve", "--listen", "127.0.0.1:0", &assigned]);
}

#[test]
fn a_password_among_the_arguments_is_never_repeated() {
    let user = User::new();
    let target = format!("s3://u:{PASSWORD}@bucket/x#endpoint=http://127.0.0.1:1");
    let history = format!("--history=postgres://u:{PASSWORD}@127.0.0.1:1/x");
    let link = format!("https://u:{PASSWORD}@127.0.0.1/page");
    for arguments in [
        &["bench", "metadata", &target][..],
        &["check", &target],
        &["ping", &target],
        &["watch", &target],
        &["list", &target],
        &["show", &target],
        &["bench", &history],
        &["nonsense", &history],
        &["note", "x", "--link", &link],
        &["show", "history", &history],
    ] {
        let said = user.iolag(arguments);
        assert!(said.code != 0 && !format!("{said:?}").contains(PASSWORD), "{arguments:?}: {said:?}");
    }
}
