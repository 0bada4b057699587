//! `iolag note`: what happened, for those who will look at the measurements.

mod correction;

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};

use iolag_model::{Event, EventSource, HistoryRecord, WallTime};
use iolag_store::history::{Access, History, called_now};
use serde::{Deserialize, Serialize};

use super::history::{Chosen, ask_history, failure, here};
use super::moment::Here;
use crate::args::{Common, Note};
use crate::output;
use iolag_conduct::{ExitCode, Failure};

/// What was noted, for the terminal.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    text: String,
    /// What is likely to be a slip of the pen.
    doubts: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// If a time cannot be understood, or the history cannot be written; then nothing was noted.
pub fn run(options: &Note, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "note")?;
    let chosen = Chosen::new(&options.place)?;
    match (&options.edit, &options.remove) {
        (Some(id), _) => return correction::edit(id, options, &chosen, common),
        (_, Some(id)) => return correction::remove(id, &chosen),
        _ => {}
    }
    let author = author(|name| std::env::var_os(name), rustix::process::getuid().as_raw());
    // Before the fork: the child may be asked once only.
    let id = new_id();
    let noted = ask_history(&chosen, || {
        let event = event(options, &here(), id.clone(), author.clone())?;
        let mut history = chosen.open(Access::Create)?;
        history.append(&[HistoryRecord::Event(event.clone())]).map_err(failure)?;
        let doubts = doubts(&event, history.as_mut()).unwrap_or_default();
        Ok(Noted { text: shown(&event, &chosen.shown()), doubts })
    })?;
    let code = output::print(&noted.text);
    for doubt in &noted.doubts {
        output::notice(common, doubt);
    }
    Ok(code)
}

fn event(options: &Note, here: &Here, id: String, author: String) -> Result<Event, Failure> {
    let blank = Event { id, author, ..Event::of_all(EventSource::Note, here.now) };
    told(options, here, blank)
}

/// `event` with what the options say of it.
fn told(options: &Note, here: &Here, event: Event) -> Result<Event, Failure> {
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
fn shown(event: &Event, place: &str) -> String {
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

/// A moment, as in `2008-05-08 14:00:00 UTC`.
pub fn in_utc(moment: WallTime) -> String {
    let text = moment.to_string();
    let (day, time) = text.split_once('T').unwrap_or((&text, ""));
    format!("{day} {} UTC", time.split('.').next().unwrap_or_default())
}

/// Names that no series has: the note would be next to nothing.
fn doubts(event: &Event, history: &mut dyn History) -> Option<Vec<String>> {
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

/// Who types: by the environment, else the number. Name services are not asked, since they may hang.
pub fn author(variable: impl Fn(&str) -> Option<OsString>, user: u32) -> String {
    let named = ["USER", "LOGNAME"].iter().filter_map(|name| variable(name)?.into_string().ok());
    let mut names =
        named.map(|name| name.chars().filter(|character| !character.is_control()).take(100).collect());
    names.find(|name: &String| !name.is_empty()).unwrap_or_else(|| format!("uid {user}"))
}

/// 128 random bits: the keys of the standard library's hash tables come from the kernel.
fn new_id() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::args::HistoryPlace;

    fn note() -> Note {
        Note {
            text: Some("LDAP cache enabled".to_owned()),
            edit: None,
            remove: None,
            at: None,
            until: None,
            target: None,
            host: None,
            kind: None,
            link: None,
            place: HistoryPlace::default(),
        }
    }

    fn here() -> Here {
        Here { now: WallTime::from_seconds(1_210_256_100), zone: TimeZone::UTC }
    }

    fn made(note: &Note) -> Result<Event, Failure> {
        event(note, &here(), "ab".to_owned(), "me".to_owned())
    }

    #[test]
    fn a_note_is_about_now_and_everything_unless_it_says_otherwise() {
        let text = shown(&made(&note()).unwrap(), "/h");
        let expected = "noted ab\n  LDAP cache enabled\n  at 2008-05-08 14:15:00 UTC, for all targets and hosts\n  in /h\n";
        assert_eq!(text, expected);
        let some = Note {
            at: Some("yesterday".to_owned()),
            until: Some("2h".to_owned()),
            target: Some("/home".to_owned()),
            host: Some("login1".to_owned()),
            ..note()
        };
        let text = shown(&made(&some).unwrap(), "/h");
        assert!(
            text.contains("2008-05-07 00:00:00 UTC to 2008-05-08 12:15:00 UTC, for /home on login1"),
            "{text}"
        );
    }

    #[test]
    fn an_end_before_the_begin_is_refused() {
        let reversed = Note { until: Some("1d".to_owned()), ..note() };
        let refused = made(&reversed).unwrap_err();
        assert_eq!(refused.code, ExitCode::Usage);
        assert!(refused.sentence.contains("is not after the begin"), "{}", refused.sentence);
        assert!(made(&Note { at: Some("soon".to_owned()), ..note() }).is_err());
    }

    #[test]
    fn authors_are_named_by_the_environment_or_numbered() {
        let with = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| OsString::from(value))
        };
        assert_eq!(author(with("USER", "ann"), 7), "ann");
        assert_eq!(author(with("LOGNAME", "bob\n"), 7), "bob");
        assert_eq!(author(with("USER", ""), 7), "uid 7");
    }

    #[test]
    fn ids_are_hexadecimal_and_differ() {
        let (one, other) = (new_id(), new_id());
        assert!(one != other && one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
