//! What the user can type. Parsing only validates single values; what they mean together is decided by the commands.

mod export;
mod history;
mod serve;
mod target;
mod watch;

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use iolag_backend::{Target, redact};
use iolag_model::{
    Granularity, Nanoseconds, OnHang, Operation, Pattern, Phase, parse_bytes, parse_count, parse_duration,
};

pub use export::{Export, ExportForm};
pub use history::{
    Batches, CommentMark, HISTORY, HistoryCommand, HistoryMethod, HistoryPlace, HistorySpan, Import, Method,
    Note, Notes, RenameTarget, Stratification, Undo,
};
pub use serve::{MetricsElsewhere, Serve};
use target::{DirectoryParser, TargetParser};
pub use watch::{Ping, Unit, Watch};

/// Measure how storage feels to the people and jobs that wait for it.
#[derive(Debug, Parser)]
#[command(
    name = "iolag",
    version,
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

/// Options of all commands.
#[derive(Debug, Args)]
pub struct Common {
    /// Where runs are kept [default: $IOLAG_STORE, else ~/.local/share/iolag]
    #[arg(long, global = true, value_name = "DIR", value_parser = parse_readable, help_heading = "Common options")]
    pub store: Option<PathBuf>,
    /// Write the result as JSON to this file; - prints it instead of the tables
    #[arg(long, global = true, value_name = "FILE", value_parser = parse_document, help_heading = "Common options")]
    pub json: Option<PathBuf>,
    /// No progress and no notices
    #[arg(short, long, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// When to colour: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Common options"
    )]
    pub colour: ColourWhen,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColourWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Even into a file.
    Always,
    /// Not at all.
    Never,
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
    /// Run one workload
    Bench {
        /// Which.
        #[command(subcommand)]
        bench: Bench,
    },
    /// List the stored runs
    List(List),
    /// Show the result of a stored run, or what a history means
    Show(Show),
    /// Explain runs in one HTML file that needs nothing else
    Report(Report),
    /// Draw a figure of runs for a paper
    Plot(Plot),
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
            Self::Bench { bench: Bench::Metadata(options) } => !options.run.launch.alone,
            Self::Ping(options) => !options.run.launch.alone,
            Self::Watch(options) => !options.launch.alone && options.touches_directories(),
            Self::List(_)
            | Self::Show(_)
            | Self::Report(_)
            | Self::Plot(_)
            | Self::Export(_)
            | Self::Note(_)
            | Self::History { .. }
            | Self::Import(_)
            | Self::Serve(_)
            | Self::Prune(_)
            | Self::Rm(_)
            | Self::Cleanup(_) => false,
        }
    }
}

/// The workloads.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Many small objects: create, stat, read, delete on a constant working set (the workload of md-workbench)
    Metadata(Box<Metadata>),
}

/// `iolag check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Directories to measure in [default: home, temporary and current directory, one per file system]
    #[arg(value_name = "DIR", value_parser = DirectoryParser)]
    pub directories: Vec<PathBuf>,
    /// Time for everything: all directories, setting up, cleaning up
    #[arg(long, value_name = "DURATION", default_value = "45s", allow_hyphen_values = true, value_parser = parse_budget)]
    pub budget: Nanoseconds,
    /// After this long without an answer a directory counts as not answering
    #[arg(long, value_name = "DURATION", default_value = "15s", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Nanoseconds,
    /// Tell every row, and how often each takes long
    #[arg(long)]
    pub full: bool,
    /// Explain the result in this HTML file
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub report: Option<PathBuf>,
    /// Show the share of attempts that took longer than these (with --full)
    #[arg(long, value_name = "DURATION,…", default_value = "100ms,1s,10s,60s", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_period)]
    pub thresholds: Vec<Nanoseconds>,
    /// Size of the short stream
    #[arg(long, value_name = "SIZE", default_value = "2MiB", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub stream_size: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub run: RunOptions,
}

/// Options of every command that measures.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Attach a label to the run
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
    pub labels: Vec<(String, String)>,
    /// Seed of everything random
    #[arg(long, value_name = "NUMBER", default_value_t = 1, allow_hyphen_values = true)]
    pub seed: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub launch: Launch,
}

/// How a command that measures may be started.
#[derive(Debug, Args)]
pub struct Launch {
    /// Measure although a launcher (mpirun, srun) started several copies: no other copy measures
    #[arg(long)]
    pub alone: bool,
}

/// `iolag bench metadata`.
#[derive(Debug, Args)]
pub struct Metadata {
    /// A directory (or memory:, delayed:…:TARGET, faulty:…:TARGET)
    #[arg(value_name = "TARGET", required = true, value_parser = TargetParser)]
    pub targets: Vec<Target>,
    /// Clients per target; several numbers make a sweep
    #[arg(short = 'n', long, value_name = "N,…", default_value = "1", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub clients: Vec<u64>,
    /// D: datasets (directories) per client
    #[arg(short = 'D', long, value_name = "COUNT", default_value = "10", allow_hyphen_values = true, value_parser = parse_count)]
    pub datasets: u64,
    /// P: objects precreated per dataset; several numbers make a sweep
    #[arg(short = 'P', long, value_name = "COUNT,…", default_value = "3000", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub precreate: Vec<u64>,
    /// I: objects per dataset and iteration
    #[arg(short = 'I', long, value_name = "COUNT", default_value = "1000", allow_hyphen_values = true, value_parser = parse_count)]
    pub objects: u64,
    /// R: iterations of the benchmark phase
    #[arg(short = 'R', long, value_name = "COUNT", default_value = "3", allow_hyphen_values = true, value_parser = parse_count)]
    pub iterations: u64,
    /// S: size of an object
    #[arg(short = 'S', long, value_name = "SIZE", default_value = "3901", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub object_size: u64,
    /// O: distance to the client whose objects are read [default: 1, since all clients are on one node]
    #[arg(short = 'O', long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub offset: Option<u64>,
    /// Access pattern: code (md-workbench), paper, or batch (mdtest's school)
    #[arg(long, value_name = "NAME", default_value = "code", value_parser = parse_pattern)]
    pub pattern: Pattern,
    /// What a sample is: operations (bounds of md-workbench) or calls (single system calls)
    #[arg(long, value_name = "NAME", default_value = "operations", value_parser = parse_granularity)]
    pub detail: Granularity,
    /// Which phases to run: precreate, benchmark, cleanup
    #[arg(long, value_name = "PHASE,…", default_value = "precreate,benchmark,cleanup", value_delimiter = ',', value_parser = parse_phase)]
    pub phases: Vec<Phase>,
    /// Pause after every operation: a factor of its time (0.5x) or a duration (10ms)
    #[arg(long, value_name = "TIME", default_value = "0", allow_hyphen_values = true, value_parser = parse_think)]
    pub think: iolag_model::Think,
    /// Stat and read only
    #[arg(long)]
    pub read_only: bool,
    /// End an iteration after this long
    #[arg(short = 'w', long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub time_limit: Option<Nanoseconds>,
    /// At the time limit, let every client do as much as the fastest had done
    #[arg(short = 'W', long, requires = "time_limit")]
    pub wear_out: bool,
    /// fsync created objects, within the operation
    #[arg(long)]
    pub fsync: bool,
    /// Compare what is read with what was written, outside the timing
    #[arg(long)]
    pub verify: bool,
    /// Run everything this often
    #[arg(long, value_name = "COUNT", default_value = "1", allow_hyphen_values = true, value_parser = parse_count)]
    pub repeat: u64,
    /// Go on with the campaign that this run belongs to, with the same options: what is complete is not measured again
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// After this long an operation counts as hung
    #[arg(long, value_name = "DURATION", default_value = "15s", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Nanoseconds,
    /// What a hung operation does to the run: wait, continue (with the other clients) or stop
    #[arg(long, value_name = "POLICY", default_value = "continue", value_parser = parse_on_hang)]
    pub on_hang: OnHang,
    /// With --on-hang wait: go on without a client after this long [default: 1h]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub give_up_after: Option<Nanoseconds>,
    /// Shared memory for samples on their way to the store, at most [default: 256MiB; with more than 500 clients 128MiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub buffer: Option<u64>,
    /// Name of the working directory in the target
    #[arg(long, value_name = "NAME", default_value = "iolag-work")]
    pub working_name: String,
    /// Explain the result in this HTML file
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub report: Option<PathBuf>,
    /// Form of what is printed: text, md-workbench, csv or json
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = parse_form)]
    pub format: MetadataForm,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub run: RunOptions,
}

/// Form of a metadata result on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataForm {
    /// Tables for people.
    Text,
    /// The lines of md-workbench, for its users' parsers.
    MdWorkbench,
    /// One line per phase and operation.
    Csv,
    /// Everything.
    Json,
}

/// `iolag list`.
#[derive(Debug, Args)]
pub struct List {}

/// `iolag show`.
#[derive(Debug, Args)]
pub struct Show {
    /// A run: its id, a part of it that no other has, `last`, or a path; or `history` for what was watched and imported
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Form of what is printed: text, csv, json, or md-workbench (metadata runs)
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = parse_form)]
    pub format: MetadataForm,
    /// Draw time line and ECDF on the terminal
    #[arg(long)]
    pub plot: bool,
    /// Of a check every row, and how often each takes long
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub method: HistoryMethod,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

/// `iolag report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Runs: ids, parts of ids that no other has, `last`, or paths; several are shown together; or `history` for what was watched [default: last]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The file to write [default: iolag-report-RUN.html here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The title [default: made from the runs]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Write the draft of an incident report instead, as Markdown
    #[arg(long, conflicts_with = "title")]
    pub incident: bool,
    /// Ask the desktop to show the file
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub method: HistoryMethod,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

/// `iolag plot`.
#[derive(Debug, Args)]
pub struct Plot {
    /// time-line, ecdf, histogram, box, client-box, heat-map, rates, fairness or sweep
    #[arg(value_name = "KIND")]
    pub kind: String,
    /// Runs: ids, parts of ids that no other has, `last`, or paths; several are overlaid, over time in panels of their own
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// The file to write: its name ends in .svg (text as outlines, fit for PDF) or .png
    #[arg(short, long, value_name = "FILE", required = true)]
    pub output: PathBuf,
    /// Width and height, in mm or px
    #[arg(long, value_name = "WxHmm|WxHpx", default_value = "160x100mm")]
    pub size: String,
    /// Only these operations, by their names in the tables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = parse_operation)]
    pub operations: Vec<Operation>,
    /// Only these targets, by their names in the tables
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// Only these phases
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', value_parser = parse_any_phase)]
    pub phases: Vec<Phase>,
    /// Only these clients, as 0-3 or 0,2-3; up to 16 have a panel each in a time line
    #[arg(long, value_name = "N-M,…", value_delimiter = ',', value_parser = parse_clients)]
    pub clients: Vec<RangeInclusive<u32>>,
}

/// `iolag rm`.
#[derive(Debug, Args)]
pub struct Rm {
    /// Runs: ids, parts of ids that no other has, `last`, or paths
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Remove also runs whose working directory is, or may be, left on a target (a file system that is gone for good): nobody
    /// can clean up after them then
    #[arg(long)]
    pub abandon_places: bool,
    /// Remove without asking; needed where nobody is at a terminal
    #[arg(long)]
    pub yes: bool,
}

/// `iolag prune`.
#[derive(Debug, Args)]
pub struct Prune {
    /// Keep at least the newest so many runs
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub keep_last: Option<u64>,
    /// Remove runs older than this
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    pub older_than: Option<Nanoseconds>,
    /// Remove the oldest until the rest takes no more than this
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub max_size: Option<u64>,
    /// Really remove; without it only what would be removed is listed
    #[arg(long)]
    pub yes: bool,
}

/// `iolag cleanup`.
#[derive(Debug, Args)]
pub struct Cleanup {
    /// A run: its id, a part of it that no other has, `last`, or a path
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
}

macro_rules! by_name {
    ($function:ident, $type:ty, $choices:expr) => {
        fn $function(text: &str) -> Result<$type, String> {
            let choices: &[$type] = $choices;
            choices.iter().copied().find(|choice| choice.name() == text).ok_or_else(|| {
                let names: Vec<_> = choices.iter().map(|choice| choice.name()).collect();
                format!("expected one of: {}", names.join(", "))
            })
        }
    };
}

by_name!(parse_pattern, Pattern, Pattern::ALL);
by_name!(parse_granularity, Granularity, Granularity::ALL);
by_name!(parse_on_hang, OnHang, OnHang::ALL);
by_name!(parse_phase, Phase, &[Phase::Precreate, Phase::Benchmark, Phase::Cleanup]);

/// Why an argument that is not UTF-8 is refused, in a sentence: stored runs, reports and histories hold names as text.
pub fn unreadable_argument(arguments: impl Iterator<Item = OsString>) -> String {
    let unreadable = arguments.skip(1).find(|argument| argument.to_str().is_none()).unwrap_or_default();
    let shown = redact(&unreadable.to_string_lossy());
    format!(
        "{shown:?} is not UTF-8, and iolag keeps names as text: rename it, or make a symbolic link to it with another name and \
         name that"
    )
}

/// Absolute at once, since the program leaves the current directory before it measures.
fn parse_document(text: &str) -> Result<PathBuf, String> {
    match text {
        "" => Err("expected a file, or - for standard output".to_owned()),
        "-" => Ok(PathBuf::from(text)),
        _ => parse_file(text),
    }
}

/// A path as it is; clap refuses what is not UTF-8, which runs and messages between processes cannot hold.
#[expect(clippy::unnecessary_wraps, reason = "what clap expects")]
fn parse_readable(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(text))
}

/// As [`parse_document`], where standard output makes no sense.
fn parse_file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("expected a file".to_owned());
    }
    std::path::absolute(text).map_err(|error| format!("the current directory is unknown: {error}"))
}

/// A duration that something takes: at least 1 ms, since nothing shorter can be waited for or shown with sense.
fn parse_period(text: &str) -> Result<Nanoseconds, String> {
    let period = parse_duration(text).map_err(|error| error.to_string())?;
    if period < Nanoseconds::from_milliseconds(1) {
        return Err("expected at least 1ms".to_owned());
    }
    Ok(period)
}

/// In less time a check cannot set up, measure something and clean up.
fn parse_budget(text: &str) -> Result<Nanoseconds, String> {
    const BUDGET_MIN: Nanoseconds = Nanoseconds::from_seconds(1);
    let budget = parse_duration(text).map_err(|error| error.to_string())?;
    if budget < BUDGET_MIN {
        return Err("a check needs at least 1s".to_owned());
    }
    Ok(budget)
}

fn parse_form(text: &str) -> Result<MetadataForm, String> {
    match text {
        "text" => Ok(MetadataForm::Text),
        "md-workbench" => Ok(MetadataForm::MdWorkbench),
        "csv" => Ok(MetadataForm::Csv),
        "json" => Ok(MetadataForm::Json),
        "parquet" => Err(
            "a result is not printed as Parquet; for the samples, run: iolag export --format parquet -o DIR"
                .to_owned(),
        ),
        _ => Err("expected one of: text, md-workbench, csv, json".to_owned()),
    }
}

/// `3` or `0-3`.
fn parse_clients(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err("expected a client or a range of clients, as in 0-3 or 0,2-3".to_owned()),
    }
}

by_name!(parse_any_phase, Phase, Phase::ALL);
by_name!(parse_operation, Operation, Operation::ALL);

fn parse_label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, for example condition=quiet".to_owned()),
    }
}

fn parse_think(text: &str) -> Result<iolag_model::Think, String> {
    use iolag_model::Think;
    if let Some(factor) = text.strip_suffix('x') {
        return match factor.parse::<f64>() {
            Ok(factor) if factor.is_finite() && (0.0..=1e6).contains(&factor) => Ok(Think::Factor(factor)),
            _ => Err("expected a factor such as 0.5x, at most 1000000x".to_owned()),
        };
    }
    match parse_duration(text) {
        Ok(Nanoseconds(0)) => Ok(Think::None),
        Ok(pause) => Ok(Think::Fixed(pause)),
        Err(_) => {
            Err("expected a factor of the operation's time such as 0.5x, or a duration such as 10ms"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use iolag_model::Think;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn think_time_is_a_factor_or_a_duration() {
        assert_eq!(parse_think("0.5x"), Ok(Think::Factor(0.5)));
        assert_eq!(parse_think("10ms"), Ok(Think::Fixed(Nanoseconds::from_milliseconds(10))));
        assert_eq!(parse_think("0"), Ok(Think::None));
        for bad in ["-1x", "nanx", "infx", "5", "x"] {
            assert!(parse_think(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_argument_that_is_not_text_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let arguments = ["iolag", "check"].map(OsString::from).into_iter();
        let said = unreadable_argument(arguments.chain([OsString::from_vec(b"/tmp/b\xffd\n".to_vec())]));
        assert!(said.starts_with("\"/tmp/b\u{fffd}d\\n\" is not UTF-8, "), "{said}");
    }

    #[test]
    fn an_unknown_choice_names_the_known_ones() {
        assert_eq!(parse_pattern("codes"), Err("expected one of: code, paper, batch".to_owned()));
    }
}
