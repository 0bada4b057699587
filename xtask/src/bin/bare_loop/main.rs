//! The rival of iolag's metadata loop: exactly the system calls of md-workbench's benchmark phase, written by hand.
//!
//! `bare_loop DIRECTORY DATASETS PRECREATED OBJECTS BYTES SECONDS [--rank R] [--clock | --calls] [--store] [--wait]`
//!
//! In a new directory of its own below DIRECTORY it makes PRECREATED objects of BYTES in each of DATASETS directories
//! `r_d/file-i`; then repeats iterations until the benchmark phase has taken SECONDS, each for OBJECTS objects per
//! data set: statx, open + read + close, unlink, and at the other end of the queue open + write + close. So the
//! working set stays constant. It prints the operations (4 per object) and the seconds of that phase alone, and
//! removes what it made. Names are prepared before each iteration's clock starts and are relative to one descriptor.
//!
//! `--clock` reads the clock before and after each operation, `--calls` around each system call; `--store` writes a
//! record of a sample's size for each into a prefaulted buffer. Without them it reads no clock and records nothing.
//! `--wait` says `ready` before the benchmark phase and begins it with the next line on standard input, so that several
//! loops run at the same time.
#![expect(clippy::print_stdout, reason = "the figures are this program's output")]

mod bare;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use bare::{Blind, Buffer, CallClock, Forget, Loop, ObjectClock, Shape, Watch};

const USAGE: &str = "usage: bare_loop DIRECTORY DATASETS PRECREATED OBJECTS BYTES SECONDS [--rank R] \
                     [--clock | --calls] [--store] [--wait]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Arguments::parse(&arguments).and_then(|arguments| arguments.run()) {
        Ok((operations, seconds)) => {
            println!("{operations} {seconds:.9}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            // If standard error is gone, the exit code still tells.
            let _ = writeln!(std::io::stderr(), "{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Between which two points the clock is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timing {
    None,
    Objects,
    Calls,
}

/// What happens with the clock's readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recording {
    None,
    Store,
}

/// When the benchmark phase begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    AtOnce,
    /// With a line on standard input.
    OnCommand,
}

#[derive(Debug, PartialEq)]
struct Arguments {
    directory: PathBuf,
    shape: Shape,
    seconds: f64,
    timing: Timing,
    recording: Recording,
    beginning: Beginning,
}

impl Arguments {
    fn parse(words: &[String]) -> Result<Self> {
        let [directory, datasets, precreated, objects, bytes, seconds, options @ ..] = words else {
            bail!("{USAGE}");
        };
        let count =
            |word: &String| word.parse::<usize>().with_context(|| format!("{word:?} is no count; {USAGE}"));
        let mut parsed = Self {
            directory: directory.into(),
            shape: Shape {
                rank: 0,
                datasets: count(datasets)?,
                precreated: count(precreated)?,
                objects: count(objects)?,
                bytes: count(bytes)?,
            },
            seconds: seconds
                .parse()
                .with_context(|| format!("{seconds:?} is no number of seconds; {USAGE}"))?,
            timing: Timing::None,
            recording: Recording::None,
            beginning: Beginning::AtOnce,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match option.as_str() {
                "--rank" => {
                    let rank = options.next().context("--rank needs a number")?;
                    parsed.shape.rank = rank.parse().with_context(|| format!("{rank:?} is no rank"))?;
                }
                "--clock" => parsed.timing = Timing::Objects,
                "--calls" => parsed.timing = Timing::Calls,
                "--store" => parsed.recording = Recording::Store,
                "--wait" => parsed.beginning = Beginning::OnCommand,
                _ => bail!("unknown option {option:?}; {USAGE}"),
            }
        }
        let Shape { datasets, precreated, objects, .. } = parsed.shape;
        let has_work = datasets > 0 && precreated > 0 && objects > 0;
        ensure!(has_work, "data sets, precreated objects and objects must be at least 1");
        ensure!(objects <= precreated, "an iteration must find its objects: OBJECTS <= PRECREATED");
        ensure!(
            parsed.timing != Timing::None || parsed.recording == Recording::None,
            "--store stores what a clock says: add --clock or --calls"
        );
        Ok(parsed)
    }

    /// All phases; returns operations and seconds of the benchmark phase.
    fn run(&self) -> Result<(u64, f64)> {
        let place = self.directory.join(format!("bare-loop-{}-{}", self.shape.rank, std::process::id()));
        std::fs::create_dir(&place).with_context(|| format!("making {}", place.display()))?;
        let result = self.run_in(&place);
        std::fs::remove_dir_all(&place).with_context(|| format!("removing {}", place.display()))?;
        result
    }

    fn run_in(&self, place: &std::path::Path) -> Result<(u64, f64)> {
        let mut bare = Loop::precreated(self.shape, place)?;
        if self.beginning == Beginning::OnCommand {
            wait_for_command()?;
        }
        match (self.timing, self.recording) {
            (Timing::None, _) => self.benchmark(&mut bare, &mut Blind),
            (Timing::Objects, Recording::None) => self.benchmark(&mut bare, &mut ObjectClock(Forget)),
            (Timing::Objects, Recording::Store) => self.benchmark(&mut bare, &mut ObjectClock(Buffer::new())),
            (Timing::Calls, Recording::None) => self.benchmark(&mut bare, &mut CallClock(Forget)),
            (Timing::Calls, Recording::Store) => self.benchmark(&mut bare, &mut CallClock(Buffer::new())),
        }
    }

    /// Iterations until they have taken the seconds.
    fn benchmark(&self, bare: &mut Loop, watch: &mut impl Watch) -> Result<(u64, f64)> {
        let (mut operations, mut seconds) = (0, 0.0);
        while seconds < self.seconds {
            bare.prepare_names();
            let start = Instant::now();
            bare.iterate(watch)?;
            seconds += start.elapsed().as_secs_f64();
            operations += bare.operations();
        }
        Ok((operations, seconds))
    }
}

/// Says that everything is prepared, and waits for a line.
fn wait_for_command() -> Result<()> {
    println!("ready");
    let mut line = String::new();
    let bytes = std::io::stdin().read_line(&mut line).context("waiting for the command to begin")?;
    ensure!(bytes > 0, "standard input ended before the command to begin");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bare::OPERATIONS_PER_OBJECT;

    fn arguments(directory: &std::path::Path, options: &str) -> Result<Arguments> {
        let words = format!("{} 3 5 4 100 0.001 {options}", directory.display());
        Arguments::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_mode_does_the_same_work_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        for options in ["", "--clock", "--clock --store", "--calls", "--calls --store --rank 7"] {
            let (operations, seconds) = arguments(directory.path(), options).unwrap().run().unwrap();
            assert_eq!(operations % (3 * 4 * OPERATIONS_PER_OBJECT), 0, "whole iterations");
            assert!(operations > 0 && seconds >= 0.001, "{options}");
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "{options}");
        }
    }

    #[test]
    fn the_working_set_stays_constant_and_moves_on() {
        let directory = tempfile::tempdir().unwrap();
        let shape = arguments(directory.path(), "--rank 2").unwrap().shape;
        let mut bare = Loop::precreated(shape, directory.path()).unwrap();
        bare.prepare_names();
        bare.iterate(&mut Blind).unwrap();
        for dataset in 0..3 {
            let mut names: Vec<String> = std::fs::read_dir(directory.path().join(format!("2_{dataset}")))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names, ["file-4", "file-5", "file-6", "file-7", "file-8"]);
        }
    }

    #[test]
    fn each_operation_or_each_call_is_one_record() {
        let directory = tempfile::tempdir().unwrap();
        let shape = arguments(directory.path(), "").unwrap().shape;
        let mut bare = Loop::precreated(shape, directory.path()).unwrap();
        let mut objects = ObjectClock(Buffer::new());
        bare.prepare_names();
        bare.iterate(&mut objects).unwrap();
        assert_eq!(objects.0.next as u64, bare.operations());
        let mut calls = CallClock(Buffer::new());
        bare.prepare_names();
        bare.iterate(&mut calls).unwrap();
        assert_eq!(calls.0.next as u64, bare.operations() / 4 * 8);
        let order: Vec<u64> = calls.0.records[..8].iter().map(|record| record[5]).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let parse = |text: &str| Arguments::parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for text in
            ["d", "d 1 1 2 0 1", "d 0 1 1 0 1", "d 1 1 1 0 1 --store", "d 1 1 1 0 1 --fast", "d 1 1 1 0 x"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("d 1 1 1 0 1 --calls --store").is_ok());
    }
}
