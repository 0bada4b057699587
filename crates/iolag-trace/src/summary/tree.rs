//! Directories as a tree: what was asked of each by itself, and with all that lies below it.
//!
//! The tree has each directory that a path lies in, and each on the way there. Told are the branches that have most of the calls or of the time, and the
//! way to them; what a branch has besides is told as so many others. A directory of which nothing was asked by itself, and that has only one below, is
//! a part of the way to that.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use iolag_model::{OtherDirectories, TraceBranch, TraceCounts};

use crate::trace::path_text;

/// More branches than that nobody looks at.
const BRANCHES_MAX: usize = 300;
/// Nobody looks further down, and browsers do not go on for ever.
const DEPTH_MAX: u32 = 30;
/// A branch with less of all calls, and of all time, is one of the others.
const SHARE_MIN: f64 = 0.001;

/// Where paths begin that nobody knows what they are relative to.
const UNKNOWN: usize = 1;

/// A directory.
#[derive(Debug, Clone, Default)]
struct Node<'a> {
    parent: Option<usize>,
    name: &'a [u8],
    own: TraceCounts,
    all: TraceCounts,
    /// How many directories it has right below it.
    children: u32,
    /// How many of it, and of all below it, something was asked of.
    asked: u64,
    /// The directory above it that is told by itself.
    above: Option<usize>,
    depth: u32,
}

impl Node<'_> {
    fn is_on_the_way(&self) -> bool {
        self.own.calls == 0 && self.children == 1
    }
}

/// The branches that matter, each before what is in it; those with most time first.
pub(super) fn tree<'a>(directories: impl Iterator<Item = (&'a [u8], TraceCounts)>) -> Vec<TraceBranch> {
    let mut nodes = grown(directories);
    add_up(&mut nodes);
    let mut total = nodes[0].all;
    total.add(nodes[UNKNOWN].all);
    // The sums are those of whole branches: none has more than the one that it is in, which stands before it.
    let mut order: Vec<(f64, usize)> = (0..nodes.len())
        .filter(|place| !nodes[*place].is_on_the_way() && nodes[*place].depth < DEPTH_MAX)
        .map(|place| (nodes[place].all.share_of(total), place))
        .filter(|(share, _)| *share >= SHARE_MIN)
        .collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let kept: BTreeSet<usize> = order.into_iter().take(BRANCHES_MAX).map(|(_, place)| place).collect();
    let mut below: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for place in kept {
        below.entry(nodes[place].above).or_default().push(place);
    }
    for places in below.values_mut() {
        // The last is taken first.
        places.sort_by_key(|place| (nodes[*place].all.time_ns, nodes[*place].all.calls, Reverse(*place)));
    }
    let mut branches = Vec::new();
    let mut waiting = below.get(&None).cloned().unwrap_or_default();
    while let Some(place) = waiting.pop() {
        let inside = below.get(&Some(place)).map_or(&[][..], Vec::as_slice);
        branches.push(told(&nodes, place, inside));
        waiting.extend(inside);
    }
    branches
}

/// Each directory after the one that it is in.
fn grown<'a>(directories: impl Iterator<Item = (&'a [u8], TraceCounts)>) -> Vec<Node<'a>> {
    let mut nodes: Vec<Node<'a>> = vec![Node::default(), Node::default()];
    let mut known: HashMap<(usize, &'a [u8]), usize> = HashMap::new();
    for (path, own) in directories.filter(|(_, own)| own.calls > 0) {
        let mut at = if path.starts_with(b"/") { 0 } else { UNKNOWN };
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".") {
            let parent = at;
            at = *known.entry((parent, name)).or_insert(nodes.len());
            if at == nodes.len() {
                nodes[parent].children += 1;
                nodes.push(Node { parent: Some(parent), name, ..Node::default() });
            }
        }
        nodes[at].own.add(own);
    }
    nodes
}

fn add_up(nodes: &mut [Node<'_>]) {
    for place in (0..nodes.len()).rev() {
        let own = nodes[place].own;
        nodes[place].all.add(own);
        nodes[place].asked += u64::from(own.calls > 0);
        if let Some(parent) = nodes[place].parent {
            let (all, asked) = (nodes[place].all, nodes[place].asked);
            nodes[parent].all.add(all);
            nodes[parent].asked += asked;
        }
    }
    for place in 0..nodes.len() {
        let Some(parent) = nodes[place].parent else { continue };
        let above = if nodes[parent].is_on_the_way() { nodes[parent].above } else { Some(parent) };
        nodes[place].above = above;
        nodes[place].depth = above.map_or(0, |above| nodes[above].depth + 1);
    }
}

fn told(nodes: &[Node<'_>], place: usize, inside: &[usize]) -> TraceBranch {
    let Node { own, all, depth, .. } = nodes[place];
    let mut rest = all;
    rest.take(own);
    let mut directories = nodes[place].asked - u64::from(own.calls > 0);
    for branch in inside {
        rest.take(nodes[*branch].all);
        directories -= nodes[*branch].asked;
    }
    let others = (directories > 0).then_some(OtherDirectories { directories, counts: rest });
    TraceBranch { path: path_of(nodes, place), depth, own, all, others }
}

fn path_of(nodes: &[Node<'_>], place: usize) -> String {
    let mut names = Vec::new();
    let mut at = place;
    while let Some(parent) = nodes[at].parent {
        names.push(nodes[at].name);
        at = parent;
    }
    names.reverse();
    let joined = path_text(&names.join(&b'/'));
    match (at, joined.as_str()) {
        (UNKNOWN, "") => ".".to_owned(),
        (UNKNOWN, _) => joined,
        _ => format!("/{joined}"),
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::Nanoseconds;

    use super::*;

    fn counts(calls: u64, time: u64) -> TraceCounts {
        TraceCounts { calls, errors: 0, time_ns: Nanoseconds(time) }
    }

    fn tree_of(directories: &[(&str, u64, u64)]) -> Vec<TraceBranch> {
        tree(directories.iter().map(|(path, calls, time)| (path.as_bytes(), counts(*calls, *time))))
    }

    /// `depth path own all` of each, in calls.
    fn told(branches: &[TraceBranch]) -> Vec<String> {
        let told = branches.iter().map(|branch| {
            let TraceBranch { path, depth, own, all, others } = branch;
            let others = others.map(|others| format!(" +{}:{}", others.directories, others.counts.calls));
            format!("{depth} {path} {} {}{}", own.calls, all.calls, others.unwrap_or_default())
        });
        told.collect()
    }

    #[test]
    fn a_branch_has_its_own_and_all_below() {
        let branches = tree_of(&[
            ("/usr/lib/python3", 10, 100),
            ("/usr/lib/python3/json", 5, 500),
            ("/usr/lib/python3/re", 7, 200),
            ("/etc", 1, 9),
            ("/unasked", 0, 0),
        ]);
        assert_eq!(
            told(&branches),
            [
                "0 / 0 23",
                "1 /usr/lib/python3 10 22",
                "2 /usr/lib/python3/json 5 5",
                "2 /usr/lib/python3/re 7 7",
                "1 /etc 1 1"
            ]
        );
        assert_eq!(branches[1].all.time_ns, Nanoseconds(800));
    }

    #[test]
    fn a_chain_of_single_directories_is_one_branch_and_paths_of_unknown_place_stand_apart() {
        assert_eq!(told(&tree_of(&[("/a/b/c", 2, 0)])), ["0 /a/b/c 2 2"]);
        assert_eq!(told(&tree_of(&[("/", 1, 0), ("/a/b/c", 2, 0)])), ["0 / 1 3", "1 /a/b/c 2 2"]);
        let branches = tree_of(&[("/a", 1, 0), (".", 1, 0), ("x/y", 3, 0), ("../z", 2, 0)]);
        assert_eq!(told(&branches), ["0 . 1 6", "1 x/y 3 3", "1 ../z 2 2", "0 /a 1 1"]);
        assert_eq!(tree_of(&[]), []);
    }

    #[test]
    fn what_matters_little_is_told_as_others() {
        let mut directories = vec![("/data/big".to_owned(), 100_000, 0)];
        directories.extend((0..40).map(|number| (format!("/data/small/{number}/x"), 1, 0)));
        // Few calls, but most of the time.
        directories.push(("/slow/x".to_owned(), 1, 1000));
        let all: Vec<_> =
            directories.iter().map(|(path, calls, time)| (path.as_str(), *calls, *time)).collect();
        assert_eq!(
            told(&tree_of(&all)),
            ["0 / 0 100041", "1 /slow/x 1 1", "1 /data 0 100040 +40:40", "2 /data/big 100000 100000"]
        );
    }

    #[test]
    fn however_many_and_deep_directories_are_the_tree_is_small_and_whole() {
        let wide: Vec<String> = (0..2000).map(|number| format!("/wide/{number}")).collect();
        let mut deep = vec!["/deep".to_owned()];
        for number in 0..200 {
            deep.push(format!("{}/{number}", deep[number]));
        }
        let all: Vec<_> = wide.iter().chain(&deep).map(|path| (path.as_str(), 1, 1)).collect();
        let branches = tree_of(&all[..]);
        assert!(branches.len() <= BRANCHES_MAX && branches.iter().all(|branch| branch.depth < DEPTH_MAX));
        // Whatever is not told by itself is one of the others.
        let others =
            |of: fn(OtherDirectories) -> u64| branches.iter().filter_map(|it| it.others).map(of).sum::<u64>();
        let own: u64 = branches.iter().map(|branch| branch.own.calls).sum();
        assert_eq!(own + others(|others| others.counts.calls), 2201);
        assert_eq!(
            branches.iter().filter(|it| it.own.calls > 0).count() as u64 + others(|it| it.directories),
            2201
        );
        for (place, branch) in branches.iter().enumerate().skip(1) {
            let above = branches[..place].iter().rev().find(|above| above.depth + 1 == branch.depth).unwrap();
            assert!(branch.path.starts_with(&above.path), "{} in {}", branch.path, above.path);
        }
    }
}
