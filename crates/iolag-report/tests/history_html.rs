//! The page of a history, as far as it needs no browser: what is told, what is escaped, and that a live page tells the same.

#[path = "../examples/write_history/made_up.rs"]
#[allow(dead_code, reason = "the example makes more histories than are tested here")]
mod made_up;
#[path = "../examples/write_history/odd.rs"]
#[allow(dead_code, reason = "the example makes more histories than are tested here")]
mod odd;

use iolag_analysis::history::{
    HistoryAnalysis, HistoryFigures, HistoryInput, HistoryOptions, HistoryPoints, analyse_history,
    history_figures,
};
use iolag_model::{
    Configuration, ConfigurationKey, HistorySample, Nanoseconds, Series, SeriesKind, WallSpan, WallTime,
};
use iolag_report::{
    HistoryHead, HistoryReport, write_history_document, write_history_html, write_live_history_html,
};
use serde_json::Value;

struct Page {
    html: String,
    document: Value,
}

fn with_report<T>(input: &HistoryInput, use_it: impl FnOnce(&HistoryReport<'_>, HistoryFigures) -> T) -> T {
    let analysis: HistoryAnalysis = analyse_history(input, &HistoryOptions::default());
    let head = HistoryHead { place: "/var/lib/history.sqlite".to_owned(), span: WallSpan::ALL };
    let written = Some(WallTime::from_seconds(1_798_761_600));
    let report = HistoryReport { title: None, head: &head, zone: "UTC", analysis: &analysis, written };
    use_it(&report, history_figures(input, &analysis, HistoryPoints::default()))
}

fn page_of(input: &HistoryInput) -> Page {
    with_report(input, |report, figures| {
        let (mut html, mut document) = (Vec::new(), Vec::new());
        write_history_html(report, figures.clone(), &mut html).expect("a Vec takes everything");
        write_history_document(report, figures, &mut document).expect("a Vec takes everything");
        Page {
            html: String::from_utf8(html).expect("a page is text"),
            document: serde_json::from_slice(&document).expect("a document is JSON"),
        }
    })
}

/// The page without its script, style and data.
fn text_of(html: &str) -> String {
    let body = html.split_once("<body>").expect("a page has a body").1;
    let end = body.find("<script").unwrap_or(body.len());
    body[..end].to_owned()
}

#[test]
fn the_study_is_told_without_a_script() {
    let text = text_of(&page_of(&made_up::study()).html);
    for told in [
        "How storage felt on 2 hosts",
        "LDAP cache enabled on the login nodes</a>",
        "href=\"https://tickets.example/4711\"",
        "Series pairs and load in one place",
        "The same task in two places",
        "create &amp; 5-minute load",
        "Fast or slow, hardly anything between",
        "data-name=\"median_seconds\"",
        "below the clock&#39;s resolution of 10.0\u{a0}ms",
    ] {
        assert!(text.contains(told), "{told}");
    }
}

#[test]
fn of_an_empty_history_nothing_is_judged() {
    let text = text_of(&page_of(&HistoryInput::default()).html);
    assert!(text.contains("There is nothing to judge yet.") && !text.contains("Nothing conspicuous"));
}

#[test]
fn a_hang_is_told_with_its_end_and_its_slots() {
    let text = text_of(&page_of(&made_up::hang()).html);
    for told in
        ["recovered by itself", "9 min 53 s", "<td>179</td>", "delay of 50 ms switched on", "at any time"]
    {
        assert!(text.contains(told), "{told}");
    }
}

#[test]
fn where_the_time_goes_and_what_was_asked_beside_it_are_tables() {
    let mut input = made_up::hang();
    let host = input.series[0].0.key.host.clone();
    let slots = input.series[0].1.intended.iter().enumerate();
    let jobs = made_up::columns(slots.map(|(slot, moment)| HistorySample {
        value: Some((slot % 9) as f64),
        ..made_up::sample(moment.as_seconds(), 0.0)
    }));
    for (_, columns) in &mut input.series {
        columns.processor_seconds = vec![0.000_25; columns.len()];
    }
    let covariate =
        Series { unit: "jobs".to_owned(), ..made_up::series(&host, "", "<b>queued", SeriesKind::Covariate) };
    input.series.push((covariate, jobs));
    let text = text_of(&page_of(&input).html);
    for told in [
        "<h3>Where the time goes</h3>",
        "<td>250 [250–250] µs</td>",
        "<caption>By &lt;b&gt;queued</caption>",
        "<td>0–2 jobs</td>",
        "<td>6–8 jobs</td>",
    ] {
        assert!(text.contains(told), "{told}");
    }
}

#[test]
fn a_configuration_has_the_date_of_its_own_host() {
    let mut input = made_up::hang();
    let (mut series, mut columns) = input.series[0].clone();
    let begin = columns.intended[0];
    let half = columns.len() / 2;
    for (row, key) in columns.configuration.iter_mut().enumerate() {
        *key = ConfigurationKey(if row < half { 1 } else { 2 });
    }
    input.series = vec![(series.clone(), columns.clone())];
    series.key.host = "another".to_owned();
    input.series.push((series, columns));
    let hosts = [input.series[0].0.key.host.clone(), "another".to_owned()];
    for (host, days) in hosts.iter().zip([1_u64, 3]) {
        for key in [1, 2] {
            input.configurations.push(Configuration {
                key: ConfigurationKey(key),
                host: host.clone(),
                target: input.series[0].0.key.target.clone(),
                first_seen: begin.before(Nanoseconds::from_seconds((days + key) * 86_400)),
                facts: std::collections::BTreeMap::new(),
            });
        }
    }
    let text = text_of(&page_of(&input).html);
    let table = text.split("<caption>By configuration</caption>").nth(1).expect("there is a table");
    let table = &table[..table.find("</table>").expect("it ends")];
    let dates: std::collections::BTreeSet<&str> =
        table.split("<td>from ").skip(1).filter_map(|rest| rest.get(..10)).collect();
    assert_eq!(dates.len(), 4, "four configurations, each with its date: {dates:?}");
}

#[test]
fn nothing_from_outside_is_markup() {
    let page = page_of(&odd::hostile());
    let text = text_of(&page.html);
    assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for evil in [
        "<img",
        "<svg",
        "<u>",
        "<i>",
        "<b>",
        "javascript:\"",
        "href=\"javascript",
        "href=\" data",
        "\u{202e}",
    ] {
        assert!(!text.contains(evil), "{evil}");
    }
    // One script of data after the other, and one that runs.
    let scripts: Vec<&str> = page.html.split("<script").skip(1).collect();
    let running = scripts.iter().filter(|script| script.starts_with('>')).count();
    assert_eq!(running, 1);
    assert!(scripts.iter().all(|script| script.starts_with('>') || script.starts_with(" type=\"application/octet-stream\"")));
    for part in page.document["parts"].as_array().expect("there are parts") {
        let html = part["html"].as_str().expect("a part is text");
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("href=\"javascript"));
    }
}

#[test]
fn a_live_page_gets_every_part_that_a_file_has() {
    let page = page_of(&made_up::hang());
    let text = text_of(&page.html);
    let mut frame = Vec::new();
    write_live_history_html(None, &mut frame).expect("a Vec takes everything");
    let frame = text_of(&String::from_utf8(frame).expect("a page is text"));
    let parts = page.document["parts"].as_array().expect("there are parts");
    assert_eq!(parts.len(), 9);
    for part in parts {
        let (id, html) = (part["id"].as_str().unwrap_or_default(), part["html"].as_str().unwrap_or_default());
        assert!(text.contains(&format!("<div id=\"{id}\">{html}</div>")), "{id} is in the file");
        assert!(frame.contains(&format!("<div id=\"{id}\">")), "{id} has its place");
    }
    assert!(frame.contains("Reading the history …"), "before its document comes");
    let with_text = with_report(&made_up::hang(), |report, _| {
        let mut page = Vec::new();
        write_live_history_html(Some(report), &mut page).expect("a Vec takes everything");
        text_of(&String::from_utf8(page).expect("a page is text"))
    });
    assert_eq!(with_text, text, "without a script a live page tells what a file tells");
}

#[test]
fn a_page_without_samples_says_what_to_do() {
    let text = text_of(&page_of(&HistoryInput::default()).html);
    assert!(text.contains("<code>iolag watch</code>") && text.contains("<code>iolag import FILE</code>"));
}

#[test]
fn samples_take_few_bytes() {
    const SAMPLES: usize = 45_000;
    let empty = page_of(&HistoryInput::default()).html.len();
    let page = page_of(&made_up::large(SAMPLES));
    let per_sample = (page.html.len() - empty) as f64 / SAMPLES as f64;
    // Text, tables and curves included: a year every 15 minutes on nine series is 315 000 samples.
    assert!(per_sample < 7.0, "{per_sample} bytes");
    assert_eq!(page.document["figures"]["decimation"], Value::Null);
}
