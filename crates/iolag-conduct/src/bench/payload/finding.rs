//! Whether what was given as a payload is a command at all: a slip in a duration is no job that fails in every copy.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use iolag_backend::redact_line;
use iolag_model::one_line;

use crate::failure::Failure;

/// A command that each copy runs once it is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadCommand {
    /// For a shell.
    pub command: String,
    /// Where it is run.
    pub directory: PathBuf,
}

impl PayloadCommand {
    /// Of what was given as a payload and is no duration; it will run in the current directory. To be called before that is left.
    ///
    /// # Errors
    /// If a shell would not find it.
    pub fn find(command: &str) -> Result<Self, Failure> {
        let refused = |why: String| {
            Failure::usage(format!(
                "--payload {:?} is no duration, as in 90s, 10min or 2h, and no command either: {why}",
                one_line(&redact_line(command))
            ))
        };
        if command.trim().is_empty() {
            return Err(refused("it is empty".to_owned()));
        }
        if let Some(word) = word_to_find(command).filter(|word| !is_found(word)) {
            let is_there = word.contains('/') && Path::new(word).exists();
            return Err(refused(format!("{word} is {}", if is_there { "no program" } else { "not found" })));
        }
        if let Some(flaw) = flaw_of(command) {
            return Err(refused(format!("a shell cannot read it ({})", one_line(&redact_line(&flaw)))));
        }
        let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Ok(Self { command: command.to_owned(), directory })
    }

    /// Without secrets.
    pub fn shown(&self) -> String {
        redact_line(&self.command)
    }
}

/// What a shell would look for first; nothing if it makes something else of it, which only it knows.
fn word_to_find(command: &str) -> Option<&str> {
    let is_plain = |text: &str| text.chars().all(|one| one.is_alphanumeric() || "_-./+@:,%^".contains(one));
    for word in command.split_whitespace() {
        match word.split_once('=') {
            // A variable is set before.
            Some((name, value)) if is_plain(name) && is_plain(value) => {}
            _ => return Some(word).filter(|word| is_plain(word)),
        }
    }
    None
}

/// Whether a shell finds it: a program, or what is built into the shell.
fn is_found(word: &str) -> bool {
    if word.contains('/') {
        let found = Path::new(word).metadata();
        return found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    }
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "command -v \"$1\"", "sh", word]);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

/// What a shell that only reads it complains of.
fn flaw_of(command: &str) -> Option<String> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-n", "-c", command]).stdin(Stdio::null());
    let done = shell.output().ok().filter(|done| !done.status.success())?;
    let said = String::from_utf8_lossy(&done.stderr);
    Some(said.lines().last().unwrap_or("it says not why").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_looks_for_first_is_found_and_what_is_its_own_is_left_to_it() {
        for (command, word) in [
            ("sleep 2", Some("sleep")),
            ("  A=1 B=/x ./job.sh > out", Some("./job.sh")),
            ("10 minutes", Some("10")),
            ("A=\"x y\" job", None),
            ("(sleep 1)", None),
            ("$HOME/job", None),
            ("A=1", None),
        ] {
            assert_eq!(word_to_find(command), word, "{command}");
        }
    }

    #[test]
    fn slips_in_durations_are_refused_and_commands_are_taken() {
        for command in ["sleep 2", ":", "exec true", "for i in 1 2; do :; done", "/bin/sh -c :", "{ :; }"] {
            assert_eq!(PayloadCommand::find(command).unwrap().command, command);
        }
        for (slip, why) in [
            ("2hh", "2hh is not found"),
            ("10 minutes", "10 is not found"),
            ("", "it is empty"),
            ("/etc/passwd", "/etc/passwd is no program"),
            ("/tmp", "/tmp is no program"),
            ("./no/such", "./no/such is not found"),
            ("-5s", "-5s is not found"),
        ] {
            let sentence = PayloadCommand::find(slip).unwrap_err().sentence;
            let expected = format!(
                "--payload {slip:?} is no duration, as in 90s, 10min or 2h, and no command either: {why}"
            );
            assert_eq!(sentence, expected);
        }
        for unreadable in ["(", "echo 'open", "if", "true &&"] {
            let sentence = PayloadCommand::find(unreadable).unwrap_err().sentence;
            assert!(sentence.contains("a shell cannot read it ("), "{sentence}");
        }
        let secret = PayloadCommand::find("no-such-program --password=hidden").unwrap_err().sentence;
        assert!(!secret.contains("hidden"), "{secret}");
    }
}
