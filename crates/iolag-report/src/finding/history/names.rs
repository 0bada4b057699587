//! How series are called in sentences.

use iolag_analysis::joined;
use iolag_model::SeriesKey;

use crate::words::history::{Names, task};

impl Names {
    /// As in `` `list` on /home ``, with the host if there are several.
    pub(in crate::finding) fn in_sentence(&self, key: &SeriesKey) -> String {
        quoted(key) + &self.on_place(key)
    }

    /// As in ` on /home from login1`.
    pub(in crate::finding) fn on_place(&self, key: &SeriesKey) -> String {
        let target = if key.is_of_host() { String::new() } else { format!(" on {}", key.target) };
        if self.several_hosts && !key.host.is_empty() {
            format!("{target} from {}", key.host)
        } else {
            target
        }
    }

    /// The same for several, the place once if they share it: `` `list`, `create` and 7 others on /home ``.
    pub(in crate::finding) fn together(&self, keys: &[&SeriesKey]) -> String {
        match keys.first() {
            Some(first) if keys.iter().all(|key| self.on_place(key) == self.on_place(first)) => {
                in_a_row(keys.iter().map(|key| quoted(key)).collect()) + &self.on_place(first)
            }
            _ => self.list(keys.iter().copied()),
        }
    }

    /// A list of series as in `a, b and c`; of more than four, the others by their number.
    pub(in crate::finding) fn list<'a>(&self, keys: impl IntoIterator<Item = &'a SeriesKey>) -> String {
        in_a_row(keys.into_iter().map(|key| self.in_sentence(key)).collect())
    }
}

/// As in `` `list` `` or `` `list: ls -n` ``.
pub(in crate::finding) fn quoted(key: &SeriesKey) -> String {
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
