//! Output on a terminal: as wide as it is, in colours unless they are unwanted.

use std::fs::File;
use std::io::Read;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::user::User;

/// Which stream of a command is a terminal; the other one is nobody's.
#[derive(Clone, Copy)]
enum Stream {
    Output,
    Errors,
}

/// What a command that succeeds prints on a terminal of so many columns.
fn on_terminal(user: &User, columns: u16, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let (text, status) = stream_on_terminal(user, Stream::Output, columns, arguments, variables);
    assert!(status.success(), "{status:?}");
    text
}

fn stream_on_terminal(
    user: &User,
    stream: Stream,
    columns: u16,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (String, ExitStatus) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&slave, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let mut command = user.command(env!("CARGO_BIN_EXE_iolag"));
    command.args(arguments).envs(variables.iter().copied()).stdin(Stdio::null());
    match stream {
        Stream::Output => command.stdout(slave).stderr(Stdio::null()),
        Stream::Errors => command.stdout(Stdio::null()).stderr(slave),
    };
    let mut child = command.spawn().unwrap();
    // The command's end of the terminal must not stay open here.
    drop(command);
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // Linux ends the reading with EIO when the last writer is gone.
        let _ = File::from(master).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).replace('\r', "")
    });
    let end = Instant::now() + Duration::from_secs(90);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > end {
            let _ = kill_process(Pid::from_child(&child), Signal::KILL);
            panic!("{arguments:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (reader.join().unwrap(), status)
}

#[test]
fn tables_are_as_wide_as_the_terminal_and_not_wider() {
    let user = User::new();
    let (one, two) = (user.directory("one"), user.directory("two"));
    user.with_time_for(&["ls -l"], |budget| {
        user.fine(&["check", &one, &two, "--budget", budget, "--stream-size", "256KiB", "-q"])
    });
    let blocks = |columns: u16| {
        let text = on_terminal(&user, columns, &["show"], &[("NO_COLOR", "1"), ("COLUMNS", "40")]);
        let table = text.split_once("How long it takes").expect("there is a table").1;
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns), "{columns}: {text}");
        assert!(text.contains("Verdict") && !text.contains('\u{1b}'));
        let durations = table.split("Findings").next().unwrap_or(table);
        // Side by side, both names stand in one line.
        let side_by_side = durations.lines().any(|line| line.contains("/one (") && line.contains("/two ("));
        (side_by_side, durations.lines().filter(|line| line.trim_start().starts_with("ls -l")).count())
    };
    assert_eq!(blocks(80), (false, 2));
    assert_eq!(blocks(160), (true, 1));
    let (side_by_side, rows) = blocks(120);
    assert_eq!(rows, if side_by_side { 1 } else { 2 });
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let user = User::new();
    user.fine(&["bench", "metadata", "memory:", "-D", "1", "-P", "10", "-I", "10", "-R", "1", "-q"]);
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        on_terminal(&user, 100, arguments, variables).contains('\u{1b}')
    };
    assert!(coloured(&["show"], &[("TERM", "xterm")]));
    assert!(!coloured(&["show"], &[("NO_COLOR", "1")]));
    assert!(!coloured(&["show"], &[("TERM", "dumb")]));
    assert!(!coloured(&["show", "--colour", "never"], &[]));
    assert!(coloured(&["show", "--colour", "always"], &[("NO_COLOR", "1")]));
    assert!(user.fine(&["show", "--colour", "always"]).output.contains('\u{1b}'));
    assert!(!user.fine(&["show"]).output.contains('\u{1b}'));
}

/// What these arguments announce on a terminal of 60 columns, the lines joined again. No line is too long, but for a single word.
fn announced(user: &User, arguments: &[&str]) -> String {
    const COLUMNS: u16 = 60;
    let (text, _) = stream_on_terminal(user, Stream::Errors, COLUMNS, arguments, &[("NO_COLOR", "1")]);
    let is_wrapped = text.lines().any(|line| line.starts_with("  "));
    let fits = |line: &str| line.chars().count() <= usize::from(COLUMNS) || !line.trim().contains(' ');
    assert!(is_wrapped && text.lines().all(fits), "{text}");
    text.replace("\n  ", " ")
}

#[test]
fn an_announcement_is_wrapped_between_words_and_no_wider_than_the_terminal() {
    let user = User::new();
    let (one, store) = (user.directory("one"), user.store().display().to_string());
    let says = |text: &str, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "{part:?} is missing in: {text}");
        }
    };
    let check = announced(&user, &["check", &one, "--budget", "6s", "--stream-size", "256KiB"]);
    says(
        &check,
        &[
            &format!(
                "iolag: measuring {one} for at most 6.00 s in all, first contact and cleaning up included: listing,"
            ),
            "listing, creating, compiling, single operations, a short stream\n",
            " are written in all, at most ",
            " are there at one time, and everything is removed again\n",
            &format!(" in {store}\n"),
        ],
    );
    let sizes = ["-D", "1", "-P", "10", "-I", "10", "-R", "1"];
    let bench = announced(&user, &[&["bench", "metadata", "memory:"], &sizes[..]].concat());
    says(&bench, &["iolag: measuring memory: with 1 client: ", " objects of ", " in the directory ", &store]);
}

#[test]
fn reading_runs_for_the_page_of_a_comparison_is_told_on_a_terminal() {
    let user = User::new();
    user.fine(&[
        "bench",
        "metadata",
        "memory:",
        "delayed:1us:memory:",
        "-D1",
        "-P5",
        "-I5",
        "-R1",
        "--repeat",
        "4",
        "-q",
    ]);
    let compare = ["compare", "campaign:last", "--report", "page.html"];
    let told = |more: &[&str]| {
        let (text, status) =
            stream_on_terminal(&user, Stream::Errors, 100, &[&compare[..], more].concat(), &[]);
        assert!(status.success(), "{text}");
        text.contains(" of 8 runs read for the report")
    };
    assert!(told(&[]));
    assert!(!told(&["-q"]));
    assert!(!user.fine(&compare).errors.contains("runs read"), "no terminal");
}
