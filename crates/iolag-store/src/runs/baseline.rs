//! Baselines: runs of this store that others are compared with, under a name.
//!
//! ```text
//! <root>/baselines/<NAME>.json    replaced as a whole; nothing of the runs themselves is in it
//! ```
//! Invariant: a baseline that cannot be read is told, never taken for one that is not there: its runs may be the ones that somebody is about
//! to remove.

use std::fmt;
use std::str::FromStr;

use iolag_model::{FormatVersion, RunId};
use serde::{Deserialize, Serialize};

use super::leftovers::is_old;
use super::store::{Store, refuse_others};
use crate::{Directory, StoreError};

pub(crate) const BASELINES_DIRECTORY: &str = "baselines";
const SUFFIX: &str = ".json";
const FORMAT: FormatVersion = FormatVersion { major: 1, minor: 0 };
const NAME_BYTES_MAX: usize = 64;
/// Tens of thousands of runs.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// What a baseline is called: never what a run, a part of its name, or another source of a comparison may be called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BaselineName(String);

/// A text that cannot name a baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot name a baseline: {reason}")]
pub struct BaselineNameError {
    text: String,
    reason: &'static str,
}

impl BaselineName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn file(&self) -> String {
        format!("{}{SUFFIX}", self.0)
    }
}

impl TryFrom<String> for BaselineName {
    type Error = BaselineNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const TAKEN: [&str; 2] = ["last", "history"];
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_of_run_ids = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte) || byte == b'-';
        let refused = if text.is_empty() || text.len() > NAME_BYTES_MAX {
            Some("it must have 1 to 64 characters")
        } else if !text.bytes().all(is_plain) || !text.as_bytes()[0].is_ascii_alphanumeric() {
            Some("letters, digits, -, . and _ may stand in it, a letter or a digit first")
        } else if text.bytes().all(is_of_run_ids) {
            Some("it may be a part of a run's name; put a letter after f, a capital, . or _ into it")
        } else if TAKEN.contains(&text.as_str()) {
            Some("that word means something else")
        } else {
            None
        };
        match refused {
            Some(reason) => Err(BaselineNameError { text, reason }),
            None => Ok(Self(text)),
        }
    }
}

impl FromStr for BaselineName {
    type Err = BaselineNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.to_owned().try_into()
    }
}

impl From<BaselineName> for String {
    fn from(name: BaselineName) -> Self {
        name.0
    }
}

impl fmt::Display for BaselineName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A baseline, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    format: FormatVersion,
    /// Its name.
    pub name: BaselineName,
    /// When it was set, in ns since 1970.
    pub set_ns: u64,
    /// Its runs, in the order in which they were named. Some may be gone by now.
    pub runs: Vec<RunId>,
}

/// What a baseline is called, and the baseline as it is or what is wrong with it.
pub type FoundBaseline = (String, Result<Baseline, StoreError>);

/// The only thing that is read of a file before its version is known to be readable.
#[derive(Deserialize)]
struct Versioned {
    format: FormatVersion,
}

impl Baseline {
    /// A baseline of this program's format.
    pub const fn new(name: BaselineName, set_ns: u64, runs: Vec<RunId>) -> Self {
        Self { format: FORMAT, name, set_ns, runs }
    }

    fn read(directory: &Directory, name: &BaselineName) -> Result<Self, StoreError> {
        let file = name.file();
        let path = || directory.path().join(&file);
        let damaged = |error: serde_json::Error| {
            StoreError::damaged(path(), format!("it is not the JSON that was expected ({error})"))
        };
        let bytes = directory.read_file(&file, FILE_BYTES_MAX)?;
        let versioned: Versioned = serde_json::from_slice(&bytes).map_err(damaged)?;
        let readable = versioned.format.check_readable_by(FORMAT);
        readable.map_err(|source| StoreError::Format { path: path(), source })?;
        let mut baseline: Self = serde_json::from_slice(&bytes).map_err(damaged)?;
        // A run that somebody wrote into it twice is one all the same.
        let mut known = std::collections::BTreeSet::new();
        baseline.runs.retain(|run| known.insert(run.clone()));
        if baseline.name == *name {
            return Ok(baseline);
        }
        let what = format!("it is of the baseline {}, in the file of {name}", baseline.name);
        Err(StoreError::damaged(path(), what))
    }
}

impl Store {
    /// All baselines in the order of their names, each as it is or with what is wrong with it.
    ///
    /// # Errors
    /// Only if their directory cannot be read.
    pub fn baselines(&self) -> Result<Vec<FoundBaseline>, StoreError> {
        self.baselines_directory()?.map_or_else(|| Ok(Vec::new()), |directory| all_in(&directory))
    }

    /// The same of those that this user may have set: nobody else's keep a run of this user.
    ///
    /// # Errors
    /// As [`Self::baselines`].
    pub fn own_baselines(&self) -> Result<Vec<FoundBaseline>, StoreError> {
        let own = self.baselines_directory()?.filter(|directory| refuse_others(directory).is_ok());
        own.map_or_else(|| Ok(Vec::new()), |directory| all_in(&directory))
    }

    /// The baseline of this name, if there is one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn baseline(&self, name: &BaselineName) -> Result<Option<Baseline>, StoreError> {
        let Some(directory) = self.baselines_directory()? else { return Ok(None) };
        match Baseline::read(&directory, name) {
            Ok(baseline) => Ok(Some(baseline)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sets a baseline, durably and as a whole; one of the same name is replaced.
    ///
    /// # Errors
    /// [`StoreError::Foreign`]; else if it cannot be written: the old one stands then.
    pub fn set_baseline(&self, baseline: &Baseline) -> Result<(), StoreError> {
        self.refuse_foreign()?;
        let directory = Directory::open(self.root())?.directory_or_new(BASELINES_DIRECTORY)?;
        refuse_others(&directory)?;
        let mut bytes = serde_json::to_vec_pretty(baseline).map_err(|error| {
            let path = directory.path().join(baseline.name.file());
            StoreError::damaged(path, format!("it cannot be written as JSON: {error}"))
        })?;
        bytes.push(b'\n');
        if bytes.len() as u64 > FILE_BYTES_MAX {
            let what = format!("{} runs are more than a baseline may have", baseline.runs.len());
            return Err(StoreError::damaged(directory.path().join(baseline.name.file()), what));
        }
        directory.replace_file(&baseline.name.file(), &bytes)
    }

    /// Removes a baseline, also one that cannot be read; its runs stay. Whether there was one.
    ///
    /// # Errors
    /// [`StoreError::Foreign`]; else if it is there and cannot be removed.
    pub fn remove_baseline(&self, name: &BaselineName) -> Result<bool, StoreError> {
        self.refuse_foreign()?;
        let Some(directory) = self.baselines_directory()? else { return Ok(false) };
        refuse_others(&directory)?;
        match directory.look_at(&name.file()) {
            Err(error) if error.is_missing() => return Ok(false),
            other => drop(other?),
        }
        directory.remove_file(&name.file())?;
        directory.sync()?;
        Ok(true)
    }

    /// Removes what a killed process left of a baseline. What cannot be removed, or is not what it should be, stays.
    pub(super) fn tidy_baselines(&self) {
        let Ok(Some(directory)) = self.baselines_directory() else { return };
        if refuse_others(&directory).is_err() {
            return;
        }
        let names = directory.names().unwrap_or_default();
        let unfinished = names.iter().filter(|name| name.ends_with(".json.new") && is_old(&directory, name));
        unfinished.for_each(|name| drop(directory.remove_file(name)));
    }

    fn baselines_directory(&self) -> Result<Option<Directory>, StoreError> {
        match Directory::open(self.root())?.directory(BASELINES_DIRECTORY) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn all_in(directory: &Directory) -> Result<Vec<FoundBaseline>, StoreError> {
    let names = directory.names()?;
    let files = names.iter().filter_map(|name| name.strip_suffix(SUFFIX));
    let read = |name: &str| {
        let unknown = |error: BaselineNameError| {
            let what = format!("it may be of a newer iolag: {error}");
            StoreError::damaged(directory.path().join(format!("{name}{SUFFIX}")), what)
        };
        let known = name.parse().map_err(unknown);
        (name.to_owned(), known.and_then(|known| Baseline::read(directory, &known)))
    };
    // Whoever removed one meanwhile has removed it.
    let is_there = |(_, read): &FoundBaseline| !read.as_ref().is_err_and(StoreError::is_missing);
    Ok(files.map(read).filter(is_there).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::run_id;

    fn name(text: &str) -> BaselineName {
        text.parse().expect("it is a name")
    }

    fn store() -> (tempfile::TempDir, Store) {
        let place = tempfile::tempdir().unwrap();
        let store = Store::open(place.path()).unwrap();
        (place, store)
    }

    #[test]
    fn no_name_may_mean_a_run() {
        for good in ["nightly", "v1.2", "2026_11", "g", "A", "9-blocks", &"x".repeat(64)] {
            assert_eq!(name(good).as_str(), good);
        }
        for bad in [
            "",
            "20261120",
            "185900-3fa7",
            "face",
            "last",
            "history",
            "..",
            ".hidden",
            "-n",
            "a/b",
            "ü",
            "two words",
            &"x".repeat(65),
        ] {
            assert!(bad.parse::<BaselineName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_baseline_is_read_as_it_was_set_and_replaced_as_a_whole() {
        let (place, store) = store();
        assert_eq!((store.baselines().unwrap().len(), store.baseline(&name("x")).unwrap()), (0, None));
        let long = Baseline::new(name("nightly"), 5, (0..100).map(run_id).collect());
        store.set_baseline(&long).unwrap();
        let short = Baseline::new(name("nightly"), 6, vec![run_id(7)]);
        store.set_baseline(&short).unwrap();
        assert_eq!(store.baseline(&name("nightly")).unwrap(), Some(short));
        use std::os::unix::fs::PermissionsExt;
        let file = place.path().join("baselines/nightly.json");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(store.remove_baseline(&name("nightly")).unwrap());
        assert!(!store.remove_baseline(&name("nightly")).unwrap());
        assert_eq!(std::fs::read_dir(place.path().join("baselines")).unwrap().count(), 0);
    }

    #[test]
    fn a_run_that_was_written_into_it_twice_is_one() {
        let (place, store) = store();
        store.set_baseline(&Baseline::new(name("edited"), 5, vec![run_id(1), run_id(2)])).unwrap();
        let file = place.path().join("baselines/edited.json");
        let text = std::fs::read_to_string(&file).unwrap();
        let [one, two] = [1, 2].map(|number| format!("\"{}\"", run_id(number)));
        std::fs::write(&file, text.replace(&two, &format!("{two}, {one}, {two}"))).unwrap();
        let read = store.baseline(&name("edited")).unwrap().unwrap();
        assert_eq!(read.runs, [run_id(1), run_id(2)]);
    }

    #[test]
    fn who_is_killed_before_the_new_one_has_its_name_leaves_the_old_one() {
        let (place, store) = store();
        let old = Baseline::new(name("nightly"), 5, vec![run_id(1)]);
        store.set_baseline(&old).unwrap();
        // Half of what was to be written.
        let left = place.path().join("baselines/nightly.json.new");
        std::fs::write(&left, "{\"format\": \"1.0\", \"na").unwrap();
        assert_eq!(store.baseline(&name("nightly")).unwrap().as_ref(), Some(&old));
        assert_eq!(store.baselines().unwrap().len(), 1);
        store.tidy().unwrap();
        assert!(left.exists(), "somebody may be writing it");
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 24 * 60 * 60);
        std::fs::File::options().write(true).open(&left).unwrap().set_modified(long_ago).unwrap();
        store.tidy().unwrap();
        assert!(!left.exists());
        assert_eq!(store.baseline(&name("nightly")).unwrap(), Some(old));
    }

    #[test]
    fn one_that_cannot_be_read_is_told_and_can_be_removed() {
        let (place, store) = store();
        store.set_baseline(&Baseline::new(name("good"), 5, vec![run_id(1)])).unwrap();
        let write =
            |file: &str, text: &str| std::fs::write(place.path().join("baselines").join(file), text).unwrap();
        write("cut.json", "{\"format\": \"1.0\"");
        write("newer.json", "{\"format\": \"2.0\", \"name\": \"newer\"}");
        write("other.json", "{\"format\": \"1.3\", \"name\": \"good\", \"set_ns\": 1, \"runs\": []}");
        write("a name to come.json", "");
        let read = store.baselines().unwrap();
        let errors: Vec<_> =
            read.iter().filter_map(|(name, read)| Some((name.as_str(), read.as_ref().err()?))).collect();
        let names: Vec<_> = errors.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["a name to come", "cut", "newer", "other"]);
        assert!(errors[0].1.to_string().contains("it may be of a newer iolag"), "{}", errors[0].1);
        assert!(matches!(errors[1].1, StoreError::Damaged { .. }));
        assert!(matches!(errors[2].1, StoreError::Format { .. }));
        assert!(errors[3].1.to_string().contains("it is of the baseline good"), "{}", errors[3].1);
        assert!(store.remove_baseline(&name("cut")).unwrap());
        assert_eq!(store.baselines().unwrap().len(), 4);
    }

    #[test]
    fn what_is_no_directory_of_baselines_of_this_user_keeps_nobody_from_tidying() {
        let (place, store) = store();
        let baselines = place.path().join("baselines");
        let run = place.path().join("runs").join(run_id(3).as_str());
        let check = |what: &str| {
            // Its record was not even begun.
            std::fs::create_dir(&run).unwrap();
            store.tidy().unwrap();
            assert!(!run.exists(), "{what}");
        };
        std::fs::write(&baselines, "").unwrap();
        check("a file");
        assert!(store.baselines().is_err());
        std::fs::remove_file(&baselines).unwrap();
        std::os::unix::fs::symlink("/tmp", &baselines).unwrap();
        check("a symbolic link");
        std::fs::remove_file(&baselines).unwrap();
        std::fs::create_dir(&baselines).unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&baselines, std::fs::Permissions::from_mode(0o777)).unwrap();
        std::fs::write(baselines.join("theirs.json"), "{").unwrap();
        check("a directory in which anybody may write");
        assert_eq!((store.baselines().unwrap().len(), store.own_baselines().unwrap().len()), (1, 0));
    }

    #[test]
    fn a_baseline_that_nobody_could_read_is_not_written() {
        let (place, store) = store();
        let runs = vec![run_id(1); 60_000];
        let error = store.set_baseline(&Baseline::new(name("vast"), 5, runs)).unwrap_err();
        assert!(error.to_string().contains("60000 runs are more than a baseline may have"), "{error}");
        assert_eq!(std::fs::read_dir(place.path().join("baselines")).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_others_may_write_to_takes_no_baseline() {
        use std::os::unix::fs::PermissionsExt;
        let (place, store) = store();
        let baseline = Baseline::new(name("nightly"), 5, vec![run_id(1)]);
        store.set_baseline(&baseline).unwrap();
        let directory = place.path().join("baselines");
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(store.set_baseline(&baseline), Err(StoreError::Foreign { .. })));
        assert!(matches!(store.remove_baseline(&baseline.name), Err(StoreError::Foreign { .. })));
        std::fs::remove_dir_all(&directory).unwrap();
        let elsewhere = place.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &directory).unwrap();
        assert!(store.set_baseline(&baseline).is_err());
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
