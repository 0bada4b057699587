//! What the runs of a page are called: by what tells them apart, and no more.

use iolag_model::{RunRecord, TargetRecord, counted};

/// A name for each run: what not all of them have in common, and the run's id.
pub(super) fn run_names(runs: &[&RunRecord]) -> Vec<String> {
    let mut names: Vec<Vec<String>> = vec![Vec::new(); runs.len()];
    for label in labels(runs) {
        let value = |run: &RunRecord| {
            Some(run.labels.get(label).map_or_else(String::new, |value| format!("{label}={value}")))
        };
        add(&mut names, runs.iter().map(|run| value(run)).collect());
    }
    add(&mut names, runs.iter().map(|run| Some(kind(run).to_owned())).collect());
    add(&mut names, runs.iter().map(|run| run.coordinates.get("side").cloned()).collect());
    add(&mut names, targets(runs));
    add(&mut names, copies(runs));
    add(&mut names, of_metadata(runs, |run, _| counted(u64::from(run.spec.clients), "client", "clients")));
    add(&mut names, of_copies(runs));
    let per_dataset = |objects| format!("{} per dataset", counted(objects, "object", "objects"));
    add(&mut names, of_metadata(runs, |_, objects| per_dataset(objects)));
    add(&mut names, runs.iter().map(|run| Some(format!("repetition {}", run.repetition))).collect());
    let named = |(parts, run): (Vec<String>, &&RunRecord)| match parts.is_empty() {
        true => run.id.to_string(),
        false => format!("{} ({})", parts.join(", "), run.id),
    };
    names.into_iter().zip(runs).map(named).collect()
}

/// Adds what is known of each run, unless it is the same of all of which it is known.
fn add(names: &mut [Vec<String>], known: Vec<Option<String>>) {
    let mut values = known.iter().flatten();
    let first = values.next();
    if values.all(|value| Some(value) == first) {
        return;
    }
    for (name, value) in names.iter_mut().zip(known) {
        name.extend(value.filter(|value| !value.is_empty()));
    }
}

fn labels<'a>(runs: &[&'a RunRecord]) -> Vec<&'a str> {
    let mut labels: Vec<&str> = runs.iter().flat_map(|run| run.labels.keys().map(String::as_str)).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

const fn kind(run: &RunRecord) -> &'static str {
    run.spec.workload.name()
}

/// What only metadata runs have; `words` gets the objects that were precreated per dataset.
fn of_metadata(runs: &[&RunRecord], words: impl Fn(&RunRecord, u64) -> String) -> Vec<Option<String>> {
    let of_run =
        |run: &&RunRecord| run.spec.workload.metadata().map(|spec| words(run, spec.precreated_objects));
    runs.iter().map(of_run).collect()
}

/// How many copies of a job a run had.
fn of_copies(runs: &[&RunRecord]) -> Vec<Option<String>> {
    let of_run = |run: &&RunRecord| {
        run.spec.workload.job_terms().map(|_| counted(u64::from(run.spec.clients), "copy", "copies"))
    };
    runs.iter().map(of_run).collect()
}

/// The targets that not every run has, without the directories above them that all of these have in common.
fn targets(runs: &[&RunRecord]) -> Vec<Option<String>> {
    let has = |run: &RunRecord, name: &str| places(run).iter().any(|target| target.name == name);
    let own = |run: &&RunRecord| -> Vec<String> {
        let names = places(run).iter().map(|target| target.name.clone());
        names.filter(|name| !runs.iter().all(|run| has(run, name))).collect()
    };
    let own: Vec<Vec<String>> = runs.iter().map(own).collect();
    let above = directory_above(own.iter().flatten());
    let joined = |names: &Vec<String>| names.iter().map(|name| below(name, above)).collect::<Vec<_>>();
    own.iter().map(|names| Some(joined(names).join(", "))).collect()
}

/// Where a run works; to where it copies is told by itself.
fn places(run: &RunRecord) -> &[TargetRecord] {
    let targets = run.measured_targets();
    if run.copy_to().is_some() { &targets[..targets.len().min(1)] } else { targets }
}

/// To where each run copies, shortened as targets are.
fn copies(runs: &[&RunRecord]) -> Vec<Option<String>> {
    let to: Vec<Option<String>> = runs.iter().map(|run| run.copy_to().map(str::to_owned)).collect();
    let above = directory_above(to.iter().flatten());
    to.iter().map(|to| Some(format!("copies to {}", below(to.as_ref()?, above)))).collect()
}

/// A name without so many bytes of directories above it.
fn below(name: &str, above: usize) -> String {
    match above {
        0 => name.to_owned(),
        above => format!("…/{}", &name[above..]),
    }
}

/// How many bytes of these names are a directory that all are in; 0 if that is the root, or there is none.
fn directory_above<'a>(mut names: impl Iterator<Item = &'a String>) -> usize {
    let parent = |name: &'a str| &name[..name.rfind('/').map_or(0, |end| end + 1)];
    let Some(first) = names.next() else { return 0 };
    let mut common = parent(first);
    for name in names {
        while !parent(name).starts_with(common) {
            common = parent(common.trim_end_matches('/'));
        }
    }
    if common == "/" { 0 } else { common.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_in_common_are_left_out_whole() {
        let above = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            directory_above(names.iter())
        };
        assert_eq!(above(&["/mnt/a/data", "/mnt/b/data"]), "/mnt/".len());
        assert_eq!(above(&["/mnt/a", "/mnt/a/b", "/mnt/ab"]), "/mnt/".len());
        assert_eq!(above(&["/home/data", "/scratch/data"]), 0);
        assert_eq!(above(&["/mnt/a", "delayed:1ms:/mnt/a"]), 0);
        assert_eq!(above(&["memory:", "/mnt/a"]), 0);
        assert_eq!(above(&[]), 0);
    }
}
