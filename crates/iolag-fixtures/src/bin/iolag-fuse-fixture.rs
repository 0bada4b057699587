//! `iolag-fuse-fixture BACKING MOUNTPOINT CONTROL`: see `iolag_fixtures::serve`.
//!
//! By hand: `iolag-fuse-fixture /tmp/back /tmp/mnt /tmp/control`, then `echo 'hang * *' | nc -U /tmp/control`; Ctrl-D
//! ends it.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [backing, mount_point, control] = &arguments[..] else {
        return complain("usage: iolag-fuse-fixture BACKING MOUNTPOINT CONTROL", 2);
    };
    match iolag_fixtures::serve(Path::new(backing), Path::new(mount_point), Path::new(control)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn complain(sentence: &str, code: u8) -> ExitCode {
    // If standard error is gone, the exit code still tells.
    let _ = writeln!(std::io::stderr(), "{sentence}");
    ExitCode::from(code)
}
