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

use std::ffi::CString;
use std::hint::black_box;
use std::io::Write;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::time::{ClockId, clock_gettime};

const USAGE: &str = "usage: bare_loop DIRECTORY DATASETS PRECREATED OBJECTS BYTES SECONDS [--rank R] \
                     [--clock | --calls] [--store] [--wait]";
const OPERATIONS_PER_OBJECT: u64 = 4;
/// Of a sample: six words of 8 bytes.
type Record = [u64; 6];
/// 48 MiB, as a client's share of a ring would be.
const RECORDS: usize = 1 << 20;

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
    datasets: usize,
    precreated: usize,
    objects: usize,
    bytes: usize,
    seconds: f64,
    rank: u32,
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
            datasets: count(datasets)?,
            precreated: count(precreated)?,
            objects: count(objects)?,
            bytes: count(bytes)?,
            seconds: seconds
                .parse()
                .with_context(|| format!("{seconds:?} is no number of seconds; {USAGE}"))?,
            rank: 0,
            timing: Timing::None,
            recording: Recording::None,
            beginning: Beginning::AtOnce,
        };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match option.as_str() {
                "--rank" => {
                    let rank = options.next().context("--rank needs a number")?;
                    parsed.rank = rank.parse().with_context(|| format!("{rank:?} is no rank"))?;
                }
                "--clock" => parsed.timing = Timing::Objects,
                "--calls" => parsed.timing = Timing::Calls,
                "--store" => parsed.recording = Recording::Store,
                "--wait" => parsed.beginning = Beginning::OnCommand,
                _ => bail!("unknown option {option:?}; {USAGE}"),
            }
        }
        let has_work = parsed.datasets > 0 && parsed.precreated > 0 && parsed.objects > 0;
        ensure!(has_work, "data sets, precreated objects and objects must be at least 1");
        ensure!(
            parsed.objects <= parsed.precreated,
            "an iteration must find its objects: OBJECTS <= PRECREATED"
        );
        ensure!(
            parsed.timing != Timing::None || parsed.recording == Recording::None,
            "--store stores what a clock says: add --clock or --calls"
        );
        Ok(parsed)
    }

    /// All phases; returns operations and seconds of the benchmark phase.
    fn run(&self) -> Result<(u64, f64)> {
        let place = self.directory.join(format!("bare-loop-{}-{}", self.rank, std::process::id()));
        std::fs::create_dir(&place).with_context(|| format!("making {}", place.display()))?;
        let result = self.run_in(&place);
        std::fs::remove_dir_all(&place).with_context(|| format!("removing {}", place.display()))?;
        result
    }

    fn run_in(&self, place: &std::path::Path) -> Result<(u64, f64)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(place, flags, Mode::empty())
            .with_context(|| format!("opening {}", place.display()))?;
        let mut bare = Loop::new(self, directory)?;
        bare.precreate()?;
        if self.beginning == Beginning::OnCommand {
            wait_for_command()?;
        }
        match (self.timing, self.recording) {
            (Timing::None, _) => bare.benchmark(&mut Blind),
            (Timing::Objects, Recording::None) => bare.benchmark(&mut ObjectClock(Forget)),
            (Timing::Objects, Recording::Store) => bare.benchmark(&mut ObjectClock(Buffer::new())),
            (Timing::Calls, Recording::None) => bare.benchmark(&mut CallClock(Forget)),
            (Timing::Calls, Recording::Store) => bare.benchmark(&mut CallClock(Buffer::new())),
        }
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

/// What is done around an operation and around a call; compiled into the loop.
trait Watch {
    fn object<T>(&mut self, operation: u64, work: impl FnOnce(&mut Self) -> T) -> T;
    fn call<T>(&mut self, operation: u64, work: impl FnOnce() -> T) -> T;
}

/// Where the clock's readings go.
trait Sink {
    fn put(&mut self, operation: u64, start_ns: u64, end_ns: u64);
}

struct Blind;
struct ObjectClock<S>(S);
struct CallClock<S>(S);
struct Forget;

struct Buffer {
    records: Vec<Record>,
    next: usize,
}

impl Watch for Blind {
    #[inline(always)]
    fn object<T>(&mut self, _: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        work(self)
    }

    #[inline(always)]
    fn call<T>(&mut self, _: u64, work: impl FnOnce() -> T) -> T {
        work()
    }
}

impl<S: Sink> Watch for ObjectClock<S> {
    #[inline(always)]
    fn object<T>(&mut self, operation: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let start_ns = now_ns();
        let result = work(self);
        self.0.put(operation, start_ns, now_ns());
        result
    }

    #[inline(always)]
    fn call<T>(&mut self, _: u64, work: impl FnOnce() -> T) -> T {
        work()
    }
}

impl<S: Sink> Watch for CallClock<S> {
    #[inline(always)]
    fn object<T>(&mut self, _: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        work(self)
    }

    #[inline(always)]
    fn call<T>(&mut self, operation: u64, work: impl FnOnce() -> T) -> T {
        let start_ns = now_ns();
        let result = work();
        self.0.put(operation, start_ns, now_ns());
        result
    }
}

impl Sink for Forget {
    #[inline(always)]
    fn put(&mut self, _: u64, start_ns: u64, end_ns: u64) {
        black_box((start_ns, end_ns));
    }
}

impl Buffer {
    fn new() -> Self {
        // Written, so that no page is touched first while the clock runs; not zero, which could be mapped lazily.
        Self { records: vec![[1; 6]; RECORDS], next: 0 }
    }
}

impl Sink for Buffer {
    #[inline(always)]
    fn put(&mut self, operation: u64, start_ns: u64, end_ns: u64) {
        let at = self.next & (RECORDS - 1);
        self.records[at] = [self.next as u64, start_ns, start_ns, end_ns - start_ns, 0, operation];
        black_box(&self.records[at]);
        self.next += 1;
    }
}

#[inline(always)]
fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Objects are opened as iolag opens them: the same system calls means the same flags.
const OBJECT_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);

/// The loop's state: a queue of objects per data set, of which the oldest is removed and a new one appended.
struct Loop<'a> {
    arguments: &'a Arguments,
    directory: OwnedFd,
    /// Number of the oldest object in each data set.
    index: usize,
    content: Vec<u8>,
    buffer: Vec<u8>,
    /// Name of the object that is read and of the one that is made, in the order of the loop.
    names: Vec<(CString, CString)>,
}

impl<'a> Loop<'a> {
    fn new(arguments: &'a Arguments, directory: OwnedFd) -> Result<Self> {
        for dataset in 0..arguments.datasets {
            let name = format!("{}_{dataset}", arguments.rank);
            rustix::fs::mkdirat(&directory, name.as_str(), Mode::from_raw_mode(0o700))
                .with_context(|| format!("making the directory {name}"))?;
        }
        Ok(Self {
            arguments,
            directory,
            index: 0,
            content: vec![b'x'; arguments.bytes],
            buffer: vec![0; arguments.bytes],
            names: Vec::new(),
        })
    }

    fn precreate(&mut self) -> Result<()> {
        for index in 0..self.arguments.precreated {
            for dataset in 0..self.arguments.datasets {
                self.create(&mut Blind, &object_name(self.arguments.rank, dataset, index))?;
            }
        }
        Ok(())
    }

    fn benchmark(&mut self, watch: &mut impl Watch) -> Result<(u64, f64)> {
        let (mut operations, mut seconds) = (0, 0.0);
        while seconds < self.arguments.seconds {
            self.prepare_names();
            let names = std::mem::take(&mut self.names);
            let start = Instant::now();
            for (oldest, newest) in &names {
                self.cycle(watch, oldest, newest)?;
            }
            seconds += start.elapsed().as_secs_f64();
            operations += names.len() as u64 * OPERATIONS_PER_OBJECT;
            self.names = names;
            self.index += self.arguments.objects;
        }
        Ok((operations, seconds))
    }

    fn prepare_names(&mut self) {
        let (rank, precreated) = (self.arguments.rank, self.arguments.precreated);
        self.names.clear();
        for index in self.index..self.index + self.arguments.objects {
            for dataset in 0..self.arguments.datasets {
                let oldest = object_name(rank, dataset, index);
                self.names.push((oldest, object_name(rank, dataset, index + precreated)));
            }
        }
    }

    #[inline(always)]
    fn cycle(&mut self, watch: &mut impl Watch, oldest: &CString, newest: &CString) -> Result<()> {
        let directory = &self.directory;
        watch.object(0, |watch| watch.call(0, || stat(directory, oldest)))?;
        watch.object(1, |watch| read(watch, directory, oldest, &mut self.buffer))?;
        watch.object(2, |watch| {
            watch.call(4, || rustix::fs::unlinkat(directory, oldest.as_c_str(), AtFlags::empty()))
        })?;
        self.create(watch, newest)
    }

    #[inline(always)]
    fn create(&self, watch: &mut impl Watch, name: &CString) -> Result<()> {
        let written = watch.object(3, |watch| -> rustix::io::Result<usize> {
            let flags = OBJECT_FLAGS | OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY;
            let open =
                || rustix::fs::openat(&self.directory, name.as_c_str(), flags, Mode::from_raw_mode(0o644));
            let file = watch.call(5, open)?;
            let written = watch.call(6, || rustix::io::write(&file, &self.content))?;
            watch.call(7, || close(file));
            Ok(written)
        })?;
        ensure!(written == self.content.len(), "only {written} bytes of {name:?} were written");
        Ok(())
    }
}

#[inline(always)]
fn stat(directory: &OwnedFd, name: &CString) -> rustix::io::Result<()> {
    // AT_STATX_SYNC_AS_STAT is the absence of the other two flags.
    let attributes =
        rustix::fs::statx(directory, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
    black_box(&attributes);
    Ok(())
}

#[inline(always)]
fn read(watch: &mut impl Watch, directory: &OwnedFd, name: &CString, buffer: &mut [u8]) -> Result<()> {
    let flags = OBJECT_FLAGS | OFlags::RDONLY;
    let file = watch.call(1, || rustix::fs::openat(directory, name.as_c_str(), flags, Mode::empty()))?;
    let wanted = buffer.len();
    let read = watch.call(2, || rustix::io::read(&file, &mut *buffer))?;
    watch.call(3, || close(file));
    ensure!(read == wanted, "only {read} of {wanted} bytes of {name:?} were read");
    Ok(())
}

/// Compiled into the loop like all other calls; that of the C library would be a function, and make the loop slower.
#[inline(always)]
fn close(file: OwnedFd) {
    // SAFETY: the descriptor is open and owned, and nobody has it afterwards. An error cannot leave it open.
    let _ = unsafe { rustix::io::try_close(file.into_raw_fd()) };
}

fn object_name(rank: u32, dataset: usize, index: usize) -> CString {
    CString::new(format!("{rank}_{dataset}/file-{index}")).expect("digits and letters hold no zero byte")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let arguments = Arguments { seconds: 1e-9, ..arguments(directory.path(), "--rank 2").unwrap() };
        let handle =
            rustix::fs::open(directory.path(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut bare = Loop::new(&arguments, handle).unwrap();
        bare.precreate().unwrap();
        bare.benchmark(&mut Blind).unwrap();
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
        let arguments = Arguments { seconds: 1e-9, ..arguments(directory.path(), "").unwrap() };
        let handle =
            rustix::fs::open(directory.path(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut bare = Loop::new(&arguments, handle).unwrap();
        bare.precreate().unwrap();
        let mut objects = ObjectClock(Buffer::new());
        let (operations, _) = bare.benchmark(&mut objects).unwrap();
        assert_eq!(objects.0.next as u64, operations);
        let mut calls = CallClock(Buffer::new());
        let (operations, _) = bare.benchmark(&mut calls).unwrap();
        assert_eq!(calls.0.next as u64, operations / 4 * 8);
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
