//! The configuration file: what may stand in it, and what is said of one that cannot be understood.
//!
//! Invariant: the printed file ([`PRINTED`]) is the only place where defaults are stated. A user's file is laid over it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iolag_backend::Target;
use iolag_store::history::{check_place, is_path};
use iolag_watch::Mounted;
use iolag_workload::TaskOutput;
use serde::Deserialize;
use toml::Spanned;

use crate::documents::{DocumentError, Source, Text};

/// The commented file with every default, as `iolag watch --print-config` prints it.
pub const PRINTED: &str = include_str!("default.toml");

/// A configuration file. What is left out is `None`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the printed file documents each of them")]
pub struct Document {
    pub every: Option<Text>,
    pub jitter: Option<Text>,
    pub soft_deadline: Option<Text>,
    pub deadline: Option<Text>,
    pub at_deadline: Option<Text>,
    pub grace: Option<Text>,
    pub control: Option<bool>,
    pub orphans_max: Option<Spanned<u32>>,
    pub tasks: Option<Vec<Text>>,
    pub history: Option<Text>,
    pub runtime: Option<Text>,
    pub textfile: Option<Text>,
    #[serde(default)]
    pub target: Vec<TargetTable>,
    #[serde(default)]
    pub task: BTreeMap<Text, TaskTable>,
    #[serde(default)]
    pub covariate: Vec<CovariateTable>,
    #[serde(default)]
    pub facts: BTreeMap<Text, Spanned<toml::Value>>,
}

/// `[[target]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TargetTable {
    pub directory: Option<Text>,
    pub url: Option<Text>,
    pub name: Option<Text>,
    pub mounted: Option<Text>,
    pub tasks: Option<Vec<Text>>,
}

/// `[task.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TaskTable {
    pub files: Option<Spanned<u32>>,
    pub bytes: Option<Spanned<u64>>,
    pub stats: Option<Spanned<u64>>,
    pub opens: Option<Spanned<u64>>,
    pub command: Option<Vec<Text>>,
    pub output: Option<Text>,
    pub soft_deadline: Option<Text>,
    pub deadline: Option<Text>,
    pub at_deadline: Option<Text>,
}

/// `[[covariate]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CovariateTable {
    pub name: Text,
    pub command: Vec<Text>,
    pub unit: Option<Text>,
    pub deadline: Option<Text>,
}

impl Document {
    /// Reads the text of `file`, which is named in errors.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let document: Self = Source { file, text }.read()?;
        document.refuse_wrong_places(file, text)?;
        Ok(document)
    }

    /// The history that it names: a path is one from the directory of the file `file` on, which is absolute.
    pub fn history_named_in(&self, file: &Path) -> Option<String> {
        let place = self.history.as_ref()?.get_ref();
        Some(match file.parent() {
            Some(directory) if is_path(place) => directory.join(place).display().to_string(),
            _ => place.clone(),
        })
    }

    /// A service, cron and a shell each start in another directory, and mean the same places.
    fn refuse_wrong_places(&self, file: &str, text: &str) -> Result<(), DocumentError> {
        if let Some(place) = &self.history {
            let refused = |what: String| DocumentError::at(file, text, place.span(), what);
            if place.get_ref().is_empty() {
                return Err(refused(
                    "expected the path of a file, or postgres://user@host/database".to_owned(),
                ));
            }
            check_place(place.get_ref()).map_err(|error| refused(error.to_string()))?;
        }
        for (place, expected) in [
            (self.runtime.as_ref(), "the path of a directory in memory from / on, for example /run/iolag"),
            (
                self.textfile.as_ref(),
                "the path of a file from / on that ends in .prom, for example /var/lib/node_exporter/iolag.prom",
            ),
        ] {
            if let Some(place) = place.filter(|place| !place.get_ref().starts_with('/')) {
                return Err(DocumentError::at(file, text, place.span(), format!("expected {expected}")));
            }
        }
        Ok(())
    }
}

impl TargetTable {
    /// Where it is: a directory from `/` on, or a server.
    pub fn target(&self, source: &Source<'_>) -> Result<Target, DocumentError> {
        match (&self.directory, &self.url) {
            (Some(directory), None) if directory.get_ref().starts_with('/') => {
                Ok(PathBuf::from(directory.get_ref()).into())
            }
            (Some(directory), None) => Err(source
                .error(directory, "expected the path of a directory from / on, for example /scratch/me")),
            (None, Some(url)) => match Target::parse(url.get_ref()) {
                Ok(target) if target.is_server() => Ok(target),
                Ok(_) => {
                    Err(source.error(url, "expected the URL of a server, for example s3://bucket/prefix"))
                }
                Err(error) => Err(source.error(url, error.to_string())),
            },
            (Some(_), Some(url)) => Err(source.error(url, "a target has a directory or a URL, not both")),
            (None, None) => Err(source.nothing("a [[target]] has neither a directory nor a url".to_owned())),
        }
    }

    /// Where that is written.
    pub fn place(&self) -> std::ops::Range<usize> {
        self.directory.as_ref().or(self.url.as_ref()).map_or(0..0, Spanned::span)
    }

    pub fn mounted(&self, source: &Source<'_>) -> Result<Mounted, DocumentError> {
        let Some(text) = &self.mounted else { return Ok(Mounted::Required) };
        match text.get_ref().as_str() {
            "required" => Ok(Mounted::Required),
            "any" => Ok(Mounted::Any),
            other => {
                Err(source
                    .error(text, format!("{other:?} is unknown here: expected \"required\" or \"any\"")))
            }
        }
    }
}

impl TaskTable {
    pub fn output(&self, source: &Source<'_>) -> Result<TaskOutput, DocumentError> {
        match self.output.as_ref().map(|text| (text, text.get_ref().as_str())) {
            None | Some((_, "discard")) => Ok(TaskOutput::Discard),
            Some((_, "terminal")) => Ok(TaskOutput::Terminal),
            Some((text, other)) => {
                Err(source
                    .error(text, format!("{other:?} is no output: expected \"discard\" or \"terminal\"")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_printed_file_can_be_read_and_so_can_its_examples() {
        let printed = Document::parse("printed", PRINTED).unwrap();
        assert_eq!(printed.every.unwrap().get_ref(), "15m");
        assert!(printed.target.is_empty() && printed.covariate.is_empty());
        let uncommented: String = PRINTED
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest) if rest.starts_with('[') && !rest.starts_with("[default") => rest,
                Some(rest) if rest.contains(" = ") && !rest.contains("…") && !rest.contains(": at-") => {
                    rest
                }
                _ => line,
            })
            .map(|line| format!("{line}\n"))
            .collect();
        let all = Document::parse("all", &uncommented).unwrap();
        assert_eq!(all.target.len(), 2);
        assert_eq!(all.covariate[0].name.get_ref(), "jobs");
        assert!(all.history.is_some() && all.runtime.is_some() && all.textfile.is_some());
        assert!(all.task.keys().any(|name| name.get_ref() == "project-status"));
    }

    #[test]
    fn errors_name_file_line_and_what_was_expected() {
        let error = |text: &str| Document::parse("iolag.toml", text).unwrap_err().to_string();
        let unknown = error("every = \"1m\"\nevry = \"2m\"\n");
        assert!(
            unknown.starts_with("iolag.toml:2: unknown field `evry`, expected one of `every`"),
            "{unknown}"
        );
        assert!(
            error("\n\ncontrol = \"yes\"").starts_with("iolag.toml:3: invalid type"),
            "{}",
            error("\n\ncontrol = \"yes\"")
        );
        assert!(error("every = \n").starts_with("iolag.toml:1: "));
        assert!(error("\nhistory = \"\"").starts_with("iolag.toml:2: expected the path of a file"));
        let mistyped = error("\nhistory = \"mysql://me:Geheim@db/x\"");
        assert!(mistyped.starts_with("iolag.toml:2: mysql://… does not name a history"), "{mistyped}");
        assert!(error("runtime = \"\"").starts_with("iolag.toml:1: expected the path of a directory"));
        Document::parse("f", "history = \"postgres://me@db/site\"\nruntime = \"/run/iolag\"").unwrap();
    }

    #[test]
    fn a_relative_history_is_beside_the_file() {
        let named = |history: &str| {
            let document = Document::parse("f", &format!("history = {history:?}")).unwrap();
            document.history_named_in(Path::new("/etc/site/iolag.toml")).unwrap()
        };
        assert_eq!(named("h.sqlite"), "/etc/site/h.sqlite");
        assert_eq!(named("/var/h.sqlite"), "/var/h.sqlite");
        assert_eq!(named("postgres://me@db/site"), "postgres://me@db/site");
    }

    proptest! {
        #[test]
        fn any_text_gives_a_document_or_one_sentence(text in any::<String>()) {
            if let Err(error) = Document::parse("f", &text) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
