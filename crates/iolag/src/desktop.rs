//! What the user's desktop does for iolag.

use std::os::unix::process::CommandExt;
use std::path::Path;

use iolag_conduct::Failure;
use iolag_workload::become_a_users_program;

/// Asks the desktop to show the file.
pub fn open(path: &Path) -> Result<(), Failure> {
    let mut command = std::process::Command::new("xdg-open");
    command
        .arg(path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    // SAFETY: only system calls that are allowed between fork and exec are made there, and nothing is allocated.
    unsafe {
        command.pre_exec(|| {
            become_a_users_program();
            Ok(())
        });
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::unusable(format!(
            "no program here opens {}: copy it to a machine with a browser",
            path.display()
        ))),
    }
}
