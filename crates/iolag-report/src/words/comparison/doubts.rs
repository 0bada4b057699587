//! What to know before a comparison is believed, in sentences.

use iolag_analysis::compare::{ComparedTable, Doubt, Fact};
use iolag_analysis::joined;
use iolag_model::{Nanoseconds, format_duration};

use super::names::{SideNames, plain};

/// A sentence for each doubt; what is of the hosts together, in one.
pub(crate) fn doubts(table: &ComparedTable, names: &SideNames) -> Vec<String> {
    let is_of_host = |doubt: &&Doubt| matches!(doubt, Doubt::Differs { fact, .. } if of_host(fact));
    let of_hosts: Vec<String> =
        table.doubts.iter().filter(is_of_host).map(|doubt| sentence(doubt, names)).collect();
    let hosts = (!of_hosts.is_empty()).then(|| format!("hosts are compared, too: {}.", of_hosts.join("; ")));
    let others = table
        .doubts
        .iter()
        .filter(|doubt| !is_of_host(doubt))
        .map(|doubt| format!("{}.", sentence(doubt, names)));
    hosts.into_iter().chain(others).collect()
}

const fn of_host(fact: &Fact) -> bool {
    matches!(fact, Fact::Host | Fact::Kernel | Fact::Processors | Fact::Memory)
}

/// One doubt, without a stop at its end.
pub(crate) fn sentence(doubt: &Doubt, names: &SideNames) -> String {
    match doubt {
        Doubt::Differs { fact, values } => {
            let values = if *fact == Fact::MountOptions { own_options(values) } else { values.clone() };
            let told = told(&values, names);
            match fact {
                fact if of_host(fact) => format!("{fact} {told}"),
                Fact::Option(_) => format!("the option {} differs: {told}", plain(&fact.to_string())),
                Fact::MountOptions => format!("mount options differ: {told}"),
                _ => format!("the {fact} differs: {told}"),
            }
        }
        Doubt::OneFileSystem { sides, device } => {
            format!(
                "one file system by two names, {} (device {}): a difference is of directories, or of chance",
                names.list(sides),
                plain(device)
            )
        }
        Doubt::OneAfterTheOther { first, after, apart_ns } => format!(
            "all runs of {} came before those of {} ({} apart): what changed in time and what differs between sides cannot be told apart",
            names.short(*first),
            names.short(*after),
            format_duration(Nanoseconds(*apart_ns))
        ),
        Doubt::DifferentPatterns { patterns } => {
            let patterns: Vec<Vec<String>> = patterns.iter().map(|pattern| vec![pattern.clone()]).collect();
            format!("the pattern differs, so that rates are not of the same work: {}", told(&patterns, names))
        }
    }
}

/// As in `2 (native), 16 (the others)`.
fn told(values: &[Vec<String>], names: &SideNames) -> String {
    let mut groups: Vec<(&Vec<String>, Vec<usize>)> = Vec::new();
    for (side, value) in values.iter().enumerate() {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, sides)) => sides.push(side),
            None => groups.push((value, vec![side])),
        }
    }
    let group = |(values, sides): &(&Vec<String>, Vec<usize>)| {
        let value = match values.is_empty() {
            true => "not known".to_owned(),
            false => joined(values.iter().map(|value| plain(value)).collect()),
        };
        format!("{value} ({})", names.together(sides))
    };
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

/// Of long lists of options what not all have.
fn own_options(values: &[Vec<String>]) -> Vec<Vec<String>> {
    let lists = || values.iter().flatten();
    let is_common = |option: &str| lists().all(|list| list.split(',').any(|other| other == option));
    let own = |list: &String| {
        let own: Vec<&str> = list.split(',').filter(|option| !is_common(option)).collect();
        if own.is_empty() { "none of these".to_owned() } else { own.join(",") }
    };
    values.iter().map(|lists| lists.iter().map(own).collect()).collect()
}
