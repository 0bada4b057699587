//! `iolag note --edit` and `--remove`: records that say something else of an event, so that they merge like all others.
//!
//! What iolag saw itself, changes of configuration and its own starts, is not corrected: it was so.

use iolag_model::{Event, EventSource, EventState, HistoryRecord, Nanoseconds, WallSpan, WallTime};
use iolag_store::history::{Access, History};

use super::noted::{Noted, doubts, shown, told};
use crate::args::{Common, Note};
use crate::commands::history::access::{Chosen, ask_history, failure, here};
use crate::output;
use iolag_conduct::{ExitCode, Failure};

/// Corrects the note that is called so.
///
/// # Errors
/// If there is none, or nothing to correct, or the history cannot be written.
pub(super) fn edit(id: &str, options: &Note, chosen: &Chosen, common: &Common) -> Result<ExitCode, Failure> {
    let noted = ask_history(chosen, || {
        let here = here();
        let mut history = chosen.open(Access::ReadWrite)?;
        let former = find(history.as_mut(), id, &chosen.shown())?;
        let event = told(options, &here, former.clone())?;
        if event == former {
            return Err(Failure::usage(format!(
                "nothing of {id} is to be corrected: give a text, --at, --until, --target, --host, --kind or --link"
            )));
        }
        let event = revise(history.as_mut(), &former, event, here.now)?;
        let doubts = doubts(&event, history.as_mut()).unwrap_or_default();
        Ok(Noted { text: shown(&event, &chosen.shown()), doubts })
    })?;
    let code = output::print(&noted.text);
    noted.doubts.iter().for_each(|doubt| output::notice(common, doubt));
    Ok(code)
}

/// Takes back the event that is called so, for good. What it said is not kept: it may have been a password.
///
/// # Errors
/// If there is none, or the history cannot be written.
pub(super) fn remove(id: &str, chosen: &Chosen) -> Result<ExitCode, Failure> {
    let text = ask_history(chosen, || {
        let now = here().now;
        let mut history = chosen.open(Access::ReadWrite)?;
        let former = find(history.as_mut(), id, &chosen.shown())?;
        let blank = Event::of_all(former.source, former.begin);
        let removed = Event { id: former.id.clone(), state: EventState::Removed, ..blank };
        revise(history.as_mut(), &former, removed, now)?;
        Ok(format!("removed {} from {}\n  {}\n", former.id, chosen.shown(), former.text))
    })?;
    Ok(output::print(&text))
}

/// Writes `event` in the place of `former`, for each import that brought it.
fn revise(history: &mut dyn History, former: &Event, event: Event, now: WallTime) -> Result<Event, Failure> {
    let revised = former.revised.map_or(now, |before| now.max(before.after(Nanoseconds(1))));
    let event = Event { revised: Some(revised), ..event };
    let mut records = Vec::new();
    let span = WallSpan { begin: former.begin, end: former.begin.after(Nanoseconds(1)) };
    let mut take = |record| {
        if let HistoryRecord::Event(brought) = record
            && brought.id == event.id
        {
            records.push(HistoryRecord::Event(Event { batch: brought.batch, ..event.clone() }));
        }
        Ok(())
    };
    history.records(span, &mut take).map_err(failure)?;
    history.append(&records).map_err(failure)?;
    Ok(event)
}

/// The event with this id or beginning of an id.
fn find(history: &mut dyn History, id: &str, place: &str) -> Result<Event, Failure> {
    let mut found = history.events(WallSpan::ALL).map_err(failure)?;
    found.retain(|event| event.id.starts_with(id));
    match found.len() {
        0 => Err(Failure::usage(format!("no note {id} in {place}; list them with: iolag history notes"))),
        1 => match found.remove(0) {
            event if matches!(event.source, EventSource::Configuration | EventSource::Watch) => {
                Err(Failure::usage(format!(
                    "{id} is what iolag saw itself ({:?}), which is not corrected; note what there is to say of it",
                    event.text
                )))
            }
            event => Ok(event),
        },
        count => Err(Failure::usage(format!("{count} events begin with {id}: give more of the id"))),
    }
}
