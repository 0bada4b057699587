//! Bad times as tables: outages, episodes with the events next to them, and which kinds of events they come with.

use iolag_analysis::history::{Association, Episode, Knowledge, Quantity, SeriesEpisode};
use iolag_model::{
    Event, EventSource, Nanoseconds, OutageEnding, WallTime, counted, format_count, format_duration,
};

use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::words::history::{known, p_value};
use crate::words::numbers::NOTHING;

/// More rows than these are too many to read: the worst are shown.
const OUTAGES_MOST: usize = 40;
const EPISODES_MOST: usize = 25;
/// Events and series that are named in a row.
const NAMED_MOST: usize = 3;

/// Outages, episodes, associations.
pub(super) fn bad_times(report: &HistoryReport<'_>, page: &mut Markup) {
    outages(report, page);
    episodes(report, page);
    associations(report, page);
}

fn heading(page: &mut Markup, title: &'static str, explanation: &str) {
    page.raw("<h3>").raw(title).raw("</h3>\n<p>").prose(explanation).raw("</p>\n");
}

fn columns(page: &mut Markup, names: &[&'static str]) {
    page.raw("<div class=\"table-box\"><table class=\"moments\"><thead><tr>");
    for name in names {
        page.raw("<th scope=\"col\">").raw(name).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
}

fn row(page: &mut Markup, cells: &[String]) {
    page.raw("<tr>");
    for cell in cells {
        page.element("<td>", cell, "</td>");
    }
    page.raw("</tr>\n");
}

fn outages(report: &HistoryReport<'_>, page: &mut Markup) {
    let all = &report.analysis.outages;
    if all.is_empty() {
        return;
    }
    let now = report.analysis.end.unwrap_or_default();
    let length =
        |index: &usize| all[*index].end.unwrap_or(now.max(all[*index].begin)).since(all[*index].begin);
    let mut shown: Vec<usize> = (0..all.len()).collect();
    shown.sort_by_key(|index| (all[*index].end.is_some(), std::cmp::Reverse(length(index))));
    shown.truncate(OUTAGES_MOST);
    shown.sort_unstable();
    let left_out = which(shown.len(), all.len(), "longest");
    heading(
        page,
        "Outages",
        &format!("Mounts that did not answer within the deadline of a probe, or were not there. {left_out}"),
    );
    columns(
        page,
        &["Begin (UTC)", "Lasted", "Mount", "What", "How it ended", "Skipped slots", "Events within an hour"],
    );
    for index in shown {
        let outage = &all[index];
        let ending = match outage.ending {
            Some(OutageEnding::Recovered) => "recovered by itself",
            Some(OutageEnding::Remounted) => "mounted anew",
            Some(OutageEnding::Unmounted) => "unmounted",
            Some(OutageEnding::Rebooted) => "machine started again",
            None => "not over",
        };
        let over = outage.end.unwrap_or(now.max(outage.begin));
        let lasted = format_duration(length(&index));
        let hour = Nanoseconds::from_seconds(3600);
        let may_come = |event: &Event| outage.may_come_with(&event.target);
        let near = events_near(report, &outage.host, outage.begin, over, hour, may_come);
        let place = if report.names().several_hosts {
            format!("{} on {}", outage.place(), outage.host)
        } else {
            outage.place()
        };
        let mark = if outage.end.is_none() { "so far " } else { "" };
        row(
            page,
            &[
                outage.begin.in_words(),
                format!("{mark}{lasted}"),
                place,
                outage.kind.verb(outage.end.is_some()).to_owned(),
                ending.to_owned(),
                format_count(outage.skipped),
                near,
            ],
        );
    }
    page.raw("</tbody></table></div>\n");
}

fn which(shown: usize, all: usize, what: &str) -> String {
    if shown < all { format!("The {shown} {what} of {}.", format_count(all as u64)) } else { String::new() }
}

fn episodes(report: &HistoryReport<'_>, page: &mut Markup) {
    let all = &report.analysis.episodes;
    if all.is_empty() {
        return;
    }
    let mut shown: Vec<&Episode> = all.iter().collect();
    shown.sort_by(|one, other| badness(other).total_cmp(&badness(one)));
    shown.truncate(EPISODES_MOST);
    shown.sort_by_key(|episode| episode.begin);
    let tolerance =
        report.analysis.associations.first().map_or(Nanoseconds::from_seconds(3600), |one| one.tolerance_ns);
    heading(
        page,
        "Episodes",
        &format!(
            "Times in which series were bad: skipped, timed out, hung, failed, or far slower than usual. Events within {}. {}",
            format_duration(tolerance),
            which(shown.len(), all.len(), "worst")
        ),
    );
    columns(page, &["Begin (UTC)", "Lasted", "Series", "What happened", "Longest", "Events"]);
    let names = report.names();
    for episode in shown {
        let mut series: Vec<String> = episode.series.iter().map(|one| names.series(&one.series)).collect();
        series.sort();
        series.dedup();
        let lasted = format_duration(episode.end.since(episode.begin));
        row(
            page,
            &[
                episode.begin.in_words(),
                if episode.is_ongoing { format!("so far {lasted}") } else { lasted },
                shortened(series),
                troubles(episode),
                longest(episode),
                events_near(report, &episode.host, episode.begin, episode.end, tolerance, |_| true),
            ],
        );
    }
    page.raw("</tbody></table></div>\n");
}

/// Lost time first, then the longest wait.
fn badness(episode: &Episode) -> f64 {
    let unfinished: u64 = episode.series.iter().map(|one| one.unfinished + one.skipped).sum();
    let peak = episode.series.iter().filter_map(|one| one.peak).fold(0.0, f64::max);
    unfinished as f64 * 60.0 + peak
}

fn shortened(mut names: Vec<String>) -> String {
    let others = names.len().saturating_sub(NAMED_MOST);
    names.truncate(NAMED_MOST);
    let list = names.join(", ");
    if others > 0 { format!("{list} and {}", counted(others as u64, "other", "others")) } else { list }
}

fn troubles(episode: &Episode) -> String {
    let sum = |of: fn(&SeriesEpisode) -> u64| -> u64 { episode.series.iter().map(of).sum() };
    let kinds = [
        (sum(|one| one.slow), "slow"),
        (sum(|one| one.unfinished), "did not end"),
        (sum(|one| one.failed), "failed"),
        (sum(|one| one.skipped), "skipped"),
    ];
    let told = kinds.into_iter().filter(|(count, _)| *count > 0);
    told.map(|(count, name)| format!("{} {name}", format_count(count))).collect::<Vec<_>>().join(", ")
}

fn longest(episode: &Episode) -> String {
    let peaks = episode.series.iter().filter_map(|one| Some((one.peak?, one.peak_is)));
    let longest = peaks.max_by(|one, other| {
        one.0
            .total_cmp(&other.0)
            .then_with(|| (one.1 == Knowledge::AtLeast).cmp(&(other.1 == Knowledge::AtLeast)))
    });
    longest.map_or_else(|| NOTHING.to_owned(), |(peak, knowledge)| known(peak, knowledge, Quantity::Duration))
}

/// Texts of events of this host, or of none that measures (a server's, say), that may come with what was at a time, and are near it.
fn events_near(
    report: &HistoryReport<'_>,
    host: &str,
    begin: WallTime,
    end: WallTime,
    tolerance: Nanoseconds,
    may_come: impl Fn(&Event) -> bool,
) -> String {
    let measures = |host: &str| report.analysis.series.iter().any(|one| one.summary.series.key.host == host);
    let is_near = |event: &&Event| {
        let over = event.end.unwrap_or(event.begin).max(event.begin);
        event.source != EventSource::Watch
            && may_come(event)
            && (event.host.is_empty() || event.host == host || !measures(&event.host))
            && event.begin <= end.after(tolerance)
            && over >= begin.before(tolerance)
    };
    let near: Vec<String> = report
        .analysis
        .events
        .iter()
        .filter(is_near)
        .map(|event| if event.text.is_empty() { event.kind.clone() } else { event.text.clone() })
        .collect();
    if near.is_empty() { NOTHING.to_owned() } else { shortened(near) }
}

fn associations(report: &HistoryReport<'_>, page: &mut Markup) {
    let all: &[Association] = &report.analysis.associations;
    if all.is_empty() || report.analysis.episodes.is_empty() {
        return;
    }
    heading(
        page,
        "Do bad times come with events?",
        "How many events of a kind have an episode next to them, and how many would by chance. Association is not cause.",
    );
    page.raw(
        "<div class=\"table-box\"><table><thead><tr><th scope=\"col\">Kind</th><th scope=\"col\">Events</th>",
    );
    page.raw("<th scope=\"col\">next to an episode</th><th scope=\"col\">by chance</th><th scope=\"col\">Times as many</th>");
    page.raw("<th scope=\"col\">p, adjusted</th></tr></thead>\n<tbody>\n");
    for one in all {
        let class = if one.p_adjusted <= 0.05 { "" } else { "unproven" };
        page.raw("<tr").attribute("class", class).raw("><th scope=\"row\">").text(&one.kind).raw("</th>");
        for cell in [
            format_count(one.events),
            format_count(one.events_near),
            format!("{:.1}", one.expected),
            one.rate.map_or_else(|| NOTHING.to_owned(), |rate| format!("{rate:.1}")),
            p_value(one.p_adjusted),
        ] {
            page.element("<td>", &cell, "</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}
