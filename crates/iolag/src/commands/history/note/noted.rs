//! What a note says, and what may be a slip of the pen in it.

use iolag_conduct::Failure;
use iolag_model::Event;
use iolag_store::history::{History, called_now};
use serde::{Deserialize, Serialize};

use crate::args::Note;
use crate::commands::history::moment::{Here, in_utc};

/// What was noted, for the terminal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Noted {
    pub text: String,
    /// What is likely to be a slip of the pen.
    pub doubts: Vec<String>,
}

/// `event` with what the options say of it.
pub(super) fn told(options: &Note, here: &Here, event: Event) -> Result<Event, Failure> {
    let moment = |text: &String| here.moment(text).map_err(Failure::usage);
    let begin = options.at.as_ref().map_or(Ok(event.begin), moment)?;
    let end = options.until.as_ref().map(moment).transpose()?.or(event.end);
    if let Some(end) = end.filter(|end| *end <= begin) {
        return Err(Failure::usage(format!(
            "the end {} is not after the begin {}: give a later --until, or an earlier --at",
            in_utc(end),
            in_utc(begin)
        )));
    }
    let given = |option: &Option<String>, former: String| option.clone().unwrap_or(former);
    Ok(Event {
        begin,
        end,
        host: given(&options.host, event.host),
        target: given(&options.target, event.target),
        kind: given(&options.kind, event.kind),
        text: given(&options.text, event.text),
        link: options.link.clone().or(event.link),
        ..event
    })
}

/// Says what was noted, and where.
pub(super) fn shown(event: &Event, place: &str) -> String {
    let concerned = match (event.target.as_str(), event.host.as_str()) {
        ("", "") => "all targets and hosts".to_owned(),
        (target, "") => format!("{target} on all hosts"),
        ("", host) => format!("all targets of {host}"),
        (target, host) => format!("{target} on {host}"),
    };
    let time = match event.end {
        Some(end) => format!("{} to {}", in_utc(event.begin), in_utc(end)),
        None => in_utc(event.begin),
    };
    let did = if event.revised.is_some() { "corrected" } else { "noted" };
    format!("{did} {}\n  {}\n  at {time}, for {concerned}\n  in {place}\n", event.id, event.text)
}

/// Names that no series has: the note would be next to nothing.
pub(super) fn doubts(event: &Event, history: &mut dyn History) -> Option<Vec<String>> {
    let series = history.series().ok().filter(|series| !series.is_empty())?;
    let mut targets: Vec<&str> = series.iter().map(|one| one.key.target.as_str()).collect();
    let mut hosts: Vec<&str> = series.iter().map(|one| one.key.host.as_str()).collect();
    let doubt = |what: &str, wanted: &str, known: &mut Vec<&str>| {
        known.sort_unstable();
        known.dedup();
        known.retain(|name| !name.is_empty());
        let is_doubtful = !wanted.is_empty() && !known.contains(&wanted);
        is_doubtful.then(|| {
            format!(
                "the history knows no {what} {wanted:?} so far, only {}: the note explains nothing unless that {what} is watched",
                known.join(", ")
            )
        })
    };
    let of_target = match present_names(event, history).as_slice() {
        now @ [_, ..] if !targets.contains(&event.target.as_str()) => {
            Some(format!("{} is called {} now", event.target, now.join(" or ")))
        }
        _ => doubt("target", &event.target, &mut targets),
    };
    Some(of_target.into_iter().chain(doubt("host", &event.host, &mut hosts)).collect())
}

/// What the target of an event was renamed to, by host.
fn present_names(event: &Event, history: &mut dyn History) -> Vec<String> {
    let renames = history.renames().unwrap_or_default();
    let of_host = renames.iter().filter(|rename| event.host.is_empty() || rename.host == event.host);
    let mut names: Vec<String> =
        of_host.map(|rename| called_now(&renames, &rename.host, event.target.clone())).collect();
    names.retain(|name| *name != event.target);
    names.sort_unstable();
    names.dedup();
    names
}
