//! `iolag note`: what happened, for those who will look at the measurements.

mod correction;
mod noted;

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};

use iolag_model::{Event, EventSource, HistoryRecord};
use iolag_store::history::Access;

use crate::args::{Common, Note};
use crate::commands::history::access::{Chosen, ask_history, failure, here};
use crate::commands::history::moment::Here;
use crate::output;
use iolag_conduct::{ExitCode, Failure};
use noted::{Noted, doubts, shown, told};

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
    use iolag_model::WallTime;

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
