//! `iolag report` of a history: one page, with the numbers of `show history`.

use serde_json::Value;

use crate::study::Study;
use crate::user::{LOGIN_NODE, User, series_of};

#[test]
fn a_report_has_the_numbers_of_show() {
    let user = User::new();
    user.import_study(&Study::new(), LOGIN_NODE);
    let note =
        ["note", "LDAP cache enabled", "--at", "2008-05-08 14:00", "--link", "https://tickets.example/1"];
    user.fine(&note);
    user.fine(&["report", "--since", "2008-01-01", "-o", "page.html", "--title", "The study <again>"]);
    let page = std::fs::read_to_string(user.path("page.html")).unwrap();
    assert!(page.contains("<title>The study &lt;again&gt;</title>"));
    assert!(page.contains("href=\"https://tickets.example/1\">LDAP cache enabled</a>"));
    let document: Value = user.document(&[]);
    for (task, target) in [("compile", "/home"), ("list", "/scratch")] {
        let quantiles = &series_of(&document, task, target)["summary"]["by_attempt"]["quantiles"];
        let median = quantiles.as_array().unwrap().iter().find(|one| one["q"].as_f64() == Some(0.5)).unwrap();
        let median = median["value"]["exactly"].as_f64().unwrap();
        assert!(page.contains(&format!("data-value=\"{median}\"")), "{task} on {target}: {median}");
    }
}

#[test]
fn a_report_without_a_name_is_written_here() {
    let user = User::new();
    user.import_study(&Study::new(), LOGIN_NODE);
    user.fine(&["report", "history"]);
    assert!(user.path("iolag-report-history.html").is_file());
}

#[test]
fn what_makes_no_report_is_said_in_a_sentence() {
    let user = User::new();
    user.refused(&["report", "3fa7"], 2, &["--history is for the history", "iolag report history --history"]);
    user.refused(&["report", "history", "3fa7"], 2, &["\"3fa7\""]);
    user.refused(&["report", "--since", "soon"], 2, &["soon"]);
    user.refused(&["report", "--since", "30d"], 3, &["no history at "]);
    assert!(!user.path("iolag-report-history.html").exists());
}
