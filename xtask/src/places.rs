//! Where things are: the clone, the cache outside it, the target directory, the programs that cargo built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The places that the steps work in.
#[derive(Debug, Clone)]
pub struct Places {
    /// The workspace's root.
    pub root: PathBuf,
    /// What outlives a clone: the Python environment, the target directory.
    pub cache: PathBuf,
    /// Where cargo builds.
    pub target: PathBuf,
}

impl Places {
    /// Finds them: the cache is `$IOLAG_CACHE`, else `~/.cache/iolag`; the target directory is `$CARGO_TARGET_DIR`,
    /// else one of this clone's own in the cache: cargo tells sources of two clones apart by their times only, so that
    /// a shared one would hand the program of one clone to the other.
    pub fn find() -> Result<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .context("run this by `cargo xtask`, which says where it is")?;
        let manifest = PathBuf::from(manifest);
        let root = manifest.parent().context("xtask lies in the workspace's root")?.to_owned();
        let cache = match (std::env::var_os("IOLAG_CACHE"), std::env::home_dir()) {
            (Some(cache), _) => cache.into(),
            (None, Some(home)) => home.join(".cache/iolag"),
            (None, None) => {
                anyhow::bail!("there is no home directory: set IOLAG_CACHE to a directory for caches")
            }
        };
        std::fs::create_dir_all(&cache).with_context(|| {
            format!("making the cache directory {} (set IOLAG_CACHE to another)", cache.display())
        })?;
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| cache.join(format!("target{}", flat(&root))), PathBuf::from);
        Ok(Self { root, cache, target })
    }

    /// The Python interpreter with the readers' packages, whether or not it is there.
    pub fn python(&self) -> PathBuf {
        self.cache.join("python/bin/python")
    }

    /// The servers of the tests that no package has, whether or not they are there.
    pub fn servers(&self) -> PathBuf {
        self.cache.join("servers")
    }

    /// cargo, in the root, building into the target directory.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

/// A path as part of a file name: `/home/me/iolag` is `-home-me-iolag`.
fn flat(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "-")
}

/// Runs a command to its end; its output goes where ours goes.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line_of(command);
    let status = command.status().with_context(|| format!("starting `{line}`"))?;
    ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}

/// Runs a command to its end and returns what it printed.
pub fn output(command: &mut Command) -> Result<String> {
    let line = line_of(command);
    let output = command.output().with_context(|| format!("starting `{line}`"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{line}` failed: {}: {}", output.status, complaint.trim());
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}

/// The command as one would type it.
fn line_of(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
