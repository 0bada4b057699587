//! The page as a whole.

use std::io::{self, Write};

use iolag_analysis::compare::{ComparedTable, RuleJudgement};
use iolag_analysis::{capitalised, joined};

use super::figures::figures;
use super::method::method;
use super::report::ComparisonReport;
use super::table::{beside, bystanders, profiles, runs, table};
use crate::html::markup::Markup;
use crate::words::comparison::between::between;
use crate::words::comparison::cells::unit_names;
use crate::words::comparison::design::{design, heading, remarks};
use crate::words::comparison::doubts::doubts;
use crate::words::comparison::left_out::left_out;
use crate::words::comparison::names::{RowNames, SideNames, plain};
use crate::words::comparison::rules::rule_sentences;
use crate::words::comparison::steadiness::from_run_to_run;
use crate::words::numbers::utc;
use crate::workload::command::shell_command;

const STYLE: &str = include_str!("../../../../../web/dist/report.css");
/// That of a report, of which this page has no script.
const POLICY: &str = include_str!("../../../../../web/dist/policy.txt");

/// Writes one HTML file that needs nothing else, and has no script.
///
/// # Errors
/// Those of the writer, and if a figure cannot be drawn.
pub fn write_comparison_html(report: &ComparisonReport<'_>, writer: &mut dyn Write) -> io::Result<()> {
    let names = SideNames::of(report.table);
    let title = report.title.map_or_else(|| title_of(&names), plain);
    let mut head = Markup::default();
    head.element("<title>", &title, "</title>\n");
    let mut page = Markup::default();
    write_body(report, &names, &title, &mut page)?;
    writeln!(writer, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(writer, "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">")?;
    writeln!(writer, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(writer, "<meta name=\"referrer\" content=\"no-referrer\">")?;
    writeln!(writer, "{}<style>{STYLE}</style>\n</head>\n<body>", head.as_str())?;
    writer.write_all(page.as_str().as_bytes())?;
    writeln!(writer, "</body>\n</html>")
}

fn title_of(names: &SideNames) -> String {
    let others = names.short.iter().skip(1).cloned().collect();
    format!("{} against {}", joined(others), names.short(0))
}

/// Everything in the order in which people read it.
fn write_body(
    report: &ComparisonReport<'_>,
    names: &SideNames,
    title: &str,
    page: &mut Markup,
) -> io::Result<()> {
    let compared = report.table;
    let rows = RowNames::of(compared);
    page.raw("<div class=\"page\">\n<header>\n");
    page.raw("<p class=\"kicker\">iolag comparison").text(&kicker(compared)).raw("</p>\n");
    page.element("<h1>", title, "</h1>\n");
    write_lede(compared, names, &rows, page);
    page.raw("</header>\n<main>\n");
    write_answer(compared, names, &rows, page);
    write_rules(compared, page);
    write_what_to_know(compared, names, &rows, page);
    figures(report, page)?;
    page.raw("<section id=\"method\"><h2>How it was compared</h2>\n");
    method(compared, page);
    page.raw("</section>\n<section id=\"runs\"><h2>Every ");
    page.raw(unit_names(compared.units)[0]).raw("</h2>\n");
    runs(compared, names, &rows, page);
    page.raw("</section>\n");
    if !report.command.is_empty() {
        page.raw("<section id=\"again\"><h2>Compare it again</h2>\n<div class=\"command\"><pre><code>");
        page.text(&shell_command(report.command)).raw("</code></pre></div>\n</section>\n");
    }
    page.raw("</main>\n<footer>").text(&footer(report)).raw("</footer>\n</div>\n");
    Ok(())
}

/// The comparison without its figures, for the page of its runs.
pub(in crate::html) fn write_comparison(compared: &ComparedTable, page: &mut Markup) {
    let (names, rows) = (SideNames::of(compared), RowNames::of(compared));
    page.raw("<section id=\"comparison\">\n");
    write_lede(compared, &names, &rows, page);
    write_answer(compared, &names, &rows, page);
    write_what_to_know(compared, &names, &rows, page);
    page.raw("</section>\n");
}

/// What is compared, and how that came about.
fn write_lede(compared: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    page.raw("<p class=\"lede\">").plain(&heading(compared, names)).raw("</p>\n<p>");
    page.plain(&capitalised(&design(compared, names, rows))).raw(".</p>\n");
}

/// The table, and what is known besides.
fn write_answer(compared: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    table(compared, names, rows, page);
    for remark in remarks(compared) {
        page.raw("<p class=\"faint\">").plain(&remark).raw("</p>\n");
    }
    if let Some(sentence) = from_run_to_run(compared, names, rows) {
        page.raw("<p>").plain(&sentence).raw("</p>\n");
    }
    profiles(compared, names, rows, page);
    bystanders(compared, names, page);
    beside(compared, names, rows, page);
}

fn write_what_to_know(compared: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    let doubts: Vec<String> = doubts(compared, names).iter().map(|doubt| capitalised(doubt)).collect();
    write_list("Before you trust the numbers", &doubts, page);
    write_list("Between the others", &between(compared, names, rows), page);
    write_list("Left out", &left_out(compared, names), page);
}

fn write_list(title: &'static str, sentences: &[String], page: &mut Markup) {
    if sentences.is_empty() {
        return;
    }
    page.raw("<section><h2>").raw(title).raw("</h2>\n<ul class=\"findings\">\n");
    let class = if title.starts_with("Before") { "<li class=\"warning\"><p>" } else { "<li><p>" };
    for sentence in sentences {
        page.raw(class).plain(sentence).raw("</p></li>\n");
    }
    page.raw("</ul></section>\n");
}

fn write_rules(table: &ComparedTable, page: &mut Markup) {
    let told = rule_sentences(table);
    if told.is_empty() {
        return;
    }
    page.raw("<section><h2>Rules</h2>\n<ul class=\"findings\">\n");
    for one in told {
        page.raw(match one.judgement {
            RuleJudgement::Broken => "<li class=\"serious\"><p>",
            RuleJudgement::Kept => "<li><p>",
            RuleJudgement::CannotBeTold { .. } => "<li class=\"warning\"><p>",
        });
        page.plain(&capitalised(&one.sentence)).raw("</p></li>\n");
    }
    page.raw("</ul></section>\n");
}

fn kicker(table: &ComparedTable) -> String {
    let spans = || table.sides.iter().filter_map(|side| side.span_ns);
    let begin = spans().map(|[begin, _]| begin).min();
    let end = spans().map(|[_, end]| end).max();
    let moment = |ns: i64| utc(u64::try_from(ns).unwrap_or(0));
    match (begin, end) {
        (Some(begin), Some(end)) => format!(" · measured {} to {} UTC", moment(begin), moment(end)),
        _ => String::new(),
    }
}

fn footer(report: &ComparisonReport<'_>) -> String {
    let written =
        report.written_realtime_ns.map_or_else(String::new, |ns| format!(" Written {} UTC.", utc(ns)));
    format!("Compared by iolag.{written} This page is one file, loads nothing and has no script.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{
        bad_names, hung_and_few, noisy, of_rows, stores, streams, study, table_of,
    };

    fn page(table: &ComparedTable) -> String {
        let command = ["iolag", "compare", "label:client=native", "a b"].map(str::to_owned);
        let report = ComparisonReport {
            title: None,
            table,
            curves: &[],
            command: &command,
            written_realtime_ns: None,
        };
        let mut page = Vec::new();
        write_comparison_html(&report, &mut page).expect("a Vec takes everything");
        String::from_utf8(page).expect("it is text")
    }

    /// Without style and figures.
    fn text_of(page: &str) -> String {
        let without = regex::Regex::new("(?s)<(style|svg).*?</(style|svg)>|content=\"default.*?\"").unwrap();
        without.replace_all(page, "").into_owned()
    }

    #[test]
    fn the_page_begins_with_the_table() {
        insta::assert_snapshot!("comparison_page", text_of(&page(&study())));
        insta::assert_snapshot!("comparison_page_streams", text_of(&page(&streams())));
        insta::assert_snapshot!("comparison_page_hung", text_of(&page(&hung_and_few())));
        insta::assert_snapshot!("comparison_page_stores", text_of(&page(&stores())));
        insta::assert_snapshot!("comparison_page_noisy", text_of(&page(&noisy())));
        let page = page(&study());
        let places =
            ["no difference shown", "Before you trust", "<svg", "How it was compared", "id=\"runs\""]
                .map(|part| page.find(part));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    }

    #[test]
    fn it_has_no_script_and_names_stay_text() {
        let ids = regex::Regex::new(" id=\"([^\"]*)\"").unwrap();
        for table in [study(), bad_names(), hung_and_few(), of_rows(40), table_of(&["a", "b"], &[])] {
            let page = page(&table);
            let lower = page.to_lowercase();
            for bad in ["<script", "onload", "javascript:", "</td>\"", "\u{1b}", "\u{202e}", "<b>", "<?xml"] {
                assert!(!lower.contains(bad), "{bad}");
            }
            // An id that two figures have would be that of the first.
            let mut seen = std::collections::BTreeSet::new();
            assert!(ids.captures_iter(&page).all(|found| seen.insert(found[1].to_owned())));
        }
    }
}
