//! Finds what makes a comparison doubtful.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Order, RunId, format_bytes};

use super::attempts;
use super::cells::{Row, SIDE, TARGET, part_of};
use super::doubt::Doubt;
use super::side::{Fact, Side, Unit, UnitBlock, defining_labels};
use crate::run::values::RunQuantity;

/// The options of mounts that are those of the host, not of the file system.
const OWN_ADDRESS: &str = "clientaddr=";
/// mdtest's school: it does each operation for itself, and the others all of them in turn.
const ALL_OF_ONE: &str = "batch";
/// A page cache that is so many times as full counts as another state.
const CACHE_FACTOR: f64 = 2.0;
/// Runs of a block are no neighbours if so much more passed between them than is usual, in ns: an hour.
const PAUSE_MOST_NS: u64 = 3_600_000_000_000;

/// What to know of these sides: what makes them hardly comparable first.
pub(super) fn doubts(sides: &[Side], rows: &[Row], across: &[String]) -> Vec<Doubt> {
    let mut doubts = one_directory(sides);
    doubts.extend(one_file_system(sides));
    let patterns = different_patterns(sides, rows);
    let is_told = |fact: &Fact| {
        let name = fact.to_string();
        let is_chosen = sides.iter().any(|side| side.chosen_by.contains(&name)) || across.contains(&name);
        // Which phases there are follows from the pattern.
        let is_pattern = patterns.is_some() && matches!(name.as_str(), "pattern" | "phases");
        !is_chosen && !is_pattern
    };
    let mut differing = differing_facts(sides);
    // Where numbers differ, so do bytes and checksums.
    let tree = differing.iter().position(|(fact, _)| fact.is_of_tree());
    let mut place = 0..;
    differing.retain(|(fact, _)| place.next() == tree || !fact.is_of_tree());
    let differing = differing.into_iter().chain(differing_caches(sides));
    let differing: Vec<Doubt> = differing
        .filter(|(fact, _)| is_told(fact))
        .map(|(fact, values)| Doubt::Differs { fact, values })
        .collect();
    doubts.extend(patterns);
    doubts.extend(attempts::doubt(rows));
    doubts.extend(differing);
    doubts.extend(different_labels(sides, across));
    doubts.extend(one_after_the_other(sides));
    doubts.extend(taken_up_again(sides));
    doubts
}

/// What is known of the targets that a side measured.
fn of_places<'a>(side: &'a Side, fact: &'a Fact) -> impl Iterator<Item = (&'a Unit, &'a str)> {
    side.units.iter().flat_map(move |unit| {
        let is_measured = |target: &str| unit.values.iter().any(|value| value.target == target);
        let places = unit.places.iter().filter(move |(target, _)| is_measured(target));
        places.filter_map(move |(_, facts)| Some((unit, facts.get(fact)?.as_str())))
    })
}

fn values(side: &Side, fact: &Fact) -> BTreeSet<String> {
    let of_units = side.units.iter().filter_map(|unit| unit.facts.get(fact)).cloned();
    of_units.chain(of_places(side, fact).map(|(_, value)| value.to_owned())).collect()
}

fn targets(side: &Side) -> BTreeSet<&str> {
    side.units.iter().flat_map(|unit| &unit.values).map(|value| value.target.as_str()).collect()
}

fn are_all_alike<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|value| Some(&value) == first.as_ref())
}

/// What is known of several sides and not the same. What a file system is, and how it is mounted, is no doubt where just that is compared.
fn differing_facts(sides: &[Side]) -> Vec<(Fact, Vec<Vec<String>>)> {
    let units = || sides.iter().flat_map(|side| &side.units);
    let of_places = units().flat_map(|unit| unit.places.values()).flat_map(|facts| facts.keys());
    let facts: BTreeSet<&Fact> = units().flat_map(|unit| unit.facts.keys()).chain(of_places).collect();
    let saying = || sides.iter().filter(|side| !side.units.is_empty());
    let has_one_place = are_all_alike(saying().map(targets));
    let has_one_kind = are_all_alike(saying().map(|side| values(side, &Fact::FileSystem)));
    let differs = |fact: &Fact| {
        let all: Vec<BTreeSet<String>> = sides.iter().map(|side| values(side, fact)).collect();
        let is_compared = match fact {
            Fact::Device | Fact::Commands => true,
            Fact::FileSystem | Fact::Source => !has_one_place,
            Fact::MountOptions => !has_one_kind,
            Fact::Option(name) => sides.iter().any(|side| side.chosen_by.contains(name)),
            _ => false,
        };
        // An option that there is not was not given, unless nothing is known of any; anything else is not known.
        let is_known = |(side, values): &(&Side, &BTreeSet<String>)| {
            !values.is_empty() || matches!(fact, Fact::Option(_)) && knows_options(side)
        };
        let known = sides.iter().zip(&all).filter(is_known).map(|(_, values)| values);
        if is_compared || are_all_alike(known) {
            return None;
        }
        let told = if *fact == Fact::MountOptions { differing_options(all) } else { lists(all) };
        // Of the options of mounts nothing may be left.
        (!are_all_alike(told.iter().filter(|values| !values.is_empty())) || matches!(fact, Fact::Option(_)))
            .then(|| (fact.clone(), told))
    };
    facts.into_iter().filter_map(differs).collect()
}

/// What a history remembers of runs has no options.
fn knows_options(side: &Side) -> bool {
    side.units.iter().any(|unit| unit.facts.keys().any(|fact| matches!(fact, Fact::Option(_))))
}

fn lists(all: Vec<BTreeSet<String>>) -> Vec<Vec<String>> {
    all.into_iter().map(|values| values.into_iter().collect()).collect()
}

/// Of the options of mounts those that not all have.
fn differing_options(all: Vec<BTreeSet<String>>) -> Vec<Vec<String>> {
    let parts = |options: &str| -> BTreeSet<String> {
        options.split(',').filter(|part| !part.starts_with(OWN_ADDRESS)).map(str::to_owned).collect()
    };
    let mut each = all.iter().flatten().map(|options| parts(options));
    let first = each.next().unwrap_or_default();
    let common = each.fold(first, |common, other| common.intersection(&other).cloned().collect());
    let left = |options: String| {
        let left: Vec<String> = parts(&options).difference(&common).cloned().collect();
        if left.is_empty() { "none of these".to_owned() } else { left.join(",") }
    };
    lists(all.into_iter().map(|values| values.into_iter().map(left).collect()).collect())
}

/// Where the page cache of one side was always far fuller than that of another.
fn differing_caches(sides: &[Side]) -> Option<(Fact, Vec<Vec<String>>)> {
    let range = |side: &Side| {
        let bytes = || side.units.iter().filter_map(|unit| unit.page_cache_bytes);
        Some((bytes().min()?, bytes().max()?))
    };
    let ranges: Vec<Option<(u64, u64)>> = sides.iter().map(range).collect();
    let is_far = |(_, most): (u64, u64), (least, _): (u64, u64)| least as f64 > CACHE_FACTOR * most as f64;
    let known = || ranges.iter().flatten();
    if !known().any(|one| known().any(|other| is_far(*one, *other))) {
        return None;
    }
    let told = |(least, most): (u64, u64)| match (format_bytes(least), format_bytes(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    Some((Fact::CacheState, ranges.iter().map(|range| range.map(told).into_iter().collect()).collect()))
}

/// Sides of which the user named the targets differently, and which are the same: a symbolic link, or a way that goes up and down again.
fn one_directory(sides: &[Side]) -> Vec<Doubt> {
    // Commands may have made something else of it.
    let is_plain = |unit: &&Unit| !unit.facts.contains_key(&Fact::Commands);
    let named = |side: &Side| -> BTreeSet<String> {
        let units = side.units.iter().filter(is_plain);
        units.filter_map(|unit| unit.coordinates.get(TARGET)).cloned().collect()
    };
    let mut places: BTreeMap<[BTreeSet<String>; 4], Vec<usize>> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate().filter(|(_, side)| !named(side).is_empty()) {
        let [host, source, device] = [Fact::Host, Fact::Source, Fact::Device].map(|fact| values(side, &fact));
        let targets = targets(side).into_iter().map(str::to_owned).collect();
        places.entry([targets, host, source, device]).or_default().push(at);
    }
    let doubt = |([targets, .., device], own): ([BTreeSet<String>; 4], Vec<usize>)| {
        let names: BTreeSet<BTreeSet<String>> = own.iter().map(|side| named(&sides[*side])).collect();
        let directory = targets.into_iter().collect::<Vec<_>>().join(", ");
        // The sides of a plan may have one name of it, too.
        let are_sides =
            |side: &usize| sides[*side].units.iter().any(|unit| unit.coordinates.contains_key(SIDE));
        let is_told = names.len() > 1 || !device.is_empty() && own.len() > 1 && own.iter().all(are_sides);
        is_told.then_some(Doubt::OneDirectory { sides: own, directory })
    };
    places.into_iter().filter_map(doubt).collect()
}

/// Sides of different names on one device of one host.
fn one_file_system(sides: &[Side]) -> Vec<Doubt> {
    let identity = |side: &Side| {
        let all = |fact| values(side, &fact).into_iter().collect::<Vec<_>>().join(", ");
        let identity = [Fact::Host, Fact::FileSystem, Fact::Source, Fact::Device].map(all);
        identity.iter().all(|part| !part.is_empty()).then_some(identity)
    };
    let identities: Vec<Option<[String; 4]>> = sides.iter().map(identity).collect();
    let different: BTreeSet<&[String; 4]> = identities.iter().flatten().collect();
    let doubt = |known: &[String; 4]| {
        let own: Vec<usize> =
            (0..sides.len()).filter(|side| identities[*side].as_ref() == Some(known)).collect();
        let named = own.iter().map(|side| targets(&sides[*side])).filter(|targets| !targets.is_empty());
        let targets: Vec<BTreeSet<&str>> = named.collect();
        let are_apart = targets.iter().any(|one| targets.iter().any(|other| one.is_disjoint(other)));
        let device = known[3].clone();
        are_apart.then_some(Doubt::OneFileSystem { sides: own, device })
    };
    different.into_iter().filter_map(doubt).collect()
}

fn different_patterns(sides: &[Side], rows: &[Row]) -> Option<Doubt> {
    let pattern = Fact::Option("pattern".to_owned());
    let patterns: Vec<BTreeSet<String>> = sides.iter().map(|side| values(side, &pattern)).collect();
    let is_of_one = |values: &BTreeSet<String>| values.contains(ALL_OF_ONE);
    let are_several = patterns.iter().any(is_of_one)
        && patterns.iter().any(|values| !values.is_empty() && !is_of_one(values));
    let are_rates = rows.iter().any(|row| row.quantity == RunQuantity::Rate);
    (are_rates && are_several).then(|| Doubt::DifferentPatterns {
        patterns: patterns
            .into_iter()
            .map(|values| values.into_iter().collect::<Vec<_>>().join(", "))
            .collect(),
    })
}

/// The labels by which sides were told apart, if these are several, and what `across` pools though nothing of it is alike.
fn different_labels(sides: &[Side], across: &[String]) -> Option<Doubt> {
    let saying: Vec<Side> = sides.iter().filter(|side| !side.units.is_empty()).cloned().collect();
    let is_chosen = |name: &String| sides.iter().any(|side| side.chosen_by.contains(name));
    let value = |unit: &Unit, name: &String| -> String {
        match part_of(unit, name) {
            Some(value) => format!("{name}={value}"),
            None => format!("no {name}"),
        }
    };
    let values = |side: &Side, name: &String| -> BTreeSet<String> {
        side.units.iter().map(|unit| value(unit, name)).collect()
    };
    let is_unlike = |name: &&String| {
        let mut others = saying[1..].iter();
        *name != TARGET && others.any(|side| values(side, name).is_disjoint(&values(&saying[0], name)))
    };
    let mut names: BTreeSet<String> = across.iter().filter(is_unlike).cloned().collect();
    let is_pooled = !names.is_empty();
    names.extend(defining_labels(&saying).into_iter().filter(is_chosen));
    let label = |side: &Side, name: &String| values(side, name).into_iter().collect::<Vec<_>>().join(" or ");
    let of_side = |side: &Side| match side.units.is_empty() {
        true => Vec::new(),
        false => names.iter().map(|name| label(side, name)).collect(),
    };
    (is_pooled || names.len() > 1)
        .then(|| Doubt::DifferentLabels { labels: sides.iter().map(of_side).collect() })
}

/// Two sides of which one was over before the other began: all others against the base, and of these among themselves those between which nobody else was. Of
/// one run a side nobody says anything.
fn one_after_the_other(sides: &[Side]) -> Vec<Doubt> {
    let span = |side: &Side| {
        let begin = side.units.iter().map(|unit| unit.span_ns[0]).min()?;
        let end = side.units.iter().map(|unit| unit.span_ns[1]).max()?;
        Some([begin, end])
    };
    let spans: Vec<Option<[i64; 2]>> = sides.iter().map(span).collect();
    let is_before = |one: usize, other: usize| match (spans[one], spans[other]) {
        (Some([begin, end]), Some([later, _])) => begin < later && end <= later,
        _ => false,
    };
    let is_told = |first: usize, after: usize| {
        let is_between = |third: usize| is_before(first, third) && is_before(third, after);
        first == 0 || after == 0 || !(0..sides.len()).any(is_between)
    };
    let middle = |side: usize| spans[side].map_or(0, |[begin, end]| i64::midpoint(begin, end));
    let doubt = |one: usize, other: usize| {
        let (first, after) = match (is_before(one, other), is_before(other, one)) {
            (true, _) => (one, other),
            (_, true) => (other, one),
            _ => return None,
        };
        let has_several = sides[one].units.len() > 1 || sides[other].units.len() > 1;
        let apart_ns = middle(first).abs_diff(middle(after));
        (has_several && is_told(first, after)).then_some(Doubt::OneAfterTheOther { first, after, apart_ns })
    };
    let pairs = (0..sides.len()).flat_map(|one| (one + 1..sides.len()).map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| doubt(one, other)).collect()
}

/// Blocks of campaigns that took turns in which more time passed between two runs than in others: whoever broke off the campaign went on with it later.
fn taken_up_again(sides: &[Side]) -> Option<Doubt> {
    let mut spans: BTreeMap<(&RunId, u32), Vec<[i64; 2]>> = BTreeMap::new();
    for unit in sides.iter().flat_map(|side| &side.units) {
        if let Some(UnitBlock { campaign, order: Order::Interleaved | Order::Random, block, .. }) =
            &unit.block
        {
            spans.entry((campaign, *block)).or_default().push(unit.span_ns);
        }
    }
    let pauses: Vec<u64> = spans.into_values().filter_map(longest_pause).collect();
    let mut ascending = pauses.clone();
    ascending.sort_unstable();
    let usual = *ascending.get(ascending.len().checked_sub(1)? / 2)?;
    let longer = pauses.iter().filter(|pause| **pause > usual.saturating_add(PAUSE_MOST_NS));
    let blocks = longer.count() as u32;
    let pause_ns = *ascending.last()?;
    (blocks > 0).then_some(Doubt::TakenUpAgain { blocks, of: pauses.len() as u32, pause_ns })
}

/// From the end of one run to the beginning of the next; nothing of one run.
fn longest_pause(mut runs: Vec<[i64; 2]>) -> Option<u64> {
    runs.sort_unstable();
    let between = |two: &[[i64; 2]]| two[1][0].saturating_sub(two[0][1]).max(0).unsigned_abs();
    runs.windows(2).map(between).max()
}
