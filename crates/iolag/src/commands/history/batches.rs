//! `iolag history batches`, `undo` and `notes`: what was imported and noted, and how an import is taken back; `rename` is in `renaming.rs`, `remember` in
//! `remember.rs`.

use iolag_model::{Batch, BatchContent, BatchId, EventSource, HistoryRecord, counted};
use iolag_report::{batches_text, notes_text, write_batches_json, write_notes_json};
use iolag_store::history::Access;

use crate::args::{Batches, Common, HistoryCommand, Notes, Undo};
use crate::commands::history::access::{Chosen, ask_history, failure, here, now};
use crate::output::{self, Kept};
use iolag_conduct::{ExitCode, Failure};

/// Runs one of these commands.
///
/// # Errors
/// If the history cannot be read or written, or has no such import.
pub fn run(command: &HistoryCommand, common: &Common) -> Result<ExitCode, Failure> {
    match command {
        HistoryCommand::Batches(options) => list(options, common),
        HistoryCommand::Undo(options) => undo(options, common),
        HistoryCommand::Rename(options) => crate::commands::history::renaming::run(options, common),
        HistoryCommand::Remember(options) => crate::commands::history::remember::run(options, common),
        HistoryCommand::Notes(options) => notes(options, common),
    }
}

fn list(options: &Batches, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_lost_document(common)?;
    let chosen = Chosen::new(&options.place)?;
    let colour = output::colour(common, |name| std::env::var_os(name));
    let batches = ask_history(&chosen, || chosen.open(Access::ReadOnly)?.batches().map_err(failure))?;
    let text = match batches.len() {
        0 => format!(
            "nothing was imported into {}; import something with: iolag import FILE\n",
            chosen.shown()
        ),
        _ => batches_text(&batches, colour),
    };
    output::deliver(common, &text, Kept::Sources, || {
        let mut document = Vec::new();
        write_batches_json(&batches, &mut document).map_err(Failure::bug)?;
        Ok(document)
    })?;
    Ok(ExitCode::Fine)
}

fn notes(options: &Notes, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_lost_document(common)?;
    let chosen = Chosen::new(&options.span.place)?;
    let colour = output::colour(common, |name| std::env::var_os(name));
    let events = ask_history(&chosen, || {
        let (since, until) = (options.span.since.as_deref(), options.span.until.as_deref());
        let span = here().span(since, until).map_err(Failure::usage)?;
        let mut events = chosen.open(Access::ReadOnly)?.events(span).map_err(failure)?;
        events.retain(|event| !matches!(event.source, EventSource::Configuration | EventSource::Watch));
        Ok(events)
    })?;
    let text = match events.len() {
        0 => format!("nothing was noted in {}; note something with: iolag note TEXT\n", chosen.shown()),
        _ => notes_text(&events, colour),
    };
    output::deliver(common, &text, Kept::Sources, || {
        let mut document = Vec::new();
        write_notes_json(&events, &mut document).map_err(Failure::bug)?;
        Ok(document)
    })?;
    Ok(ExitCode::Fine)
}

fn undo(options: &Undo, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "history undo")?;
    let chosen = Chosen::new(&options.place)?;
    let text = ask_history(&chosen, || {
        let mut history = chosen.open(Access::ReadWrite)?;
        let found = find(history.batches().map_err(failure)?, options.batch, &chosen.shown())?;
        let undone = Batch { undone: Some(now()), ..found.batch.clone() };
        history.append(&[HistoryRecord::Batch(undone)]).map_err(failure)?;
        Ok(undone_text(&found, &chosen.shown()))
    })?;
    Ok(output::print(&text))
}

fn find(batches: Vec<BatchContent>, wanted: BatchId, place: &str) -> Result<BatchContent, Failure> {
    let found = batches.into_iter().find(|content| content.batch.id == wanted);
    match found {
        None => Err(Failure::usage(format!(
            "no batch {wanted} in {place}; list them with: iolag history batches"
        ))),
        Some(content) if content.batch.undone.is_some() => Err(Failure::usage(format!(
            "the batch {wanted} was undone before; import the file again to have it back"
        ))),
        Some(content) if !content.is_described => Err(Failure::usage(format!(
            "of the batch {wanted} only a part is in {place}; import the rest of the export that it came with, then undo it"
        ))),
        Some(content) => Ok(content),
    }
}

fn undone_text(content: &BatchContent, place: &str) -> String {
    let samples = counted(content.samples_counting, "sample", "samples");
    let events = match content.events {
        0 => String::new(),
        events => format!(" and {}", counted(events, "event", "events")),
    };
    format!(
        "undone {} of {}: its {samples}{events} in {place} no longer count; what they had replaced does again\n",
        content.batch.id, content.batch.file
    )
}
