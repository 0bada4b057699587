//! Attributes of hosts: facts of their configurations, and which of them cannot be told apart.

use std::collections::{BTreeMap, BTreeSet};

/// Facts that say where something is and not how it is.
const PLACES: [&str; 3] = ["directory", "mount-point", "mount-source"];

/// One attribute, or several that divide the hosts in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// Names of the facts.
    pub(crate) facts: Vec<String>,
    /// Which level each host has.
    pub(crate) level_of: Vec<usize>,
    /// Of each level the value of each fact.
    pub(crate) levels: Vec<Vec<String>>,
}

/// What tells these hosts apart, and the names of facts that tell nothing because hardly two hosts share a value.
pub(crate) fn attributes(hosts: &[&BTreeMap<String, String>]) -> (Vec<Attribute>, Vec<String>) {
    let names: BTreeSet<&String> = hosts.iter().flat_map(|facts| facts.keys()).collect();
    let (mut attributes, mut of_one_host): (Vec<Attribute>, Vec<String>) = (Vec::new(), Vec::new());
    for name in names.into_iter().filter(|name| !PLACES.contains(&name.as_str())) {
        let values = hosts.iter().map(|facts| facts.get(name).map_or("not known", String::as_str));
        let mut levels: Vec<&str> = Vec::new();
        let mut level_of = Vec::with_capacity(hosts.len());
        for value in values {
            let level = levels.iter().position(|known| *known == value).unwrap_or(levels.len());
            if level == levels.len() {
                levels.push(value);
            }
            level_of.push(level);
        }
        let same = attributes.iter_mut().find(|known| known.level_of == level_of);
        match (levels.len(), same) {
            (..2, _) => {}
            // Two hosts of a value on average say whether it matters.
            (many, _) if 2 * many > hosts.len() => of_one_host.push(name.clone()),
            (_, Some(known)) => {
                known.facts.push(name.clone());
                known.levels.iter_mut().zip(levels).for_each(|(known, value)| known.push(value.to_owned()));
            }
            (_, None) => attributes.push(Attribute {
                facts: vec![name.clone()],
                level_of,
                levels: levels.into_iter().map(|value| vec![value.to_owned()]).collect(),
            }),
        }
    }
    (attributes, of_one_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_always_goes_together_is_one_attribute() {
        let host = |number: usize| {
            let (cores, slots) = if number < 3 { ("24", "28") } else { ("8", "8") };
            let rack = if number.is_multiple_of(2) { "a" } else { "b" };
            let serial = number.to_string();
            let facts = [
                ("cores", cores),
                ("kernel", "6.1"),
                ("mount-point", rack),
                ("rack", rack),
                ("serial", serial.as_str()),
                ("slots", slots),
            ];
            facts
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<BTreeMap<_, _>>()
        };
        let hosts: Vec<_> = (0..6).map(host).collect();
        let (found, of_one_host) = attributes(&hosts.iter().collect::<Vec<_>>());
        let told: Vec<_> = found.iter().map(|one| (one.facts.join(" "), one.levels.len())).collect();
        assert_eq!(told, [("cores slots".to_owned(), 2), ("rack".to_owned(), 2)]);
        assert_eq!(found[0].levels, [["24", "28"], ["8", "8"]]);
        assert_eq!(
            (of_one_host, &found[0].level_of[..]),
            (vec!["serial".to_owned()], &[0, 0, 0, 1, 1, 1][..])
        );
    }
}
