//! The programs that are started: where they are, and what strace can do.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use iolag_trace::StraceProgram;
use rustix::fs::{Access, access};

use crate::failure::Failure;

/// strace, as it was found.
#[derive(Debug, Clone)]
pub(super) struct Strace {
    pub(super) path: PathBuf,
    pub(super) program: StraceProgram,
}

impl Strace {
    /// Looks for it, and asks what it can.
    ///
    /// # Errors
    /// If there is none, or none that can be used.
    pub(super) fn find() -> Result<Self, Failure> {
        let Ok(path) = find("strace".as_ref(), &std::env::var_os("PATH").unwrap_or_default()) else {
            let told = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
            let install = installing(&told).map_or_else(String::new, |line| format!(" ({line})"));
            return Err(Failure::unusable(format!(
                "strace, which does the tracing, is not to be found in PATH: install it{install}, or have it write a file elsewhere \
                 and read that with iolag trace --from FILE"
            )));
        };
        let said = |option: &str| said_by(&path, option).unwrap_or_default();
        let program =
            StraceProgram::of(&said("-V"), &said("--help")).map_err(|unsuitable| match unsuitable {
                unsuitable @ iolag_trace::Unsuitable::TooOld(_) => {
                    Failure::unusable(format!("{unsuitable}; it is {}", path.display()))
                }
                unsuitable => Failure::unusable(unsuitable),
            })?;
        Ok(Self { path, program })
    }
}

/// What it prints of itself.
fn said_by(path: &Path, option: &str) -> Option<String> {
    let output = Command::new(path).arg(option).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Why a program is not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Nothing of that name.
    Absent,
    /// It may not be executed, or is a directory.
    NotExecutable,
}

/// Where a program is that a shell would start by this name.
pub(super) fn find(name: &OsStr, path: &OsStr) -> Result<PathBuf, Missing> {
    let mut missing = Missing::Absent;
    let mut is_program = |candidate: &Path| {
        if candidate.is_file() && access(candidate, Access::EXEC_OK).is_ok() {
            return true;
        }
        if candidate.exists() {
            missing = Missing::NotExecutable;
        }
        false
    };
    let found = if name.as_encoded_bytes().contains(&b'/') {
        Some(PathBuf::from(name)).filter(|named| is_program(named))
    } else {
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|found| is_program(found))
    };
    found.ok_or(missing)
}

/// The line to type, by what /etc/os-release says.
fn installing(release: &str) -> Option<&'static str> {
    let value = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_owned())
    };
    let all = format!("{} {}", value("ID").unwrap_or_default(), value("ID_LIKE").unwrap_or_default());
    all.split_whitespace().find_map(|name| match name {
        "debian" | "ubuntu" => Some("apt-get install strace"),
        "rhel" | "fedora" | "centos" => Some("dnf install strace"),
        "suse" | "opensuse" | "sles" => Some("zypper install strace"),
        "arch" => Some("pacman -S strace"),
        "alpine" => Some("apk add strace"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("first");
        std::fs::create_dir_all(inner.join("tool")).unwrap();
        let tool = directory.path().join("tool");
        std::fs::write(&tool, "").unwrap();
        let path = std::env::join_paths([inner.as_path(), directory.path()]).unwrap();
        // root may execute only what has a bit for somebody.
        assert_eq!(find("tool".as_ref(), &path), Err(Missing::NotExecutable));
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool".as_ref(), &path), Ok(tool.clone()));
        assert_eq!(find(tool.as_os_str(), "".as_ref()), Ok(tool));
        assert_eq!(find("tol".as_ref(), &path), Err(Missing::Absent));
    }

    #[test]
    fn the_line_to_type_is_that_of_the_system() {
        assert_eq!(installing("NAME=x\nID=debian\n"), Some("apt-get install strace"));
        let rocky = "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n";
        assert_eq!(installing(rocky), Some("dnf install strace"));
        assert_eq!(installing("ID=plan9\n"), None);
        assert_eq!(installing(""), None);
    }
}
