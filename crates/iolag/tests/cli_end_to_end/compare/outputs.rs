//! What is printed and written, and how the command ends.

use std::fs;

use super::{SLOW, bench, ids};
use crate::user::User;

#[test]
fn a_comparison_is_written_in_every_form() {
    let user = User::new();
    bench(&user, &["memory:", SLOW, "delayed:3ms:memory:"], &["--repeat", "2"]);
    let page = user.path("page.html").display().to_string();
    let json = user.path("compared.json").display().to_string();
    let said = user.fine(&["compare", "campaign:last", "--report", &page, "--json", &json]);
    assert!(said.output.contains("stat") && said.errors.contains("the report is in"), "{said:?}");
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("<!") && written.contains(SLOW) && written.contains("<svg"), "{written}");
    assert!(!written.contains("<script"), "it needs none");
    let document: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&document["kind"], &document["schema"]), (&"comparison".into(), &1.into()));
    assert_eq!(document["others"].as_array().unwrap().len(), 2);

    let csv = user.fine(&["compare", "campaign:last", "--format", "csv"]).output;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("row,workload,operation,phase,"), "{csv}");
    assert_eq!(lines.len(), 1 + 4 * 2, "a line for each cell: {csv}");
    let markdown = user.fine(&["compare", "campaign:last", "--format", "markdown"]).output;
    assert!(markdown.lines().any(|line| line.starts_with("| ") && line.contains("stat")), "{markdown}");
    assert_eq!(user.fine(&["compare", "campaign:last", "-q", "--report", &page]).errors, "");
}

#[test]
fn phases_that_are_not_meant_without_saying_so_can_be_compared() {
    let user = User::new();
    bench(&user, &["memory:", SLOW], &[]);
    let said = user.fine(&["compare", "campaign:last", "--format", "csv"]).output;
    assert!(!said.contains("precreate"), "{said}");
    let said = user.fine(&["compare", "campaign:last", "--format", "csv", "--phases", "precreate"]).output;
    assert!(said.contains("precreate"), "{said}");
}

#[test]
fn rules_are_broken_kept_or_cannot_be_told_and_the_code_says_it() {
    let user = User::new();
    bench(&user, &["memory:", SLOW], &["--repeat", "4"]);
    let sides = ["compare", "campaign:last"];
    let with = |more: &[&str]| user.iolag(&[&sides[..], more].concat());
    // Memory is hundreds of times as fast.
    let broken = with(&["--fail-if", "median > 2x"]);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.errors.contains("fails: "), "{broken:?}");
    let kept = with(&["--fail-if", "median < 2x", "--fail-if", "stat median < 3x"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert!(kept.errors.contains("the rules are kept in 5 cells"), "{kept:?}");
    assert_eq!(with(&["--fail-if", "median < 2x", "-q"]).errors, "");

    let all = ids(&user);
    let of_two = |more: &[&str]| user.iolag(&[&["compare", all[0].as_str(), all[1].as_str()], more].concat());
    let unknown = of_two(&["--fail-if", "median > 1.1x"]);
    assert_eq!(unknown.code, 0, "{unknown:?}");
    assert!(unknown.errors.contains("cannot be told: "), "{unknown:?}");
    let unknown = of_two(&["--fail-if", "median > 1.1x", "--fail-unless-shown"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(
        unknown.output.starts_with("Speed by the median duration, in percent of "),
        "the table comes all the same: {unknown:?}"
    );
}
