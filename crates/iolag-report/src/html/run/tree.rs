//! Directories as a tree that opens and closes without a script.

use iolag_model::{TraceBranch, TraceCounts, format_count, format_duration};

use crate::html::markup::Markup;
use crate::workload::{branch_name, whole_tree};

/// A branch with so much of all calls or time is open, ...
const OPEN_SHARE: f64 = 0.1;
/// ... down to this depth.
const OPEN_DEPTH: u32 = 3;

const INTRODUCTION: &str = "Calls on what lies in a directory and below it, and how many of them were on what lies in it by itself. What is \
                            below a directory is shown and hidden by a click on it.";

/// Writes the tree, if there is one; `caption` names the run if there are several.
pub(super) fn tree(branches: &[TraceBranch], caption: Option<&str>, page: &mut Markup) {
    if branches.is_empty() {
        return;
    }
    page.raw("<section class=\"by-directory\"><h2>By directory</h2>\n");
    if let Some(caption) = caption {
        page.element("<h3>", caption, "</h3>\n");
    }
    page.element("<p>", INTRODUCTION, "</p>\n");
    page.raw("<div class=\"table-box\"><div class=\"tree\">\n<div class=\"head\">");
    for column in ["directory", "calls", "failed", "time", "own calls", "own time"] {
        page.element("<span>", column, "</span>");
    }
    page.raw("</div>\n");
    let total = whole_tree(branches);
    let mut open: Vec<&TraceBranch> = Vec::new();
    for (place, branch) in branches.iter().enumerate() {
        while open.len() > branch.depth as usize {
            close(open.pop(), page);
        }
        let name = branch_name(branch, open.last().copied());
        let has_more = branches.get(place + 1).is_some_and(|next| next.depth > branch.depth);
        if has_more || branch.others.is_some() {
            let is_open = branch.depth < OPEN_DEPTH && branch.all.share_of(total) >= OPEN_SHARE;
            page.raw(if is_open { "<details open><summary>" } else { "<details><summary>" });
            row(name, branch.all, Some(branch.own), page);
            page.raw("</summary><div class=\"in\">\n");
            open.push(branch);
        } else {
            page.raw("<div class=\"leaf\">");
            row(name, branch.all, Some(branch.own), page);
            page.raw("</div>\n");
        }
    }
    while !open.is_empty() {
        close(open.pop(), page);
    }
    page.raw("</div></div>\n</section>\n");
}

/// The last that is in a branch are the others.
fn close(branch: Option<&TraceBranch>, page: &mut Markup) {
    if let Some(others) = branch.and_then(|branch| branch.others) {
        let name = match others.directories {
            1 => "1 other directory".to_owned(),
            many => format!("{} other directories", format_count(many)),
        };
        page.raw("<div class=\"leaf others\">");
        row(&name, others.counts, None, page);
        page.raw("</div>\n");
    }
    page.raw("</div></details>\n");
}

fn row(name: &str, all: TraceCounts, own: Option<TraceCounts>, page: &mut Markup) {
    let count = |count: u64| if count == 0 { String::new() } else { format_count(count) };
    let time = |counts: TraceCounts| match counts.time_ns.0 {
        0 => String::new(),
        _ => format_duration(counts.time_ns),
    };
    page.element("<span class=\"name\">", name, "</span>");
    let own = own.map_or([String::new(), String::new()], |own| [count(own.calls), time(own)]);
    for cell in [count(all.calls), count(all.errors), time(all)].iter().chain(&own) {
        page.element("<span>", cell, "</span>");
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::{Nanoseconds, OtherDirectories};

    use super::*;

    fn branch(path: &str, depth: u32, calls: u64) -> TraceBranch {
        let all = TraceCounts { calls, errors: 0, time_ns: Nanoseconds(calls * 1000) };
        TraceBranch { path: path.to_owned(), depth, all, ..TraceBranch::default() }
    }

    fn page_of(branches: &[TraceBranch]) -> String {
        let mut page = Markup::default();
        tree(branches, None, &mut page);
        page.as_str().to_owned()
    }

    #[test]
    fn branches_are_in_each_other_and_what_is_large_is_open() {
        let others = OtherDirectories { directories: 12, counts: branch("", 0, 7).all };
        let branches = [
            TraceBranch { others: Some(others), ..branch("/", 0, 1000) },
            branch("/usr/lib", 1, 900),
            branch("/usr/lib/a<b", 2, 890),
            branch("/etc", 1, 93),
            branch("/etc/x", 2, 90),
        ];
        let page = page_of(&branches);
        let (opened, closed) = (page.matches("<details").count(), page.matches("</details>").count());
        assert_eq!((opened, closed, page.matches("<details open>").count()), (3, 3, 2));
        assert_eq!(page.matches("<div").count(), page.matches("</div>").count());
        let names: Vec<&str> = page
            .split("<span class=\"name\">")
            .skip(1)
            .filter_map(|rest| rest.split_once("</span>").map(|(name, _)| name))
            .collect();
        assert_eq!(names, ["/", "usr/lib", "a&lt;b", "etc", "x", "12 other directories"]);
        assert!(page.contains("<details><summary><span class=\"name\">etc</span>"), "{page}");
    }

    #[test]
    fn without_branches_there_is_nothing() {
        assert_eq!(page_of(&[]), "");
    }
}
