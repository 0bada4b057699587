//! The page as a whole: its parts in the order in which they are read.

use std::io::{self, Write};

use iolag_analysis::history::HistoryFigures;

use super::document::write_data;
use super::head::title;
use super::parts::{PARTS, WATCHED};
use super::report::HistoryReport;
use crate::html::markup::Markup;

const SCRIPT: &str = include_str!("../../../../../web/dist/history.js");
const STYLE: &str = include_str!("../../../../../web/dist/history.css");
/// Content-Security-Policy of the file: nothing is loaded, and only this script and this style (by hash) run.
const POLICY: &str = include_str!("../../../../../web/dist/history-policy.txt");
/// The same for the page of a server, which may ask that server for news. Also fit for the header of that name.
pub const LIVE_HISTORY_POLICY: &str = include_str!("../../../../../web/dist/history-live-policy.txt");

/// Sections: id, heading, what stands in them. `figures-…` is filled by the script.
const SECTIONS: [(&str, &str, &[&str]); 8] = [
    ("findings", "What was found", &["text-findings"]),
    ("over-time", "Over time", &["figures-over-time", "text-bad-times", "text-events"]),
    ("integrated", "Integrated percent", &["figures-integrated", "text-distributions"]),
    ("calendar", "When it is bad", &["figures-calendar", "text-rates"]),
    ("together", "What goes together", &["text-together", "figures-together"]),
    ("host", "Host or storage?", &["figures-host"]),
    ("watched", "What was watched, and how", &["text-watched"]),
    ("table", "All numbers", &["text-table"]),
];

/// Writes one HTML file that needs nothing else. The text and the tables are complete without its script.
///
/// # Errors
/// Those of the writer.
pub fn write_history_html(
    report: &HistoryReport<'_>,
    figures: HistoryFigures,
    writer: &mut dyn Write,
) -> io::Result<()> {
    write_beginning(&title(report), POLICY, "", writer)?;
    let mut page = Markup::default();
    write_body(Some(report), &mut page);
    writer.write_all(page.as_str().as_bytes())?;
    write_data(report, figures, writer)?;
    writeln!(writer, "<script>{SCRIPT}</script>\n</body>\n</html>")
}

/// Writes the page of a server: with `report` the text of that moment, otherwise an empty frame. Browsers without JavaScript are led to `now`. Its script asks for `data` ([`super::write_history_document`]) and `status` (`iolag_model::WatchStatus` as JSON, or null),
/// relative to the page, and again every few seconds. To be sent with [`LIVE_HISTORY_POLICY`].
///
/// # Errors
/// Those of the writer.
pub fn write_live_history_html(report: Option<&HistoryReport<'_>>, writer: &mut dyn Write) -> io::Result<()> {
    let title = report.map_or_else(|| "iolag".to_owned(), title);
    write_beginning(&title, LIVE_HISTORY_POLICY, WITHOUT_SCRIPT, writer)?;
    let mut page = Markup::default();
    write_body(report, &mut page);
    writer.write_all(page.as_str().as_bytes())?;
    writeln!(writer, "<script type=\"application/json\" id=\"history-live\">{{}}</script>")?;
    writeln!(writer, "<script>{SCRIPT}</script>\n</body>\n</html>")
}

/// Leads browsers without JavaScript to the page of the server that needs none.
const WITHOUT_SCRIPT: &str = "<noscript><meta http-equiv=\"refresh\" content=\"0; url=now\"></noscript>\n<link rel=\"icon\" href=\"data:,\">\n";

fn write_beginning(title: &str, policy: &str, more: &str, writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(writer, "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">")?;
    writeln!(writer, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(writer, "<meta name=\"referrer\" content=\"no-referrer\">")?;
    let mut text = Markup::default();
    text.text(title);
    writeln!(writer, "<title>{}</title>", text.as_str())?;
    writeln!(writer, "{more}<style>{STYLE}</style>\n</head>\n<body>")
}

fn write_body(report: Option<&HistoryReport<'_>>, page: &mut Markup) {
    page.raw("<a class=\"skip\" href=\"#table\">To the table</a>\n<div class=\"page\">\n");
    page.raw("<header><p id=\"unanswered\" hidden></p><div id=\"text-head\">");
    if report.is_none() {
        page.raw("<h1>Storage over time</h1>\n<p class=\"lede\">Reading the history …</p>\n");
    }
    write_part(report, "text-head", page);
    page.raw("</div><nav aria-label=\"Parts of this page\">");
    for (id, heading, _) in SECTIONS {
        page.raw("<a").attribute("href", &format!("#{id}")).raw(">").raw(heading).raw("</a> ");
    }
    page.raw("</nav></header>\n<main>\n");
    page.raw("<section id=\"now\" hidden><h2>Right now</h2><div id=\"now-host\"></div></section>\n");
    page.raw("<p class=\"needs-script nothing\">The figures are drawn by the script in this page, which needs JavaScript. ");
    page.raw("Findings and tables are complete without it.</p>\n");
    for (id, heading, contents) in SECTIONS {
        page.raw("<section").attribute("id", id).raw("><h2>").raw(heading).raw("</h2>\n");
        for element in contents {
            page.raw("<div").attribute("id", element).raw(">");
            write_part(report, element, page);
            page.raw("</div>\n");
        }
        page.raw("</section>\n");
    }
    page.raw("</main>\n<footer>").text(&footer(report)).raw("</footer>\n</div>\n");
}

fn write_part(report: Option<&HistoryReport<'_>>, id: &str, page: &mut Markup) {
    let Some(report) = report else { return };
    for (own, write) in PARTS.into_iter().chain([WATCHED]) {
        if own == id {
            write(report, page);
        }
    }
}

fn footer(report: Option<&HistoryReport<'_>>) -> String {
    match report.map(|report| report.written) {
        Some(Some(written)) => {
            format!(
                "Written by iolag on {} UTC. Moments are UTC unless another zone is named.",
                written.in_words()
            )
        }
        _ => "Written by iolag. Moments are UTC unless another zone is named.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_bundle_ends_its_element_or_names_an_address() {
        for text in [SCRIPT, STYLE, POLICY, LIVE_HISTORY_POLICY] {
            let lower = text.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("</style") && !lower.contains("<!--"));
            assert!(!lower.contains("http://") && !lower.contains("https://") && !lower.contains("@import"));
        }
    }

    #[test]
    fn only_a_live_page_may_ask_its_server() {
        for policy in [POLICY, LIVE_HISTORY_POLICY] {
            assert!(policy.starts_with("default-src 'none'; script-src 'sha256-") && !policy.contains('"'));
        }
        assert!(!POLICY.contains("connect-src") && LIVE_HISTORY_POLICY.contains("connect-src 'self'"));
    }

    #[test]
    fn an_empty_page_is_small() {
        let mut page = Vec::new();
        write_live_history_html(None, &mut page).expect("a Vec takes everything");
        assert!(page.len() < 3 << 19, "{} bytes, the limit is 1.5 MiB", page.len());
    }

    #[test]
    fn every_part_has_its_place() {
        let places: Vec<&str> =
            SECTIONS.iter().flat_map(|section| section.2).copied().chain(["text-head"]).collect();
        for (id, _) in PARTS.into_iter().chain([WATCHED]) {
            assert_eq!(places.iter().filter(|place| **place == id).count(), 1, "{id}");
        }
    }
}
