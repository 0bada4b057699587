//! `iolag bench setup`: the calls of a job that sets itself up, made by more and more copies at once.

use std::collections::BTreeMap;

use clap::Args;
use iolag_backend::Target;
use iolag_conduct::{BenchOptions, Crew, ExitCode, Failure, become_keeper, plan_bench};
use iolag_model::{MILLION, Nanoseconds, SetUpPreset, SetUpSpec, WorkloadSpec, parse_bytes, parse_count};
use iolag_workload::Workload;

use crate::args::values::parse_period;
use crate::args::{BenchArguments, BenchPlaces, Common, MetadataForm, TargetParser};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::{store_of, typed};

/// `iolag bench setup`.
#[derive(Debug, Args)]
pub struct SetUp {
    /// A directory (or memory:, delayed:…:TARGET, faulty:…:TARGET)
    #[arg(value_name = "TARGET", required = true, value_parser = TargetParser)]
    pub targets: Vec<Target>,
    /// Copies at once, each a process; several numbers make a sweep
    #[arg(short = 'n', long, value_name = "N,…", default_value = "1", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub copies: Vec<u64>,
    /// stat calls of each copy
    #[arg(long, value_name = "COUNT", default_value = "100000", allow_hyphen_values = true, value_parser = parse_count)]
    pub stat: u64,
    /// open calls of each copy
    #[arg(long, value_name = "COUNT", default_value = "7000", allow_hyphen_values = true, value_parser = parse_count)]
    pub open: u64,
    /// As many as were traced: lhcb (110 765 stat and 17 868 open)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["stat", "open"], value_parser = parse_preset)]
    pub preset: Option<SetUpPreset>,
    /// How many of the stat and open calls look for what is not there
    #[arg(long, value_name = "PERCENT", default_value = "80%", allow_hyphen_values = true, value_parser = parse_share)]
    pub miss: u32,
    /// Directories that a copy looks in
    #[arg(long, value_name = "COUNT", default_value = "40", allow_hyphen_values = true, value_parser = parse_count)]
    pub directories: u64,
    /// Files in each of them
    #[arg(long, value_name = "COUNT", default_value = "100", allow_hyphen_values = true, value_parser = parse_count)]
    pub files: u64,
    /// Size of a file, which is read whole after an open
    #[arg(long, value_name = "SIZE", default_value = "4KiB", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub file_size: u64,
    /// How many of the directories all copies share
    #[arg(long, value_name = "PERCENT", default_value = "100%", allow_hyphen_values = true, value_parser = parse_share)]
    pub shared: u32,
    /// Say how many copies took longer than this; nothing is done about them
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub judge: Option<Nanoseconds>,
    /// End a copy with the first call that ends after so long
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub kill_after: Option<Nanoseconds>,
    #[command(flatten)]
    pub bench: BenchArguments,
}

impl SetUp {
    /// What each copy does.
    fn spec(&self) -> SetUpSpec {
        let (stats, opens) = self.preset.map_or((self.stat, self.open), SetUpPreset::counts);
        SetUpSpec {
            preset: self.preset,
            stats,
            opens,
            misses_per_million: self.miss,
            directories: u32::try_from(self.directories).unwrap_or(u32::MAX),
            files: self.files,
            shared_per_million: self.shared,
            file_bytes: self.file_size,
            judge_ns: self.judge,
            kill_after_ns: self.kill_after,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &SetUp, common: &Common) -> Result<ExitCode, Failure> {
    if options.bench.campaign.format == MetadataForm::MdWorkbench {
        return Err(Failure::usage(
            "--format md-workbench is for iolag bench metadata: choose text, csv or json",
        ));
    }
    let places = BenchPlaces { targets: options.targets.clone(), clients: options.copies.clone() };
    let bench = BenchOptions { crew: Crew::Copies, ..planned(&places, &options.bench)? };
    let workload = |(): &(), copies| {
        let spec = options.spec();
        spec.validate(copies).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::SetUp(spec))
    };
    let campaign = plan_bench(bench, &[(BTreeMap::new(), ())], workload, &limits())?;
    let keeper = become_keeper(store_of(common), typed())?;
    conduct(campaign, &keeper, &options.bench.campaign, common)
}

fn parse_preset(name: &str) -> Result<SetUpPreset, String> {
    let found = SetUpPreset::ALL.iter().copied().find(|preset| preset.name() == name);
    let known: Vec<&str> = SetUpPreset::ALL.iter().map(|preset| preset.name()).collect();
    found.ok_or_else(|| format!("there is no set-up {name:?}: choose {}", known.join(" or ")))
}

/// `80%`, in millionths.
fn parse_share(text: &str) -> Result<u32, String> {
    let percent = text.trim_end().strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
        Some(percent) => Ok((percent / 100.0 * f64::from(MILLION)).round() as u32),
        None => Err(format!("{text:?} is no share: expected 0% to 100%, as in 80%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::args::{Arguments, Command};
    use crate::commands::bench::Bench;

    fn parsed(words: &[&str]) -> Result<Box<SetUp>, String> {
        let all = ["iolag", "bench", "setup", "/scratch"].iter().chain(words);
        let arguments = Arguments::try_parse_from(all).map_err(|error| error.to_string())?;
        let Command::Bench { bench: Bench::Setup(options) } = arguments.command else {
            panic!("it is a set-up")
        };
        Ok(options)
    }

    #[test]
    fn the_study_s_own_copy_is_the_default_and_its_trace_a_preset() {
        let usual = parsed(&[]).unwrap().spec();
        assert_eq!((usual.stats, usual.opens, usual.preset), (100_000, 7_000, None));
        let traced = parsed(&["--preset", "lhcb", "--copies", "1,2"]).unwrap();
        assert_eq!((traced.spec().stats, traced.spec().opens), (110_765, 17_868));
        assert_eq!(traced.copies, [1, 2]);
        assert!(parsed(&["--preset", "lhcb", "--stat", "1"]).is_err());
        let unknown = parsed(&["--preset", "atlas"]).unwrap_err();
        assert!(unknown.contains("there is no set-up \"atlas\": choose lhcb"), "{unknown}");
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(parse_share("80%"), Ok(800_000));
        assert_eq!(parse_share("0.0001 %"), Ok(1));
        for wrong in ["80", "101%", "-1%", "NaN%", "%", ""] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }
}
