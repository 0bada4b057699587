//! A trace, described.

use iolag_model::{RunRecord, TraceOrigin, TraceSpec};

use crate::workload::described::Described;

impl Described for TraceSpec {
    fn heading(&self) -> &'static str {
        "What a program asked of the file systems"
    }

    fn title(&self) -> String {
        match &self.program {
            Some(program) => format!("What {program} asked of the file systems"),
            None => self.heading().to_owned(),
        }
    }

    fn in_list(&self) -> String {
        match &self.program {
            Some(program) => format!("trace, {program}"),
            None => "trace".to_owned(),
        }
    }

    fn in_a_line(&self, _clients: u32) -> String {
        let of = match self.origin {
            TraceOrigin::Captured => "of a command under strace",
            TraceOrigin::Attached => "of processes to which strace was attached",
            TraceOrigin::Text => "from the text that strace wrote elsewhere",
        };
        format!("trace {of}")
    }

    /// The arguments of a program are not kept.
    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let program = || self.program.clone().unwrap_or_else(|| "COMMAND".to_owned());
        let what = match self.origin {
            TraceOrigin::Captured => vec!["--".to_owned(), program()],
            TraceOrigin::Attached => vec!["--attach".to_owned(), "PID".to_owned()],
            TraceOrigin::Text if run.spec.targets.is_empty() => vec!["--from".to_owned(), "FILE".to_owned()],
            TraceOrigin::Text => [&["--from".to_owned()], &run.spec.targets[..]].concat(),
        };
        (&["trace"], what)
    }
}
