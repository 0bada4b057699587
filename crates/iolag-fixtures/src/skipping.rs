//! How a test says that it could not run on this machine, so that it is counted and named instead of passing silently.

use std::fs::OpenOptions;
use std::io::Write;

/// The environment variable that names the file to which skipped tests are appended, one per line.
pub const SKIPPED_FILE_VARIABLE: &str = "IOLAG_SKIPPED";

/// Says that `test` could not run and `why`: prints `SKIPPED test: why` to standard error (past the test harness,
/// which would swallow it) and appends the same line to the file named by [`SKIPPED_FILE_VARIABLE`], if it is set.
///
/// # Panics
/// If that file cannot be written: a skipped test that nobody counts would look like a passed one.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {}\n", why.trim().replace('\n', "; "));
    // Nobody may be reading standard error; the file is what counts.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os(SKIPPED_FILE_VARIABLE) {
        let appended = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(error) = appended {
            panic!("a skipped test could not be noted in {}: {error}", path.display());
        }
    }
}

/// Says on standard error (past the test harness, which would swallow it) what a fixture could not take away. That is neither a failure
/// of the test nor a reason to call it skipped: what the test showed it has shown.
pub fn tell_what_is_left(what: &str) {
    // Nobody may be reading; this is called where nothing else may fail.
    let _ = std::io::stderr().write_all(format!("LEFT by {}: {what}\n", current_test()).as_bytes());
}

/// The name of the running test: the harness names the test's thread after it.
pub fn current_test() -> String {
    std::thread::current().name().unwrap_or("unnamed test").to_owned()
}

/// Skips the current test unless this process is root; returns whether it was skipped.
pub fn skip_unless_root() -> bool {
    let lacks_root = !rustix::process::geteuid().is_root();
    if lacks_root {
        skip(&current_test(), "only root may mount, and this is not root");
    }
    lacks_root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_names_the_thread_after_the_test() {
        assert!(
            current_test().ends_with("the_harness_names_the_thread_after_the_test"),
            "{}",
            current_test()
        );
    }
}
