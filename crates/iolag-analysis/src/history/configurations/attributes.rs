//! Attributes of hosts: facts of their configurations, and which of them cannot be told apart.

use std::collections::{BTreeMap, BTreeSet};

/// Facts that say where something is and not how it is.
const PLACES: [&str; 3] = ["directory", "mount-point", "mount-source"];

/// Numbers with more values than this are judged by their order: as many names would each have few hosts.
const NAMES_MOST: usize = 8;
/// Into so many ranges numbers are put, with about as many hosts each.
const RANGES: usize = 4;

/// One attribute, or several that divide the hosts in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// Names of the facts.
    pub(crate) facts: Vec<String>,
    /// Which level each host has, if that is known.
    pub(crate) level_of: Vec<Option<usize>>,
    /// Of each level the value of each fact, or the range of its values.
    pub(crate) levels: Vec<Vec<String>>,
    /// What the order of levels says.
    pub(crate) scale: Scale,
}

/// What the order of levels says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Nothing.
    Names,
    /// They are ranges of numbers, which ascend.
    Numbers,
}

/// What tells these hosts apart, and the names of facts that tell nothing because hardly two hosts share a value.
pub(crate) fn attributes(hosts: &[&BTreeMap<String, String>]) -> (Vec<Attribute>, Vec<String>) {
    let names: BTreeSet<&String> = hosts.iter().flat_map(|facts| facts.keys()).collect();
    let (mut attributes, mut of_one_host): (Vec<Attribute>, Vec<String>) = (Vec::new(), Vec::new());
    for name in names.into_iter().filter(|name| !PLACES.contains(&name.as_str())) {
        let values: Vec<Option<&str>> =
            hosts.iter().map(|facts| facts.get(name).map(String::as_str)).collect();
        let (level_of, levels, scale) = ranges(&values).unwrap_or_else(|| named(&values));
        let known = level_of.iter().flatten().count();
        let same = attributes.iter_mut().find(|known| known.level_of == level_of);
        match (levels.len(), same) {
            (..2, _) => {}
            // Two hosts of a value on average say whether it matters.
            (many, _) if 2 * many > known => of_one_host.push(name.clone()),
            (_, Some(known)) => {
                known.facts.push(name.clone());
                known.levels.iter_mut().zip(levels).for_each(|(known, value)| known.push(value));
            }
            (_, None) => attributes.push(Attribute {
                facts: vec![name.clone()],
                level_of,
                levels: levels.into_iter().map(|value| vec![value]).collect(),
                scale,
            }),
        }
    }
    (attributes, of_one_host)
}

/// Of each host its level, and what the levels are called.
type Levels = (Vec<Option<usize>>, Vec<String>, Scale);

/// A level for each value, in the order in which they come.
fn named(values: &[Option<&str>]) -> Levels {
    let mut levels: Vec<String> = Vec::new();
    let mut level = |value: &str| {
        levels.iter().position(|known| known == value).unwrap_or_else(|| {
            levels.push(value.to_owned());
            levels.len() - 1
        })
    };
    let level_of = values.iter().map(|value| value.map(&mut level)).collect();
    (level_of, levels, Scale::Names)
}

/// A level for each range of numbers; `None` if some are none, or if they have few values. Hosts with the same value have the same level.
fn ranges(values: &[Option<&str>]) -> Option<Levels> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers: Vec<Option<f64>> = values
        .iter()
        .map(|value| value.map_or(Some(None), |text| number(text).map(Some)))
        .collect::<Option<_>>()?;
    let mut sorted: Vec<f64> = numbers.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.chunk_by(|one, other| one == other).count() <= NAMES_MOST {
        return None;
    }
    let range = |number: f64| RANGES * sorted.partition_point(|other| *other < number) / sorted.len();
    let ranges: Vec<&[f64]> = sorted.chunk_by(|one, other| range(*one) == range(*other)).collect();
    let level = |number: f64| ranges.iter().position(|range| range.contains(&number));
    let name = |range: &&[f64]| format!("{} to {}", range[0], range[range.len() - 1]);
    let level_of = numbers.iter().map(|number| number.and_then(level)).collect();
    Some((level_of, ranges.iter().map(name).collect(), Scale::Numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_always_goes_together_is_one_attribute() {
        let host = |number: usize| {
            let (cores, slots) = if number < 3 { ("24", "28") } else { ("8", "8") };
            let rack = if number.is_multiple_of(2) { "a" } else { "b" };
            let serial = format!("SN{number}");
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
            (vec!["serial".to_owned()], &[0, 0, 0, 1, 1, 1].map(Some)[..])
        );
    }

    #[test]
    fn what_is_not_known_is_no_value_and_many_numbers_are_ranges() {
        let host = |number: usize| {
            let memory = (number != 3).then(|| ("memory".to_owned(), (64 + 16 * number).to_string()));
            let slots = (number < 6).then(|| ("slots".to_owned(), "28".to_owned()));
            memory.into_iter().chain(slots).collect::<BTreeMap<_, _>>()
        };
        let hosts: Vec<_> = (0..13).map(host).collect();
        let (found, of_one_host) = attributes(&hosts.iter().collect::<Vec<_>>());
        assert_eq!((found.len(), of_one_host.len(), found[0].scale), (1, 0, Scale::Numbers));
        assert_eq!(found[0].levels, [["64 to 96"], ["128 to 160"], ["176 to 208"], ["224 to 256"]]);
        assert_eq!((found[0].level_of[3], found[0].level_of[4]), (None, Some(1)));
    }
}
