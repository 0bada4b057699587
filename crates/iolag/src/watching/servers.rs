//! Servers that are watched: what is asked of them.

use iolag_backend::Target;
use iolag_model::SeriesKind;
use iolag_watch::{Location, Mounted, Place, WatchTarget};
use iolag_workload::{ServerPlace, ServerTask, TaskSpec};

use super::plan::{Limits, Planning};
use crate::documents::{DocumentError, Text};

impl Planning<'_> {
    /// A server with what is asked of it: what it is said to be asked, of what was typed what servers know, else all that it knows.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub(super) fn server(
        &self,
        target: Target,
        name: String,
        tasks: Option<&[Text]>,
        limits: Limits,
    ) -> Result<WatchTarget, DocumentError> {
        let watch = Place::watch_name(&self.wishes.host, &self.wishes.runtime);
        let place =
            ServerPlace::new(target, &watch).map_err(|error| self.source.nothing(error.to_string()))?;
        let known = place.tasks();
        let names = || known.iter().map(|task| task.name()).collect::<Vec<_>>().join(", ");
        let find = |name: &str| known.iter().copied().find(|task| task.name() == name);
        let asked: Vec<ServerTask> = match (&self.wishes.tasks[..], tasks) {
            ([], None) => known.to_vec(),
            ([], Some(own)) => {
                let known = |name: &Text| {
                    let refused = || {
                        format!(
                            "the target {} knows no such task: expected some of {}",
                            place.target(),
                            names()
                        )
                    };
                    find(name.get_ref()).ok_or_else(|| self.source.error(name, refused()))
                };
                own.iter().map(known).collect::<Result<_, _>>()?
            }
            (typed, _) => typed.iter().filter_map(|name| find(name)).collect(),
        };
        if asked.is_empty() {
            let sentence = format!("the target {name} has no task: expected some of {}", names());
            return Err(self.source.nothing(sentence));
        }
        let planned = |task: &ServerTask| {
            let spec = TaskSpec::OnServer { place: place.clone(), task: *task };
            self.planned(task.name(), spec, limits)
        };
        let tasks = asked.iter().map(planned).collect::<Result<_, _>>()?;
        let location = Location::Server(Box::new(place));
        Ok(WatchTarget { location, name, kind: SeriesKind::Task, mounted: Mounted::Any, tasks })
    }

    /// Whether a table is about a task that only servers have: then it says nothing but deadlines.
    pub(super) fn is_of_servers_only(&self, name: &Text) -> bool {
        let is_servers = ServerTask::ALL.iter().any(|task| task.name() == name.get_ref());
        let has_command =
            self.own.task.get(name.get_ref().as_str()).is_some_and(|table| table.command.is_some());
        is_servers && !has_command && TaskSpec::from_name(name.get_ref()).is_none()
    }
}
