//! One run: `<root>/runs/<RunId>/`.

use std::fs::File;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use iolag_model::{Detail, FormatVersion, RunId, RunRecord, RunState};
use rustix::fs::{OFlags, Stat};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::manifest::{Manifest, ManifestEntry, ManifestKind};
use super::part::{DETAILS_FILE, read_details};
use super::spool::SpoolNumber;
use crate::{Directory, DirectoryLock, StoreError};

pub(crate) const RECORD_FILE: &str = "run.json";
pub(crate) const MANIFEST_FILE: &str = "manifest.json";
/// The calls of a program: of runs of `iolag trace`.
pub(crate) const TRACE_FILE: &str = "trace.iolag";
pub(crate) const SPOOL_DIRECTORY: &str = "spool";
/// A record with 100 000 clients takes about 8 MB.
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// An open run directory.
#[derive(Debug)]
pub struct RunDirectory {
    directory: Directory,
    id: RunId,
}

/// The only thing that is read of a file before its version is known to be readable.
#[derive(Deserialize)]
struct Versioned {
    format: FormatVersion,
}

impl RunDirectory {
    /// Opens the run directory at `path`; its last component is the run's id.
    ///
    /// # Errors
    /// If it does not exist or its name is not a run id.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let id = name.parse::<RunId>().map_err(|_| StoreError::NoRun { path: path.to_owned() })?;
        Ok(Self { directory: Directory::open(path)?, id })
    }

    pub(crate) fn new(directory: Directory, id: RunId) -> Self {
        Self { directory, id }
    }

    /// The run's name.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The open directory, as a descriptor.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.directory.descriptor()
    }

    /// The open directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// run.json.
    ///
    /// # Errors
    /// If it is missing, not readable by this version, or damaged.
    pub fn record(&self) -> Result<RunRecord, StoreError> {
        let record: RunRecord = self.read_json(RECORD_FILE)?;
        if record.id == self.id {
            return Ok(record);
        }
        let what = format!("it is of run {}, in the directory of {}", record.id, self.id);
        Err(StoreError::damaged(self.path().join(RECORD_FILE), what))
    }

    /// Replaces run.json, durably and as a whole.
    ///
    /// # Errors
    /// If it cannot be written; the old one stands then.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), StoreError> {
        self.write_json(RECORD_FILE, record)
    }

    /// Refuses a run that another user wrote, or may write to: its directory, its record and its manifest must be ours alone.
    ///
    /// # Errors
    /// [`StoreError::Stranger`].
    pub fn refuse_stranger(&self) -> Result<(), StoreError> {
        const OTHERS_MAY_WRITE: u32 = 0o022;
        let user = rustix::process::geteuid().as_raw();
        let judge = |path: PathBuf, status: &Stat| {
            if status.st_uid == user && status.st_mode & OTHERS_MAY_WRITE == 0 {
                return Ok(());
            }
            Err(StoreError::Stranger { path, owner: status.st_uid, mode: status.st_mode & 0o7777, user })
        };
        judge(self.path().to_owned(), &self.directory.status()?)?;
        for name in [RECORD_FILE, MANIFEST_FILE] {
            match self.directory.status_of(name) {
                Ok(status) => judge(self.path().join(name), &status)?,
                Err(error) if error.is_missing() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// manifest.json; an empty one if there is none. It is for acting upon: what another user wrote is not read.
    ///
    /// # Errors
    /// [`StoreError::Stranger`]; else if it is not readable by this version, or damaged.
    pub fn manifest(&self) -> Result<Manifest, StoreError> {
        self.refuse_stranger()?;
        match self.read_json(MANIFEST_FILE) {
            Err(error) if error.is_missing() => Ok(Manifest::new(Vec::new())),
            other => other,
        }
    }

    /// Replaces manifest.json, durably and as a whole: before what it names is created.
    ///
    /// # Errors
    /// If it cannot be written; the old one stands then.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), StoreError> {
        self.write_json(MANIFEST_FILE, manifest)
    }

    /// Makes the spool inside the run directory.
    ///
    /// # Errors
    /// If it exists or cannot be made.
    pub fn create_spool(&self) -> Result<Directory, StoreError> {
        self.directory.create_directory(SPOOL_DIRECTORY)
    }

    /// Makes the spool in another directory, because the store's file system is being measured: names it in the
    /// manifest first. [`RunState::Running`]'s `spool` is then to be its path.
    ///
    /// # Errors
    /// If it exists or cannot be made.
    pub fn create_spool_in(&self, parent: &Directory) -> Result<Directory, StoreError> {
        let name = self.spool_name();
        let mut manifest = self.manifest()?;
        manifest.entries.push(ManifestEntry {
            parent: parent.path().display().to_string(),
            name: name.clone(),
            device: None,
            inode: None,
            token: None,
            file_system: None,
            kind: ManifestKind::Spool,
        });
        self.write_manifest(&manifest)?;
        let spool = parent.create_own_directory(&name)?;
        let status = spool.status()?;
        if let Some(entry) = manifest.entries.last_mut() {
            (entry.device, entry.inode) = (Some(status.st_dev), Some(status.st_ino));
        }
        self.write_manifest(&manifest)?;
        Ok(spool)
    }

    /// The spool that the record points to, if it is still there.
    ///
    /// # Errors
    /// If it cannot be opened, or is not this run's (a spool elsewhere may be in a directory open to all).
    pub fn open_spool(&self, record: &RunRecord) -> Result<Option<Directory>, StoreError> {
        if let RunState::Running { spool: Some(path), .. } = &record.state {
            let entries = self.manifest()?.entries;
            let is_meant =
                |entry: &&ManifestEntry| Path::new(&entry.parent).join(&entry.name) == Path::new(path);
            let Some(entry) = entries.iter().find(is_meant) else {
                let what = format!("it names a spool, {path}, that is not in the run's manifest");
                return Err(StoreError::damaged(self.path().join(RECORD_FILE), what));
            };
            return Ok(self.open_spool_elsewhere(entry)?.map(|(_, spool)| spool));
        }
        match self.directory.directory(SPOOL_DIRECTORY) {
            Ok(spool) => Ok(Some(spool)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Where the run has a spool outside of its directory, if it is there.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn spool_elsewhere(&self) -> Result<Option<PathBuf>, StoreError> {
        for entry in self.manifest()?.entries.iter().filter(|entry| entry.kind == ManifestKind::Spool) {
            if let Some((_, spool)) = self.open_spool_elsewhere(entry)? {
                return Ok(Some(spool.path().to_owned()));
            }
        }
        Ok(None)
    }

    fn spool_name(&self) -> String {
        format!("iolag-spool-{}", self.id)
    }

    /// The spool of this entry and the directory that it lies in; `None` if it is not there, another has its name by now, or it is none
    /// that this run makes.
    fn open_spool_elsewhere(
        &self,
        entry: &ManifestEntry,
    ) -> Result<Option<(Directory, Directory)>, StoreError> {
        if entry.name != self.spool_name() || !entry.parent.starts_with('/') {
            return Ok(None);
        }
        let opened = Directory::open(Path::new(&entry.parent)).and_then(|parent| {
            let spool = parent.own_directory(&entry.name)?;
            Ok((parent, spool))
        });
        let (parent, spool) = match opened {
            Ok(opened) => opened,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        let inode = spool.status()?.st_ino;
        Ok(entry.inode.is_none_or(|noted| noted == inode).then_some((parent, spool)))
    }

    /// Bytes of the spool in the run directory. What cannot be looked at counts nothing.
    pub(crate) fn spool_bytes(&self) -> u64 {
        let Ok(spool) = self.directory.directory(SPOOL_DIRECTORY) else { return 0 };
        let names = spool.names().unwrap_or_default();
        let of_spool = names.iter().filter(|name| SpoolNumber::from_file_name(name).is_some());
        of_spool.filter_map(|name| spool.look_at(name).ok()).map(|(bytes, _)| bytes).sum()
    }

    /// Removes the spool, wherever it is: only spool files, and only directories that this run made.
    ///
    /// # Errors
    /// If something of it is there and cannot be removed.
    pub fn remove_spool(&self) -> Result<(), StoreError> {
        match self.directory.directory(SPOOL_DIRECTORY) {
            Ok(spool) => remove_spool_in(&self.directory, SPOOL_DIRECTORY, &spool)?,
            Err(error) if error.is_missing() => {}
            Err(error) => return Err(error),
        }
        for entry in self.manifest()?.entries.iter().filter(|entry| entry.kind == ManifestKind::Spool) {
            if let Some((parent, spool)) = self.open_spool_elsewhere(entry)? {
                remove_spool_in(&parent, &entry.name, &spool)?;
            }
        }
        Ok(())
    }

    /// Detail records, in stored order.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn details(&self) -> Result<Vec<Detail>, StoreError> {
        read_details(&self.directory)
    }

    /// Makes the empty file of a trace, to be written as calls come.
    ///
    /// # Errors
    /// If it is there already, or cannot be made.
    pub fn create_trace(&self) -> Result<File, StoreError> {
        self.directory.open_with(TRACE_FILE, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, "write")
    }

    /// Makes durable what was written to the file of a trace, and its name.
    ///
    /// # Errors
    /// If the system cannot promise it.
    pub fn make_trace_durable(&self, file: &File) -> Result<(), StoreError> {
        file.sync_all().map_err(|error| StoreError::system("write", self.trace_path(), error))?;
        self.directory.sync()
    }

    /// Opens the file of a trace, to be read; nothing if the run has none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open_trace(&self) -> Result<Option<File>, StoreError> {
        match self.directory.open_file(TRACE_FILE) {
            Err(error) if error.is_missing() => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Where the file of a trace is.
    pub fn trace_path(&self) -> PathBuf {
        self.path().join(TRACE_FILE)
    }

    /// Keeps other commands from recovering or removing the run until the lock is dropped.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if one does so already.
    pub fn lock(&self) -> Result<DirectoryLock, StoreError> {
        self.directory.lock()
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        let bytes = self.directory.read_file(name, RECORD_BYTES_MAX)?;
        let path = || self.path().join(name);
        let damaged = |error: serde_json::Error| {
            StoreError::damaged(path(), format!("it is not the JSON that was expected ({error})"))
        };
        let versioned: Versioned = serde_json::from_slice(&bytes).map_err(damaged)?;
        versioned
            .format
            .check_readable_run()
            .map_err(|source| StoreError::Format { path: path(), source })?;
        serde_json::from_slice(&bytes).map_err(damaged)
    }

    fn write_json(&self, name: &str, value: &impl serde::Serialize) -> Result<(), StoreError> {
        let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| {
            StoreError::damaged(self.path().join(name), format!("it cannot be written as JSON: {error}"))
        })?;
        bytes.push(b'\n');
        self.directory.replace_file(name, &bytes)
    }
}

/// Whether a file of this name in a run directory is ours.
pub(crate) fn is_known_file(name: &str) -> bool {
    let whole = name.strip_suffix(".new").unwrap_or(name);
    [RECORD_FILE, MANIFEST_FILE, DETAILS_FILE, TRACE_FILE].contains(&whole) || is_part(whole)
}

pub(crate) fn is_part(name: &str) -> bool {
    let numbers = name.strip_prefix("samples-").and_then(|rest| rest.strip_suffix(".parquet"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers
        .and_then(|numbers| numbers.split_once('-'))
        .is_some_and(|(target, number)| is_number(target) && is_number(number))
}

/// Whether a run directory holds nothing, or nothing but unfinished files: nobody has measured anything for it.
pub(crate) fn was_never_begun(directory: &Directory) -> bool {
    let is_unfinished = |name: &String| name.ends_with(".new") && is_known_file(name);
    directory.look_at(RECORD_FILE).is_err_and(|error| error.is_missing())
        && directory.names().is_ok_and(|names| names.iter().all(is_unfinished))
}

fn remove_spool_in(parent: &Directory, name: &str, spool: &Directory) -> Result<(), StoreError> {
    for file in spool.names()? {
        // Whoever took over a spool may have been killed in the middle of it.
        if SpoolNumber::from_file_name(file.strip_suffix(".new").unwrap_or(&file)).is_some() {
            spool.remove_file(&file)?;
        }
    }
    parent.remove_directory(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_run_writes_are_known() {
        for known in [
            "run.json",
            "run.json.new",
            "manifest.json",
            "details.parquet",
            "trace.iolag",
            "samples-0-12.parquet",
            "samples-1-0.parquet.new",
        ] {
            assert!(is_known_file(known), "{known}");
        }
        for other in [
            "run.json~",
            "samples-.parquet",
            "samples-0-.parquet",
            "samples-0-1.csv",
            "samples-a-1.parquet",
            "notes",
            ".new",
        ] {
            assert!(!is_known_file(other), "{other}");
        }
    }
}
