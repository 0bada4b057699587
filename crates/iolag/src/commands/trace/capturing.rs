//! Tracing a command, or a process that is there.

use std::path::Path;

use iolag_analysis::{RunAnalysis, analyse_trace};
use iolag_conduct::{
    Capture, CaptureAttendant, CaptureSubject, Captured, Destination, ExitCode, Failure, Keeper, NewTrace,
    Purpose, STORE_DEADLINE, absolute, become_keeper, conduct_capture, record_of_trace_file, send_scouts,
    trace_content,
};
use iolag_model::{TraceAbout, TraceNetwork, TraceOrigin, format_duration, one_line};
use iolag_report::{CheckRows, run_text};

use crate::args::{Common, Trace};
use crate::commands::runs::show;
use crate::commands::{store_of, typed_but_arguments};
use crate::output::{self, Kept, notice};

/// Runs the command.
///
/// # Errors
/// If nothing was traced.
pub(super) fn run(options: &Trace, common: &Common) -> Result<ExitCode, Failure> {
    let subject = subject(options)?;
    refuse(options, common)?;
    let keeper = become_keeper(store_of(common), typed_but_arguments(&options.command))?;
    let network = if options.with.is_some() { TraceNetwork::Traced } else { TraceNetwork::Left };
    let destination = destination(options, common, &keeper)?;
    let capture = Capture { subject, network, destination, purpose: Purpose::Trace };
    let captured = conduct_capture(&capture, &keeper, &mut Teller { common })?;
    report(captured, common)
}

fn subject(options: &Trace) -> Result<CaptureSubject, Failure> {
    match (options.attach, &options.command[..]) {
        (Some(number), _) => Ok(CaptureSubject::Process(number)),
        (None, []) => Err(Failure::usage("nothing to trace: give a command, as in iolag trace -- ls -l")),
        (None, command) => Ok(CaptureSubject::Command(command.to_vec())),
    }
}

/// What cannot be done while a command runs.
fn refuse(options: &Trace, common: &Common) -> Result<(), Failure> {
    if options.anonymise {
        return Err(Failure::usage(
            "--anonymise goes with --from: trace into a file with -o, then iolag trace --from FILE --anonymise",
        ));
    }
    if options.attach.is_none() { refuse_printed_document(common) } else { Ok(()) }
}

/// No document is printed where a command prints.
///
/// # Errors
/// If that was wanted.
pub(in crate::commands) fn refuse_printed_document(common: &Common) -> Result<(), Failure> {
    let is_printed = common.json.as_deref().is_some_and(|path| path == Path::new("-"));
    if is_printed {
        return Err(Failure::usage(
            "the command itself writes to standard output: name a file with --json FILE",
        ));
    }
    Ok(())
}

fn destination(options: &Trace, common: &Common, keeper: &Keeper) -> Result<Destination, Failure> {
    if let Some(path) = &options.output {
        return Ok(Destination::File(absolute(path)));
    }
    let found = send_scouts(keeper, &[], STORE_DEADLINE)?;
    found.notices.iter().for_each(|sentence| notice(common, sentence));
    let new = NewTrace {
        targets: std::env::current_dir().iter().map(|path| path.display().to_string()).collect(),
        labels: options.labels.iter().cloned().collect(),
        command: keeper.command.clone(),
        environment: found.environment,
        ..NewTrace::default()
    };
    Ok(Destination::Store { root: found.root, new: Box::new(new) })
}

/// Tells the user before and after; nothing while the command has the terminal, unless it must.
pub(in crate::commands) struct Teller<'a> {
    pub(in crate::commands) common: &'a Common,
}

impl CaptureAttendant for Teller<'_> {
    fn announce(&mut self, about: &TraceAbout) {
        let cost = about.cost.unwrap_or_default().whole();
        let program = about.program.as_deref().unwrap_or_default();
        let what = match about.origin {
            TraceOrigin::Attached => format!("tracing {program} until Ctrl-C, which lets it go"),
            _ => format!("tracing {program}"),
        };
        notice(
            self.common,
            &format!(
                "{what}, with strace {}: each traced call takes about {} longer here [{} – {}]",
                about.strace.as_deref().unwrap_or_default(),
                format_duration(cost.median),
                format_duration(cost.least),
                format_duration(cost.most),
            ),
        );
    }

    fn say(&mut self, sentence: &str) {
        notice(self.common, sentence);
    }
}

/// What it comes to, as `iolag show` tells it.
fn report(captured: Captured, common: &Common) -> Result<ExitCode, Failure> {
    let Captured { about, summary, ending, trust, record, path, left, lost, .. } = captured;
    let code = match (&lost, &ending.cut) {
        (None, None) => ExitCode::Fine,
        _ => ExitCode::Incomplete,
    };
    let place = one_line(&path.to_string_lossy());
    let kept = match (&record, &lost) {
        (_, Some(reason)) => format!("the trace is not kept as a whole in {place}: {reason}"),
        (Some(record), None) => format!("kept as run {0}: iolag show {0}, iolag report {0}", record.id),
        (None, None) => format!("kept in {place}: iolag show {place}"),
    };
    let mut content = trace_content(about, summary, ending);
    let record = match record {
        Some(record) => *record,
        None => {
            content.trust.extend(trust);
            record_of_trace_file(&content)
        }
    };
    let analysis = RunAnalysis::Trace(analyse_trace(&record, content));
    let colour = output::colour(common, |name| std::env::var_os(name));
    let text = run_text(&analysis, CheckRows::Known, output::width(), colour);
    let delivered = output::deliver(common, &text, Kept::Run, || show::json(&record, &analysis));
    for process in &left {
        output::complain(&format!("it cannot be ended and was left behind: {process}"));
    }
    match &lost {
        Some(_) => output::complain(&kept),
        None => notice(common, &kept),
    }
    delivered.map_or_else(|failure| Err(failure.at_least(code)), |()| Ok(code))
}
