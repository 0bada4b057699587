//! The times in which something was slow, failed or did not answer, as a table that needs no figure.

use iolag_analysis::figure::{Episode, RunFigures};
use iolag_model::{format_count, format_duration};

use crate::html::markup::Markup;
use crate::words::trouble;

/// More than this are too many to read.
const SHOWN_MAX: usize = 15;

/// Writes the episodes of a run in the order of time; the worst of them if they are many. Nothing without any.
pub(super) fn bad_moments(run: &RunFigures, heading: Option<&str>, page: &mut Markup) {
    if run.episodes.is_empty() {
        return;
    }
    let mut shown: Vec<&Episode> = run.episodes.iter().collect();
    shown.sort_by_key(|episode| std::cmp::Reverse(episode.peak.duration_ns));
    shown.truncate(SHOWN_MAX);
    shown.sort_by_key(|episode| episode.begin_ns);
    if let Some(heading) = heading {
        page.element("<h4>", heading, "</h4>\n");
    }
    if shown.len() < run.episodes.len() {
        page.raw("<p>").text(&format!(
            "The {} with the longest operations, of {}.",
            shown.len(),
            format_count(run.episodes.len() as u64)
        ));
        page.raw("</p>\n");
    }
    page.raw("<div class=\"table-box\"><table class=\"moments\"><thead><tr>");
    for name in ["Where", "From (UTC)", "Lasted", "Worst", "What happened"] {
        page.element("<th scope=\"col\">", name, "</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for episode in shown {
        write_episode(run, episode, page);
    }
    page.raw("</tbody></table></div>\n");
}

fn write_episode(run: &RunFigures, episode: &Episode, page: &mut Markup) {
    page.raw("<tr>").element("<td>", trouble::name(run, episode.target), "</td>");
    page.element("<td>", &trouble::moment(run, episode.begin_ns), "</td>");
    page.element("<td>", &format_duration(trouble::length(episode)), "</td>");
    page.element("<td>", &trouble::longest(run, episode), "</td>");
    page.element("<td>", &trouble::kinds(episode.troubles), "</td>").raw("</tr>\n");
}
