//! How series and places are called, in tables and in sentences.

use iolag_analysis::history::HistoryAnalysis;
use iolag_analysis::joined;
use iolag_model::{Level, SeriesKey};

/// How series are called.
pub(crate) struct Names {
    pub(crate) several_hosts: bool,
}

impl Names {
    pub(crate) fn of(analysis: &HistoryAnalysis) -> Self {
        let mut hosts = analysis.series.iter().map(|one| &one.summary.series.key.host);
        let first = hosts.next();
        Self { several_hosts: hosts.any(|host| Some(host) != first) }
    }

    /// As in `list on /home`, with the host if there are several.
    pub(crate) fn series(&self, key: &SeriesKey) -> String {
        if self.several_hosts && !key.host.is_empty() {
            format!("{key} from {}", key.host)
        } else {
            key.to_string()
        }
    }

    /// As in `/home`, `/home from login1`; of what belongs to no target, the host.
    pub(crate) fn place(&self, key: &SeriesKey) -> String {
        match (key.target.as_str(), self.several_hosts) {
            ("", false) => "of the host".to_owned(),
            ("", true) => format!("of {}", key.host),
            (target, false) => target.to_owned(),
            (target, true) => format!("{target} from {}", key.host),
        }
    }

    /// As in `` `list` on /home ``, with the host if there are several.
    pub(crate) fn in_sentence(&self, key: &SeriesKey) -> String {
        quoted(key) + &self.on_place(key)
    }

    /// As in ` on /home from login1`.
    pub(crate) fn on_place(&self, key: &SeriesKey) -> String {
        let target = if key.is_of_host() { String::new() } else { format!(" on {}", key.target) };
        if self.several_hosts && !key.host.is_empty() {
            format!("{target} from {}", key.host)
        } else {
            target
        }
    }

    /// The same for several, the place once if they share it: `` `list`, `create` and 7 others on /home ``.
    pub(crate) fn together(&self, keys: &[&SeriesKey]) -> String {
        match keys.first() {
            Some(first) if keys.iter().all(|key| self.on_place(key) == self.on_place(first)) => {
                in_a_row(keys.iter().map(|key| quoted(key)).collect()) + &self.on_place(first)
            }
            _ => self.list(keys.iter().copied()),
        }
    }

    /// A list of series as in `a, b and c`; of more than four, the others by their number.
    pub(crate) fn list<'a>(&self, keys: impl IntoIterator<Item = &'a SeriesKey>) -> String {
        in_a_row(keys.into_iter().map(|key| self.in_sentence(key)).collect())
    }
}

/// The task, or part of a task, without the place.
pub(crate) fn task(key: &SeriesKey) -> String {
    if key.part.is_empty() { key.task.clone() } else { format!("{}: {}", key.task, key.part) }
}

/// The name in a table below its place: parts stand below their task.
pub(crate) fn label(key: &SeriesKey) -> String {
    if key.part.is_empty() { format!("  {}", task(key)) } else { format!("    {}", key.part) }
}

/// As in `` `list` `` or `` `list: ls -n` ``.
pub(crate) fn quoted(key: &SeriesKey) -> String {
    format!("`{}`", task(key))
}

/// As in `a, b and c`; of more than four, the others by their number.
fn in_a_row(mut names: Vec<String>) -> String {
    if names.len() > 4 {
        let others = names.len() - 3;
        names.truncate(3);
        names.push(format!("{others} others"));
    }
    joined(names)
}

/// What users do comes first, what iolag itself does last.
pub(crate) const fn distance_from_users(level: Level) -> u8 {
    match level {
        Level::Task => 0,
        Level::Object => 1,
        Level::Call => 2,
        Level::Stream => 3,
        Level::Harness => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_cut_short() {
        let key = |task: &str| SeriesKey {
            task: task.to_owned(),
            target: "/home".to_owned(),
            ..SeriesKey::default()
        };
        let names = Names { several_hosts: false };
        let keys = ["list", "create", "compile", "stat", "shell"].map(key);
        assert_eq!(names.list(&keys[..2]), "`list` on /home and `create` on /home");
        assert!(names.list(&keys).ends_with("`compile` on /home and 2 others"));
        assert_eq!(names.list(&keys[..0]), "");
    }
}
