//! The command line of iolag.

use std::io::Write;
use std::process::ExitCode as ProcessExit;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use iolag::args::{Arguments, Command, unreadable_argument};
use iolag::commands;
use iolag::copies::one_of_several;
use iolag::output;
use iolag_backend::redact_argument;
use iolag_conduct::{ExitCode, Failure, perform_calibrating_calls};
use iolag_keeper::{outlive_file_size_limit, take_arguments};
use iolag_workload::withhold_core_dumps;

fn main() -> ProcessExit {
    if perform_calibrating_calls(std::env::args_os()) {
        return ProcessExit::SUCCESS;
    }
    // What was typed may be handed over in a file in memory.
    outlive_file_size_limit();
    // SAFETY: no thread has been started.
    let typed = unsafe { take_arguments(redact_argument) };
    withhold_core_dumps();
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            output::complain(&unreadable_argument(typed.into_iter()));
            return ProcessExit::from(ExitCode::Usage as u8);
        }
        Err(error) => {
            let error = with_hint(error, &typed);
            if !error.use_stderr() {
                return ProcessExit::from(told(error.print()) as u8);
            }
            let text = error.render().to_string();
            let shown = without_secrets(&text, &typed);
            // Nobody is left to be told if standard error is gone.
            let _ = if shown == text { error.print() } else { std::io::stderr().write_all(shown.as_bytes()) };
            return ProcessExit::from(ExitCode::Usage as u8);
        }
    };
    // A panic is a bug, and says so by its exit code.
    let result = std::panic::catch_unwind(|| run(&arguments));
    match result.unwrap_or_else(|_| {
        Err(Failure::bug("this is a bug in iolag; please report it with the lines above"))
    }) {
        Ok(code) => ProcessExit::from(code as u8),
        Err(failure) => {
            output::complain(&failure.sentence);
            ProcessExit::from(failure.code as u8)
        }
    }
}

/// What is said of arguments, which repeats some, without their secrets.
fn without_secrets(text: &str, typed: &[std::ffi::OsString]) -> String {
    let mut shown = text.to_owned();
    for argument in typed.iter().filter_map(|argument| argument.to_str()) {
        let value = argument.split_once('=').map_or(argument, |(_, value)| value);
        for secret in [argument, value].into_iter().filter(|text| redact_argument(text) != **text) {
            shown = shown.replace(secret, &redact_argument(secret));
        }
    }
    shown
}

/// How a command ends whose result is help or a version.
fn told(printed: std::io::Result<()>) -> ExitCode {
    let Some(sentence) = printed.err().as_ref().and_then(output::lost) else { return ExitCode::Fine };
    output::complain(&sentence);
    ExitCode::Unusable
}

/// `--plot FILE DIR` looks right: what follows `--plot` without a `=` is taken for the directory.
fn with_hint(mut error: clap::Error, typed: &[std::ffi::OsString]) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument && typed.iter().any(|argument| argument == "--plot") {
        let hint = "to write the figure to a file, join them with a =: --plot=FILE";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    if error.kind() == ErrorKind::UnknownArgument && typed.iter().any(|argument| argument == "explain") {
        let hint = "for a command, put -- before it: iolag explain -- ls -l";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
    error
}

fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let common = &arguments.common;
    // Before anything is touched, and before the program moves into memory.
    if arguments.command.must_be_the_only_copy()
        && let Some(copy) = one_of_several(|name| std::env::var_os(name))
    {
        return copy.sentence().map_or(Ok(ExitCode::Usage), |sentence| Err(Failure::usage(sentence)));
    }
    match &arguments.command {
        Command::Check(options) => commands::check::run(options, common),
        Command::Ping(options) => commands::ping::run(options, common),
        Command::Watch(options) => commands::watch::run(options, common),
        Command::Explain(options) => commands::explain::run(options, common),
        Command::Bench { bench } => commands::bench::run(bench, common),
        Command::Trace(options) => commands::trace::run(options, common),
        Command::Replay(options) => commands::replay::run(options, common),
        Command::Run(options) => commands::plan::run(options, common),
        Command::Plan(options) => commands::plan::print(options, common),
        Command::List(options) => commands::runs::list::run(options, common),
        Command::Show(options) => commands::runs::show::run(options, common),
        Command::Compare(options) => commands::compare::run(options, common),
        Command::Report(options) => commands::runs::report::run(options, common),
        Command::Plot(options) => commands::plot::run(options, common),
        Command::Export(options) => commands::runs::export::run(options, common),
        Command::Note(options) => commands::history::note::run(options, common),
        Command::History { history } => commands::history::batches::run(history, common),
        Command::Import(options) => commands::history::import::run(options, common),
        Command::Serve(options) => commands::serve::run(options, common),
        Command::Baseline { baseline } => commands::runs::baseline::run(baseline, common),
        Command::Rm(options) => commands::runs::rm::run(options, common),
        Command::Prune(options) => commands::runs::prune::run(options, common),
        Command::Cleanup(options) => commands::runs::cleanup::run(options, common),
    }
}
