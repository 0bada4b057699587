//! What is larger than the rules of the house allow, and the list of what is let pass: one line each, with the number of today.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The list: `file`, its path and its lines; `folder`, its path and its files; or `circle`, the first of its files and how many they are. What
/// begins with `#` is for people.
pub const LIST: &str = include_str!("exceptions.txt");

/// Which rule something breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Circle,
    File,
    Folder,
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Circle => "circle",
            Self::File => "file",
            Self::Folder => "folder",
        })
    }
}

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Excess {
    rule: Rule,
    path: String,
    number: usize,
    /// What is wrong, for a sentence that begins with the path.
    words: String,
}

impl Excess {
    /// `number` is what grows and shrinks: files or lines.
    pub fn new(rule: Rule, number: usize, path: &Path, words: String) -> Self {
        Self { rule, path: path.display().to_string(), number, words }
    }

    /// The circle of these files below `root`.
    pub fn circle(root: &Path, files: &BTreeSet<PathBuf>) -> Self {
        let names: Vec<String> =
            files.iter().map(|file| file.strip_prefix(root).unwrap_or(file).display().to_string()).collect();
        let (first, others) = names.split_first().expect("a circle has files");
        let words = format!("it is in a circle with {}", others.join(", "));
        Self::new(Rule::Circle, names.len(), Path::new(first), words)
    }

    /// Its line in the list.
    pub fn line(&self) -> String {
        format!("{} {} {}", self.rule, self.path, self.number)
    }
}

/// What breaks a rule and is not in `list`, and what is in the list without need.
pub fn faults(excesses: &[Excess], list: &str) -> Result<Vec<String>> {
    let mut listed = BTreeMap::new();
    let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    ensure!(lines.is_sorted(), "the lines of exceptions.txt are not in order");
    for line in lines {
        let parts: Vec<&str> = line.split(' ').collect();
        let [rule, path, number] = parts[..] else { anyhow::bail!("no exception: {line:?}") };
        let number: usize = number.parse().with_context(|| format!("no number in the exception {line:?}"))?;
        listed.insert((rule.to_owned(), path.to_owned()), number);
    }
    let mut faults = Vec::new();
    for excess in excesses {
        match listed.remove(&(excess.rule.to_string(), excess.path.clone())) {
            Some(number) if number == excess.number => {}
            Some(number) if number > excess.number => {
                faults.push(format!("{number} has become less: write `{}` in exceptions.txt", excess.line()));
            }
            _ => faults.push(format!("{}: {} (`{}`)", excess.path, excess.words, excess.line())),
        }
    }
    let left = listed.into_iter().map(|((rule, path), number)| {
        format!("`{rule} {path} {number}` is no exception any more: take it out of exceptions.txt")
    });
    faults.extend(left);
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(lines: usize) -> Excess {
        Excess::new(Rule::File, lines, Path::new("a.rs"), format!("{lines} lines"))
    }

    #[test]
    fn the_list_only_shrinks() {
        let faults = |excesses: &[Excess], list: &str| faults(excesses, list).unwrap();
        assert!(faults(&[long(510)], "# of today\nfile a.rs 510\n").is_empty());
        assert_eq!(faults(&[long(510)], ""), ["a.rs: 510 lines (`file a.rs 510`)"]);
        assert_eq!(faults(&[long(511)], "file a.rs 510"), ["a.rs: 511 lines (`file a.rs 511`)"]);
        let less = faults(&[long(509)], "file a.rs 510");
        assert_eq!(less, ["510 has become less: write `file a.rs 509` in exceptions.txt"]);
        let gone = faults(&[], "file a.rs 510");
        assert_eq!(gone, ["`file a.rs 510` is no exception any more: take it out of exceptions.txt"]);
    }

    #[test]
    fn a_circle_is_told_with_its_files() {
        let files = ["/w/src/b.rs", "/w/src/a.rs", "/w/src/c.rs"].map(PathBuf::from).into();
        let circle = Excess::circle(Path::new("/w"), &files);
        assert_eq!(circle.line(), "circle src/a.rs 3");
        assert_eq!(
            faults(&[circle], "").unwrap(),
            ["src/a.rs: it is in a circle with src/b.rs, src/c.rs (`circle src/a.rs 3`)"]
        );
    }

    #[test]
    fn a_line_that_is_no_exception_is_told() {
        assert!(faults(&[], "file a.rs").is_err());
        assert!(faults(&[], "file a.rs many").is_err());
        assert!(faults(&[], "file b.rs 510\nfile a.rs 510").is_err());
    }
}
