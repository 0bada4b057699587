//! `show history`: the study's numbers, as an independent computation has them.

use serde_json::Value;

use crate::study::{CACHE_ENABLED_SECONDS, SLOTS, Script, Study, pearson};
use crate::user::{LOGIN_NODE, User, assert_refused, series_of};

/// Checks the analysis of one history of the study, wherever it is kept.
pub fn check_study(user: &User, study: &Study) {
    let document = user.document(&["--method", "pearson"]);
    assert_eq!((document["kind"].as_str(), document["schema"].as_u64()), (Some("history"), Some(1)));
    assert_eq!(document["series"].as_array().unwrap().len(), 7);
    for script in [&study.home, &study.scratch] {
        for column in &script.columns[..3] {
            check_series(&document, script, column.task);
        }
    }
    let load = series_of(&document, "load average", "");
    let median = quantile(load, 0.5)["value"]["exactly"].as_f64().unwrap();
    assert_eq!(median, study.home.column("load average").median());
    check_correlations(&document, study);
    check_cache(&document);
}

fn quantile(series: &Value, q: f64) -> &Value {
    let quantiles = series["summary"]["by_attempt"]["quantiles"].as_array().unwrap();
    quantiles.iter().find(|quantile| quantile["q"].as_f64() == Some(q)).unwrap()
}

fn check_series(document: &Value, script: &Script, task: &str) {
    let column = script.column(task);
    let series = series_of(document, task, script.target);
    let name = format!("{task} on {}", script.target);
    assert_eq!(series["summary"]["rates"]["total"]["slots"].as_u64(), Some(SLOTS as u64), "{name}");
    let median = &quantile(series, 0.5)["value"];
    match column.median() {
        // Below what the clock could tell.
        0.0 => assert_eq!(median["below"].as_f64(), Some(0.01), "{name}"),
        expected => assert_eq!(median["exactly"].as_f64(), Some(expected), "{name}"),
    }
    for share in series["summary"]["by_attempt"]["shares"].as_array().unwrap() {
        let threshold = share["threshold_ns"].as_u64().unwrap() as f64 / 1e9;
        assert_eq!(share["over"].as_u64(), Some(column.count_over(threshold)), "{name} over {threshold} s");
        assert_eq!(share["of"].as_u64(), Some(SLOTS as u64), "{name}");
    }
    let late = column.hundredths.iter().filter(|value| **value >= 60_000).count() as u64;
    assert_eq!(series["summary"]["rates"]["total"]["late"]["count"].as_u64(), Some(late), "{name}");
    assert_eq!(series["summary"]["rates"]["total"]["timeout"]["count"].as_u64(), Some(0), "{name}");
}

/// Task and target of a series.
type Name = (&'static str, &'static str);

fn check_correlations(document: &Value, study: &Study) {
    const HOME: [Name; 4] =
        [("compile", "/home"), ("create", "/home"), ("list", "/home"), ("load average", "")];
    const SCRATCH: [Name; 3] = [("compile", "/scratch"), ("create", "/scratch"), ("list", "/scratch")];
    let column = |(task, target): Name| {
        let script = if target == "/scratch" { &study.scratch } else { &study.home };
        &script.column(task).hundredths
    };
    // The study's two tables: in one place, and the same task in two places, five minutes apart.
    let together = (0..4).flat_map(|one| (one + 1..4).map(move |other| (HOME[one], HOME[other])));
    for (one, other) in together.chain(HOME.into_iter().zip(SCRATCH)) {
        let expected = pearson(column(one), column(other));
        let correlation = correlation_of(document, one, other);
        assert_eq!(correlation["pairs"].as_u64(), Some(SLOTS as u64), "{one:?} {other:?}");
        let found = correlation["coefficient"].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{one:?} {other:?}: {found} is not {expected}");
        assert_eq!(correlation["strength"], word_of(expected), "{one:?} {other:?}: {found}");
    }
}

/// The words of the study.
fn word_of(coefficient: f64) -> &'static str {
    match coefficient.abs() {
        size if size > 0.5 => "strong",
        size if size > 0.3 => "medium",
        size if size > 0.1 => "small",
        _ => "none",
    }
}

fn correlation_of(document: &Value, one: Name, other: Name) -> &Value {
    let pairs = document["correlations"]["pairs"].as_array().unwrap();
    let is_side = |side: &Value, (task, target): Name| {
        side["series"]["task"] == task && side["series"]["target"] == target
    };
    let found = pairs.iter().find(|pair| {
        let (left, right) = (&pair["left"], &pair["right"]);
        (is_side(left, one) && is_side(right, other)) || (is_side(left, other) && is_side(right, one))
    });
    &found.unwrap_or_else(|| panic!("no pair {one:?} {other:?}"))["correlation"]
}

fn check_cache(document: &Value) {
    let list = series_of(document, "list", "/home");
    let changes = list["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    let moment = changes[0]["first_after"].as_i64().unwrap() / 1_000_000_000;
    assert!((moment - CACHE_ENABLED_SECONDS).abs() < 86_400 / 2, "{moment}");
    let effects = list["event_effects"].as_array().unwrap();
    let effect = effects.iter().find(|effect| effect["event"]["text"] == "LDAP cache enabled").unwrap();
    assert_eq!(effect["comparison"]["verdict"], "faster");
    assert_eq!(list["events"]["matched"][0]["event"], effect["event"]["id"]);
    let modes = series_of(document, "list", "/scratch")["summary"]["modes"]["modes"].as_array().unwrap();
    assert_eq!(modes.len(), 2, "{modes:?}");
    assert!((modes[0]["share"].as_f64().unwrap() - 0.2).abs() < 0.03, "{modes:?}");
}

#[test]
fn the_study_comes_out_as_computed_by_hand() {
    let (user, study) = (User::new(), Study::new());
    user.import_study(&study, LOGIN_NODE);
    check_study(&user, &study);
}

#[test]
fn the_text_tells_what_the_study_told() {
    let (user, study) = (User::new(), Study::new());
    user.import_study(&study, LOGIN_NODE);
    let text = user.fine(&["show", "history"]).stdout;
    let compile = format!("{:.2} [", study.home.column("compile").median());
    for expected in [
        "from nid4100, 2 events, 0 outages",
        compile.as_str(),
        "< 10.0 ms",
        "time-outs",
        "LDAP cache enabled <https://tickets.example/7>",
        "list on /home: ",
        ", faster, ×",
        "next to \"LDAP cache enabled\"",
        "create & load average",
        "list: /home & /scratch",
        "compile: /home & /scratch",
        "Findings",
    ] {
        assert!(text.contains(expected), "{expected:?} is missing in: {text}");
    }
    let is_colourless = |text: &str| !text.contains('\x1b');
    assert!(is_colourless(&text));
    let coloured = user.fine(&["show", "history", "--colour", "always"]).stdout;
    assert!(!is_colourless(&coloured));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_span_leaves_out_what_was_due_before_and_after_it() {
    let (user, study) = (User::new(), Study::new());
    user.import_study(&study, LOGIN_NODE);
    let slots = |arguments: &[&str]| {
        let document = user.document(arguments);
        series_of(&document, "list", "/home")["summary"]["rates"]["total"]["slots"].as_u64().unwrap()
    };
    // Days of the user, who is seven hours behind UTC.
    assert_eq!(slots(&["--since", "2008-05-01", "--until", "2008-05-03"]), 2 * 96);
    assert_eq!(slots(&["--since", "2008-05-01T00:00Z", "--until", "2008-05-01 06:00+00:00"]), 6 * 4);
    let document = user.document(&["--since", "30d"]);
    assert_eq!(document["series"].as_array().map(Vec::len), Some(0));
    let text = user.fine(&["show", "history", "--since", "30d"]).stdout;
    assert!(text.contains("There is no sample in it: ask for more time"), "{text}");
}

#[test]
fn the_document_is_written_beside_the_text_or_instead_of_it() {
    let (user, study) = (User::new(), Study::new());
    user.import_script(&study.home, LOGIN_NODE);
    let arguments = ["show", "history", "--until", "2008-05-01"];
    let text = user.fine(&arguments).stdout;
    let both = user.fine(&[&arguments[..], &["--json", "history.json"]].concat()).stdout;
    assert_eq!(both, text);
    let written = std::fs::read_to_string(user.path("history.json")).unwrap();
    assert_eq!(user.fine(&[&arguments[..], &["--json", "-"]].concat()).stdout, written);
    assert_eq!(user.fine(&[&arguments[..], &["--format", "json"]].concat()).stdout, written);
    let document: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(document["history"].as_str(), Some(user.history.as_str()));
    assert_eq!(document["asked"]["since"], Value::Null);
    assert_eq!(document["asked"]["until"].as_i64(), Some(1_209_625_200_000_000_000));
}

#[test]
fn options_that_do_not_suit_are_refused() {
    let user = User::new();
    user.fine(&["note", "there"]);
    user.refused(&["show", "history", "--format", "csv"], 2, &["text or json", "iolag export history"]);
    user.refused(&["show", "history", "--since", "soon"], 2, &["\"soon\" is no time: expected"]);
    user.refused(&["show", "history", "--since", "1d", "--until", "2d"], 2, &["\"1d\" is not before \"2d\""]);
    user.refused(
        &["export", "history", "--format", "md-workbench"],
        2,
        &["no latency files", "--format csv"],
    );
    user.refused(&["export", "history", "--format", "parquet"], 2, &["Parquet is not printed", "-o"]);
    user.refused(&["show", "history", "--json", "nowhere/x.json"], 2, &["there is no directory"]);
    user.refused(&["show", "last"], 2, &["--history is for the history", "iolag show history --history"]);
    user.refused(&["export", "20080508"], 2, &["--history is for the history"]);
    let done = user.scene.run(&["show", "--method", "pearson"]);
    assert_refused(&done, 2, &["--method is for the history"]);
    // A note alone is a history without samples.
    let text = user.fine(&["show", "history"]).stdout;
    assert!(text.contains("iolag watch") && text.contains("note: there"), "{text}");
}
