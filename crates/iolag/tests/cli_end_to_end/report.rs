//! Reports and figures of stored runs.

use serde_json::Value;

use crate::user::User;

fn user_with_run(label: &str) -> User {
    let user = User::new();
    run(&user, label);
    user
}

fn run(user: &User, label: &str) {
    user.fine(&[
        "bench", "metadata", "memory:", "-D", "2", "-P", "60", "-I", "50", "-R", "2", "-n", "2", "-q",
        "--label", label,
    ]);
}

#[test]
fn a_report_is_one_file_that_holds_everything_and_runs_nothing_foreign() {
    let user = user_with_run("name=<script>alert(1)</script>");
    let file = user.path("report.html").display().to_string();
    let said = user.fine(&["report", "last", "-o", &file, "--title", "Tuesday </title><script>"]);
    assert!(said.errors.contains("the report is in"), "{}", said.errors);
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("<script>alert") && page.contains("Tuesday &lt;/title&gt;&lt;script&gt;"));
    let outside = page.match_indices("src=").count() + page.match_indices("href=\"http").count();
    assert_eq!(outside, 0, "nothing is loaded from anywhere");
}

#[test]
fn a_figure_of_a_target_that_no_run_has_is_refused_and_not_drawn_empty() {
    let user = user_with_run("a=b");
    let said = user.iolag(&["plot", "ecdf", "-o", "x.svg", "--targets", "/scrath"]);
    assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
    assert!(
        said.errors.contains("no target of these runs is called \"/scrath\": choose from memory:"),
        "{}",
        said.errors
    );
    assert!(!user.path("x.svg").exists());
    let said = user.fine(&["plot", "ecdf", "-o", "x.svg", "--targets", "memory:"]);
    assert!(said.errors.contains("the figure is in "), "{}", said.errors);
}

#[test]
fn a_measuring_command_writes_its_report_where_the_user_stands() {
    let user = User::new();
    let target = user.directory("target");
    user.fine(&[
        "check",
        &target,
        "--budget",
        "2s",
        "--stream-size",
        "256KiB",
        "-q",
        "--report",
        "check.html",
    ]);
    assert!(std::fs::read_to_string(user.path("check.html")).unwrap().contains("feels"));
    user.fine(&[
        "bench",
        "metadata",
        "memory:",
        "-P",
        "50",
        "-I",
        "50",
        "-R",
        "1",
        "-q",
        "--report",
        "bench.html",
    ]);
    assert!(user.path("bench.html").exists());
}

#[test]
fn figures_have_the_form_and_size_that_were_asked_for() {
    let user = user_with_run("a=b");
    let svg = user.path("figure.svg").display().to_string();
    for kind in
        ["time-line", "ecdf", "histogram", "box", "client-box", "heat-map", "rates", "fairness", "sweep"]
    {
        user.fine(&["plot", kind, "last", "-o", &svg, "--size", "85x60mm"]);
        let figure = std::fs::read_to_string(&svg).unwrap();
        assert!(figure.starts_with("<svg") || figure.starts_with("<?xml"), "{kind}");
        assert!(figure.contains("85mm") && figure.trim_end().ends_with("</svg>"), "{kind}");
    }
    for name in ["004-time-line", "004-density", "004-box"] {
        user.fine(&["plot", "--figure", name, "last", "-o", &svg]);
        let figure = std::fs::read_to_string(&svg).unwrap();
        assert!(!figure.contains("There is nothing to draw"), "{name}");
    }
    let png = user.path("figure.png").display().to_string();
    user.fine(&["plot", "ecdf", "last", "-o", &png, "--size", "640x480px", "--operations", "stat,read"]);
    assert_eq!(&std::fs::read(&png).unwrap()[1..4], b"PNG");
    for (arguments, words) in [
        (["plot", "pie", "last", "-o", svg.as_str()], "is no kind of figure"),
        (["plot", "ecdf", "last", "-o", "figure.pdf"], "ends in .svg"),
    ] {
        let said = user.iolag(&arguments);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains(words), "{}", said.errors);
    }
    let said = user.iolag(&["plot", "ecdf", "last", "-o", &svg, "--size", "big"]);
    assert!(said.code == 2 && said.errors.contains("expected 160x100mm or 1200x800px"), "{said:?}");
    let said = user.iolag(&["plot", "box", "--figure", "004-box", "last", "-o", &svg]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("figure 004-box is of the kind box: leave out \"box\""), "{said:?}");
}

#[test]
fn clients_are_chosen_by_ranges_and_what_a_run_does_not_have_is_refused() {
    let user = user_with_run("a=b");
    user.fine(&["plot", "time-line", "-o", "x.svg", "--clients", "0-1"]);
    let figure = std::fs::read_to_string(user.path("x.svg")).unwrap();
    assert!(figure.contains("aria-label=\"client 0\"") && figure.contains("aria-label=\"client 1\""));
    assert!(figure.contains("Only clients 0-1."));
    user.fine(&["plot", "ecdf", "-o", "x.svg", "--clients", "1"]);
    assert!(std::fs::read_to_string(user.path("x.svg")).unwrap().contains("Only client 1."));
    for (kind, clients, words) in [
        ("time-line", "0,2-3", "has no client 3: it has clients 0 to 1"),
        ("time-line", "1-0", "expected a client or a range of clients, as in 0-3 or 0,2-3"),
        ("ecdf", "all", "expected a client or a range of clients, as in 0-3 or 0,2-3"),
        ("sweep", "0", "a sweep is over whole runs: leave out --clients"),
    ] {
        let said = user.iolag(&["plot", kind, "-o", "y.svg", "--clients", clients]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.errors.contains(words), "{}", said.errors);
    }
    assert!(!user.path("y.svg").exists());
}

#[test]
fn an_incident_draft_has_its_sections() {
    let user = user_with_run("a=b");
    let file = user.path("incident.md").display().to_string();
    user.fine(&["report", "--incident", "-o", &file, "-q"]);
    let draft = std::fs::read_to_string(&file).unwrap().to_lowercase();
    for section in ["description", "timeline", "impact", "analysis", "corrective actions"] {
        assert!(draft.contains(section), "{section}: {draft}");
    }
}

#[test]
fn the_terminal_shows_ecdf_and_time_line_in_braille() {
    let user = user_with_run("a=b");
    let output = user.fine(&["show", "--plot"]).output;
    assert!(output.chars().any(|character| ('\u{2801}'..='\u{28ff}').contains(&character)), "{output}");
    // Every operation of every phase, in each of the two figures, and nothing left out.
    let figures = &output[output.find("Share that took at most so long").unwrap()..];
    for operation in ["create", "mkdir", "read", "stat", "delete", "rmdir"] {
        assert_eq!(figures.matches(&format!(" {operation}")).count(), 2, "{operation}: {figures}");
    }
    assert!(!figures.contains("not drawn") && !figures.contains("benchmark 1"), "{figures}");
    let document: Value = user.document("last");
    assert!(document.is_object());
}

#[test]
fn sides_are_drawn_as_they_are_compared() {
    let user = user_with_run("side=a");
    run(&user, "side=b");
    for figure in [&["compare"][..], &["--figure", "001-1"]] {
        let plot = [&["plot"], figure, &["label:side=a", "label:side=b", "-o", "sides.svg"]].concat();
        let said = user.fine(&plot);
        assert!(said.errors.contains("the figure is in "), "{}", said.errors);
        let drawn = std::fs::read_to_string(user.path("sides.svg")).unwrap();
        assert!(drawn.contains("Speed of b against a") && drawn.contains("too few: 3 more"), "{drawn}");
        std::fs::remove_file(user.path("sides.svg")).unwrap();
    }
    for (arguments, words) in [
        (&["plot", "compare", "last", "-o", "x.svg"][..], "compare needs a base and another side"),
        (&["plot", "compare", "last", "last", "-o", "x.svg", "--clients", "0"], "--clients changes nothing"),
        (&["plot", "compare", "history", "-o", "x.svg"], "there is no figure \"compare\" of a history"),
        (&["plot", "ecdf", "last", "-o", "x.svg", "--value", "p95"], "--value is for sides"),
        (&["plot", "ecdf", "last", "-o", "x.svg", "--across", "side"], "--across is for sides"),
        (&["plot", "ecdf", "last", "-o", "x.svg", "--same-within", "5%"], "--same-within is for sides"),
        (
            &["plot", "compare", "last", "last", "-o", "x.svg", "--since", "30d"],
            "--since chooses among the runs of a label",
        ),
        (
            &["plot", "compare", "label:side=a", "label:side=b", "-o", "x.svg", "--phases", "check"],
            "--phases check adds nothing that these runs measured: choose from ",
        ),
    ] {
        let said = user.iolag(arguments);
        assert_eq!((said.code, said.output.as_str()), (2, ""), "{said:?}");
        assert!(said.errors.contains(words) && !user.path("x.svg").exists(), "{}", said.errors);
    }
}

#[test]
fn what_can_be_compared_can_be_drawn() {
    let user = user_with_run("night=1");
    for label in ["night=2", "night=3"] {
        run(&user, label);
    }
    let sides = ["label:night=1", "label:night=2"];
    let with =
        |more: &[&str]| user.iolag(&[&["plot", "compare"], &sides[..], &["-o", "sides.svg"], more].concat());
    let said = with(&["--across", "client"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.errors.contains("no run here has such a label"), "{said:?}");
    let drawn = |more: &[&str]| {
        let said = with(more);
        assert_eq!(said.code, 0, "{said:?}");
        std::fs::read_to_string(user.path("sides.svg")).unwrap()
    };
    // The band of what counts as the same is wider.
    assert_ne!(drawn(&["--across", "night", "--same-within", "20%"]), drawn(&["--across", "night"]));
}
