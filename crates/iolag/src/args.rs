//! What the user can type. Parsing only validates single values; what they mean together is decided by the commands.

mod bench;
mod check;
mod compare;
mod copies;
mod export;
mod history;
mod metadata;
mod options;
mod plan;
mod plot;
mod runs;
mod serve;
mod stream;
mod trace;
mod tree;
pub(crate) mod values;
mod watch;

use std::ffi::OsString;

use clap::{Parser, Subcommand};
use iolag_backend::redact;

pub use bench::{BenchArguments, BenchPlaces, CampaignArguments};
pub use check::{Check, Explain};
pub use compare::{Compare, CompareForm, HistorySide, SAME_WITHIN, SideChoice, SideName, parse_side};
pub(crate) use copies::parse_payload;
pub use copies::{CopiesAsked, PayloadAsked, Replay, SetUp, SetUpCalls};
pub use export::{Export, ExportForm};
pub use history::{
    Batches, CommentMark, CorrelationMethod, HISTORY, HistoryCommand, HistoryMethod, HistoryPlace,
    HistorySpan, Import, Method, Note, Notes, Remember, RenameTarget, Stratification, Undo,
};
pub use metadata::Metadata;
pub use options::{ColourWhen, Common, Launch, RunOptions};
pub use plan::{Plan, RunPlan};
pub use plot::Plot;
pub use runs::{
    BaselineCommand, BaselineList, BaselineRemove, BaselineSet, Cleanup, List, Prune, Report, Rm, Show,
};
pub use serve::{MetricsElsewhere, Serve};
pub use stream::{Stream, StreamBlocks};
pub use trace::{Trace, TracedToo};
pub use tree::{Tree, TreeReading};
pub use values::form::MetadataForm;
pub use watch::{Ping, Unit, Watch};

use crate::commands::bench::Bench;

/// With what was left out when it was built.
const VERSION: &str = if cfg!(feature = "postgres") {
    env!("CARGO_PKG_VERSION")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " without PostgreSQL")
};

/// Measure how storage feels to the people and jobs that wait for it.
#[derive(Debug, Parser)]
#[command(
    name = "iolag",
    version = VERSION,
    about = "Measure how storage feels to the people and jobs that wait for it",
    after_help = "Exit codes: 0 fine, 1 a threshold or regression was found, 2 usage, 3 target unusable, 4 run incomplete, 70 bug.\n\
                  Start with: iolag check"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of all commands.
    #[command(flatten)]
    pub common: Common,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// How does this storage feel right now? A verdict in under a minute
    Check(Check),
    /// One line per probe, like ping, with a summary at Ctrl-C
    Ping(Ping),
    /// Keep measuring, through every hang, and remember it for years
    Watch(Box<Watch>),
    /// Say why a place or command is slow: name service, look-ups, cache, client, network, server
    Explain(Explain),
    /// Run one workload
    Bench {
        /// Which.
        #[command(subcommand)]
        bench: Bench,
    },
    /// What does a command ask of the file systems, and where does its time go?
    Trace(Trace),
    /// Ask what a traced program asked again, elsewhere, by one or many copies
    Replay(Box<Replay>),
    /// Run the campaign of a plan file, reproducible and resumable
    Run(Box<RunPlan>),
    /// Print a ready-made plan, or list them
    Plan(Plan),
    /// List the stored runs
    List(List),
    /// Show the result of a stored run, or what a history means
    Show(Show),
    /// Say which of several sides is faster, by how much, and how sure that is
    Compare(Box<Compare>),
    /// Explain runs in one HTML file that needs nothing else
    Report(Report),
    /// Draw a figure of runs or of the history for a paper
    Plot(Box<Plot>),
    /// Write the samples of a run, or a history, for other programs
    Export(Export),
    /// Note what happened, for those who will look at the measurements
    Note(Note),
    /// Look after what is in a history
    History {
        /// How.
        #[command(subcommand)]
        history: HistoryCommand,
    },
    /// Read into the history what others measured, and what iolag exported elsewhere
    Import(Box<Import>),
    /// Show live what a watch does and has found out: in a browser on this machine, and for monitoring
    Serve(Serve),
    /// Name runs with which others are compared
    Baseline {
        /// How.
        #[command(subcommand)]
        baseline: BaselineCommand,
    },
    /// Remove runs from the store, whole and for good
    Rm(Rm),
    /// Remove old runs from the store
    Prune(Prune),
    /// Remove what an interrupted run left on its target
    Cleanup(Cleanup),
}

impl Command {
    /// Whether it measures, and the user has not said that it is the only copy that does.
    pub const fn must_be_the_only_copy(&self) -> bool {
        match self {
            Self::Check(options) => !options.run.launch.alone,
            Self::Bench { bench } => !bench.arguments().run.launch.alone,
            Self::Replay(options) => !options.bench.run.launch.alone,
            Self::Run(options) => !options.launch.alone,
            Self::Ping(options) => !options.run.launch.alone,
            Self::Watch(options) => !options.launch.alone && options.touches_directories(),
            Self::Trace(_)
            | Self::Explain(_)
            | Self::Plan(_)
            | Self::List(_)
            | Self::Show(_)
            | Self::Compare(_)
            | Self::Report(_)
            | Self::Plot(_)
            | Self::Export(_)
            | Self::Note(_)
            | Self::History { .. }
            | Self::Import(_)
            | Self::Serve(_)
            | Self::Baseline { .. }
            | Self::Prune(_)
            | Self::Rm(_)
            | Self::Cleanup(_) => false,
        }
    }
}

/// Why an argument that is not UTF-8 is refused, in a sentence: stored runs, reports and histories hold names as text.
pub fn unreadable_argument(arguments: impl Iterator<Item = OsString>) -> String {
    let unreadable = arguments.skip(1).find(|argument| argument.to_str().is_none()).unwrap_or_default();
    let shown = redact(&unreadable.to_string_lossy());
    format!(
        "{shown:?} is not UTF-8, and iolag keeps names as text: rename it, or make a symbolic link to it with another name and \
         name that"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_argument_that_is_not_text_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let arguments = ["iolag", "check"].map(OsString::from).into_iter();
        let said = unreadable_argument(arguments.chain([OsString::from_vec(b"/tmp/b\xffd\n".to_vec())]));
        assert!(said.starts_with("\"/tmp/b\u{fffd}d\\n\" is not UTF-8, "), "{said}");
    }
}
