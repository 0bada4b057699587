//! The text of a file, and what is read of it: errors name its line.

use iolag_backend::redact_line;
use iolag_model::{Nanoseconds, parse_duration};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::{DocumentError, Text};

/// Shortest period and deadline that make sense: a probe's process alone takes milliseconds.
pub const SHORTEST: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// What the parser calls what a file may hold, and what people do.
const IN_PLAIN_WORDS: [(&str, &str); 4] = [
    (
        "map, expected a sequence",
        "table, expected several: write it in two pairs of brackets, as in [[bench]]",
    ),
    ("expected a sequence", "expected a list in [ ]"),
    ("expected a string", "expected a text in quotes"),
    ("expected a map", "expected a table such as { name = \"value\" }"),
];

/// A file with its text.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name.
    pub file: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// What the parser says, without the types of the program.
fn in_words(message: &str) -> String {
    const TYPE: &str = " as i128";
    match message.strip_suffix(", expected any value").and_then(|integer| integer.strip_suffix(TYPE)) {
        Some(integer) => format!("{} is too large", integer.trim_start_matches("invalid type: ")),
        None => IN_PLAIN_WORDS
            .iter()
            .fold(message.replace(TYPE, ""), |message, (word, plain)| message.replace(word, plain)),
    }
}

impl Source<'_> {
    /// What it says, understood.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, DocumentError> {
        toml::from_str(self.text).map_err(|error| self.told(&error))
    }

    /// The table in two pairs of brackets that has this name and place, understood.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn read_one<T: DeserializeOwned>(&self, name: &str, place: usize) -> Result<T, DocumentError> {
        let all = DeTable::parse(self.text).map_err(|error| self.told(&error))?.into_inner();
        let named = all.into_iter().find_map(|(key, value)| (key.get_ref() == name).then_some(value));
        let meant = match named.map(Spanned::into_inner) {
            Some(DeValue::Array(tables)) => tables.into_iter().nth(place),
            _ => None,
        };
        let meant = meant.ok_or_else(|| self.nothing(format!("there is no [[{name}]]")))?;
        T::deserialize(ValueDeserializer::from(meant)).map_err(|error| self.told(&error))
    }

    fn told(&self, error: &toml::de::Error) -> DocumentError {
        let place = error.span().unwrap_or(0..0);
        // What the parser says may be several lines; the first says it.
        let message = error.message().lines().next().unwrap_or("not understood");
        // It repeats the value.
        DocumentError::at(self.file, self.text, place, in_words(&redact_line(message)))
    }

    /// A period or deadline.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub fn duration(&self, text: &Text) -> Result<Nanoseconds, DocumentError> {
        let duration = parse_duration(text.get_ref()).map_err(|error| self.error(text, error.to_string()))?;
        if duration < SHORTEST {
            return Err(
                self.error(text, format!("{:?} is too short: expected at least {SHORTEST}", text.get_ref()))
            );
        }
        Ok(duration)
    }

    /// An error without a place of its own.
    pub fn nothing(&self, message: String) -> DocumentError {
        DocumentError::at(self.file, self.text, 0..0, message)
    }

    /// What is wrong with a value.
    pub fn error<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> DocumentError {
        DocumentError::at(self.file, self.text, at.span(), message)
    }
}
