//! From a document and what was typed to a plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iolag_backend::{Target, redact};
use iolag_model::{Nanoseconds, SeriesKind, parse_duration};
use iolag_watch::{AtDeadline, Location, Mounted, PlannedCovariate, PlannedTask, WatchPlan, WatchTarget};
use iolag_workload::TaskSpec;
use toml::Spanned;

use super::document::{CovariateTable, Document, PRINTED, TargetTable};
use crate::documents::{DocumentError, SHORTEST, Source, Text, command_of};
use crate::output::printable;

/// The control's name in the history.
pub const CONTROL: &str = "host memory";
/// How long a covariate may take if the file does not say.
const COVARIATE_DEADLINE: Nanoseconds = Nanoseconds::from_seconds(10);

/// What the command line and the machine add to the file.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// The machine's name.
    pub host: String,
    /// Targets on the command line, directories absolute; they replace the file's.
    pub targets: Vec<Target>,
    /// Tasks on the command line; they replace every target's.
    pub tasks: Vec<String>,
    /// Period on the command line.
    pub every: Option<Nanoseconds>,
    /// What is watched if nothing is named.
    pub home: Option<PathBuf>,
    /// The user's shell.
    pub shell: PathBuf,
    /// Directory on a tmpfs for the control.
    pub control: PathBuf,
    /// The runtime directory.
    pub runtime: PathBuf,
    /// Absolute paths of programs, by the names that [`super::programs()`] asks for.
    pub programs: BTreeMap<String, PathBuf>,
}

/// The plan for `wishes` and the file named `file` with this `text`.
///
/// # Errors
/// One sentence with file and line.
pub fn plan(file: &str, text: &str, wishes: &Wishes) -> Result<WatchPlan, DocumentError> {
    let own = Document::parse(file, text)?;
    let usual = Document::parse("the built-in configuration", PRINTED)?;
    Planning { source: Source { file, text }, own: &own, usual: &usual, wishes }.plan()
}

pub(super) struct Planning<'a> {
    pub(super) source: Source<'a>,
    pub(super) own: &'a Document,
    pub(super) usual: &'a Document,
    pub(super) wishes: &'a Wishes,
}

/// When a probe is looked at and ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    soft_deadline: Nanoseconds,
    deadline: Nanoseconds,
    at_deadline: AtDeadline,
}

impl Planning<'_> {
    fn plan(&self) -> Result<WatchPlan, DocumentError> {
        let period = match self.wishes.every {
            Some(every) => every,
            None => self.length(self.own.every.as_ref(), self.usual.every.as_ref())?,
        };
        let jitter = self.length_or_zero(self.own.jitter.as_ref(), self.usual.jitter.as_ref())?;
        let limits = self.limits()?;
        for name in self.own.task.keys().filter(|name| !self.is_of_servers_only(name)) {
            self.task(name, limits)?;
        }
        let mut targets = self.targets(limits)?;
        if self.own.control.or(self.usual.control).unwrap_or(true) {
            targets.push(self.control(&targets));
        }
        Ok(WatchPlan {
            host: self.wishes.host.clone(),
            period,
            // A round begins before the next one is due.
            jitter: jitter.min(Nanoseconds(period.0 / 2)),
            targets,
            covariates: self
                .own
                .covariate
                .iter()
                .map(|table| self.covariate(table))
                .collect::<Result<_, _>>()?,
            facts: self.facts()?,
            runtime_directory: self.wishes.runtime.clone(),
            orphans_max: self.orphans_max()?,
        })
    }

    fn orphans_max(&self) -> Result<u32, DocumentError> {
        const USUAL: u32 = 8;
        match self.own.orphans_max.as_ref().or(self.usual.orphans_max.as_ref()) {
            Some(none) if *none.get_ref() == 0 => Err(self.source.error(
                none,
                format!(
                    "with orphans-max = 0 nothing could ever be started: expected 1 or more, usually {USUAL}"
                ),
            )),
            Some(max) => Ok(*max.get_ref()),
            None => Ok(USUAL),
        }
    }

    fn limits(&self) -> Result<Limits, DocumentError> {
        let grace = self.length(self.own.grace.as_ref(), self.usual.grace.as_ref())?;
        let limits = Limits {
            soft_deadline: self.length(self.own.soft_deadline.as_ref(), self.usual.soft_deadline.as_ref())?,
            deadline: self.length(self.own.deadline.as_ref(), self.usual.deadline.as_ref())?,
            at_deadline: self.at_deadline(self.own.at_deadline.as_ref(), AtDeadline::End { grace })?,
        };
        self.refuse_reversed(limits, self.own.deadline.as_ref().or(self.own.soft_deadline.as_ref()))?;
        Ok(limits)
    }

    fn targets(&self, limits: Limits) -> Result<Vec<WatchTarget>, DocumentError> {
        let mut targets = Vec::new();
        if !self.wishes.targets.is_empty() || self.own.target.is_empty() {
            let named = match &self.wishes.targets[..] {
                [] => self.wishes.home.clone().map(Target::from).into_iter().collect(),
                named => named.to_vec(),
            };
            for target in named {
                let name = printable(&name_of(&target));
                targets.push(self.target(target, name, None, limits)?);
            }
        } else {
            for table in &self.own.target {
                let target = table.target(&self.source)?;
                let name =
                    table.name.as_ref().map_or_else(|| name_of(&target), |name| redact(name.get_ref()));
                let target = self.target(target, printable(&name), table.tasks.as_deref(), limits)?;
                targets.push(WatchTarget { mounted: table.mounted(&self.source)?, ..target });
            }
        }
        for (index, target) in targets.iter().enumerate() {
            let place = || self.own.target.get(index).map_or(0..0, TargetTable::place);
            if target.name.is_empty() || target.name == CONTROL {
                let message = format!(
                    "{:?} is no name for a target: {CONTROL:?} is the control's, and a name is not empty",
                    target.name
                );
                return Err(DocumentError::at(self.source.file, self.source.text, place(), message));
            }
            let is_twice =
                |other: &WatchTarget| other.name == target.name || other.location == target.location;
            if targets[..index].iter().any(is_twice) {
                let is_typed = !self.wishes.targets.is_empty();
                let file = if is_typed { "" } else { self.source.file };
                let message = format!("the target {} is named twice; give each directory once", target.name);
                return Err(DocumentError::at(file, self.source.text, place(), message));
            }
        }
        Ok(targets)
    }

    fn target(
        &self,
        target: Target,
        name: String,
        tasks: Option<&[Text]>,
        limits: Limits,
    ) -> Result<WatchTarget, DocumentError> {
        let Some(directory) = target.directory().map(Path::to_owned) else {
            return self.server(target, name, tasks, limits);
        };
        let typed: Vec<Text> =
            self.wishes.tasks.iter().map(|name| Spanned::new(0..0, name.clone())).collect();
        let tasks = match (&typed[..], tasks) {
            ([], Some(own)) => own,
            ([], None) => self.own.tasks.as_deref().or(self.usual.tasks.as_deref()).unwrap_or_default(),
            (typed, _) => typed,
        };
        // What was typed has no line in the file; the file's own tasks have been looked at already.
        let source = if typed.is_empty() { self.source.file } else { "" };
        let planning = Planning { source: Source { file: source, ..self.source }, ..*self };
        if tasks.is_empty() {
            return Err(planning.source.nothing(format!("the target {name} has no task: name at least one")));
        }
        for (index, task) in tasks.iter().enumerate() {
            if tasks[..index].iter().any(|other| other.get_ref() == task.get_ref()) {
                return Err(planning
                    .source
                    .error(task, format!("the task {} is named twice", task.get_ref())));
            }
        }
        let tasks = tasks.iter().map(|name| planning.task(name, limits)).collect::<Result<Vec<_>, _>>()?;
        let location = Location::Directory(directory);
        Ok(WatchTarget { location, name, kind: SeriesKind::Task, mounted: Mounted::Required, tasks })
    }

    /// The tasks of all targets together, on the host's memory; but no commands, since nobody knows what they touch, and no requests.
    fn control(&self, targets: &[WatchTarget]) -> WatchTarget {
        let mut tasks: Vec<PlannedTask> = Vec::new();
        for task in targets.iter().flat_map(|target| &target.tasks) {
            let is_elsewhere = matches!(task.spec, TaskSpec::Command { .. } | TaskSpec::OnServer { .. });
            if !is_elsewhere && tasks.iter().all(|known| known.name != task.name) {
                tasks.push(task.clone());
            }
        }
        let location = Location::Directory(self.wishes.control.clone());
        let name = CONTROL.to_owned();
        WatchTarget { location, name, kind: SeriesKind::Control, mounted: Mounted::Any, tasks }
    }

    fn task(&self, name: &Text, limits: Limits) -> Result<PlannedTask, DocumentError> {
        let own = self.own.task.get(name.get_ref().as_str()).cloned().unwrap_or_default();
        let usual = self.usual.task.get(name.get_ref().as_str()).cloned().unwrap_or_default();
        self.planned(name.get_ref(), self.spec(name, &own, &usual)?, limits)
    }

    /// A task with the deadlines that the file gives it.
    pub(super) fn planned(
        &self,
        name: &str,
        spec: TaskSpec,
        limits: Limits,
    ) -> Result<PlannedTask, DocumentError> {
        let own = self.own.task.get(name).cloned().unwrap_or_default();
        let deadline = own.deadline.as_ref().map(|text| self.source.duration(text)).transpose()?;
        let soft_deadline = own.soft_deadline.as_ref().map(|text| self.source.duration(text)).transpose()?;
        let own_limits = Limits {
            soft_deadline: soft_deadline.unwrap_or(limits.soft_deadline),
            deadline: deadline.unwrap_or(limits.deadline),
            at_deadline: self.at_deadline(own.at_deadline.as_ref(), limits.at_deadline)?,
        };
        self.refuse_reversed(own_limits, own.deadline.as_ref().or(own.soft_deadline.as_ref()))?;
        Ok(PlannedTask {
            name: name.to_owned(),
            spec,
            soft_deadline: own_limits.soft_deadline,
            deadline: own_limits.deadline,
            at_deadline: own_limits.at_deadline,
        })
    }

    pub(super) fn command(&self, command: &[Text], name: &Text) -> Result<Vec<String>, DocumentError> {
        command_of(&self.source, command, &self.wishes.programs)?.ok_or_else(|| {
            let message =
                format!("the command of {} is empty: expected a program and its arguments", name.get_ref());
            self.source.error(name, message)
        })
    }

    fn covariate(&self, table: &CovariateTable) -> Result<PlannedCovariate, DocumentError> {
        let same = |other: &&CovariateTable| other.name.get_ref() == table.name.get_ref();
        if table.name.get_ref().is_empty() || self.own.covariate.iter().filter(same).count() > 1 {
            let message = format!("{:?} is no name of its own for a covariate", table.name.get_ref());
            return Err(self.source.error(&table.name, message));
        }
        let deadline = table.deadline.as_ref().map(|text| self.source.duration(text)).transpose()?;
        Ok(PlannedCovariate {
            name: table.name.get_ref().clone(),
            unit: table.unit.as_ref().map(|unit| unit.get_ref().clone()).unwrap_or_default(),
            command: self.command(&table.command, &table.name)?,
            deadline: deadline.unwrap_or(COVARIATE_DEADLINE),
        })
    }

    fn at_deadline(&self, text: Option<&Text>, usual: AtDeadline) -> Result<AtDeadline, DocumentError> {
        let Some(text) = text else { return Ok(usual) };
        match (text.get_ref().as_str(), usual) {
            ("wait", _) => Ok(AtDeadline::Wait),
            ("end", AtDeadline::End { grace }) => Ok(AtDeadline::End { grace }),
            ("end", AtDeadline::Wait) => {
                let grace = self.length(self.own.grace.as_ref(), self.usual.grace.as_ref())?;
                Ok(AtDeadline::End { grace })
            }
            (other, _) => Err(self
                .source
                .error(text, format!("{other:?} is unknown here: expected \"end\" or \"wait\""))),
        }
    }

    fn refuse_reversed(&self, limits: Limits, text: Option<&Text>) -> Result<(), DocumentError> {
        match text {
            Some(text) if limits.soft_deadline > limits.deadline => {
                let message = format!(
                    "the soft deadline ({}) comes after the deadline ({}); make it shorter",
                    limits.soft_deadline, limits.deadline
                );
                Err(self.source.error(text, message))
            }
            _ => Ok(()),
        }
    }

    fn length(&self, own: Option<&Text>, usual: Option<&Text>) -> Result<Nanoseconds, DocumentError> {
        own.or(usual).map_or(Ok(SHORTEST), |text| self.source.duration(text))
    }

    fn length_or_zero(&self, own: Option<&Text>, usual: Option<&Text>) -> Result<Nanoseconds, DocumentError> {
        match own.or(usual) {
            Some(text) if parse_duration(text.get_ref()).is_ok_and(|length| length == Nanoseconds::ZERO) => {
                Ok(Nanoseconds::ZERO)
            }
            other => self.length(other, None),
        }
    }
}

/// How a target is called in the history if nobody says so: secrets removed.
fn name_of(target: &Target) -> String {
    target.directory().map_or_else(|| target.to_string(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_workload::TaskOutput;

    fn wishes() -> Wishes {
        Wishes {
            host: "node".into(),
            targets: vec![PathBuf::from("/home/me").into()],
            tasks: Vec::new(),
            every: None,
            home: Some("/home/me".into()),
            shell: "/bin/bash".into(),
            control: "/dev/shm/iolag-1/control".into(),
            runtime: "/dev/shm/iolag-1/x".into(),
            programs: [("git".to_owned(), PathBuf::from("/usr/bin/git"))].into(),
        }
    }

    fn refused(text: &str) -> String {
        plan("iolag.toml", text, &wishes()).unwrap_err().to_string()
    }

    #[test]
    fn without_a_file_it_is_the_study() {
        let plan = plan("", "", &wishes()).unwrap();
        assert_eq!(plan.period, Nanoseconds::from_seconds(900));
        let names: Vec<_> = plan.targets[0].tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["compile", "list", "create"]);
        let six = TaskSpec::List { files: 6, output: TaskOutput::Discard };
        assert_eq!(plan.targets[0].tasks[1].spec, six);
        assert_eq!(plan.targets[0].tasks[2].spec, TaskSpec::from_name("create").unwrap());
        let control = plan.targets.last().unwrap();
        assert_eq!((control.kind, control.tasks.len()), (SeriesKind::Control, 3));
    }

    #[test]
    fn the_printed_file_says_what_is_done_without_one() {
        assert_eq!(plan("printed", PRINTED, &wishes()).unwrap(), plan("", "", &wishes()).unwrap());
        for name in TaskSpec::builtin_names() {
            let text = format!("tasks = [{name:?}]");
            let spec = plan("f", &text, &wishes()).unwrap().targets[0].tasks[0].spec.clone();
            assert_eq!(spec, TaskSpec::from_name(name).unwrap().with_shell(Path::new("/bin/bash")));
        }
    }

    #[test]
    fn a_file_changes_what_it_says_and_nothing_else() {
        let text = "every = \"10s\"\njitter = \"0\"\ncontrol = false\n[[target]]\ndirectory = \"/scratch\"\ntasks = [\"create\", \"status\"]\n\
                    [task.create]\nfiles = 20\ndeadline = \"5m\"\nat-deadline = \"wait\"\n[task.status]\ncommand = [\"git\", \"status\"]\noutput = \"terminal\"\n\
                    [[covariate]]\nname = \"jobs\"\ncommand = [\"git\", \"x\"]\nunit = \"jobs\"\n";
        let plan = plan("f", text, &Wishes { targets: Vec::new(), ..wishes() }).unwrap();
        assert_eq!((plan.period, plan.jitter), (Nanoseconds::from_seconds(10), Nanoseconds::ZERO));
        assert_eq!(plan.targets.len(), 1);
        let [create, status] = &plan.targets[0].tasks[..] else { panic!("{plan:?}") };
        assert_eq!(create.spec, TaskSpec::Create { files: 20, bytes: 64 });
        assert_eq!((create.deadline, create.at_deadline), (Nanoseconds::from_seconds(300), AtDeadline::Wait));
        let command = vec!["/usr/bin/git".to_owned(), "status".to_owned()];
        assert_eq!(status.spec, TaskSpec::Command { command, output: TaskOutput::Terminal });
        assert_eq!(plan.covariates[0].deadline, Nanoseconds::from_seconds(10));
    }

    #[test]
    fn a_set_up_is_as_large_as_the_file_says() {
        let text = "tasks = [\"job-setup\"]\n[task.job-setup]\nstats = 100000\nopens = 7000\nfiles = 100\n";
        let plan_of = |text: &str| plan("f", text, &wishes());
        let TaskSpec::JobSetUp(spec) = plan_of(text).unwrap().targets[0].tasks[0].spec.clone() else {
            panic!("it is one")
        };
        assert_eq!((spec.stats, spec.opens, spec.files, spec.directories), (100_000, 7000, 100, 40));
        let nothing = text.replace("100000", "0").replace("7000", "0");
        let refused = plan_of(&nothing).unwrap_err().to_string();
        assert!(
            refused.starts_with("f:3: the task job-setup: the number of calls of a copy is 0"),
            "{refused}"
        );
        let other = plan_of("tasks = [\"stat\"]\n[task.stat]\nopens = 3").unwrap_err().to_string();
        assert!(other.starts_with("f:3: the task stat has no opens to set"), "{other}");
    }

    #[test]
    fn a_listing_may_go_to_a_terminal() {
        let text = "tasks = [\"list\"]\n[task.list]\nfiles = 9\noutput = \"terminal\"\n";
        let spec = plan("f", text, &wishes()).unwrap().targets[0].tasks[0].spec.clone();
        assert_eq!(spec, TaskSpec::List { files: 9, output: TaskOutput::Terminal });
        let create = "tasks = [\"create\"]\n[task.create]\noutput = \"terminal\"\n";
        assert!(refused(create).starts_with("iolag.toml:3: the task create has no output to set"));
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        assert!(
            refused("\ntasks = [\"lst\"]")
                .starts_with("iolag.toml:2: there is no task \"lst\": expected one of compile, list")
        );
        assert!(refused("every = \"soon\"").starts_with("iolag.toml:1: "));
        assert!(refused("every = \"1us\"").contains("too short"));
        assert!(refused("deadline = \"1s\"").contains("soft deadline (10.0 s) comes after the deadline"));
        assert!(
            refused("[task.stat]\nfiles = 3").starts_with("iolag.toml:2: the task stat has no files to set")
        );
        assert!(refused("[task.x]\ncommand = [\"nothere\"]").contains("\"nothere\" is not to be found"));
        assert!(refused("[task.list]\ncommand = [\"git\"]").contains("built-in"));
        assert!(refused("tasks = []").contains("has no task"));
        assert!(
            refused("tasks = [\"stat\", \"stat\"]").starts_with("iolag.toml:1: the task stat is named twice")
        );
        let covariate = "[[covariate]]\nname = \"a\"\ncommand = [\"git\"]\n";
        assert!(refused(&covariate.repeat(2)).starts_with("iolag.toml:2: \"a\" is no name of its own"));
        assert!(refused("\norphans-max = 0").starts_with("iolag.toml:2: with orphans-max = 0 nothing could"));
        assert_eq!(plan("f", "orphans-max = 1", &wishes()).unwrap().orphans_max, 1);
        assert!(refused("at-deadline = \"kill\"").contains("expected \"end\" or \"wait\""));
        let typed = Wishes { tasks: vec!["lst".into()], ..wishes() };
        assert!(plan("f", "every = \"1m\"", &typed).unwrap_err().to_string().starts_with("there is no task"));
        assert!(plan("", "", &typed).unwrap_err().to_string().starts_with("there is no task \"lst\""));
        let wishes = Wishes { targets: Vec::new(), ..wishes() };
        let twice = "[[target]]\ndirectory = \"/a\"\n[[target]]\ndirectory = \"/a\"\n";
        assert!(
            plan("f", twice, &wishes)
                .unwrap_err()
                .to_string()
                .starts_with("f:4: the target /a is named twice")
        );
        let twice_typed = ["/b", "/b"].map(|path| Target::from(PathBuf::from(path))).to_vec();
        let typed = Wishes { targets: twice_typed, ..wishes.clone() };
        assert!(
            plan("f", twice, &typed).unwrap_err().to_string().starts_with("the target /b is named twice")
        );
        let control = "[[target]]\ndirectory = \"/a\"\nname = \"host memory\"\n";
        assert!(plan("f", control, &wishes).unwrap_err().to_string().contains("the control's"));
        let mounted = "[[target]]\ndirectory = \"/a\"\nmounted = \"yes\"";
        let refused = plan("f", mounted, &wishes).unwrap_err().to_string();
        assert!(
            refused.starts_with("f:3: ") && refused.contains("expected \"required\" or \"any\""),
            "{refused}"
        );
        let relative = "[[target]]\ndirectory = \"a\"\n";
        assert!(plan("f", relative, &wishes).unwrap_err().to_string().starts_with("f:2: expected the path"));
    }
}
