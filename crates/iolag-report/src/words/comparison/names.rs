//! What sides and rows are called, and no longer than it takes to tell them apart.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::compare::{ComparedTable, RowKey};
use iolag_analysis::joined;
use iolag_model::{RunRecord, counted, is_steering};
use unicode_width::UnicodeWidthStr;

/// Columns of a terminal that a name has at most, in sentences, too.
const NAME_MOST: usize = 40;

/// Places that are wider are told without the directories below, if these are the same of all.
const PLACE_MOST: usize = 16;
/// Coordinates that are places.
const PLACES: [&str; 2] = [RunRecord::COPY_TO, "target"];

/// The names of the sides of a table.
pub(crate) struct SideNames {
    /// As they were named, without `label:` and `history:`, which the reader knows.
    pub(crate) whole: Vec<String>,
    /// Without what all of them begin with.
    pub(crate) short: Vec<String>,
}

impl SideNames {
    pub(crate) fn of(table: &ComparedTable) -> Self {
        let whole: Vec<String> = table.sides.iter().map(|side| plain(without_kind(&side.name))).collect();
        let whole = without_access(whole);
        let common = common_beginning(&whole);
        let short: Vec<String> =
            whole.iter().map(|name| cut(&shortened_by(name, common), NAME_MOST)).collect();
        let told_apart =
            |(side, name): (usize, &String)| match short.iter().filter(|other| *other == name).count() {
                1 => name.clone(),
                _ => format!("{name} ({})", side + 1),
            };
        let told = short.iter().enumerate().map(told_apart).collect();
        Self { whole: whole.iter().map(|name| cut(name, NAME_MOST)).collect(), short: told }
    }

    /// The base.
    pub(crate) fn base(&self) -> &str {
        self.whole.first().map_or("", String::as_str)
    }

    /// The short name of a side.
    pub(crate) fn short(&self, side: usize) -> &str {
        self.short.get(side).map_or("", String::as_str)
    }

    /// As in `a, b and c`; of all but a few `the others`.
    pub(crate) fn together(&self, sides: &[usize]) -> String {
        let others = self.short.len() - sides.len().min(self.short.len());
        if sides.len() > 2 && others > 0 && others < sides.len() {
            return "the others".to_owned();
        }
        self.list(sides)
    }

    /// As in `a, b and c`.
    pub(crate) fn list(&self, sides: &[usize]) -> String {
        joined(sides.iter().map(|side| self.short(*side).to_owned()).collect())
    }
}

fn without_kind(name: &str) -> &str {
    let kinds = ["label:", "history:"];
    let rest = kinds.iter().find_map(|kind| name.strip_prefix(kind));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// URLs without who we are there and without settings, where that still tells them apart.
fn without_access(names: Vec<String>) -> Vec<String> {
    let bare = |name: &String| {
        let Some((scheme, rest)) = name.split_once("://") else { return name.clone() };
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let host_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let host = rest[..host_end].rfind('@').map_or(0, |at| at + 1);
        format!("{scheme}://{}", &rest[host..])
    };
    let bare: Vec<String> = names.iter().map(bare).collect();
    let are_apart = bare.iter().collect::<BTreeSet<_>>().len() == names.iter().collect::<BTreeSet<_>>().len();
    if are_apart { bare } else { names }
}

/// A name of at most so many columns: its begin and its end, which tell most.
pub(crate) fn cut(name: &str, most: usize) -> String {
    if name.width() <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(1);
    let head = fitting(name.chars(), room / 2);
    let tail = fitting(name.chars().rev(), room - room / 2);
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

fn fitting(characters: impl Iterator<Item = char>, most: usize) -> String {
    let mut text = String::new();
    for character in characters {
        text.push(character);
        if text.width() > most {
            text.pop();
            break;
        }
    }
    text
}

/// One line that steers no terminal.
pub(crate) fn plain(text: &str) -> String {
    let is_bad = |character: char| character.is_control() || is_steering(character);
    text.chars()
        .map(|character| if is_bad(character) { char::REPLACEMENT_CHARACTER } else { character })
        .collect()
}

/// How many bytes all names begin with, up to a sign that ends a part of a name.
fn common_beginning(names: &[String]) -> usize {
    let Some((first, others)) = names.split_first().filter(|(_, others)| !others.is_empty()) else {
        return 0;
    };
    let shared =
        |other: &String| first.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let shared = others.iter().map(shared).min().unwrap_or(0);
    let end =
        first.as_bytes()[..shared].iter().rposition(|byte| b"/:=".contains(byte)).map_or(0, |at| at + 1);
    // A number alone says nothing.
    let leaves_all = names.iter().all(|name| name[end..].contains(char::is_alphabetic));
    if leaves_all && &first[..end] != "/" { end } else { 0 }
}

fn shortened_by(name: &str, beginning: usize) -> String {
    match name[..beginning].ends_with('/') {
        true => format!("…/{}", &name[beginning..]),
        false => name[beginning..].to_owned(),
    }
}

/// Places by what tells them apart: without the directories above them that all have in common, and, where that leaves them long, without those
/// below.
fn short_places(places: &[String]) -> Vec<String> {
    let beginning = common_beginning(places);
    let short = places.iter().map(|place| shortened_by(place, beginning));
    if short.clone().all(|place| place.width() <= PLACE_MOST) {
        return short.collect();
    }
    let ending = common_ending(places, beginning);
    let without = |place: String| format!("{}/…", &place[..place.len() - ending]);
    short.map(|place| if ending > 0 { without(place) } else { place }).collect()
}

/// How many bytes all places end with behind so many, from the end of a name on.
fn common_ending(places: &[String], beginning: usize) -> usize {
    let Some((first, others)) = places.split_first().filter(|(_, others)| !others.is_empty()) else {
        return 0;
    };
    let rest = &first[beginning..];
    let ends = rest.match_indices('/').map(|(at, _)| &rest[at..]).filter(|end| end.len() < rest.len());
    let is_shared = |end: &&str| {
        others.iter().all(|other| other[beginning..].strip_suffix(end).is_some_and(|left| !left.is_empty()))
    };
    ends.into_iter().find(is_shared).map_or(0, str::len)
}

/// What rows are called.
pub(crate) struct RowNames {
    /// What all rows have in common besides what is measured.
    pub(crate) common: Vec<String>,
    rows: Vec<String>,
}

impl RowNames {
    pub(crate) fn of(table: &ComparedTable) -> Self {
        let keys: Vec<&RowKey> = table.rows.iter().map(|row| &row.key).collect();
        let all: Vec<BTreeMap<&str, &str>> = keys.iter().map(|key| parts(key)).collect();
        let of_rows = || keys.iter().map(|key| key.workload.as_str()).zip(&all);
        let told_of: BTreeSet<(&str, &str)> =
            of_rows().flat_map(|(workload, parts)| parts.keys().map(move |name| (workload, *name))).collect();
        // What no row of a workload has says nothing of it: a tree has no blocks.
        let is_common = |(name, value): &(&str, &str)| {
            of_rows().all(|(workload, parts)| match parts.get(name) {
                Some(own) => own == value,
                None => !told_of.contains(&(workload, *name)),
            })
        };
        let mut common: BTreeSet<(&str, &str)> =
            all.iter().flatten().map(|(name, value)| (*name, *value)).collect();
        common.retain(is_common);
        let short: BTreeMap<(&str, &str), String> = PLACES
            .into_iter()
            .flat_map(|name| {
                let places: BTreeSet<&str> =
                    all.iter().filter_map(|parts| parts.get(name).copied()).collect();
                let short = short_places(&places.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>());
                places.into_iter().map(move |place| (name, place)).zip(short).collect::<Vec<_>>()
            })
            .collect();
        // A stat of a set-up is not that of a tree.
        let is_of_several =
            |key: &RowKey| keys.iter().any(|other| other.cell == key.cell && other.workload != key.workload);
        let name = |(key, parts): (&&RowKey, &BTreeMap<&str, &str>)| {
            let own = parts.iter().map(|(name, value)| (*name, *value)).filter(|part| !common.contains(part));
            let own =
                own.map(|(name, value)| (name, short.get(&(name, value)).map_or(value, String::as_str)));
            let workload = is_of_several(key).then(|| plain(&key.workload));
            named(key, workload.into_iter().chain(own.map(|(name, value)| part_in_words(name, value))))
        };
        let rows = keys.iter().zip(&all).map(name).collect();
        Self { common: common.iter().map(|(name, value)| part_in_words(name, value)).collect(), rows }
    }

    pub(crate) fn name(&self, row: usize) -> &str {
        self.rows.get(row).map_or("", String::as_str)
    }

    pub(crate) fn list(&self, rows: &[usize]) -> String {
        joined(rows.iter().map(|row| self.name(*row).to_owned()).collect())
    }
}

/// What a row is called that stands by itself.
pub(crate) fn row_name(key: &RowKey) -> String {
    named(key, parts(key).into_iter().map(|(name, value)| part_in_words(name, value)))
}

fn named(key: &RowKey, more: impl Iterator<Item = String>) -> String {
    let phase = key.cell.phase.map(|phase| format!(" in {phase}"));
    let operation = format!("{}{}", plain(key.measured()), phase.unwrap_or_default());
    std::iter::once(operation).chain(more).collect::<Vec<_>>().join(", ")
}

fn parts(key: &RowKey) -> BTreeMap<&str, &str> {
    key.coordinates.iter().chain(&key.labels).map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn part_in_words(name: &str, value: &str) -> String {
    match (name, value.parse::<u64>()) {
        ("clients", Ok(clients)) => counted(clients, "client", "clients"),
        ("objects", Ok(objects)) => counted(objects, "object", "objects"),
        ("target", _) => plain(value),
        (RunRecord::COPY_TO, _) => plain(&format!("to {value}")),
        _ => plain(&format!("{name}={value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let common = common_beginning(&names);
        names.iter().map(|name| shortened_by(name, common)).collect()
    }

    #[test]
    fn names_are_as_long_as_it_takes_to_tell_them_apart() {
        assert_eq!(short(&["client=native", "client=nfs"]), ["native", "nfs"]);
        assert_eq!(short(&["/mnt/a/x", "/mnt/b"]), ["…/a/x", "…/b"]);
        assert_eq!(short(&["/home", "/scratch"]), ["/home", "/scratch"]);
        assert_eq!(short(&["20261128-1", "20261128-2"]), ["20261128-1", "20261128-2"]);
        assert_eq!(short(&["client=", "client=nfs"]), ["client=", "client=nfs"]);
        assert_eq!(short(&["stripes=1", "stripes=16"]), ["stripes=1", "stripes=16"]);
        assert_eq!(short(&["x=ä", "x=ö", "x=ä"]), ["ä", "ö", "ä"]);
        assert_eq!(cut("/very/long/目録目録", 13), "/very/…目録目録".replace("目録目録", "録目録"));
        assert_eq!(plain("a\u{1b}[2J\u{202e}b\n"), "a\u{fffd}[2J\u{fffd}b\u{fffd}");
    }

    #[test]
    fn urls_are_told_without_who_we_are_there_where_that_tells_them_apart() {
        let told = |names: [&str; 2]| without_access(names.map(str::to_owned).to_vec());
        assert_eq!(
            told(["/scratch", "s3://KEY:***@bucket/a@b#endpoint=http://x"]),
            ["/scratch", "s3://bucket/a@b"]
        );
        assert_eq!(told(["davs://me:***@web", "http://web?x=a@b"]), ["davs://web", "http://web?x=a@b"]);
        let alike = ["s3://bucket/x#endpoint=http://a", "s3://bucket/x#endpoint=http://b"];
        assert_eq!(told(alike), alike);
    }

    #[test]
    fn places_are_as_long_as_it_takes_to_tell_them_apart() {
        let short = |places: &[&str]| {
            short_places(&places.iter().map(|place| (*place).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(short(&["/mnt/btrfs/me", "/mnt/ext4/me"]), ["…/btrfs/me", "…/ext4/me"]);
        assert_eq!(
            short(&["/mnt/candidate-native/bench/me", "/mnt/candidate-noisy/bench/me"]),
            ["…/candidate-native/…", "…/candidate-noisy/…"]
        );
        assert_eq!(short(&["/data/of/a/project/x", "/scratch/of/a/project/x"]), ["/data/…", "/scratch/…"]);
        let long = ["/data/of/a/project", "/scratch/of/a/project/x"];
        assert_eq!(short(&long), long, "nothing is common to them");
        assert_eq!(short(&["/a/long/place/by/itself"]), ["/a/long/place/by/itself"]);
        let within = ["/mnt/a-long-directory", "/mnt/a-long-directory/below"];
        assert_eq!(short(&within), ["…/a-long-directory", "…/a-long-directory/below"]);
    }
}
