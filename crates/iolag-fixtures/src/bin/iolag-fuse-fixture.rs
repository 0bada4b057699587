//! `iolag-fuse-fixture BACKING MOUNTPOINT CONTROL [SECONDS]`: see `iolag_fixtures::serve`.
//!
//! By hand: `iolag-fuse-fixture /tmp/back /tmp/mnt /tmp/control`, then `echo 'hang * *' | nc -U /tmp/control`; Ctrl-D
//! ends it.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: iolag-fuse-fixture BACKING MOUNTPOINT CONTROL [SECONDS]";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let ([backing, mount_point, control], life) = (match &arguments[..] {
        [head @ .., life] if head.len() == 3 => (head, life.to_str().and_then(|text| text.parse().ok())),
        head => (head, Some(iolag_fixtures::USUAL_LIFE.as_secs())),
    }) else {
        return complain(USAGE, 2);
    };
    let Some(life) = life.map(Duration::from_secs) else { return complain(USAGE, 2) };
    match iolag_fixtures::serve(Path::new(backing), Path::new(mount_point), Path::new(control), life) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn complain(sentence: &str, code: u8) -> ExitCode {
    // If standard error is gone, the exit code still tells.
    let _ = writeln!(std::io::stderr(), "{sentence}");
    ExitCode::from(code)
}
