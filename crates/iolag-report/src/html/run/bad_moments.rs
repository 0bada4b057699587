//! The times in which something was slow, failed or did not answer, as a table that needs no figure.

use iolag_analysis::figure::{Episode, RunFigures, TroubleCounts};
use iolag_model::{MonotonicTime, format_count, format_duration};

use crate::html::markup::Markup;
use crate::words::numbers::{NOTHING, utc};

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
    let target = run.run.targets.get(usize::from(episode.target.0));
    let series = run.series.get(usize::from(episode.peak.series));
    let peak_ns = episode.peak.duration_ns;
    let worst = format!(
        "{} {}{}",
        series.map_or(NOTHING, |series| series.operation.name()),
        // What had not ended took at least so long.
        if episode.longest_wait_ns >= Some(peak_ns) { "≥ " } else { "" },
        format_duration(peak_ns)
    );
    page.raw("<tr>").element("<td>", target.map_or(NOTHING, |target| target.name.as_str()), "</td>");
    page.element("<td>", &moment(run, episode.begin_ns), "</td>");
    page.element("<td>", &format_duration(episode.end_ns.since(episode.begin_ns)), "</td>");
    page.element("<td>", &worst, "</td>");
    page.element("<td>", &words(episode.troubles), "</td>").raw("</tr>\n");
}

fn moment(run: &RunFigures, at: MonotonicTime) -> String {
    let since = at.since(run.run.begin_ns);
    match run.run.begin_realtime_ns {
        Some(begin) => utc(begin.saturating_add(since.0)),
        None => format!("after {}", format_duration(since)),
    }
}

fn words(troubles: TroubleCounts) -> String {
    let parts = [
        (troubles.slow, "slow"),
        (troubles.late, "late"),
        (troubles.failed, "failed"),
        (troubles.timeout, "timed out"),
        (troubles.hung, "hung"),
        (troubles.skipped, "skipped"),
    ];
    let said = parts.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> = said.map(|(count, what)| format!("{} {what}", format_count(*count))).collect();
    texts.join(", ")
}
