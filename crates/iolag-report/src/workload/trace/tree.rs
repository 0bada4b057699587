//! Directories as a tree: what a branch is called, and the few that matter for a terminal.

use iolag_model::{TraceBranch, TraceCounts};

use super::tables::{TraceTable, of_place};
use crate::text::table::Side;

/// A branch with less of all calls, and of all time, is not shown.
const SHARE_MIN: f64 = 0.05;
/// More lines than that are no overview.
const LINES_MAX: usize = 10;
/// In a tree with fewer the list of directories says the same.
const BRANCHES_MIN: usize = 3;
const INDENT: &str = "  ";

/// All calls that are in a tree.
pub(crate) fn whole_tree(branches: &[TraceBranch]) -> TraceCounts {
    let mut total = TraceCounts::default();
    branches.iter().filter(|branch| branch.depth == 0).for_each(|branch| total.add(branch.all));
    total
}

/// What a branch is called in the one that it is in.
pub(crate) fn branch_name<'a>(branch: &'a TraceBranch, above: Option<&TraceBranch>) -> &'a str {
    let below = above.and_then(|above| branch.path.strip_prefix(above.path.trim_end_matches('/')));
    below.and_then(|below| below.strip_prefix('/')).unwrap_or(&branch.path)
}

/// The branches that matter most, each as far in as it is below others; nothing if there are hardly any.
pub(super) fn short_tree(branches: &[TraceBranch]) -> Option<TraceTable> {
    let total = whole_tree(branches);
    let share = |place: usize| branches[place].all.share_of(total);
    let mut order: Vec<usize> = (0..branches.len()).filter(|place| share(*place) >= SHARE_MIN).collect();
    // A branch has no less than what is in it, and stands before that.
    order.sort_by(|one, other| share(*other).total_cmp(&share(*one)).then(one.cmp(other)));
    order.truncate(LINES_MAX);
    order.sort_unstable();
    let mut above: Vec<&TraceBranch> = Vec::new();
    let rows = order.iter().map(|place| {
        let branch = &branches[*place];
        above.truncate(branch.depth as usize);
        let name = branch_name(branch, above.last().copied());
        let name = format!("{}{name}", INDENT.repeat(above.len()));
        above.push(branch);
        of_place(branch.all, name)
    });
    let rows: Vec<_> = rows.collect();
    (rows.len() >= BRANCHES_MIN).then(|| TraceTable {
        title: "Directories with all that lies below them, of 5 % or more",
        columns: vec![
            ("calls", Side::Right),
            ("failed", Side::Right),
            ("time", Side::Right),
            ("directory", Side::Left),
        ],
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(path: &str, depth: u32, calls: u64) -> TraceBranch {
        let all = TraceCounts { calls, ..TraceCounts::default() };
        TraceBranch { path: path.to_owned(), depth, all, ..TraceBranch::default() }
    }

    fn names(branches: &[TraceBranch]) -> Option<Vec<String>> {
        let table = short_tree(branches)?;
        Some(table.rows.into_iter().map(|row| row[3].text.clone()).collect())
    }

    #[test]
    fn only_what_matters_is_shown_as_far_in_as_it_is() {
        let branches = [
            branch("/", 0, 990),
            branch("/usr/lib", 1, 900),
            branch("/usr/lib/a", 2, 800),
            branch("/usr/lib/b", 2, 9),
            branch("/etc", 1, 60),
            branch(".", 0, 10),
            branch("x", 1, 10),
        ];
        assert_eq!(names(&branches).unwrap(), ["/", "  usr/lib", "    a", "  etc"]);
        assert_eq!(names(&branches[..2]), None, "that is no tree");
    }

    #[test]
    fn of_many_branches_the_largest_are_shown_each_in_its_own() {
        let mut branches = vec![branch("/", 0, 100), branch("/a", 1, 92)];
        branches.extend((0..11).map(|number| branch(&format!("/a/{number}"), 2, 7)));
        branches.push(branch("/b", 1, 8));
        let names = names(&branches).unwrap();
        assert_eq!((names.len(), names[1].as_str(), names[9].as_str()), (10, "  a", "  b"));
    }
}
