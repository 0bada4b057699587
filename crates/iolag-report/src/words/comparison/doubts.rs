//! What to know before a comparison is believed, in sentences.

use iolag_analysis::compare::{ComparedTable, Doubt, Fact, UnitKind};
use iolag_analysis::joined;
use iolag_model::{Nanoseconds, counted, format_duration};

use super::cells::unit_names;
use super::names::{SideNames, plain, row_name};

/// Of more values some are counted.
const VALUES_MOST: usize = 4;

/// A sentence for each doubt; what is of the hosts together, in one.
pub(crate) fn doubts(table: &ComparedTable, names: &SideNames) -> Vec<String> {
    let is_of_host = |doubt: &&Doubt| matches!(doubt, Doubt::Differs { fact, .. } if of_host(fact));
    let of_hosts: Vec<String> =
        table.doubts.iter().filter(is_of_host).map(|doubt| sentence(doubt, names, table.units)).collect();
    let hosts = (!of_hosts.is_empty()).then(|| format!("hosts are compared, too: {}.", of_hosts.join("; ")));
    let others = table
        .doubts
        .iter()
        .filter(|doubt| !is_of_host(doubt))
        .map(|doubt| format!("{}.", sentence(doubt, names, table.units)));
    hosts.into_iter().chain(others).collect()
}

const fn of_host(fact: &Fact) -> bool {
    matches!(fact, Fact::Host | Fact::Kernel | Fact::Processors | Fact::Memory)
}

/// One doubt, without a stop at its end.
pub(crate) fn sentence(doubt: &Doubt, names: &SideNames, units: UnitKind) -> String {
    match doubt {
        Doubt::Differs { fact, values } => {
            let values = match fact {
                Fact::MountOptions | Fact::Tree => own_parts(values),
                _ => values.clone(),
            };
            let told = told(&values, names);
            match fact {
                fact if of_host(fact) => format!("{fact} {told}"),
                Fact::Option(_) => format!("the option --{} differs: {told}", plain(&fact.to_string())),
                Fact::MountOptions => format!("mount options differ: {told}"),
                Fact::Copies => format!("copies differ: {told}"),
                fact if fact.is_of_tree() => format!("the trees differ: {told}"),
                _ => format!("the {fact} differs: {told}"),
            }
        }
        Doubt::DifferentLabels { labels } => match labels.iter().map(Vec::len).max() {
            Some(0 | 1) | None => format!("unlike runs are compared all the same: {}", told(labels, names)),
            _ => format!(
                "sides differ in several labels, {}: which of them makes a difference cannot be told",
                told(labels, names)
            ),
        },
        Doubt::OneFileSystem { sides, device } => {
            format!(
                "one file system by two names, {} (device {}): a difference is not of file systems, but of directories, of what is wrapped around them or done before, or of chance",
                names.list(sides),
                plain(device)
            )
        }
        Doubt::OneDirectory { sides, directory } => format!(
            "one directory by two names, {} ({}): what differs between them differs by chance",
            names.list(sides),
            plain(directory)
        ),
        Doubt::OneAfterTheOther { first, after, apart_ns } => format!(
            "all {} of {} came before those of {} (their middles are {} apart): what changed in time and what differs between sides cannot be told apart",
            unit_names(units)[1],
            names.short(*first),
            names.short(*after),
            format_duration(Nanoseconds(*apart_ns))
        ),
        Doubt::TakenUpAgain { blocks, of, pause_ns } => format!(
            "{blocks} of {} {} taken up again after up to {}: the runs of such a block are no neighbours, and what changed meanwhile is in its difference",
            counted(u64::from(*of), "block", "blocks"),
            if *blocks == 1 { "was" } else { "were" },
            format_duration(Nanoseconds(*pause_ns))
        ),
        Doubt::DifferentAttempts { key, attempts } => format!(
            "a {} of {} has {} attempts: of so few a quantile depends on their number",
            unit_names(units)[0],
            row_name(key),
            told(&attempts_in_words(attempts), names)
        ),
        Doubt::DifferentPatterns { patterns } => {
            let patterns: Vec<Vec<String>> = patterns.iter().map(|pattern| vec![pattern.clone()]).collect();
            format!("the pattern differs, so that rates are not of the same work: {}", told(&patterns, names))
        }
    }
}

/// Of each side so many, or nothing where nobody knows.
pub(crate) fn attempts_in_words(attempts: &[Option<u64>]) -> Vec<Vec<String>> {
    attempts.iter().map(|attempts| attempts.map(|count| count.to_string()).into_iter().collect()).collect()
}

/// As in `2 (native), 16 (the others)`.
pub(crate) fn told(values: &[Vec<String>], names: &SideNames) -> String {
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
            false => some(values),
        };
        format!("{value} ({})", names.together(sides))
    };
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

/// As in `a, b and c`; of more than four, the others by their number.
fn some(values: &[String]) -> String {
    let mut told: Vec<String> = values.iter().map(|value| plain(value)).collect();
    if told.len() > VALUES_MOST {
        let others = told.len() - (VALUES_MOST - 1);
        told.truncate(VALUES_MOST - 1);
        told.push(format!("{others} others"));
    }
    joined(told)
}

/// Of lists of options, or of parts of a tree, what not all have.
fn own_parts(values: &[Vec<String>]) -> Vec<Vec<String>> {
    let lists = || values.iter().flatten();
    let is_common = |option: &str| lists().all(|list| list.split(',').any(|other| other == option));
    let own = |list: &String| {
        let own: Vec<&str> = list.split(',').filter(|option| !is_common(option)).collect();
        if own.is_empty() { "none of these".to_owned() } else { own.join(",") }
    };
    values.iter().map(|lists| lists.iter().map(own).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::study;

    fn told(doubt: Doubt) -> String {
        let mut table = study();
        table.doubts = vec![doubt];
        doubts(&table, &SideNames::of(&table)).join(" ")
    }

    fn differs(fact: Fact, values: [&[&str]; 3]) -> String {
        let values = values.map(|values| values.iter().map(|value| (*value).to_owned()).collect()).to_vec();
        told(Doubt::Differs { fact, values })
    }

    #[test]
    fn what_differs_is_told_with_the_sides_that_have_it() {
        assert_eq!(
            differs(Fact::Kernel, [&["6.1"], &["6.2"], &[]]),
            "hosts are compared, too: kernel 6.1 (native), 6.2 (lnet-1.8.1), not known (nfs)."
        );
        assert_eq!(
            differs(Fact::MountOptions, [&["rw,noatime"], &["rw,noatime,vers=3"], &["rw,vers=4"]]),
            "mount options differ: noatime (native), noatime,vers=3 (lnet-1.8.1), vers=4 (nfs)."
        );
        assert_eq!(
            differs(
                Fact::Tree,
                [&["120 files,9 directories"], &["121 files,9 directories"], &["120 files,9 directories"]]
            ),
            "the trees differ: 120 files (native and nfs), 121 files (lnet-1.8.1)."
        );
        assert_eq!(
            differs(Fact::TreeChecksum, [&["checksum 0a"], &["checksum 0b"], &[]]),
            "the trees differ: checksum 0a (native), checksum 0b (lnet-1.8.1), not known (nfs)."
        );
        assert_eq!(
            differs(Fact::Option("objects".to_owned()), [&["1000"], &["1000"], &["1", "2", "3", "4", "5\n"]]),
            "the option --objects differs: 1000 (native and lnet-1.8.1), 1, 2, 3 and 2 others (nfs)."
        );
    }

    #[test]
    fn other_doubts_have_sentences_of_their_own() {
        assert_eq!(
            told(Doubt::OneFileSystem { sides: vec![0, 2], device: "0:45".to_owned() }),
            "one file system by two names, native and nfs (device 0:45): a difference is not of file systems, but of directories, of what is wrapped around them or done before, or of chance."
        );
        let labels =
            [["client=native", "system=quiet"], ["client=lnet", "system=quiet"], ["client=nfs", "no system"]]
                .map(|of| of.map(str::to_owned).to_vec());
        assert_eq!(
            told(Doubt::DifferentLabels { labels: labels.to_vec() }),
            "sides differ in several labels, client=native and system=quiet (native), client=lnet and system=quiet (lnet-1.8.1), client=nfs and no system (nfs): which of them makes a difference cannot be told."
        );
        assert_eq!(
            told(Doubt::TakenUpAgain { blocks: 1, of: 9, pause_ns: 3 * 86_400_000_000_000 }),
            "1 of 9 blocks was taken up again after up to 3 d 0 h: the runs of such a block are no neighbours, and what changed meanwhile is in its difference."
        );
        let key = Box::new(study().rows[0].key.clone());
        assert_eq!(
            told(Doubt::DifferentAttempts { key, attempts: vec![Some(24), Some(96), None] }),
            "a run of read, 4 clients has 24 (native), 96 (lnet-1.8.1), not known (nfs) attempts: of so few a quantile depends on their number."
        );
        let patterns = ["path", "path", "flat"].map(str::to_owned).to_vec();
        assert_eq!(
            told(Doubt::DifferentPatterns { patterns }),
            "the pattern differs, so that rates are not of the same work: path (native and lnet-1.8.1), flat (nfs)."
        );
    }
}
