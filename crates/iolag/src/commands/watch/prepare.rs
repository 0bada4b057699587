//! Before a watch: everything that must be looked at once, by children with deadlines.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use iolag_backend::redact_argument;
use iolag_conduct::environment::site_facts::SiteFacts;
use iolag_conduct::{Answer, ExitCode, Failure, ask};
use iolag_model::{Nanoseconds, SeriesKind};
use iolag_store::history::Access;
use iolag_watch::{Recollection, RuntimeDirectory, RuntimeError, Spool, WatchPlan};
use serde::{Deserialize, Serialize};

use super::contact::{Contacts, look_at_targets};
use crate::args::Watch;
use crate::commands::history::access::{Chosen, Unopened, failure};
use crate::commands::trust;
use crate::documents::{DEADLINE, DocumentError, Purpose, UserFile, found_programs};
use crate::planning::PlanDocument;
use crate::serve::Textfile;
use crate::watching::{Document, Places, ProcessOrigin, Wishes, plan, programs};

/// How long the history may be silent before the first round begins without it.
const HISTORY_PATIENCE: Nanoseconds = Nanoseconds::from_seconds(3);
/// What the file of a watch is.
const CONFIGURATION: Purpose =
    Purpose { noun: "configuration", advice: "see what one may say with: iolag watch --print-config" };

/// What is watched, and where it is kept.
pub struct Prepared {
    /// The plan.
    pub plan: WatchPlan,
    /// What the file says of this host.
    pub site_facts: SiteFacts,
    /// The places.
    pub places: Places,
    /// The file that says so.
    pub configuration: Configuration,
    /// What else was found in memory.
    pub memory: FoundInMemory,
    /// Whether the user or the file names the history: its directory is not made then.
    pub is_history_named: bool,
    /// Where metrics are written.
    pub textfile: Option<Textfile>,
    /// What became of the first contacts with the targets, and what the user is told of them.
    pub contacts: Contacts,
}

/// A configuration file; empty if there is none.
#[derive(Default)]
pub struct Configuration(UserFile);

impl Deref for Configuration {
    type Target = UserFile;

    fn deref(&self) -> &UserFile {
        &self.0
    }
}

/// What a watch that runs cannot change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherPlace {
    /// Where it keeps what it measured.
    History,
    /// The directory in memory.
    Runtime,
}

impl Configuration {
    /// What it says, understood.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn document(&self) -> Result<Document, Failure> {
        let source = self.source();
        Document::parse(source.file, source.text).map_err(|error| match PlanDocument::parse(&source) {
            Ok(_) => {
                let message =
                    format!("this is a plan, and no watch file: iolag run {} takes it", source.file);
                Failure::usage(error.saying(message))
            }
            Err(_) => Failure::usage(error),
        })
    }

    /// Why a watch that runs does not take it, with file and line: it names another history, or another directory in memory.
    pub fn of_other_places(&self, what: OtherPlace) -> Failure {
        let document = match self.document() {
            Ok(document) => document,
            Err(failure) => return failure,
        };
        let (what, named) = match what {
            OtherPlace::History => ("the history", document.history),
            OtherPlace::Runtime => ("the runtime directory", document.runtime),
        };
        let message = format!("{what} cannot change while a watch runs; start it anew");
        let file = if named.is_some() { self.name.as_str() } else { "" };
        Failure::usage(DocumentError::at(file, &self.text, named.map_or(0..0, |place| place.span()), message))
    }

    /// What to tell the user if it holds a password that others may read.
    pub fn exposure(&self, document: &Document) -> Option<String> {
        let has_password = |text: &str| redact_argument(text) != text;
        let is_in_history = document.history.as_ref().is_some_and(|place| has_password(place.get_ref()));
        let is_elsewhere = self.text.lines().any(has_password);
        (is_in_history || is_elsewhere).then(|| self.0.exposure(CONFIGURATION.noun)).flatten()
    }
}

/// Reads the configuration file.
///
/// # Errors
/// If it cannot be read, or its file system does not answer.
pub fn read_file(file: Option<&Path>) -> Result<Configuration, Failure> {
    let read = |path| UserFile::read(path, CONFIGURATION).map(Configuration);
    file.map_or_else(|| Ok(Configuration::default()), read)
}

/// Makes the plan: reads the file, finds programs, looks at the directories.
///
/// # Errors
/// One sentence, if what is asked cannot be done.
pub fn prepare(options: &Watch, file: Option<&Path>, origin: &ProcessOrigin) -> Result<Prepared, Failure> {
    let configuration = read_file(file)?;
    let document = configuration.document()?;
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let in_file = |text: &Option<crate::documents::Text>| text.as_ref().map(|text| text.get_ref().clone());
    let runtime = options.runtime.clone().or_else(|| in_file(&document.runtime).map(PathBuf::from));
    let history = options.history.clone().or_else(|| document.history_named_in(file?));
    let places = Places::new(history.as_deref(), runtime.as_deref(), origin).map_err(failure)?;
    if runtime.is_some() {
        look_at_runtime(&places)?;
    }
    let (places, memory) = find_runtime(places)?;
    let wishes = wishes(options, &document, &places, variable)?;
    let plan = plan(&configuration.name, &configuration.text, &wishes).map_err(Failure::usage)?;
    if plan.targets.iter().all(|target| target.kind == SeriesKind::Control) {
        return Err(Failure::usage(
            "there is nothing to watch: name a directory or the URL of a server, or set HOME",
        ));
    }
    let site_facts = SiteFacts::new(&plan.facts)?;
    let textfile = options.textfile.clone().or_else(|| in_file(&document.textfile).map(PathBuf::from));
    let textfile = textfile.map(|path| Textfile::new(path, &places.runtime, &plan.host)).transpose();
    let textfile = textfile.map_err(Failure::usage)?;
    // Last of all: who goes there and does not come back is the watch's to look after.
    let mut contacts = look_at_targets(&plan, &places, !options.targets.is_empty())?;
    contacts.notices.extend(configuration.exposure(&document));
    Ok(Prepared {
        plan,
        site_facts,
        places,
        configuration,
        memory,
        is_history_named: history.is_some(),
        textfile,
        contacts,
    })
}

/// What was found in memory besides the runtime directory of the watch.
#[derive(Debug)]
pub struct FoundInMemory {
    /// Other runtime directories of the same history.
    older: Vec<PathBuf>,
    /// What the user is told of where it lies.
    pub notice: Option<String>,
}

/// Finds the runtime directory, unless it is named. Makes nothing.
fn find_runtime(places: Places) -> Result<(Places, FoundInMemory), Failure> {
    let found = places.find();
    if let Some(errno) = found.limit {
        let error = format!("cannot look for a place in memory: {errno}");
        return Err(Failure::of_system(error, Some(errno.raw_os_error())));
    }
    let passed_over = found.passed_over.join("; ");
    let base =
        found.base.ok_or_else(|| Failure::unusable(RuntimeError::NoPlace { tried: passed_over.clone() }))?;
    let is_usual = places.runtime_base == base;
    let notice = (!is_usual && !passed_over.is_empty())
        .then(|| format!("{passed_over}; the watch keeps its things in {} instead", base.display()));
    let places = places.with_base(base);
    let older = found.existing.into_iter().filter(|path| *path != places.runtime).collect();
    Ok((places, FoundInMemory { older, notice }))
}

/// A directory that somebody named may lie anywhere. It is refused later if it does not lie in memory, but to see that one has to go
/// there.
fn look_at_runtime(places: &Places) -> Result<(), Failure> {
    match ask("scout", DEADLINE, || places.runtime.exists())? {
        Answer::Given(_) => Ok(()),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "the runtime directory {} has not answered for {age}: choose one in memory, in /run or /dev/shm",
            places.runtime_base.display()
        ))),
    }
}

fn wishes(
    options: &Watch,
    document: &Document,
    places: &Places,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Wishes, Failure> {
    let mut targets = options.targets.clone();
    trust(&mut targets, options.ca_file.as_deref())?;
    let shell = variable("SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute());
    Ok(Wishes {
        host: iolag_store::host_name(),
        targets,
        tasks: options.tasks.clone(),
        every: options.every,
        home: variable("HOME").map(PathBuf::from),
        shell: shell.unwrap_or_else(|| "/bin/sh".into()),
        control: places.runtime_base.join("control"),
        runtime: places.known_as.clone(),
        programs: found_programs(&programs(document), CONFIGURATION.noun)?,
    })
}

/// What became of the question to the history before the first round.
pub enum Opened {
    /// What it knows.
    Known(Recollection),
    /// It cannot be used now.
    Later {
        /// Why, in a sentence.
        why: String,
        /// The process that waits for it and cannot be ended.
        stuck: Option<u32>,
    },
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Known(Recollection),
    Later(String),
    Never(u8, String),
}

/// Opens the history once, so that what will not mend by itself is said before anything is measured.
///
/// # Errors
/// One sentence, if it cannot be used until somebody changes something.
pub fn open_the_history(prepared: &Prepared) -> Result<Opened, Failure> {
    let answer = ask("history", HISTORY_PATIENCE, || match recall(prepared) {
        Ok(recollection) => Reply::Known(recollection),
        Err(Unopened::Passing(sentence)) => Reply::Later(sentence),
        Err(Unopened::Lasting(failure)) => Reply::Never(failure.code as u8, failure.sentence),
    })?;
    match answer {
        Answer::Given(Reply::Known(recollection)) => Ok(Opened::Known(recollection)),
        Answer::Given(Reply::Later(why)) => Ok(Opened::Later { why, stuck: None }),
        Answer::Given(Reply::Never(code, sentence)) => {
            Err(Failure { code: ExitCode::from_number(code), sentence })
        }
        Answer::None { age, unkillable, .. } => {
            let history = prepared.places.shown_history();
            let why = format!(
                "the history {history} has not answered for {age}: its disk or server hangs, or another program has it locked"
            );
            Ok(Opened::Later { why, stuck: unkillable })
        }
    }
}

/// Makes the history if it is missing and asks it what the watch has to know; to be called in a child.
///
/// # Errors
/// If it cannot be used.
pub fn recall(prepared: &Prepared) -> Result<Recollection, Unopened> {
    let chosen = Chosen::at(prepared.places.clone(), prepared.is_history_named);
    let host = &prepared.plan.host;
    let mut history = chosen.open_now(Access::Create)?;
    let renames = history.renames()?;
    let of_host = || renames.iter().filter(|rename| rename.host == *host);
    let series = history.series()?;
    let called = series.iter().filter(|series| series.key.host == *host).map(|series| &series.key.target);
    let renamed = of_host().flat_map(|rename| [&rename.old, &rename.new]);
    Ok(Recollection {
        configurations: history.present_configurations(host)?,
        open_outages: history.open_outages(host)?,
        names: called.chain(renamed).cloned().collect(),
        former_names: of_host().map(|rename| rename.old.clone()).collect(),
    })
}

/// Refuses a place for metrics that cannot be written to, before anything is measured.
///
/// # Errors
/// One sentence, if it cannot.
pub fn try_textfile(prepared: &Prepared) -> Result<(), Failure> {
    let Some(textfile) = &prepared.textfile else { return Ok(()) };
    match ask("scribe", DEADLINE, || textfile.try_place())? {
        Answer::Given(tried) => tried.map_err(Failure::unusable),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "{} has not been written for {age}: its file system does not answer",
            textfile.path().display()
        ))),
    }
}

/// Runtime directories that a watch holds.
pub struct Held {
    /// Its own.
    pub runtime: RuntimeDirectory,
    /// Others of the same history, so that no watch begins there.
    older: Vec<RuntimeDirectory>,
}

/// Opens the runtime directory, and others of the same history, so that nobody else watches.
///
/// # Errors
/// If another watch holds one of them, or it is no safe place.
pub fn hold_runtime(prepared: &Prepared) -> Result<Held, RuntimeError> {
    let (places, known) = (&prepared.places, &prepared.memory.older);
    let mut older = Vec::new();
    for path in known {
        older.extend(hold_older(path)?);
    }
    let runtime = RuntimeDirectory::open(&places.runtime)?;
    // Who looked at the same time and came to another place has made its directory by now, or finds this one.
    for path in places.find().existing {
        if path != places.runtime && !known.contains(&path) {
            older.extend(hold_older(&path)?);
        }
    }
    Ok(Held { runtime, older })
}

/// `None` if it cannot be written to now. Who holds it all the same can be seen.
fn hold_older(path: &Path) -> Result<Option<RuntimeDirectory>, RuntimeError> {
    match RuntimeDirectory::open(path) {
        Ok(directory) => Ok(Some(directory)),
        Err(busy @ RuntimeError::Busy { .. }) => Err(busy),
        Err(_) => match RuntimeDirectory::refuse_held(path) {
            Err(busy @ RuntimeError::Busy { .. }) => Err(busy),
            _ => Ok(None),
        },
    }
}

/// Opens the runtime directory and makes the control's place beside it, both in memory.
///
/// # Errors
/// One sentence, if another watch holds it or it is no safe place.
pub fn open_runtime(prepared: &Prepared) -> Result<(Held, Spool), Failure> {
    let held = hold_runtime(prepared).map_err(Failure::unusable)?;
    let control = prepared.places.runtime_base.join("control");
    match rustix::fs::mkdir(&control, rustix::fs::Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(errno) => {
            let control = control.display();
            return Err(Failure::unusable(format!("cannot make {control} for the control: {errno}")));
        }
    }
    let (mut spool, _) = Spool::open(&held.runtime).map_err(Failure::unusable)?;
    for older in &held.older {
        spool.take_over(older).map_err(Failure::unusable)?;
    }
    Ok((held, spool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_watch_that_runs_cannot_change_is_told_with_its_line() {
        let text = "every = \"1m\"\nhistory = \"/b.sqlite\"\n".to_owned();
        let mut file = UserFile::default();
        (file.name, file.text) = ("iolag.toml".to_owned(), text);
        let configuration = Configuration(file);
        let told = |what| configuration.of_other_places(what).sentence;
        let end = "cannot change while a watch runs; start it anew";
        assert_eq!(told(OtherPlace::History), format!("iolag.toml:2: the history {end}"));
        // It is named nowhere any more.
        assert_eq!(told(OtherPlace::Runtime), format!("the runtime directory {end}"));
    }
}
