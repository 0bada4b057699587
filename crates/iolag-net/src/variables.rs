//! The variables of the environment, and the files of the user that they lead to.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The variables of a process. Their values are no one's to see.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Those of this process; what is no text is left out.
    pub fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(text).collect()
    }

    /// The value of a variable. One that is empty is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The file that a variable names, or the one of this name in the user's home.
    pub fn file(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        let home = || self.get("HOME").map(|home| PathBuf::from(home).join(in_home));
        self.get(variable).map(PathBuf::from).or_else(home)
    }
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// Without values.
impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}
