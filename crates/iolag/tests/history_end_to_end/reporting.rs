//! `iolag report` of a history: one page, with the numbers of `show history`; `iolag plot` of one, and `show history --plot`.

use serde_json::Value;

use crate::study::Study;
use crate::user::{LOGIN_NODE, User, assert_refused, series_of};

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

fn user_with_study() -> User {
    let user = User::new();
    user.import_study(&Study::new(), LOGIN_NODE);
    user
}

fn drawn(user: &User, arguments: &[&str]) -> String {
    user.fine(&[arguments, &["-o", "figure.svg"]].concat());
    std::fs::read_to_string(user.path("figure.svg")).unwrap()
}

#[test]
fn the_figures_of_the_study_have_names() {
    let user = user_with_study();
    for (name, heading) in [
        ("000-1", "Time taken over time: compile on nid4100"),
        ("000-2", "Time taken over time: list on nid4100"),
        ("000-3", "Time taken over time: create on nid4100"),
        ("000-4", "Share that took at most so long: compile on nid4100"),
        ("000-5", "Share that took at most so long: list on nid4100"),
        ("000-6", "Share that took at most so long: create on nid4100"),
    ] {
        let figure = drawn(&user, &["plot", "--figure", name, "history"]);
        for text in [heading, "/home", "/scratch"] {
            assert!(figure.contains(&format!("aria-label=\"{text}\"")), "{name}: {text}");
        }
        let compared = figure.contains("aria-label=\"/home, before 2008-05-08 12:00\"");
        assert_eq!(compared, name == "000-5", "{name}");
    }
    // The name may stand behind what it is drawn of, and another task take its place.
    let figure =
        drawn(&user, &["plot", "history", "--figure", "000-1", "--tasks", "create", "--targets", "/home"]);
    assert!(figure.contains("Time taken over time: create") && !figure.contains("aria-label=\"/scratch\""));
}

#[test]
fn every_kind_is_drawn_of_what_was_asked_for() {
    let user = user_with_study();
    for kind in ["time-line", "ecdf", "before-after", "box", "heat-map", "correlations"] {
        let figure = drawn(&user, &["plot", kind, "history", "--size", "200x150mm"]);
        assert!(figure.contains("200mm") && !figure.contains("There is nothing to draw"), "{kind}");
    }
    // Attempts of two hours and of the end of a month, by local clocks.
    let span = ["--since", "2008-05-01 08:00", "--until", "2008-05-01 10:00"];
    let figure = drawn(&user, &[&["plot", "time-line", "history", "--tasks", "list"], &span[..]].concat());
    assert!(figure.contains("16 attempts.") && figure.contains("aria-label=\"08:30\""), "{figure}");
    let longest = drawn(&user, &["plot", "heat-map", "history", "--longest", "--tasks", "create"]);
    assert!(longest.contains("Longest of each hour: create on nid4100"));
    user.fine(&["plot", "ecdf", "history", "-o", "figure.png"]);
    assert_eq!(&std::fs::read(user.path("figure.png")).unwrap()[1..4], b"PNG");
    let shown = user.fine(&["show", "history", "--plot"]).stdout;
    assert!(
        shown.contains("Share that took at most so long: list")
            && shown.contains("Time taken over time: compile")
    );
}

#[test]
fn what_makes_no_figure_is_said_in_a_sentence() {
    let user = user_with_study();
    for (arguments, words) in [
        (
            &["plot", "sweep", "history"][..],
            "there is no figure \"sweep\" of a history: choose time-line, ecdf, before-after",
        ),
        (&["plot", "pie", "history"], "\"pie\" is no kind of figure: choose time-line"),
        (&["plot", "history"], "which figure of the history? Write `iolag plot KIND history …`"),
        (&["plot", "000-1", "history"], "write `iolag plot --figure 000-1 …`"),
        (&["plot", "--figure", "000-7", "history"], "choose 000-1, 000-2"),
        (
            &["plot", "--figure", "004-box", "history"],
            "figure 004-box is drawn of runs: write `iolag plot --figure 004-box RUN …`",
        ),
        (&["plot", "ecdf", "history", "3fa7"], "leave out \"history\" or \"3fa7\""),
        (
            &["plot", "ecdf", "history", "--tasks", "lst"],
            "no task of this history is called \"lst\": choose from compile, create, list",
        ),
        (&["plot", "ecdf", "history", "--targets", "/hme"], "choose from /home, /scratch"),
        (&["plot", "ecdf", "history", "--phases", "benchmark"], "--phases is for runs"),
        (&["plot", "ecdf", "history", "--method", "pearson"], "--method changes nothing in the figure ecdf"),
        (&["plot", "ecdf", "history", "--longest"], "--longest changes nothing"),
        (
            &["plot", "ecdf", "3fa7"],
            "--history is for the history, and \"3fa7\" is a run: write `iolag plot ecdf history --history …`",
        ),
        (&["show", "history", "--plot", "--format", "json"], "--plot draws below the text"),
    ] {
        let output: &[&str] = if arguments[0] == "plot" { &["-o", "figure.svg"] } else { &[] };
        user.refused(&[arguments, output].concat(), 2, &[words]);
    }
    let of_runs = |arguments: &[&str]| user.scene.run(&[arguments, &["-o", "figure.svg"]].concat());
    assert_refused(
        &of_runs(&["plot", "--figure", "000-1"]),
        2,
        &["figure 000-1 is drawn of a history: write `iolag plot --figure 000-1 history …`"],
    );
    assert_refused(&of_runs(&["plot", "before-after"]), 2, &["there is no figure \"before-after\" of runs"]);
    assert_refused(
        &of_runs(&["plot", "ecdf", "--tasks", "list"]),
        2,
        &["--tasks is for the history, and \"last\" is a run"],
    );
    assert_refused(
        &of_runs(&["plot", "sweep", "--since", "3d"]),
        2,
        &["--since is for the history, of which there is no sweep: leave it out"],
    );
    assert!(!user.path("figure.svg").exists());
}
