//! The built-in tasks: their names, usual sizes, parts, and how they are told to people.

use std::path::{Path, PathBuf};

use iolag_model::{Operation, SetUpSpec, counted, format_count};

use super::{CREATED_FILE_BYTES, TaskOutput, TaskSpec};

/// Files that `list` lists and bytes of the files that `create` makes, as in study 000.
const LISTED_FILES: u32 = 6;
const CREATED_FILES: u32 = 500;
/// A directory that has grown, as users' directories do.
const LISTED_FILES_LARGE: u32 = 3500;
/// A configuration file or a small input.
const READ_BYTES: u64 = 4096;
/// A saved text.
const WRITTEN_BYTES: u64 = 4096;
/// The shell that is there on every system; whoever knows the user's own sets it by [`TaskSpec::with_shell`].
const SHELL: &str = "/bin/sh";

const BUILTIN: [&str; 10] = [
    "compile",
    "list",
    "list-large",
    "create",
    "stat",
    "open-read",
    "write-fsync",
    "job-setup",
    "shell",
    "echo",
];

/// stat and open calls, and files in a directory: a hundredth of the synthetic job of study 002, on a tree that a guest may leave.
const JOB_SET_UP: (u64, u64, u64) = (1000, 70, 10);

impl TaskSpec {
    /// The built-in task of this name with its usual sizes; `None` if there is none of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "compile" => Self::Compile,
            "list" => Self::List { files: LISTED_FILES, output: TaskOutput::Discard },
            "list-large" => Self::List { files: LISTED_FILES_LARGE, output: TaskOutput::Discard },
            "create" => Self::Create { files: CREATED_FILES, bytes: CREATED_FILE_BYTES },
            "stat" => Self::Stat,
            "open-read" => Self::OpenRead { bytes: READ_BYTES },
            "write-fsync" => Self::WriteFsync { bytes: WRITTEN_BYTES },
            "job-setup" => {
                let (stats, opens, files) = JOB_SET_UP;
                Self::JobSetUp(SetUpSpec { stats, opens, files, ..SetUpSpec::synthetic() })
            }
            "shell" => Self::Shell { program: SHELL.into() },
            "echo" => Self::Echo { program: SHELL.into() },
            _ => return None,
        })
    }

    /// The names that [`TaskSpec::from_name`] knows.
    pub const fn builtin_names() -> &'static [&'static str] {
        &BUILTIN
    }

    /// The same task with another shell (an absolute path), if it has one.
    #[must_use]
    pub fn with_shell(self, shell: &Path) -> Self {
        match self {
            Self::Shell { .. } => Self::Shell { program: shell.to_owned() },
            Self::Echo { .. } => Self::Echo { program: shell.to_owned() },
            other => other,
        }
    }

    /// Its parts in the order in which they begin; the first is the whole and has an empty name.
    pub const fn part_names(&self) -> &'static [&'static str] {
        match self {
            Self::List { .. } => &["", "ls -n"],
            Self::Create { .. } => &["", "unlink"],
            Self::WriteFsync { .. } => &["", "fsync"],
            Self::Echo { .. } => &["", "line"],
            Self::OnServer { task, .. } => task.part_names(),
            Self::Compile
            | Self::Stat
            | Self::OpenRead { .. }
            | Self::JobSetUp(_)
            | Self::Shell { .. }
            | Self::Command { .. }
            | Self::SetUp { .. } => &[""],
        }
    }

    /// What it is called as a part of its probe; `None` for what is no operation of another name.
    pub const fn operation(&self) -> Option<Operation> {
        match self {
            Self::Compile => Some(Operation::TaskCompile),
            Self::List { .. } => Some(Operation::TaskList),
            Self::Create { .. } => Some(Operation::TaskCreate),
            Self::Stat => Some(Operation::Stat),
            Self::OpenRead { .. } => Some(Operation::Read),
            Self::WriteFsync { .. } => Some(Operation::WriteDurably),
            Self::JobSetUp(_)
            | Self::Shell { .. }
            | Self::Echo { .. }
            | Self::OnServer { .. }
            | Self::Command { .. }
            | Self::SetUp { .. } => None,
        }
    }

    /// What it does, in one line for people. The arguments of a user's command are left out: they may be secret.
    pub fn describe(&self) -> String {
        match self {
            Self::Compile => "compile and link a program of about 90 lines".to_owned(),
            Self::List { files, output } => {
                let on = if *output == TaskOutput::Terminal { " on a terminal" } else { "" };
                format!("ls -l of {}{on}", counted(u64::from(*files), "file", "files"))
            }
            Self::Create { files, bytes } => {
                let files = counted(u64::from(*files), "file", "files");
                format!("create {files} of {} in an empty directory", counted(*bytes, "byte", "bytes"))
            }
            Self::Stat => "stat of one file".to_owned(),
            Self::OnServer { task, .. } => task.describe().to_owned(),
            Self::OpenRead { bytes } => {
                format!("open, read and close a file of {}", counted(*bytes, "byte", "bytes"))
            }
            Self::WriteFsync { bytes } => {
                format!("write a file of {} and fsync it", counted(*bytes, "byte", "bytes"))
            }
            Self::JobSetUp(spec) => {
                format!(
                    "{} stat and {} open calls, as a job's set-up makes them",
                    format_count(spec.stats),
                    format_count(spec.opens)
                )
            }
            Self::Shell { program } => {
                format!("start {} on a terminal until its prompt", program.display())
            }
            Self::Echo { program } => {
                format!("a keystroke in {} on a terminal until it appears", program.display())
            }
            Self::Command { command, output } => {
                let program = PathBuf::from(command.first().map_or("", String::as_str));
                let to = match output {
                    TaskOutput::Discard => "",
                    TaskOutput::Terminal => " on a terminal",
                    TaskOutput::Number => " for a number",
                };
                format!("run {}{to}", program.display())
            }
            Self::SetUp { command } => {
                format!("set up by {}", PathBuf::from(command.first().map_or("", String::as_str)).display())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_a_task_of_its_own() {
        let tasks: Vec<_> =
            TaskSpec::builtin_names().iter().map(|name| TaskSpec::from_name(name).unwrap()).collect();
        for (index, task) in tasks.iter().enumerate() {
            assert!(!tasks[..index].contains(task), "{task:?}");
            assert_eq!(task.part_names()[0], "");
            assert!(!task.describe().contains('\n'));
        }
        assert_eq!(TaskSpec::from_name("List"), None);
        assert_eq!(
            TaskSpec::from_name("list-large").unwrap(),
            TaskSpec::List { files: 3500, output: TaskOutput::Discard }
        );
    }

    #[test]
    fn people_are_told_what_is_done_but_not_the_arguments() {
        let list = |output| TaskSpec::List { files: 6, output }.describe();
        assert_eq!(list(TaskOutput::Discard), "ls -l of 6 files");
        assert_eq!(list(TaskOutput::Terminal), "ls -l of 6 files on a terminal");
        assert_eq!(
            TaskSpec::Create { files: 1, bytes: 64 }.describe(),
            "create 1 file of 64 bytes in an empty directory"
        );
        let command = vec!["/usr/bin/login".to_owned(), "--password=secret".to_owned()];
        let described = TaskSpec::Command { command, output: TaskOutput::Terminal }.describe();
        assert_eq!(described, "run /usr/bin/login on a terminal");
    }

    #[test]
    fn only_tasks_with_a_shell_take_another() {
        let shell = TaskSpec::from_name("shell").unwrap().with_shell(Path::new("/bin/zsh"));
        assert_eq!(shell, TaskSpec::Shell { program: "/bin/zsh".into() });
        assert_eq!(TaskSpec::Stat.with_shell(Path::new("/bin/zsh")), TaskSpec::Stat);
    }
}
