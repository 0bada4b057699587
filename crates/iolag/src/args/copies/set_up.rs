//! What the user can type of `iolag bench setup`, and ask of copies of a job, when they are measured and later.

use clap::Args;
use iolag_backend::{Target, redact_line};
use iolag_conduct::Failure;
use iolag_model::{JobTerms, Nanoseconds, SetUpPreset, SetUpSpec, one_line, parse_bytes, parse_count};

use crate::args::bench::BenchArguments;
use crate::args::copies::payload::{PayloadAsked, parse_payload};
use crate::args::values::target::TargetParser;
use crate::args::values::{parse_period, parse_preset, parse_share};

/// `iolag bench setup`.
#[derive(Debug, Args)]
pub struct SetUp {
    /// A directory (or memory:, delayed:…:TARGET, faulty:…:TARGET)
    #[arg(value_name = "TARGET", required = true, value_parser = TargetParser)]
    pub targets: Vec<Target>,
    /// Copies at once, each a process; several numbers make a sweep
    #[arg(short = 'n', long, value_name = "N,…", default_value = "1", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub copies: Vec<u64>,
    /// As a traced program asked: its calls, misses, directories, files and what it read of them; a trace in the store, or a file
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["preset", "stat", "open"])]
    pub like: Option<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub calls: SetUpCalls,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub bench: BenchArguments,
}

/// What each copy does, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct SetUpCalls {
    /// stat calls of each copy [default: 100000]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub stat: Option<u64>,
    /// open calls of each copy [default: 7000]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub open: Option<u64>,
    /// As many as were traced: lhcb (110 765 stat and 17 868 open)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["stat", "open"], value_parser = parse_preset)]
    pub preset: Option<SetUpPreset>,
    /// How many of the stat and open calls look for what is not there [default: 80%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_share)]
    pub miss: Option<u32>,
    /// How many of the open calls do, if that is another share
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_share)]
    pub open_miss: Option<u32>,
    /// Directories that a copy looks in [default: 40]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub directories: Option<u64>,
    /// Files in each of them [default: 100]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub files: Option<u64>,
    /// Size of a file, which is read whole after an open [default: 4KiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub file_size: Option<u64>,
    /// How many of the directories all copies share [default: 100%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_share)]
    pub shared: Option<u32>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub asked: CopiesAsked,
    /// End a copy with the first call that ends after so long
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub kill_after: Option<Nanoseconds>,
}

impl SetUpCalls {
    /// The rest is as `usually`.
    pub fn spec(&self, usually: SetUpSpec) -> SetUpSpec {
        let (stats, opens) = match self.preset {
            Some(preset) => preset.counts(),
            None => (self.stat.unwrap_or(usually.stats), self.open.unwrap_or(usually.opens)),
        };
        let directories = self.directories.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        SetUpSpec {
            preset: self.preset,
            stats,
            opens,
            misses_per_million: self.miss.unwrap_or(usually.misses_per_million),
            // Whoever says how many of either miss means the opens, too.
            open_misses_per_million: match (self.open_miss, self.miss) {
                (None, None) => usually.open_misses_per_million,
                (of_opens, _) => of_opens,
            },
            directories: directories.unwrap_or(usually.directories),
            files: self.files.unwrap_or(usually.files),
            shared_per_million: self.shared.unwrap_or(usually.shared_per_million),
            file_bytes: self.file_size.unwrap_or(usually.file_bytes),
            terms: self.asked.terms().or(usually.terms),
            kill_after_ns: self.kill_after.or(usually.kill_after_ns),
            ..usually
        }
    }
}

/// What is asked of copies, as far as it was said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct CopiesAsked {
    /// Say how many copies of a job took longer than this; nothing is done about them
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub judge: Option<Nanoseconds>,
    /// Say how many copies a node should run, if each computes for so long on a processor once it is set up; or, while they are measured, a
    /// command that each then really runs
    #[arg(long, value_name = "DURATION|CMD", allow_hyphen_values = true, value_parser = parse_payload)]
    pub payload: Option<PayloadAsked>,
    /// With --payload: how many copies may be lost since they take longer than --judge [default: 5%]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, value_parser = parse_share)]
    pub timeouts_at_most: Option<u32>,
}

impl CopiesAsked {
    /// The same as terms, without what is run.
    pub fn terms(&self) -> JobTerms {
        JobTerms {
            judge_ns: self.judge,
            payload_ns: self.payload.as_ref().and_then(PayloadAsked::takes),
            payload_command: None,
            timeouts_at_most_per_million: self.timeouts_at_most,
        }
    }

    /// The same, asked of copies that were measured.
    ///
    /// # Errors
    /// If something is to be run.
    pub fn asked_again(&self) -> Result<JobTerms, Failure> {
        match &self.payload {
            Some(PayloadAsked::Runs(command)) => Err(Failure::usage(format!(
                "--payload {:?} is no duration, as in 90s, 10min or 2h, and a command is only run by copies that are measured: iolag bench setup and iolag replay take one",
                one_line(&redact_line(command))
            ))),
            Some(PayloadAsked::Takes(_)) | None => Ok(self.terms()),
        }
    }

    /// The first option that was typed.
    pub fn given(&self) -> Option<&'static str> {
        let typed = [
            ("--judge", self.judge.is_some()),
            ("--payload", self.payload.is_some()),
            ("--timeouts-at-most", self.timeouts_at_most.is_some()),
        ];
        typed.into_iter().find(|(_, is_typed)| *is_typed).map(|(name, _)| name)
    }
}
