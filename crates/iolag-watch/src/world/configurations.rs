//! Configurations: under which circumstances samples are taken, and what to say when they change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use iolag_model::{Configuration, ConfigurationKey, Event, EventSource, Fingerprint, WallTime};

/// The key of these facts: the FNV-1a hash (64 bits) of all names and values, each preceded by its length. It is the same on every host
/// and in every version.
pub fn configuration_key(facts: &BTreeMap<String, String>) -> ConfigurationKey {
    let texts = facts.iter().flat_map(|(name, value)| [name, value]);
    let all =
        texts.fold(Fingerprint::default(), |all, text| all.and((text.len() as u64).to_le_bytes()).and(text));
    ConfigurationKey(all.value())
}

/// The fact that says where a target's file system is mounted.
pub(crate) const MOUNT_POINT: &str = "mount-point";
/// The fact that says which directory a target is, without symbolic links.
pub(crate) const DIRECTORY: &str = "directory";

/// The configuration that holds for each target of this host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configurations {
    by_target: BTreeMap<String, Configuration>,
    /// Of targets of which nothing was known: what was found first.
    first: BTreeMap<String, Configuration>,
    /// Names that the history has of targets.
    names: BTreeSet<String>,
    /// Those that have become others.
    former_names: BTreeSet<String>,
}

impl Configurations {
    /// Goes on from what held last for each target; of two for one target the later one holds.
    pub fn resume(known: impl IntoIterator<Item = Configuration>) -> Self {
        let mut resumed = Self::default();
        known.into_iter().for_each(|known| resumed.take_up(known));
        resumed
    }

    /// The history has these names of targets, of which `former` have become others.
    pub fn know_names(&mut self, names: BTreeSet<String>, former: BTreeSet<String>) {
        self.names.extend(names);
        self.former_names.extend(former);
    }

    /// This one held last, as far as is known.
    pub fn take_up(&mut self, known: Configuration) {
        self.by_target.insert(known.target.clone(), known);
    }

    /// Takes what held before, which is learnt only now. Says what to record: an event for each target that has changed since.
    pub fn recalled(&mut self, known: impl IntoIterator<Item = Configuration>) -> Vec<Event> {
        let mut events = Vec::new();
        for known in known {
            if let Some(first) = self.first.get(&known.target) {
                events.extend(change(&known, first));
            } else if !self.by_target.contains_key(&known.target) {
                self.take_up(known);
            }
        }
        self.first.clear();
        events
    }

    /// Which target that is watched no more was the same directory of the same file system as this one, of whose name the history knows
    /// nothing: it is the same one, under another name. Each is found once.
    pub fn predecessor(&mut self, target: &str, is_watched: impl Fn(&str) -> bool) -> Option<String> {
        let own = &self.by_target.get(target)?.facts;
        let is_same = |other: &&Configuration| {
            let equal = |name: &str| own.contains_key(name) && own.get(name) == other.facts.get(name);
            let is_free = !is_watched(&other.target) && !self.former_names.contains(&other.target);
            other.target != target
                && is_free
                && [DIRECTORY, "file-system", "mount-source"].iter().all(|name| equal(name))
        };
        let same = self.by_target.values().filter(is_same).max_by_key(|other| other.first_seen);
        let old = same.filter(|_| !self.names.contains(target))?.target.clone();
        self.former_names.insert(old.clone());
        self.names.insert(target.to_owned());
        Some(old)
    }

    /// The configurations that hold.
    pub fn all(&self) -> impl Iterator<Item = &Configuration> {
        self.by_target.values()
    }

    /// The configuration that holds for a target, if it was ever looked up.
    pub fn key_of(&self, target: &str) -> Option<ConfigurationKey> {
        self.by_target.get(target).map(|configuration| configuration.key)
    }

    /// Takes what was looked up now. Says what to record if it differs from what was known: the configuration, and an event that
    /// names what changed, if anything was known.
    pub fn found(
        &mut self,
        host: &str,
        target: &str,
        facts: BTreeMap<String, String>,
        at: WallTime,
    ) -> Option<(Configuration, Option<Event>)> {
        let key = configuration_key(&facts);
        let known = self.by_target.get(target);
        if known.is_some_and(|known| known.key == key) {
            return None;
        }
        let configuration =
            Configuration { key, host: host.to_owned(), target: target.to_owned(), first_seen: at, facts };
        let is_unknown = known.is_none();
        let event = known.and_then(|known| change(known, &configuration));
        if is_unknown {
            self.first.insert(target.to_owned(), configuration.clone());
        }
        self.take_up(configuration.clone());
        Some((configuration, event))
    }
}

/// The event that a configuration was found in the place of another, if anything has changed.
fn change(before: &Configuration, after: &Configuration) -> Option<Event> {
    let text = changes(&before.facts, &after.facts);
    let (host, target, at) = (&after.host, &after.target, after.first_seen);
    (!text.is_empty()).then(|| event(host, target, at, EventSource::Configuration, "configuration", text))
}

/// An event that iolag notes by itself.
pub(crate) fn event(
    host: &str,
    target: &str,
    begin: WallTime,
    source: EventSource,
    kind: &str,
    text: String,
) -> Event {
    let parts = [host, target, kind, &text].into_iter();
    let parts = parts.fold(Fingerprint::default(), |parts, part| parts.and(part).and([0]));
    let id = parts.and(begin.0.to_le_bytes()).value();
    Event {
        id: format!("{id:016x}"),
        host: host.to_owned(),
        target: target.to_owned(),
        kind: kind.to_owned(),
        text,
        author: "iolag".to_owned(),
        ..Event::of_all(source, begin)
    }
}

/// What changed from what to what, in a sentence.
fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let separator = if text.is_empty() { "" } else { "; " };
        // Writing to a string does not fail.
        let _ = match (before.get(name), after.get(name)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some(old), Some(new)) => write!(text, "{separator}{name} changed from {old} to {new}"),
            (Some(old), None) => write!(text, "{separator}{name} is gone, it was {old}"),
            // Earlier versions did not look it up.
            (None, Some(_)) if name == MOUNT_POINT || name == DIRECTORY => continue,
            (None, Some(new)) => write!(text, "{separator}{name} is new: {new}"),
            (None, None) => continue,
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<const N: usize>(facts: [(&str, &str); N]) -> BTreeMap<String, String> {
        facts.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_key_is_the_hash_of_names_and_values() {
        assert_eq!(configuration_key(&BTreeMap::new()).0, 0xcbf2_9ce4_8422_2325);
        // FNV-1a of "\1\0\0\0\0\0\0\0a\0\0\0\0\0\0\0\0", computed independently.
        assert_eq!(configuration_key(&facts([("a", "")])).0, KNOWN_KEY);
        assert_ne!(configuration_key(&facts([("ab", "c")])), configuration_key(&facts([("a", "bc")])));
    }

    const KNOWN_KEY: u64 = 0xffd8_0a17_8d19_199f;

    #[test]
    fn a_change_is_news_and_says_what_changed() {
        let mut known = Configurations::default();
        let at = WallTime(9);
        let (first, event) =
            known.found("node", "/home", facts([("kernel", "6.1"), ("nscd", "on")]), at).unwrap();
        assert_eq!((event, known.key_of("/home")), (None, Some(first.key)));
        assert!(known.found("node", "/home", first.facts.clone(), at).is_none());
        let mut known = Configurations::resume([first]);
        let (_, event) =
            known.found("node", "/home", facts([("kernel", "6.2"), ("sssd", "on")]), at).unwrap();
        let event = event.unwrap();
        assert_eq!(event.text, "kernel changed from 6.1 to 6.2; nscd is gone, it was on; sssd is new: on");
        assert_eq!((event.source, event.target.as_str()), (EventSource::Configuration, "/home"));
    }

    #[test]
    fn what_changed_before_the_history_answered_is_told_once() {
        let configuration = |target: &str, kernel: &str, first_seen: i64| {
            let facts = facts([("kernel", kernel)]);
            Configuration {
                key: configuration_key(&facts),
                host: "node".to_owned(),
                target: target.to_owned(),
                first_seen: WallTime(first_seen),
                facts,
            }
        };
        let mut present = Configurations::default();
        for (target, kernel, at) in [("/home", "6.1", 10), ("/scratch", "6.1", 11), ("/scratch", "6.2", 12)] {
            let facts = facts([("kernel", kernel)]);
            let (_, event) = present.found("node", target, facts, WallTime(at)).unwrap();
            assert_eq!(event.is_some(), kernel == "6.2");
        }
        let known = [
            configuration("/home", "6.1", 1),
            configuration("/scratch", "5.9", 2),
            configuration("/other", "5.9", 3),
        ];
        let events = present.recalled(known.clone());
        let [change] = &events[..] else { panic!("{events:?}") };
        assert_eq!((change.target.as_str(), change.begin), ("/scratch", WallTime(11)));
        assert_eq!(change.text, "kernel changed from 5.9 to 6.1");
        assert_eq!(present.key_of("/scratch"), Some(configuration("/scratch", "6.2", 12).key));
        assert_eq!(present.key_of("/other"), Some(known[2].key));
        assert_eq!(present.recalled(known), []);
    }
}
