//! In which order tasks use the files of a copy's own: who asks of what another has changed waits for that, and who changes what others have used waits for them.

use std::collections::BTreeMap;

use super::repetition::After;

/// Who has used what.
#[derive(Debug, Default)]
pub(super) struct Order {
    by_path: BTreeMap<Vec<u8>, Uses>,
}

#[derive(Debug, Default)]
struct Uses {
    /// Who changed it last.
    changed: Option<After>,
    /// Each task that has looked at it since.
    looked: Vec<After>,
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Looks,
    Changes,
    /// With all that lies below it.
    ChangesWhole,
}

impl Order {
    /// What others must have done before a task uses a path so.
    pub(super) fn before(&self, path: &[u8], how: Use, task: u32) -> Vec<After> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let above = ends.filter_map(|end| self.by_path.get(&path[..end])?.changed);
        let here = self.by_path.get(path);
        let mut all: Vec<After> = above.chain(here.and_then(|uses| uses.changed)).collect();
        if how != Use::Looks {
            all.extend(here.iter().flat_map(|uses| &uses.looked));
        }
        if how == Use::ChangesWhole {
            let begin = [path, b"/"].concat();
            let below = self.by_path.range(begin.clone()..).take_while(|(path, _)| path.starts_with(&begin));
            all.extend(below.flat_map(|(_, uses)| uses.changed.iter().chain(&uses.looked)));
        }
        all.retain(|after| after.task != task);
        all
    }

    /// A task has used a path so, by the last of so many items.
    pub(super) fn note(&mut self, path: &[u8], how: Use, by: After) {
        let uses = self.by_path.entry(path.to_vec()).or_default();
        if how != Use::Looks {
            *uses = Uses { changed: Some(by), looked: Vec::new() };
            return;
        }
        match uses.looked.iter_mut().find(|user| user.task == by.task) {
            Some(user) => user.items = by.items,
            None => uses.looked.push(by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_changes_waits_for_who_looked_and_who_looks_for_who_changed() {
        let mut order = Order::default();
        let by = |task, items| After { task, items };
        order.note(b"a", Use::Changes, by(0, 1));
        assert_eq!(order.before(b"a/b", Use::Looks, 1), [by(0, 1)]);
        assert_eq!(order.before(b"a/b", Use::Looks, 0), []);
        assert_eq!(order.before(b"ab", Use::Looks, 1), []);
        order.note(b"a/b", Use::Looks, by(1, 3));
        order.note(b"a/b", Use::Looks, by(1, 4));
        assert_eq!(order.before(b"a/b", Use::Looks, 2), [by(0, 1)]);
        assert_eq!(order.before(b"a/b", Use::Changes, 2), [by(0, 1), by(1, 4)]);
        assert_eq!(order.before(b"a", Use::ChangesWhole, 0), [by(1, 4)]);
        order.note(b"a/b", Use::Changes, by(2, 7));
        assert_eq!(order.before(b"a/b", Use::Changes, 1), [by(0, 1), by(2, 7)]);
    }
}
