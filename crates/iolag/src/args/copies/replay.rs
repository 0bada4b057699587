//! What the user can type of `iolag replay`.

use std::path::PathBuf;

use clap::Args;
use iolag_backend::Target;
use iolag_conduct::Stagger;
use iolag_model::{Nanoseconds, ReplayMap, ReplayTiming, parse_count, parse_duration};

use crate::args::bench::BenchArguments;
use crate::args::copies::CopiesAsked;
use crate::args::values::target::TargetParser;
use crate::args::values::{parse_file, parse_period};

/// `iolag replay`.
#[derive(Debug, Args)]
#[command(
    override_usage = "iolag replay [OPTIONS] TRACE DIR…\n       iolag replay [OPTIONS] TRACE --map FROM=TO…\n       iolag replay TRACE --prepare DIR",
    after_help = "Files of the target are only read. What the program changed is left out without --allow-write, and what it asked of /proc, /sys and /dev always.\n\n\
                  Examples:\n  iolag trace -o numpy.iolag -- python3 -c 'import numpy'\n  \
                  iolag replay numpy.iolag --map /afs/sw=/afs/sw --copies 1,2,4,8 --repeat 5 --judge 600s\n  \
                  iolag replay numpy.iolag --map /afs/sw=/scratch/sw --map /afs/sw=/nfs/sw --timing gaps\n  \
                  iolag replay numpy.iolag --prepare /scratch/numpy && iolag replay numpy.iolag /scratch/numpy",
    mut_arg("order", |order| order.default_value("random"))
)]
pub struct Replay {
    /// A trace in the store, or a file
    #[arg(value_name = "TRACE")]
    pub trace: String,
    /// A directory below which everything lies that the program asked for, with the same names
    #[arg(value_name = "DIR", value_parser = TargetParser)]
    pub targets: Vec<Target>,
    /// Ask for what the program asked for in FROM below TO; several with the same FROM are compared
    #[arg(long = "map", value_name = "FROM=TO", value_parser = parse_map)]
    pub maps: Vec<ReplayMap>,
    /// Repeat, and count, only what the program asked for in this directory of its own
    #[arg(long, value_name = "FROM")]
    pub only: Vec<String>,
    /// Copies at once, each a process; several numbers make a sweep
    #[arg(short = 'n', long, value_name = "N,…", default_value = "1", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_count)]
    pub copies: Vec<u64>,
    /// When calls are made: asap, each when the one before has ended; gaps, with the program's own pauses; exact, each at its moment
    #[arg(long, value_name = "TIMING", default_value = "asap", value_parser = parse_timing)]
    pub timing: ReplayTiming,
    /// Of gaps and exact moments: so many times as fast
    #[arg(long, value_name = "FACTOR", default_value = "1", allow_hyphen_values = true, value_parser = parse_speed)]
    pub speed: f64,
    /// When copies begin: together, staggered (all within the time that the program took), or so long one after the other
    #[arg(long, value_name = "HOW", default_value = "together", value_parser = parse_stagger)]
    pub start: Stagger,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub asked: CopiesAsked,
    /// End a copy with the first call that ends after so long
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub kill_after: Option<Nanoseconds>,
    /// Change again what the program changed, in files of each copy's own in the directory iolag-work of the target, which is removed afterwards
    #[arg(long)]
    pub allow_write: bool,
    /// First say how many look-ups would not come back as they did, and measure nothing if these are more than 1 %
    #[arg(long)]
    pub check: bool,
    /// Make, and measure nothing, a directory in which the program would find what it found: directories, links, files of the same size
    /// without content
    #[arg(long, value_name = "DIR", conflicts_with_all = ["targets", "maps", "only", "check", "allow_write", "copies", "timing", "speed", "start", "kill_after", "repeat"], value_parser = parse_file)]
    pub prepare: Option<PathBuf>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub bench: BenchArguments,
}

fn parse_map(text: &str) -> Result<ReplayMap, String> {
    let expected = || "expected FROM=TO, a directory of the program and the one that is asked in its place, as in /afs/sw=/scratch/sw";
    let (from, to) = text.split_once('=').ok_or_else(expected)?;
    match from.is_empty() || to.is_empty() {
        true => Err(expected().to_owned()),
        false => Ok(ReplayMap { from: from.to_owned(), to: to.to_owned() }),
    }
}

fn parse_timing(name: &str) -> Result<ReplayTiming, String> {
    let known = ReplayTiming::ALL.iter().copied().find(|timing| timing.name() == name);
    known.ok_or_else(|| "choose asap, gaps or exact".to_owned())
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "expected a number, as in 2 or 0.5".to_owned())?;
    match speed.is_finite() && (1e-3..=1e6).contains(&speed) {
        true => Ok(speed),
        false => Err("expected a number from 0.001 to 1000000".to_owned()),
    }
}

fn parse_stagger(text: &str) -> Result<Stagger, String> {
    match text {
        "together" => Ok(Stagger::Together),
        "staggered" => Ok(Stagger::WithinProgram),
        text => parse_duration(text).map(Stagger::By).map_err(|_| {
            "choose together or staggered, or say how long one begins after the other, as in 500ms".to_owned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_refused_with_what_was_expected() {
        let map = parse_map("/afs/x=/scratch/a=b").unwrap();
        assert_eq!((map.from.as_str(), map.to.as_str()), ("/afs/x", "/scratch/a=b"));
        for wrong in ["/afs/x", "=/x", "/x="] {
            assert!(parse_map(wrong).unwrap_err().contains("FROM=TO"), "{wrong}");
        }
        assert_eq!(parse_timing("gaps"), Ok(ReplayTiming::Gaps));
        assert!(parse_timing("gap").is_err());
        assert_eq!(parse_speed("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "nan", "inf", "x"] {
            assert!(parse_speed(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_stagger("together"), Ok(Stagger::Together));
        assert_eq!(parse_stagger("500ms"), Ok(Stagger::By(Nanoseconds::from_milliseconds(500))));
        assert!(parse_stagger("slowly").unwrap_err().contains("together or staggered"));
    }
}
