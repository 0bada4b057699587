//! Rows that were measured, as lines of JSON: a calibration that is stopped goes on where it was.
//!
//! Lines are only added; of several lines of one row the last counts.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::row::{Done, Row};

/// A file of results.
#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    done: Vec<Done>,
}

impl Results {
    /// Reads what there is. A line that was cut short counts as not there.
    pub fn open(path: &Path) -> Result<Self> {
        let mut results = Self { path: path.to_owned(), done: Vec::new() };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(results),
            Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
        };
        for line in BufReader::new(file).lines() {
            let line = line.with_context(|| format!("reading {}", path.display()))?;
            results.done.extend(serde_json::from_str::<Done>(&line));
        }
        Ok(results)
    }

    /// The row with so many campaigns and this seed, if it was measured.
    pub fn find(&self, row: &Row, campaigns: usize, seed: u64) -> Option<&Done> {
        let is_it = |done: &&Done| done.row == row.name && done.campaigns == campaigns && done.seed == seed;
        self.done.iter().rev().find(is_it)
    }

    /// The last line of a row.
    pub fn last(&self, row: &Row) -> Option<&Done> {
        self.done.iter().rev().find(|done| done.row == row.name)
    }

    /// Adds a row.
    pub fn add(&mut self, done: Done) -> Result<()> {
        let complaint = || format!("writing {}", self.path.display());
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).with_context(complaint)?;
        }
        let mut line = serde_json::to_string(&done)?;
        line.push('\n');
        let mut file =
            OpenOptions::new().create(true).append(true).open(&self.path).with_context(complaint)?;
        file.write_all(line.as_bytes()).with_context(complaint)?;
        self.done.push(done);
        Ok(())
    }
}
