//! The commands. Each decides what the options mean together, and says so in one sentence if that is nothing.

pub mod bench;
pub mod check;
pub mod compare;
pub mod explain;
pub mod history;
pub mod ping;
pub mod plan;
pub mod plot;
pub mod replay;
pub mod runs;
pub mod serve;
pub mod trace;
pub mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use iolag_backend::{Target, redact, redact_line};
use iolag_conduct::{
    Answer, Failure, RescuePlaces, STORE_DEADLINE, StoreChoice, absolute, ask, open_store_at, put_in_order,
};
use iolag_model::RunRecord;
use iolag_store::{KeeperIdentity, RunDirectory, Store};

use crate::args::{Common, HISTORY, RunOptions};
use crate::output::notice;

/// The store that the user chose. Touches none.
fn store_of(common: &Common) -> StoreChoice {
    StoreChoice::new(common.store.as_deref(), |name| std::env::var_os(name))
}

/// The command as it was typed, for the record, secrets removed.
fn typed() -> Vec<String> {
    const FOR_A_SHELL: [&str; 2] = ["--drop-command", "--payload"];
    let mut is_for_shell = false;
    let shown = |argument: OsString| {
        let text = argument.to_string_lossy();
        let is_command = is_for_shell || FOR_A_SHELL.iter().any(|option| text.starts_with(option));
        is_for_shell = FOR_A_SHELL.contains(&&*text);
        if is_command { redact_line(&text) } else { redact(&text) }
    };
    std::env::args_os().map(shown).collect()
}

/// The same of a command that runs another, whose arguments are nobody's business.
fn typed_but_arguments(command: &[OsString]) -> Vec<String> {
    let mut typed = typed();
    typed.truncate(typed.len().saturating_sub(command.len().saturating_sub(1)));
    typed
}

/// The store that a command looks at, in order, and where runs of it may have been rescued to.
pub struct Located {
    /// Its root.
    pub root: PathBuf,
    places: RescuePlaces,
}

impl Located {
    /// Finds the store and puts it in order, in a child; tells what came of that.
    ///
    /// # Errors
    /// If the store does not answer, or the user does not want to wait.
    pub fn of(common: &Common) -> Result<Self, Failure> {
        let root = store_of(common).root;
        let places = RescuePlaces::find()?;
        match ask("store", STORE_DEADLINE, || put_in_order(&root, &places))? {
            Answer::Given(sentences) => sentences.iter().for_each(|sentence| notice(common, sentence)),
            Answer::None { age, .. } => {
                let sentence = format!("the store {} has not answered for {age}", root.display());
                return Err(Failure::unusable(sentence));
            }
        }
        Ok(Self { root, places })
    }

    /// No store: runs are named by their paths.
    fn nowhere() -> Self {
        Self { root: PathBuf::from("/"), places: RescuePlaces::default() }
    }

    /// The store, if it is there: looking makes none. To be called in a process that may hang.
    ///
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn open(&self) -> Result<Store, Failure> {
        Ok(open_store(&self.root)?.with_places(&self.places.roots))
    }

    /// The store that a rescued run belongs to, with what counts of the run there: a path to what was rescued of it is one to
    /// all of it. Nothing for other runs, and where that store is not there.
    fn home_of(&self, run: &RunDirectory) -> Option<(Store, RunDirectory)> {
        let rescue = run.record().ok()?.rescue?;
        let home = open_store(Path::new(&rescue.store)).ok()?.with_places(&self.places.roots);
        let found = home.run(run.id()).ok()?;
        Some((home, found))
    }

    /// What is not known because a place of rescue did not answer.
    fn silence(&self) -> Option<String> {
        let silent: Vec<_> = self.places.silent.iter().map(|root| root.display().to_string()).collect();
        let names = silent.join(" and ");
        (!silent.is_empty())
            .then(|| format!("{names} did not answer: runs that were rescued there were not looked at"))
    }

    /// The run that `name` means, and the store that it is in; a path may lead into another one, or to a run that somebody
    /// copied out of any.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub fn find(&self, name: &str) -> Result<(Option<Store>, RunDirectory), Failure> {
        if !name.contains('/') {
            let found = self.open().and_then(|store| {
                let run = store.find(name).map_err(Failure::unusable)?;
                Ok((Some(store), run))
            });
            return found.map_err(|failure| with_file_in_mind(with_history_in_mind(failure, name), name));
        }
        let path = match Path::new(name).canonicalize() {
            Ok(path) => path,
            Err(error) => {
                // What a path into a place of rescue meant may be in the store by now.
                let id = Path::new(name).file_name().and_then(|name| name.to_str()?.parse().ok());
                if let (Some(id), Ok(store)) = (id, self.open())
                    && let Ok(run) = store.run(&id)
                {
                    return Ok((Some(store), run));
                }
                let sentence = format!("cannot open the run {name}: {error}; iolag list shows the runs");
                return Err(Failure::unusable(sentence));
            }
        };
        let root = path.parent().filter(|runs| runs.ends_with("runs")).and_then(Path::parent);
        let Some(root) = root else {
            return Ok((None, RunDirectory::open(&path).map_err(Failure::unusable)?));
        };
        let store = Store::open(root).map_err(Failure::unusable)?.with_places(&self.places.roots);
        let run = store.find(&path.to_string_lossy()).map_err(Failure::unusable)?;
        Ok((Some(store), run))
    }
}

/// Who mistypes the word for the history means no run.
fn with_history_in_mind(failure: Failure, name: &str) -> Failure {
    const LETTERS_MOST: usize = 2;
    if name == HISTORY || strsim::osa_distance(&name.to_lowercase(), HISTORY) > LETTERS_MOST {
        return failure;
    }
    let sentence = format!("{}; what a watch recorded is called: {HISTORY}", failure.sentence);
    Failure { sentence, ..failure }
}

/// Who names a file means a trace that is one.
fn with_file_in_mind(failure: Failure, name: &str) -> Failure {
    if !absolute(Path::new(name)).is_file() {
        return failure;
    }
    let hint = "is a file here, and no run of the store: if it is a trace, call it";
    Failure { sentence: format!("{}; {name} {hint} ./{name}", failure.sentence), ..failure }
}

/// Refuses to touch what a run has or does while it goes on.
fn refuse_running(record: &RunRecord) -> Result<(), Failure> {
    if KeeperIdentity::of(record).is_some_and(|keeper| keeper.is_alive()) {
        return Err(Failure::usage(format!("run {} is still running; end it first (Ctrl-C)", record.id)));
    }
    Ok(())
}

/// Whether an error says that there is nothing of that name; any other says nothing about it.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// A store that is there: looking makes none.
///
/// # Errors
/// If there is none, or it cannot be used.
fn open_store(root: &Path) -> Result<Store, Failure> {
    if let Err(error) = root.metadata()
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(Failure::unusable(format!(
            "the store {} may not be looked at: {error}; name another with --store, or ask its owner",
            root.display()
        )));
    }
    if !root.is_dir() {
        return Err(Failure::unusable(format!(
            "there is no store in {}: name another with --store, or make a run with: iolag check",
            root.display()
        )));
    }
    open_store_at(root).map_err(Failure::unusable)
}

/// Has the servers among the targets trusted for whom an authority in this file vouches.
///
/// # Errors
/// If there is such a file and no server.
fn trust<'a>(
    targets: impl IntoIterator<Item = &'a mut Target>,
    authorities: Option<&Path>,
) -> Result<(), Failure> {
    let Some(file) = authorities else { return Ok(()) };
    let setting = [("ca-file".to_owned(), file.display().to_string())];
    let mut servers = targets.into_iter().filter(|target| target.is_server()).peekable();
    if servers.peek().is_none() {
        return Err(Failure::usage("--ca-file is for servers, and no target is one"));
    }
    servers.for_each(|target| *target = target.with_settings(&setting));
    Ok(())
}

/// The labels of a run.
///
/// # Errors
/// If a name appears twice.
fn labels(options: &RunOptions) -> Result<Vec<(String, String)>, Failure> {
    refuse_equal_names(&options.labels)?;
    Ok(options.labels.clone())
}

/// Refuses labels of which one of the values would be lost.
fn refuse_equal_names(labels: &[(String, String)]) -> Result<(), Failure> {
    for (index, (name, _)) in labels.iter().enumerate() {
        if labels[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(Failure::usage(format!(
                "--label {name} is given twice: a run has one value per name"
            )));
        }
    }
    Ok(())
}
