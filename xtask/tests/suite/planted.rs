//! Tests as nobody should write them, compiled by `rustc --test` for the tests of the runner. `PLANTED` is a directory that outlives an attempt.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

fn directory() -> PathBuf {
    std::env::var_os("PLANTED").unwrap().into()
}

/// How often the calling test has begun so far.
fn count(name: &str) -> usize {
    let file = directory().join(name);
    let count = std::fs::read_to_string(&file).map_or(0, |text| text.len());
    std::fs::write(file, "x".repeat(count + 1)).unwrap();
    count
}

#[test]
fn passes() {}

#[test]
fn fails() {
    println!("said before the end");
    panic!("it always fails");
}

#[test]
fn fails_the_first_time() {
    assert!(count("first") > 0, "it fails one time");
}

#[test]
fn fails_the_second_time_again() {
    assert!(count("second") == 1, "it fails two times out of three");
}

#[test]
fn fails_one_time_in_two_and_loses_samples() {
    assert!(count("samples") > 0, "it fails one time");
}

#[test]
fn skips() {
    let file = std::env::var_os("IOLAG_SKIPPED").unwrap();
    std::fs::write(file, "SKIPPED skips: there is nothing here\n").unwrap();
}

#[test]
fn hangs() {
    println!("said before it hung");
    let mut file = File::options().append(true).create(true).open(directory().join("hung")).unwrap();
    writeln!(file, "{}", std::process::id()).unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn kills_itself() {
    std::process::abort();
}

#[test]
fn leaves_a_process() {
    // It holds the output, has a session of its own, ignores what asks it to end, and its parent is gone.
    let script = "trap '' HUP TERM INT; setsid sleep 600 & echo $! >\"$PLANTED/left\"";
    assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
    std::fs::write(std::env::temp_dir().join("left-file"), "").unwrap();
}

/// Two who wait for a file server that never answers: one was killed, so that it can never be ended but by its server's end.
#[test]
fn leaves_a_dead_file_server() {
    let (backing, mount) = (directory().join("backing"), directory().join("mount"));
    [&backing, &mount].iter().for_each(|path| std::fs::create_dir(path).unwrap());
    let socket = directory().join("socket");
    // The server ends with its standard input, which this one holds open.
    let mut holder = Command::new("sleep").arg("600").stdout(Stdio::piped()).spawn().unwrap();
    let mut server = Command::new(std::env::var_os("IOLAG_FUSE_FIXTURE").unwrap());
    server.args([&backing, &mount, &socket]).arg("600").stdin(holder.stdout.take().unwrap());
    let server = server.spawn().unwrap();
    let mut control = loop {
        match UnixStream::connect(&socket) {
            Ok(control) => break BufReader::new(control),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    tell(&mut control, "hang * *");
    let mut killed = Command::new("ls").arg(&mount).spawn().unwrap();
    Command::new("ls").arg(&mount).spawn().unwrap();
    while tell(&mut control, "held") != "2" {
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    assert!(killed.try_wait().unwrap().is_none(), "it could be ended although its server is dead");
}

fn tell(control: &mut BufReader<UnixStream>, command: &str) -> String {
    let mut answer = String::new();
    control.get_mut().write_all(format!("{command}\n").as_bytes()).unwrap();
    control.read_line(&mut answer).unwrap();
    answer.trim().to_owned()
}

#[test]
fn sees_signals_as_in_the_foreground() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let ignored = u64::from_str_radix(ignored, 16).unwrap();
    // SIGHUP, SIGINT, SIGQUIT, SIGTERM; the language's own start ignores SIGPIPE.
    assert_eq!(ignored & (1 | 1 << 1 | 1 << 2 | 1 << 14), 0);
}

#[test]
fn draws_the_same_numbers_again() {
    let seed = std::env::var("PROPTEST_RNG_SEED").unwrap();
    let file = directory().join("seeds");
    let seeds = std::fs::read_to_string(&file).unwrap_or_default() + &seed + "\n";
    std::fs::write(file, &seeds).unwrap();
    panic!("the seeds so far: {seeds}");
}
