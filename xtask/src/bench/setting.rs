//! What a benchmark is given: places, size, rival, and a scratch directory that vanishes with it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::built::Profile;
use crate::pairs;
use crate::places::Places;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Enough to judge.
    Full,
    /// Enough to show that the benchmark works; nothing is judged.
    Tiny,
}

impl Size {
    /// The profile of the program as its users copy it; for tiny runs the one that is built anyway.
    pub const fn shipped(self) -> Profile {
        match self {
            Self::Full => Profile::Dist,
            Self::Tiny => Profile::Dev,
        }
    }

    /// The profile of programs whose speed is measured; for tiny runs the one that is built anyway.
    pub const fn optimised(self) -> Profile {
        match self {
            Self::Full => Profile::Release,
            Self::Tiny => Profile::Dev,
        }
    }

    /// How many alternated pairs.
    pub const fn pairs(self) -> usize {
        match self {
            Self::Full => pairs::PAIRS,
            Self::Tiny => pairs::PAIRS_TINY,
        }
    }
}

/// What every benchmark is given.
#[derive(Debug)]
pub struct Setting<'a> {
    /// Where everything is.
    pub places: &'a Places,
    /// How much is measured.
    pub size: Size,
    /// The binary of a rival that is not installed from a package.
    pub rival: Option<PathBuf>,
}

impl Setting<'_> {
    /// Builds an example of a package and returns its path.
    pub fn build_example(&self, package: &str, example: &str) -> Result<PathBuf> {
        self.places.build_example(package, example, self.size.optimised())
    }

    /// A new directory in the cache, which lies on a disk: not on the file system that is measured.
    pub fn scratch(&self, name: &str) -> Result<Scratch> {
        Scratch::new(&self.places.cache, name)
    }
}

/// A directory that is removed when it is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes it below `parent`; the name gets this process's number.
    pub fn new(parent: &Path, name: &str) -> Result<Self> {
        let path = parent.join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies in the cache, where it does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
