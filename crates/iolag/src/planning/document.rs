//! A plan file: what may stand in it. Names are those of the command line; what is left out is what it would be there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use iolag_backend::{redact_argument, redact_command};
use iolag_store::history::{check_place, is_path};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::args::HistoryPlace;
use crate::documents::{DocumentError, Source, Text};
use crate::watching::Document;

/// A number or a text: both are read as they are typed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a text such as \"4KiB\"")]
pub enum Amount {
    /// `3000`.
    Number(u64),
    /// `"3k"`.
    Text(String),
}

/// An amount with its place in the file.
pub type Number = Spanned<Amount>;

/// A plan file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the command line documents each of them")]
pub struct PlanDocument {
    pub name: Option<Text>,
    pub order: Option<Text>,
    pub repeat: Option<Number>,
    pub precision: Option<Text>,
    pub budget: Option<Text>,
    pub seed: Option<Number>,
    pub deadline: Option<Text>,
    pub on_hang: Option<Text>,
    pub on_error: Option<Text>,
    pub give_up_after: Option<Text>,
    pub buffer: Option<Number>,
    pub caches: Option<Text>,
    pub drop_command: Option<Text>,
    pub bystander: Option<Vec<Text>>,
    pub bystander_rate: Option<Text>,
    pub bystander_quiet: Option<Text>,
    pub working_name: Option<Text>,
    pub history: Option<Text>,
    #[serde(default)]
    pub labels: BTreeMap<Text, String>,
    #[serde(default)]
    pub side: Vec<SideTable>,
    pub bench: Vec<Spanned<BenchTable>>,
}

/// `[[side]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SideTable {
    pub name: Text,
    pub target: Option<Text>,
    pub tree: Option<Text>,
    #[serde(default)]
    pub labels: BTreeMap<Text, String>,
    #[serde(default, deserialize_with = "command_table")]
    pub before: Option<CommandTable>,
    #[serde(default, deserialize_with = "command_table")]
    pub after: Option<CommandTable>,
}

/// What is executed before or after a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandTable {
    pub command: Spanned<Vec<Text>>,
    pub deadline: Option<Text>,
}

/// Only a table: a list, which could be the command itself, would be taken for the values of its keys.
fn command_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<CommandTable>, D::Error> {
    struct Table;
    impl<'de> Visitor<'de> for Table {
        type Value = CommandTable;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a table such as { command = [\"true\"], deadline = \"5m\" }")
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
            CommandTable::deserialize(MapAccessDeserializer::new(table))
        }
    }
    deserializer.deserialize_map(Table).map(Some)
}

/// `[[bench]]`: which other keys it may have, its workload says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BenchTable {
    /// Its name.
    pub workload: Text,
}

/// `[[bench]]` of a set-up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SetUpTable {
    pub workload: Text,
    pub copies: Option<Vec<Number>>,
    pub preset: Option<Text>,
    pub stat: Option<Number>,
    pub open: Option<Number>,
    pub miss: Option<Text>,
    pub open_miss: Option<Text>,
    pub directories: Option<Number>,
    pub files: Option<Number>,
    pub file_size: Option<Number>,
    pub shared: Option<Text>,
    pub judge: Option<Text>,
    pub payload: Option<Text>,
    pub timeouts_at_most: Option<Text>,
    pub kill_after: Option<Text>,
}

/// `[[bench]]` of a stream.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StreamTable {
    pub workload: Text,
    pub clients: Option<Vec<Number>>,
    pub block: Option<Vec<Number>>,
    pub phases: Option<Vec<Text>>,
    pub file_size: Option<Number>,
    pub io: Option<Text>,
    pub engine: Option<Text>,
    pub depth: Option<Number>,
    pub fsync: Option<Number>,
    pub preallocate: Option<bool>,
    pub compressible: Option<Text>,
    pub verify: Option<bool>,
    pub time_limit: Option<Text>,
    pub copy_with: Option<Text>,
    pub copy_to: Option<Text>,
}

/// `[[bench]]` of a tree.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TreeTable {
    pub workload: Text,
    pub clients: Option<Vec<Number>>,
    pub phases: Option<Vec<Text>>,
    pub time_limit: Option<Text>,
}

/// `[[bench]]` of metadata.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MetadataTable {
    pub workload: Text,
    pub clients: Option<Vec<Number>>,
    pub pattern: Option<Text>,
    pub detail: Option<Text>,
    pub phases: Option<Vec<Text>>,
    pub datasets: Option<Number>,
    pub precreate: Option<Vec<Number>>,
    pub objects: Option<Number>,
    pub iterations: Option<Number>,
    pub object_size: Option<Number>,
    pub offset: Option<Number>,
    pub think: Option<Text>,
    pub read_only: Option<bool>,
    pub time_limit: Option<Text>,
    pub wear_out: Option<bool>,
    pub fsync: Option<bool>,
    pub verify: Option<bool>,
    pub session: Option<Vec<Text>>,
}

impl PlanDocument {
    /// Reads a file.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn parse(source: &Source<'_>) -> Result<Self, DocumentError> {
        source.read().map_err(|error| match Document::parse(source.file, source.text) {
            Ok(document) if document != Document::default() => {
                let file = source.file;
                error.saying(format!("this is a watch file, and no plan: iolag watch -c {file} takes it"))
            }
            _ => error,
        })
    }

    /// The history that is to remember what comes out, as on the command line: a path is one from the directory of the file on, which is absolute.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn history(&self, source: &Source<'_>) -> Result<Option<String>, DocumentError> {
        let Some(text) = &self.history else { return Ok(None) };
        let place = text.get_ref();
        if HistoryPlace::named(place).history.is_none() {
            return Ok(Some(place.clone()));
        }
        if place.is_empty() {
            let expected = "expected default, the path of a file, or postgres://user@host/database";
            return Err(source.error(text, expected));
        }
        check_place(place).map_err(|error| source.error(text, error.to_string()))?;
        let directory = Path::new(source.file).parent().filter(|_| is_path(place));
        let absolute = directory.map(|directory| directory.join(place).display().to_string());
        Ok(Some(absolute.unwrap_or_else(|| place.clone())))
    }

    /// The programs that its commands need, as they are written.
    pub fn programs(&self) -> BTreeSet<String> {
        self.commands().filter_map(|words| words.into_iter().next()).collect()
    }

    /// Whether a command, a target or the place of the history holds what is called a password or the like.
    pub fn has_secret(&self) -> bool {
        let has_secret = |target: &Text| redact_argument(target.get_ref()) != *target.get_ref();
        self.side.iter().filter_map(|side| side.target.as_ref()).chain(&self.history).any(has_secret)
            || self.commands().any(|words| redact_command(&words) != words)
    }

    fn commands(&self) -> impl Iterator<Item = Vec<String>> {
        let tables = self.side.iter().flat_map(|side| side.before.iter().chain(&side.after));
        tables.map(|table| table.command.get_ref().iter().map(|word| word.get_ref().clone()).collect())
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}
