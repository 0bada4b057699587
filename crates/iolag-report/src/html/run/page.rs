//! The page as a whole.

use std::io::{self, Write};

use iolag_analysis::figure::Figures;
use iolag_model::format_count;

use super::against::against;
use super::bad_moments::bad_moments;
use super::beside::beside;
use super::copies::copies;
use super::head::{answer, are_copies, finding_list, findings, proof, title, to_know};
use super::jobs::jobs;
use super::memory::memory;
use super::method::{commands, configuration, method};
use super::names::run_names;
use super::over_time::over_time;
use super::report::HtmlReport;
use super::table::table;
use super::tree::tree;
use crate::html::comparison::write_comparison;
use crate::html::embed::write_data;
use crate::html::markup::Markup;
use crate::text::sweep_table::{SweepColumn, SweepTable};
use crate::text::table::Side;
use crate::words::numbers::utc;
use crate::workload::{Answer, InCommon, all_void_sentence, judged};

const SCRIPT: &str = include_str!("../../../../../web/dist/report.js");
const STYLE: &str = include_str!("../../../../../web/dist/report.css");
/// Content-Security-Policy: nothing is loaded from anywhere, and only this script and this style (by hash) run.
const POLICY: &str = include_str!("../../../../../web/dist/policy.txt");

/// Of more runs of copies none is drawn by itself: of 500 a page would have 100 MB, and nobody would look at that.
const RUNS_DRAWN_MAX: usize = 40;

/// Writes one HTML file that needs nothing else: no network, no other file. The text, the findings and the table
/// are complete without its script.
///
/// # Errors
/// Those of the writer.
pub fn write_html(report: &HtmlReport<'_>, mut figures: Figures, writer: &mut dyn Write) -> io::Result<()> {
    let names = run_names(&report.runs.iter().map(|run| run.record).collect::<Vec<_>>());
    let mut page = Markup::default();
    let runs = report.runs.iter().enumerate();
    let answers: Vec<Answer<'_>> =
        runs.map(|(index, run)| Answer::of(run.analysis, figures.runs.get(index))).collect();
    write_static(report, &names, &figures, &answers, &mut page)?;
    // Where the page begins with what copies come to together, that is what shows it.
    let proof = if are_copies(report.runs) { None } else { proof(&answers, &figures) };
    if are_too_many(report) {
        figures.runs.clear();
    }
    writeln!(writer, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(writer, "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">")?;
    writeln!(writer, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(writer, "<meta name=\"referrer\" content=\"no-referrer\">")?;
    let mut title_text = Markup::default();
    title_text.text(&title(report));
    writeln!(writer, "<title>{}</title>", title_text.as_str())?;
    writeln!(writer, "<style>{STYLE}</style>\n</head>\n<body>")?;
    writer.write_all(page.as_str().as_bytes())?;
    write_data(figures, &names, proof, writer)?;
    writeln!(writer, "<script>{SCRIPT}</script>\n</body>\n</html>")
}

/// Everything that people read, in the order in which they read it.
fn write_static(
    report: &HtmlReport<'_>,
    names: &[String],
    figures: &Figures,
    answers: &[Answer<'_>],
    page: &mut Markup,
) -> io::Result<()> {
    page.raw("<a class=\"skip\" href=\"#table\">To the table</a>\n<div class=\"page\">\n<header>\n");
    page.raw("<p class=\"kicker\">iolag report").text(&kicker(report)).raw("</p>\n");
    page.element("<h1>", &title(report), "</h1>\n");
    let is_alone = report.runs.len() == 1;
    if report.runs.is_empty() {
        page.raw("<p class=\"lede\">There is no run to report on.</p>\n");
    }
    if are_copies(report.runs) {
        return write_copies(report, names, figures, answers, page);
    }
    // Whoever compares wants the comparison, and only then each run.
    if let Some(compared) = report.comparison {
        page.raw("</header>\n<main>\n");
        write_comparison(compared, page);
        page.raw("<section><h2>Each run</h2>\n");
        write_answers(report, names, answers, page);
        page.raw("</section>\n");
    } else {
        write_answers(report, names, answers, page);
        page.raw("</header>\n<main>\n");
    }
    write_sweep(figures, page);
    jobs(&figures.jobs, page)?;
    copies(report.runs, page);
    page.raw("<div id=\"answer\"></div>\n");
    page.raw("<section id=\"findings\"><h2>What was found</h2>\n");
    for (run, name) in report.runs.iter().zip(names) {
        subheading(is_alone, name, page);
        findings(run, page);
    }
    page.raw("</section>\n");
    for (run, name) in report.runs.iter().zip(names) {
        beside(judged(run.analysis).beside(), Some(name.as_str()).filter(|_| !is_alone), page);
    }
    write_bad_moments(names, figures, page);
    page.raw("<section id=\"method\"><h2>What was measured, and how</h2>\n");
    for (run, name) in report.runs.iter().zip(names) {
        subheading(is_alone, name, page);
        configuration(run, page);
        method(run, page);
    }
    page.raw("</section>\n");
    write_figures(report, names, page)?;
    if let [run] = report.runs {
        memory(run.record, page)?;
    }
    for (run, name) in report.runs.iter().zip(names) {
        tree(judged(run.analysis).tree(), Some(name.as_str()).filter(|_| !is_alone), page);
    }
    page.raw("<section id=\"table\"><h2>All numbers</h2>\n");
    for (run, name) in report.runs.iter().zip(names) {
        table(run, name, page);
    }
    page.raw("</section>\n<section id=\"again\"><h2>Measure it again</h2>\n");
    for (run, name) in report.runs.iter().zip(names) {
        subheading(is_alone, name, page);
        commands(run.record, page);
    }
    page.raw("</section>\n");
    end(report, page);
    Ok(())
}

fn end(report: &HtmlReport<'_>, page: &mut Markup) {
    page.raw("</main>\n<footer>").text(&footer(report)).raw("</footer>\n</div>\n");
}

/// Runs of copies: what they come to together, and then each, folded.
fn write_copies(
    report: &HtmlReport<'_>,
    names: &[String],
    figures: &Figures,
    answers: &[Answer<'_>],
    page: &mut Markup,
) -> io::Result<()> {
    let runs: Vec<_> = report.runs.iter().map(|run| (run.record, run.analysis)).collect();
    if let Some(void) = all_void_sentence(runs.iter().copied()) {
        page.raw("<p class=\"lede\">").prose(&void).raw("</p>\n");
    }
    page.raw("</header>\n<main>\n");
    jobs(&figures.jobs, page)?;
    against(&figures.copies, page)?;
    if let Some(compared) = report.comparison {
        write_comparison(compared, page);
    }
    let InCommon { facts, findings: of_host, trust, footnotes } = InCommon::of(&runs);
    page.raw("<section id=\"findings\"><h2>What all runs have in common</h2>\n");
    for (name, value) in &facts {
        page.raw("<p><strong>").raw(name).raw(".</strong> ").prose(value).raw("</p>\n");
    }
    if !of_host.is_empty() {
        finding_list(&of_host, page);
    }
    to_know(&trust, &footnotes, page);
    page.raw("</section>\n<section id=\"table\"><h2>Each run</h2>\n");
    for (index, ((run, name), of_run)) in report.runs.iter().zip(names).zip(answers).enumerate() {
        page.element("<details><summary>", name, "</summary>\n");
        answer(run.record, of_run, page);
        findings(run, page);
        beside(judged(run.analysis).beside(), None, page);
        if let Some(figures) = figures.runs.get(index) {
            bad_moments(figures, Some("Bad moments"), page);
        }
        configuration(run, page);
        table(run, name, page);
        commands(run.record, page);
        page.raw("</details>\n");
    }
    page.raw("</section>\n");
    write_figures(report, names, page)?;
    page.raw("<section id=\"method\"><h2>What was measured, and how</h2>\n");
    report.runs.iter().take(1).for_each(|run| method(run, page));
    page.raw("</section>\n");
    end(report, page);
    Ok(())
}

fn are_too_many(report: &HtmlReport<'_>) -> bool {
    report.runs.len() > RUNS_DRAWN_MAX && are_copies(report.runs)
}

fn write_answers(report: &HtmlReport<'_>, names: &[String], answers: &[Answer<'_>], page: &mut Markup) {
    for ((run, name), of_run) in report.runs.iter().zip(names).zip(answers) {
        subheading(report.runs.len() == 1, name, page);
        answer(run.record, of_run, page);
    }
}

/// What is drawn here, of traces, and where the script draws what was attempted; of traces alone there is nothing of that.
fn write_figures(report: &HtmlReport<'_>, names: &[String], page: &mut Markup) -> io::Result<()> {
    for (number, (run, name)) in (1..).zip(report.runs.iter().zip(names)) {
        let caption = Some(name.as_str()).filter(|_| report.runs.len() > 1);
        over_time(judged(run.analysis).over_time(), caption, number, page)?;
    }
    let mut workloads = report.runs.iter().map(|run| &run.record.spec.workload);
    if workloads.len() > 0 && workloads.all(|workload| workload.trace().is_some()) {
        return Ok(());
    }
    page.raw("<section id=\"figures\"><h2>Figures</h2>\n");
    if are_too_many(report) {
        let (runs, one) = (format_count(report.runs.len() as u64), &report.runs[0].record.id);
        let told = format!(
            "{runs} runs are too many to draw each of them here: `iolag report {one} -o run.html` draws one."
        );
        page.raw("<p class=\"nothing\">").prose(&told).raw("</p>\n</section>\n");
        return Ok(());
    }
    page.raw("<p class=\"needs-script nothing\">The figures are drawn by the script in this page, which needs JavaScript. ");
    page.raw("Findings and table are complete without it.</p>\n<div id=\"figures-host\"></div></section>\n");
    Ok(())
}

/// What was varied against what it does, before anything else.
fn write_sweep(figures: &Figures, page: &mut Markup) {
    let Some(table) = SweepTable::new(&figures.sweeps) else {
        return;
    };
    page.element("<section id=\"sweep-table\"><h2 id=\"sweep-table-title\">", table.title, "</h2>\n");
    page.element("<p>", table.words, "</p>\n<div class=\"table-box\">");
    page.raw("<table class=\"numbers sweep\" aria-labelledby=\"sweep-table-title\"><thead><tr>");
    for column in &table.columns {
        page.raw("<th scope=\"col\"").raw(side(column)).attribute("data-name", column.name);
        page.raw(">").text(column.title).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        page.raw("<tr>");
        for (column, cell) in table.columns.iter().zip(row) {
            page.raw("<td").raw(side(column));
            if column.side == Side::Right {
                page.attribute("data-value", &cell.raw);
            }
            page.raw(">").text(&cell.text).raw("</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n</section>\n");
}

const fn side(column: &SweepColumn) -> &'static str {
    match column.side {
        Side::Left => " class=\"word\"",
        Side::Right => "",
    }
}

fn subheading(is_alone: bool, name: &str, page: &mut Markup) {
    if !is_alone {
        page.element("<h3>", name, "</h3>\n");
    }
}

fn write_bad_moments(names: &[String], figures: &Figures, page: &mut Markup) {
    if figures.runs.iter().all(|run| run.episodes.is_empty()) {
        return;
    }
    page.raw("<section id=\"bad-moments\"><h2>Bad moments</h2>\n<p>Stretches of time in which operations took longer ");
    page.raw("than usual here, failed, or did not end.</p>\n");
    for (index, run) in figures.runs.iter().enumerate() {
        let heading = if figures.runs.len() > 1 { names.get(index).map(String::as_str) } else { None };
        bad_moments(run, heading, page);
    }
    page.raw("</section>\n");
}

fn kicker(report: &HtmlReport<'_>) -> String {
    let starts =
        report.runs.iter().filter_map(|run| run.record.anchors.first()).map(|anchor| anchor.realtime_ns);
    let (first, last) = (starts.clone().min(), starts.max());
    match (first, last) {
        (Some(first), Some(last)) if first == last => format!(" · measured {} UTC", utc(first)),
        (Some(first), Some(last)) => format!(" · measured {} to {} UTC", utc(first), utc(last)),
        _ => String::new(),
    }
}

fn footer(report: &HtmlReport<'_>) -> String {
    let mut versions: Vec<&str> =
        report.runs.iter().map(|run| run.record.environment.iolag_version.as_str()).collect();
    versions.retain(|version| !version.is_empty());
    versions.dedup();
    let with = if versions.is_empty() { String::new() } else { format!(" {}", versions.join(", ")) };
    let written =
        report.written_realtime_ns.map_or_else(String::new, |ns| format!(" Written {} UTC.", utc(ns)));
    format!("Measured with iolag{with}.{written} This page is one file and loads nothing.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::jobs::tests::of_the_study;

    #[test]
    fn the_page_without_data_is_small() {
        let mut page = Vec::new();
        let report = HtmlReport { title: None, runs: &[], comparison: None, written_realtime_ns: None };
        write_html(&report, Figures::new(Vec::new(), Vec::new()), &mut page).expect("a Vec takes everything");
        assert!(page.len() < 3 << 19, "{} bytes, the limit is 1.5 MiB", page.len());
    }

    #[test]
    fn the_page_of_a_sweep_begins_with_its_table() {
        let sweeps = crate::figure::tests::samples::several_runs(1).sweeps;
        let mut page = Vec::new();
        let report = HtmlReport { title: None, runs: &[], comparison: None, written_realtime_ns: None };
        write_html(&report, Figures::new(Vec::new(), sweeps), &mut page).expect("a Vec takes everything");
        let page = String::from_utf8(page).expect("it is text");
        let table = page.find("What more clients do").expect("it has the table");
        assert!(page.find("What was found").is_some_and(|findings| table < findings));
        let titles: Vec<&str> = page[table..].split("<th scope=\"col\"").skip(1).take(6).collect();
        for (title, expected) in titles.iter().zip(["clients", "per s", "per client", "median", "p99", "max"])
        {
            assert!(title.contains(&format!(">{expected}</th>")), "{title}");
        }
        assert!(page.contains("data-value=\"2000\">2 000</td>"), "the rate of each of two clients");
    }

    #[test]
    fn the_page_says_how_many_copies_to_run_and_draws_it() {
        let figures = Figures { jobs: vec![of_the_study()], ..Figures::new(Vec::new(), Vec::new()) };
        let mut page = Vec::new();
        let report = HtmlReport { title: None, runs: &[], comparison: None, written_realtime_ns: None };
        write_html(&report, figures, &mut page).expect("a Vec takes everything");
        let page = String::from_utf8(page).expect("it is text");
        let begin = page.find("How many copies to run</h2>").expect("it has the section");
        for expected in ["On /afs run", "<svg", "aria-label=\"jobs per hour\"", "<td>too many time-outs</td>"]
        {
            assert!(page[begin..].contains(expected), "{expected}: {}", &page[begin..begin + 2000]);
        }
    }

    #[test]
    fn nothing_in_the_bundle_ends_its_element() {
        for text in [SCRIPT, STYLE, POLICY] {
            let lower = text.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("</style") && !lower.contains("<!--"));
        }
        assert!(POLICY.starts_with("default-src 'none'; script-src 'sha256-") && !POLICY.contains('"'));
    }

    #[test]
    fn the_page_names_no_address() {
        for text in [SCRIPT, STYLE] {
            assert!(!text.contains("http://") && !text.contains("https://") && !text.contains("@import"));
        }
    }
}
