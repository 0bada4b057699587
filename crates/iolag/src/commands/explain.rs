//! `iolag explain`: why is this place slow, or this command?

use std::ffi::OsString;
use std::io;
use std::path::Path;

use iolag_analysis::{explain, explain_command};
use iolag_conduct::{
    ExitCode, Failure, absolute, become_keeper, conduct_explain, conduct_explain_command,
    leave_current_directory,
};
use iolag_model::Nanoseconds;
use iolag_report::{
    command_explanation_text, explanation_text, write_command_explanation_json, write_explanation_json,
};

use crate::args::{Common, Explain};
use crate::commands::trace::{Teller, refuse_printed_document};
use crate::commands::{store_of, typed, typed_but_arguments};
use crate::output::{self, Kept};

/// A step of looking at a directory that is silent for so long hangs, unless the user says otherwise.
const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(15);

/// Runs the command.
///
/// # Errors
/// If there is nothing to explain.
pub fn run(options: &Explain, common: &Common) -> Result<ExitCode, Failure> {
    match (options.directory.as_deref(), &options.command[..]) {
        (Some(directory), []) => of_directory(directory, options.deadline.unwrap_or(DEADLINE), common),
        (None, []) => Err(Failure::usage(
            "nothing to explain: name a directory, or a command behind --, as in iolag explain -- ls -l",
        )),
        (None, command) => of_command(command, options.deadline, common),
        (Some(_), _) => {
            Err(Failure::usage("a directory and a command are two questions: ask one of them at a time"))
        }
    }
}

/// # Errors
/// If the directory cannot be looked at, or hangs.
fn of_directory(directory: &Path, deadline: Nanoseconds, common: &Common) -> Result<ExitCode, Failure> {
    let directory = absolute(directory);
    let keeper = become_keeper(store_of(common), typed())?;
    output::refuse_lost_document(common)?;
    leave_current_directory();
    output::notice(
        common,
        &format!("looking at {}: up to a minute, nothing is written", directory.display()),
    );
    let explained = explain(conduct_explain(&directory, deadline, &keeper)?);
    let text = explanation_text(&explained, output::width(), colour(common));
    output::deliver(common, &text, Kept::Sources, || {
        document(|writer| write_explanation_json(&explained, writer))
    })?;
    Ok(ExitCode::Fine)
}

/// # Errors
/// If the command cannot be traced.
fn of_command(
    command: &[OsString],
    deadline: Option<Nanoseconds>,
    common: &Common,
) -> Result<ExitCode, Failure> {
    refuse_printed_document(common)?;
    let keeper = become_keeper(store_of(common), typed_but_arguments(command))?;
    output::refuse_lost_document(common)?;
    let seen = conduct_explain_command(command.to_vec(), deadline, &keeper, &mut Teller { common })?;
    let code = match (&seen.cut, seen.past_deadline_ns) {
        (None, None) => ExitCode::Fine,
        _ => ExitCode::Incomplete,
    };
    let explained = explain_command(seen);
    let text = command_explanation_text(&explained, output::width(), colour(common));
    let delivered = output::deliver(common, &text, Kept::Sources, || {
        document(|writer| write_command_explanation_json(&explained, writer))
    });
    for process in &explained.seen.left {
        output::complain(&format!("it cannot be ended and was left behind: {process}"));
    }
    delivered.map_or_else(|failure| Err(failure.at_least(code)), |()| Ok(code))
}

fn colour(common: &Common) -> iolag_report::Colour {
    output::colour(common, |name| std::env::var_os(name))
}

fn document(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Result<Vec<u8>, Failure> {
    let mut document = Vec::new();
    write(&mut document)
        .map_err(|error| Failure::bug(format!("the explanation cannot be written as JSON: {error}")))?;
    Ok(document)
}
