//! How configurations are told apart by name.
//!
//! Where the users of a watch say something of their hosts (`[facts]`), configurations are what they say, whichever host and
//! time; otherwise each host is one, and each time in which nothing changed there.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Configuration, ConfigurationKey};

use crate::history::series::kept_amounts::Amounts;

/// What samples without a configuration are called.
const NOT_KNOWN: &str = "configuration not known";

/// The names of configurations of the same task on the same target.
pub(crate) struct Names<'a> {
    used: BTreeMap<(&'a str, ConfigurationKey), Option<&'a Configuration>>,
    /// Facts that users gave and that differ.
    given: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    /// Of what these series were measured under; `configurations` are all of the history.
    pub(crate) fn of(series: &[&'a Amounts], configurations: &'a [Configuration]) -> Self {
        let mut used = BTreeMap::new();
        for one in series {
            let key = &one.series.key;
            for (_, configuration) in one.configuration_runs() {
                let is_it = |known: &&Configuration| {
                    known.key == configuration && known.host == key.host && known.target == key.target
                };
                used.insert((key.host.as_str(), configuration), configurations.iter().find(is_it));
            }
        }
        let known: Vec<&Configuration> = used.values().flatten().copied().collect();
        let given: BTreeSet<&str> = known
            .iter()
            .flat_map(|one| one.facts.keys())
            .map(String::as_str)
            .filter(|name| Configuration::is_given(name))
            .collect();
        let differs = |name: &&str| known.iter().any(|one| one.facts.get(*name) != known[0].facts.get(*name));
        Self { given: given.into_iter().filter(differs).collect(), used }
    }

    /// The name of what a host was at a time.
    pub(crate) fn name(&self, host: &str, key: ConfigurationKey) -> String {
        let configuration = self.used.get(&(host, key)).copied().flatten();
        if !self.given.is_empty() {
            let Some(configuration) = configuration else { return NOT_KNOWN.to_owned() };
            let told = |name: &&str| match configuration.facts.get(*name) {
                Some(value) => format!("{name} {value}"),
                None => format!("{name} not given"),
            };
            return self.given.iter().map(told).collect::<Vec<_>>().join(", ");
        }
        let of_host = self.used.keys().filter(|(of, _)| *of == host).count();
        let since = match configuration {
            _ if of_host < 2 => None,
            Some(configuration) => Some(format!("since {} UTC", configuration.first_seen.in_words())),
            None => Some(NOT_KNOWN.to_owned()),
        };
        let hosts: BTreeSet<&str> = self.used.keys().map(|(host, _)| *host).collect();
        let host = (hosts.len() > 1).then(|| host.to_owned());
        let name = host.into_iter().chain(since).collect::<Vec<_>>().join(" ");
        if name.is_empty() { "all".to_owned() } else { name }
    }
}
