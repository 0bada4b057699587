//! Tasks of a watch, by name, and their sizes.

use iolag_model::SetUpSpec;
use iolag_workload::{TaskSpec, Workload};
use toml::Spanned;

use super::document::TaskTable;
use super::plan::Planning;
use crate::documents::{DocumentError, Text};

impl Planning<'_> {
    /// The task of this name, with its sizes: those of the file before the usual ones.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub(super) fn spec(
        &self,
        name: &Text,
        own: &TaskTable,
        usual: &TaskTable,
    ) -> Result<TaskSpec, DocumentError> {
        let files = own.files.as_ref().or(usual.files.as_ref()).map(|files| *files.get_ref());
        let bytes = own.bytes.as_ref().or(usual.bytes.as_ref()).map(|bytes| *bytes.get_ref());
        let builtin = TaskSpec::from_name(name.get_ref());
        if let Some(command) = &own.command {
            if builtin.is_some() {
                return Err(self.source.error(
                    name,
                    format!("{:?} is a built-in task; give the command another name", name.get_ref()),
                ));
            }
            return Ok(TaskSpec::Command {
                command: self.command(command, name)?,
                output: own.output(&self.source)?,
            });
        }
        let Some(builtin) = builtin else {
            return Err(self.source.error(name, self.unknown_task(name.get_ref())));
        };
        let takes = |what: &str, given: Option<std::ops::Range<usize>>, can: bool| match given {
            Some(place) if !can => {
                let message = format!("the task {} has no {what} to set", name.get_ref());
                Err(DocumentError::at(self.source.file, self.source.text, place, message))
            }
            _ => Ok(()),
        };
        let is_set_up = matches!(builtin, TaskSpec::JobSetUp(_));
        let has_files = is_set_up || matches!(builtin, TaskSpec::List { .. } | TaskSpec::Create { .. });
        let has_bytes = matches!(
            builtin,
            TaskSpec::Create { .. } | TaskSpec::OpenRead { .. } | TaskSpec::WriteFsync { .. }
        );
        takes("files", own.files.as_ref().map(Spanned::span), has_files)?;
        takes("bytes", own.bytes.as_ref().map(Spanned::span), has_bytes)?;
        takes("stats", own.stats.as_ref().map(Spanned::span), is_set_up)?;
        takes("opens", own.opens.as_ref().map(Spanned::span), is_set_up)?;
        let has_output = matches!(builtin, TaskSpec::List { .. });
        takes("output", own.output.as_ref().map(Spanned::span), has_output)?;
        Ok(match builtin {
            TaskSpec::List { files: usually, .. } => {
                TaskSpec::List { files: files.unwrap_or(usually), output: own.output(&self.source)? }
            }
            TaskSpec::Create { files: usually, bytes: each } => {
                TaskSpec::Create { files: files.unwrap_or(usually), bytes: bytes.unwrap_or(each) }
            }
            TaskSpec::OpenRead { bytes: usually } => TaskSpec::OpenRead { bytes: bytes.unwrap_or(usually) },
            TaskSpec::WriteFsync { bytes: usually } => {
                TaskSpec::WriteFsync { bytes: bytes.unwrap_or(usually) }
            }
            TaskSpec::JobSetUp(usually) => TaskSpec::JobSetUp(self.job_set_up(name, own, usual, usually)?),
            other => other.with_shell(&self.wishes.shell),
        })
    }

    /// `files` are those of each directory.
    fn job_set_up(
        &self,
        name: &Text,
        own: &TaskTable,
        usual: &TaskTable,
        usually: SetUpSpec,
    ) -> Result<SetUpSpec, DocumentError> {
        let number = |own: &Option<Spanned<u64>>, usual: &Option<Spanned<u64>>, usually| {
            own.as_ref().or(usual.as_ref()).map_or(usually, |number| *number.get_ref())
        };
        let files = own.files.as_ref().or(usual.files.as_ref());
        let spec = SetUpSpec {
            stats: number(&own.stats, &usual.stats, usually.stats),
            opens: number(&own.opens, &usual.opens, usually.opens),
            files: files.map_or(usually.files, |files| u64::from(*files.get_ref())),
            ..usually
        };
        let place = [&own.stats, &own.opens].into_iter().flatten().map(Spanned::span).next();
        let place = place.or(own.files.as_ref().map(Spanned::span)).unwrap_or_else(|| name.span());
        spec.validate(1).map_err(|error| {
            let message = format!("the task {}: {}", name.get_ref(), error.to_string().replace("--", ""));
            DocumentError::at(self.source.file, self.source.text, place, message)
        })?;
        Ok(spec)
    }

    fn unknown_task(&self, name: &str) -> String {
        let own = self.own.task.keys().map(|name| name.get_ref().as_str());
        let known: Vec<&str> =
            TaskSpec::builtin_names().iter().copied().chain(own.filter(|own| *own != name)).collect();
        format!(
            "there is no task {name:?}: expected one of {}, or a [task.{name}] with a command",
            known.join(", ")
        )
    }
}
