//! The page of `iolag serve` for those without JavaScript: whole and readable in any browser, and in a text one over ssh. The browser
//! loads it anew now and then.
//!
//! Invariants: everything from outside is text; nothing is loaded but the style that the server itself has; what
//! hangs stands first.

use iolag_model::{
    Event, Nanoseconds, Outage, OutageEnding, Outcome, ProbePhase, SeriesKey, TargetState, WallTime, counted,
    format_count,
};

use super::markup::Markup;
use crate::machine::live::{LiveDocument, LiveHistory, LiveLast, LiveProbe, LiveSeries, LiveWatchState};

/// The style of the page; served as `now.css`.
pub const LIVE_STYLE: &str = include_str!("live.css");

/// A longer list says less.
const EVENTS_MAX: usize = 20;
const OUTAGES_MAX: usize = 20;

/// The page.
pub fn live_page(document: &LiveDocument) -> String {
    let mut page = Markup::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw("<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"now.css\">\n")
        .raw("<meta http-equiv=\"refresh\" content=\"5\">\n")
        .element("<title>", &title(document), "</title>\n</head>\n<body>\n<main>\n")
        .element("<h1>Storage of ", &document.host, "</h1>\n");
    if let Some(sentence) = document.unanswered() {
        page.element("<p class=\"lede serious\">", &sentence, "</p>\n");
    }
    watch_line(&document.watch, &mut page);
    history_line(&document.history, &mut page);
    in_flight(&document.in_flight, &document.watch, &mut page);
    outages(&document.outages, document.now, &mut page);
    last_ends(&document.last, document, &mut page);
    series(&document.series, &document.host, &mut page);
    events(&document.events, &mut page);
    page.raw("<footer>iolag ")
        .text(&document.iolag_version)
        .raw(" · made at <time>")
        .text(&document.now.in_words())
        .raw("</time> (all times are UTC) · the same as <a href=\"now.json\">JSON</a> and <a href=\"metrics\">metrics</a></footer>\n")
        .raw("</main>\n</body>\n</html>\n");
    page.as_str().to_owned()
}

/// What a browser's tab shows: trouble first.
fn title(document: &LiveDocument) -> String {
    let has = |state: TargetState| document.targets.iter().filter(|target| target.state == state).count();
    let (silent, missing) = (has(TargetState::NoAnswer), has(TargetState::NotMounted));
    if silent == 0 && missing > 0 {
        return format!("({missing} not mounted) Storage of {}", document.host);
    }
    if silent > 0 {
        return format!(
            "({} not answer) Storage of {}",
            counted(silent as u64, "place does", "places do"),
            document.host
        );
    }
    let hung = document.in_flight.iter().filter(|probe| is_serious(probe)).count();
    match hung {
        0 => format!("Storage of {}", document.host),
        _ => format!("({hung} hung) Storage of {}", document.host),
    }
}

fn is_serious(probe: &LiveProbe) -> bool {
    matches!(probe.phase, ProbePhase::Hung | ProbePhase::Ending)
}

fn watch_line(watch: &LiveWatchState, page: &mut Markup) {
    let when = |at: Option<WallTime>| at.map(WallTime::in_words).unwrap_or_default();
    match watch.state {
        "runs" => {
            let rounds = counted(watch.rounds.unwrap_or(0), "round", "rounds");
            let next = match watch.next_round_in_ns {
                Some(Nanoseconds::ZERO) | None => "a round is under way".to_owned(),
                Some(time) => format!("next round in {time}"),
            };
            let sentence = format!("Watching since {}: {rounds} begun, {next}.", when(watch.begin));
            page.element("<p class=\"lede\">", &sentence, "</p>\n");
        }
        "ended" => {
            let sentence = format!(
                "No watch runs. The last one said something at {}; start another with: iolag watch",
                when(watch.written)
            );
            page.element("<p class=\"lede warning\">", &sentence, "</p>\n");
        }
        "none" => {
            let sentence = "No watch has run with this history since this machine was started; start one with: iolag watch";
            page.element("<p class=\"lede warning\">", sentence, "</p>\n");
        }
        _ => {
            page.raw("<p class=\"lede warning\">What the watch does is not known.</p>\n");
        }
    }
    if let Some(trouble) = &watch.trouble {
        let waiting = watch.waiting_records.unwrap_or(0);
        let sentence = match waiting {
            0 => format!("Trouble: {trouble}"),
            _ => {
                let records = counted(waiting, "record waits", "records wait");
                format!("Trouble: {trouble}; {records} in memory")
            }
        };
        page.element("<p class=\"serious\">", &sentence, "</p>\n");
    }
}

fn history_line(history: &LiveHistory, page: &mut Markup) {
    page.element("<p class=\"faint\">History: <code>", &history.place, "</code>");
    match history.age_ns {
        Some(age) => page.element(", read ", &age.to_string(), " ago"),
        None => page.raw(", not read yet"),
    };
    if !history.is_read && history.trouble.is_none() {
        page.raw("; it is being read for the first time");
    }
    page.raw("</p>\n");
    if let Some(trouble) = &history.trouble {
        page.element("<p class=\"serious\">", trouble, "</p>\n");
    }
}

fn in_flight(probes: &[LiveProbe], watch: &LiveWatchState, page: &mut Markup) {
    page.raw("<section id=\"in-flight\">\n<h2>In flight</h2>\n");
    if probes.is_empty() {
        let nothing = if watch.state == "runs" { "Nothing: every probe has ended." } else { "Not known." };
        page.element("<p class=\"faint\">", nothing, "</p>\n</section>\n");
        return;
    }
    page.raw("<table>\n<thead><tr><th>Age</th><th>Task</th><th>Target</th><th>State</th><th>Waits in</th><th>Process</th></tr></thead>\n<tbody>\n");
    for probe in probes {
        let (class, state) = match probe.phase {
            ProbePhase::InFlight => ("", "in flight"),
            ProbePhase::Slow => ("warning", "slow"),
            ProbePhase::Ending => ("serious", "past its deadline, being ended"),
            ProbePhase::Hung => ("serious", "hung"),
        };
        page.raw("<tr").attribute("class", class).raw(">");
        cell("Age", "number age", page).text(&probe.age_ns.to_string());
        if let Some(deadline) = probe.deadline_ns {
            page.element("<span class=\"faint\"> of ", &deadline.to_string(), "</span>");
        }
        page.raw("</td>");
        cell("Task", "", page).text(&probe.series.task);
        if let Some(one) = probe.progress {
            page.element("<span class=\"faint\">: ", &format!("{} of {}", one.done, one.of), "</span>");
        }
        if !probe.part.is_empty() {
            page.element("<span class=\"faint\">: ", &probe.part, "</span>");
        }
        page.raw("</td>");
        cell("Target", "", page).element("<code>", &probe.series.target, "</code></td>");
        cell("State", "", page).text(state).raw("</td>");
        cell("Waits in", "", page).text(&probe.waits_in).raw("</td>");
        cell("Process", "number", page).text(&probe.process.to_string()).raw("</td></tr>\n");
    }
    page.raw("</tbody>\n</table>\n</section>\n");
}

fn outages(outages: &[Outage], now: WallTime, page: &mut Markup) {
    if outages.is_empty() {
        return;
    }
    page.raw("<section id=\"outages\">\n<h2>Outages</h2>\n<table>\n")
        .raw("<thead><tr><th>Began</th><th>Mount</th><th>Lasted</th><th>Ended</th><th>Skipped</th></tr></thead>\n<tbody>\n");
    for outage in outages.iter().take(OUTAGES_MAX) {
        let class = if outage.end.is_some() { "" } else { "serious" };
        let ending = match outage.ending {
            None => outage.kind.verb(false),
            Some(OutageEnding::Recovered) => "recovered",
            Some(OutageEnding::Remounted) => "remounted",
            Some(OutageEnding::Unmounted) => "unmounted",
            Some(OutageEnding::Rebooted) => "rebooted",
        };
        let lasted = outage.end.unwrap_or(now).since(outage.begin);
        page.raw("<tr").attribute("class", class).raw(">");
        cell("Began", "number", page).text(&outage.begin.in_words()).raw("</td>");
        cell("Mount", "", page).element("<code>", &outage.mount, "</code>");
        for target in outage.targets.iter().filter(|target| **target != outage.mount) {
            page.element(" <span class=\"faint\">", target, "</span>");
        }
        page.raw("</td>");
        cell("Lasted", "number", page).text(&lasted.to_string()).raw("</td>");
        cell("Ended", "", page).text(ending).raw("</td>");
        cell("Skipped", "number", page).text(&format_count(outage.skipped)).raw("</td></tr>\n");
    }
    page.raw("</tbody>\n</table>\n</section>\n");
}

fn last_ends(all: &[LiveLast], document: &LiveDocument, page: &mut Markup) {
    page.raw("<section id=\"last\">\n<h2>Last values</h2>\n");
    if all.is_empty() {
        page.raw("<p class=\"faint\">None yet.</p>\n</section>\n");
        return;
    }
    page.raw("<table>\n<thead><tr><th>Task</th><th>Target</th><th>Took</th><th>Outcome</th><th>Started</th></tr></thead>\n<tbody>\n");
    for last in all {
        let (class, mark) = match last.outcome {
            Outcome::Ok | Outcome::Retried => ("", ""),
            Outcome::Late => ("warning", ""),
            Outcome::Error => ("serious", ""),
            Outcome::Timeout | Outcome::Hung | Outcome::Skipped => ("serious", "> "),
            Outcome::Interrupted => ("", "> "),
        };
        let took = match last.value {
            Some(value) => format!("{value}"),
            None => format!("{mark}{}", last.duration_ns),
        };
        page.raw("<tr").attribute("class", class).raw(">");
        task(cell("Task", "", page), &last.series, &document.host);
        page.raw("</td>");
        cell("Target", "", page).element("<code>", &last.series.target, "</code></td>");
        cell("Took", "number", page).text(&took).raw("</td>");
        cell("Outcome", "", page).text(last.outcome.name()).raw("</td>");
        cell("Started", "number", page).text(&last.start.in_words()).raw("</td></tr>\n");
    }
    page.raw("</tbody>\n</table>\n</section>\n");
}

/// An open cell of a table; on a phone, where a row stands upright, its head stands beside it.
fn cell<'a>(head: &'static str, class: &'static str, page: &'a mut Markup) -> &'a mut Markup {
    page.raw("<td").attribute("data-head", head).attribute("class", class).raw(">")
}

fn task(page: &mut Markup, key: &SeriesKey, host: &str) {
    page.text(&key.task);
    if !key.part.is_empty() {
        page.element("<span class=\"faint\">: ", &key.part, "</span>");
    }
    if key.host != host {
        page.element("<span class=\"faint\"> from ", &key.host, "</span>");
    }
}

fn series(all: &[LiveSeries], host: &str, page: &mut Markup) {
    if all.is_empty() {
        return;
    }
    page.raw("<section id=\"series\">\n<h2>All that was measured</h2>\n<table>\n")
        .raw("<thead><tr><th>Task</th><th>Target</th><th>Ok</th><th>Error</th><th>Time-out</th><th>Skipped</th></tr></thead>\n<tbody>\n");
    for one in all {
        page.raw("<tr>");
        task(cell("Task", "", page), &one.series, host);
        page.raw("</td>");
        cell("Target", "", page).element("<code>", &one.series.target, "</code></td>");
        let counts =
            [("Ok", one.ok), ("Error", one.error), ("Time-out", one.timeout), ("Skipped", one.skipped)];
        for (head, count) in counts {
            cell(head, "number", page).text(&format_count(count)).raw("</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody>\n</table>\n</section>\n");
}

fn events(events: &[Event], page: &mut Markup) {
    if events.is_empty() {
        return;
    }
    page.raw("<section id=\"events\">\n<h2>Events</h2>\n<ul>\n");
    for event in events.iter().take(EVENTS_MAX) {
        page.element("<li><time>", &event.begin.in_words(), "</time> ");
        match event.link.as_deref().filter(|link| is_page(link)) {
            Some(link) => page.raw("<a rel=\"noopener noreferrer\"").attribute("href", link).element(
                ">",
                &event.text,
                "</a>",
            ),
            None => page.text(&event.text),
        };
        for (word, what) in [(" on ", &event.target), (" of ", &event.host)] {
            if !what.is_empty() {
                page.raw("<span class=\"faint\">").raw(word).text(what).raw("</span>");
            }
        }
        page.raw("</li>\n");
    }
    page.raw("</ul>\n</section>\n");
}

/// Only what a browser may follow safely: no `javascript:`, no `data:`.
fn is_page(link: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| link.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_are_followed() {
        assert!(is_page("https://a/b") && is_page("HTTP://a"));
        assert!(
            !is_page("javascript:alert(1)")
                && !is_page("data:text/html,x")
                && !is_page("http:/a")
                && !is_page("")
        );
        assert!(!is_page("höhöhöhö"));
    }
}
