//! What the caller knows about a file as a whole: its form, and what its columns are called.

use std::fmt;
use std::str::FromStr;

use super::option_error::OptionError;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImportForm {
    /// Columns with a separator: CSV and its relatives.
    Separated,
    /// What Grafana exports: a separated file in which every column but the time is a series, or every row names its series.
    Grafana,
    /// Lines of a time and a value, or a date line followed by what time(1) printed.
    Text,
    /// Lines that a regular expression matches.
    Pattern,
    /// Columns with events: time, end, text, kind, target, link, host, author.
    EventList,
    /// What `journalctl -o json` prints.
    Journal,
}

impl ImportForm {
    /// All forms.
    pub const ALL: [Self; 6] =
        [Self::Separated, Self::Grafana, Self::Text, Self::Pattern, Self::EventList, Self::Journal];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Separated => "csv",
            Self::Grafana => "grafana",
            Self::Text => "text",
            Self::Pattern => "pattern",
            Self::EventList => "events",
            Self::Journal => "journal",
        }
    }
}

impl FromStr for ImportForm {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let found = Self::ALL.into_iter().find(|form| form.name() == text);
        found.ok_or_else(|| OptionError::new(text, "one of csv, grafana, text, pattern, events, journal"))
    }
}

/// What stands between two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Bar,
    /// Any number of spaces and tabs.
    Spaces,
}

impl Separator {
    /// All separators, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Tab, Self::Semicolon, Self::Comma, Self::Bar, Self::Spaces];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comma => "comma",
            Self::Semicolon => "semicolon",
            Self::Tab => "tab",
            Self::Bar => "bar",
            Self::Spaces => "spaces",
        }
    }

    /// The byte, if it is one.
    pub(crate) const fn byte(self) -> Option<u8> {
        match self {
            Self::Comma => Some(b','),
            Self::Semicolon => Some(b';'),
            Self::Tab => Some(b'\t'),
            Self::Bar => Some(b'|'),
            Self::Spaces => None,
        }
    }
}

impl FromStr for Separator {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "," | "comma" => Ok(Self::Comma),
            ";" | "semicolon" => Ok(Self::Semicolon),
            "\t" | "\\t" | "tab" => Ok(Self::Tab),
            "|" | "bar" => Ok(Self::Bar),
            " " | "space" | "spaces" => Ok(Self::Spaces),
            _ => Err(OptionError::new(text, "one of comma, semicolon, tab, bar, spaces")),
        }
    }
}

/// Whether the first line names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderRow {
    /// It does if its time is no time, or an option names a column.
    Guess,
    /// It does.
    Present,
    /// It does not: columns are numbered.
    Absent,
}

/// A column: the name in the header, else the number from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnName(pub String);

impl ColumnName {
    /// The number from 1, if it can be one.
    pub(crate) fn number(&self) -> Option<usize> {
        self.0.parse().ok().filter(|number| *number > 0)
    }
}

impl FromStr for ColumnName {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text.trim() {
            "" => Err(OptionError::new(text, "the name of a column or its number from 1")),
            name => Ok(Self(name.to_owned())),
        }
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_options_come_back() {
        for form in ImportForm::ALL {
            assert_eq!(form.name().parse(), Ok(form));
        }
        for separator in Separator::ALL {
            assert_eq!(separator.name().parse(), Ok(separator));
        }
    }
}
