//! What the user can type for watching.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use iolag_backend::Target;
use iolag_model::{Nanoseconds, parse_count};

use crate::args::history::parse_place;
use crate::args::options::{Launch, RunOptions};
use crate::args::values::target::{PlaceParser, from_root};
use crate::args::values::{parse_file, parse_period};

/// `iolag watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// Directories and URLs of servers to watch [default: those of the configuration, else the home directory]
    #[arg(value_name = "DIR|URL", value_parser = PlaceParser.map(from_root))]
    pub targets: Vec<Target>,
    /// Configuration file; --print-config shows what it may say
    #[arg(short = 'c', long = "config", value_name = "FILE", value_parser = parse_file)]
    pub configuration: Option<PathBuf>,
    /// From the begin of one round to the begin of the next [default: 15m]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub every: Option<Nanoseconds>,
    /// Tasks to execute [default: compile,list,create]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub tasks: Vec<String>,
    /// One round, for cron and timers; what hangs is left to the next one
    #[arg(long, conflicts_with = "rounds")]
    pub once: bool,
    /// End after so many rounds
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_some)]
    pub rounds: Option<u64>,
    /// Where everything is remembered: a file on a local disk, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "PATH|URL", value_parser = parse_place)]
    pub history: Option<String>,
    /// Directory in memory for what outlives the watch but not the machine's boot [default: iolag-UID in /dev/shm, else in another tmpfs]
    #[arg(long, value_name = "DIR", value_parser = parse_file)]
    pub runtime: Option<PathBuf>,
    /// Trust servers for which an authority in this file vouches (PEM), and no others
    #[arg(long, value_name = "FILE", value_parser = parse_file, requires = "targets")]
    pub ca_file: Option<PathBuf>,
    /// Write metrics for node_exporter's textfile collector to this file (its name ends in .prom)
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub textfile: Option<PathBuf>,
    /// Show what the running watch does: probes in flight with their age, last values, outages
    #[arg(long, conflicts_with_all = ["once", "rounds", "remove"])]
    pub status: bool,
    /// Remove what watching with this history made in the directories and on the servers
    #[arg(long, conflicts_with_all = ["once", "rounds"])]
    pub remove: bool,
    /// Print a commented configuration file with every default
    #[arg(long)]
    pub print_config: bool,
    /// Print a unit for systemd
    #[arg(long, value_name = "UNIT", conflicts_with = "print_config")]
    pub print_unit: Option<Unit>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub launch: Launch,
}

impl Watch {
    /// Whether it measures, or removes what measuring made: what only prints may be asked by anybody.
    pub const fn touches_directories(&self) -> bool {
        !self.print_config && self.print_unit.is_none() && !self.status
    }
}

/// Units for systemd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    /// Watching as a service.
    Service,
    /// One round.
    OnceService,
    /// The timer that starts one round every quarter of an hour.
    Timer,
}

/// `iolag ping`.
#[derive(Debug, Args)]
#[command(
    after_help = "A probe is a stat of a file, an open and read of it, and a create of another, all in a directory that iolag makes \
                        in DIR and removes again. Its time is that of the three together; no program is started. On a server (s3://BUCKET/PREFIX, \
                        postgres://USER@HOST/DATABASE, dav://HOST/PATH) they are requests of its own; of http://HOST/PATH only HEAD and GET.\n\
                        Exit codes: 0 every probe was answered, 1 one was lost (late, hung, failed, ended or skipped), 2 usage, 3 DIR or URL unusable, \
                        4 ended before --count probes."
)]
pub struct Ping {
    /// The directory, or the URL of a server
    #[arg(value_name = "DIR|URL", value_parser = PlaceParser)]
    pub target: Target,
    /// Probe with a task instead, in a process of its own: stat, list, create, open-read, write-fsync, job-setup, compile, shell, echo or
    /// list-large; starting it is part of the time
    #[arg(long, value_name = "NAME")]
    pub task: Option<String>,
    /// From the begin of one probe to the begin of the next; one that is due while another is in flight is not sent; it counts as
    /// skipped, and lost, only if the other was lost
    #[arg(long, value_name = "DURATION", default_value = "1s", allow_hyphen_values = true, value_parser = parse_period)]
    pub every: Nanoseconds,
    /// End after so many probes, those that were due and not sent among them
    #[arg(short = 'n', visible_short_alias = 'c', long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_some)]
    pub count: Option<u64>,
    /// After this long a whole probe is lost; the process of a task is ended then
    #[arg(long, value_name = "DURATION", default_value = "60s", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Nanoseconds,
    /// Trust servers for which an authority in this file vouches (PEM), and no others
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub ca_file: Option<PathBuf>,
    /// Draw the probes over time at the end; --plot=FILE writes the figure to FILE (its name ends in .svg or .png) instead
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_parser = parse_file)]
    pub plot: Option<Option<PathBuf>>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub run: RunOptions,
}

/// At least one: nothing is measured by none.
fn parse_some(text: &str) -> Result<u64, String> {
    match parse_count(text).map_err(|error| error.to_string())? {
        0 => Err("expected at least 1".to_owned()),
        count => Ok(count),
    }
}
