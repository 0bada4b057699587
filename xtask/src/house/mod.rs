//! The rules of the house that neither rustfmt nor clippy knows: which crate may use which, how large a folder and a file may be, that
//! modules do not use each other in circles, and what a line must not hold.
//!
//! What is larger today, or a circle, is listed in `exceptions.txt`. That list only shrinks.

mod arrows;
mod circles;
mod exceptions;
mod lines;
mod sizes;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::places::Places;
use exceptions::Excess;

/// Where our source is.
const FOLDERS: [&str; 3] = ["crates", "xtask", "web"];
/// What is built or fetched.
const NOT_OURS: [&str; 3] = ["node_modules", "dist", "target"];

/// Checks every rule over the whole workspace.
pub fn check(places: &Places) -> Result<()> {
    arrows::check(places)?;
    let files = files(&places.root)?;
    let mut faults = Vec::new();
    let mut excesses = sizes::full_folders(files.iter().map(PathBuf::as_path));
    for file in files.iter().filter(|file| is_rust(file)) {
        let path = places.root.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        faults.extend(lines::faults_in(file, &text));
        excesses.extend(sizes::long_file(file, &text));
        if file.ends_with("lib.rs") || file.ends_with("main.rs") {
            let circles = circles::circles(&path)?;
            excesses.extend(circles.iter().map(|files| Excess::circle(&places.root, files)));
        }
    }
    faults.extend(exceptions::faults(&excesses, exceptions::LIST)?);
    ensure!(faults.is_empty(), "{} places are untidy:\n  {}", faults.len(), faults.join("\n  "));
    println!("{} files are tidy, but for {} exceptions", files.len(), excesses.len());
    Ok(())
}

/// All files of Rust and TypeScript, from the root, in order.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    Ok(files.into_iter().map(|file| file.strip_prefix(root).map(Path::to_owned).unwrap_or(file)).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        let is_ours = !NOT_OURS.iter().any(|name| entry.file_name() == *name);
        if entry.file_type()?.is_dir() && is_ours {
            collect(&path, files)?;
        } else if is_rust(&path) || path.extension().is_some_and(|extension| extension == "ts") {
            files.push(path);
        }
    }
    Ok(())
}

fn is_rust(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rs")
}
