//! What strace wrote, read by the parser alone and by `iolag trace --from`, and summed up by `iolag show`: the commands as users type them, with the files that
//! they write and read.
//!
//! The text is made up: look-ups that find nothing, and files that are opened, looked at, read and closed, in lines as long as those of an import.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::processes::watch;
use super::setting::{Setting, Size};
use crate::machine;
use crate::pairs::{quantile, sorted};

const CALLS_PER_SECOND_MIN: f64 = 1e6;
const BYTES_PER_SECOND_MIN: f64 = 200e6;
const SUMMARY_SECONDS_MAX: f64 = 10.0;
const SUMMARY_MIB_MAX: f64 = 500.0;
/// Lines that [`write_text`] makes of one file.
const CALLS_PER_FILE: u64 = 10;

/// Parses, then sums up.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let size = setting.size;
    let iolag = setting.places.build("iolag", "iolag", size.optimised())?;
    let parser = setting.build_example("iolag-trace", "parsing_cost")?;
    let scratch = setting.scratch("traces")?;
    let (parsed, summarised, times) = match size {
        Size::Full => (2_000_000, 10_000_000, 7),
        Size::Tiny => (2_000, 5_000, 1),
    };
    parsing(&parser, &iolag, scratch.path(), parsed, times, size)?;
    summing_up(&iolag, scratch.path(), summarised, times.min(3), size)
}

/// The parser alone, and the command; one after the other, since both get their part of what else the machine does.
fn parsing(parser: &Path, iolag: &Path, scratch: &Path, calls: u64, times: usize, size: Size) -> Result<()> {
    let (text, trace) = (scratch.join("strace.out"), scratch.join("parsed.iolag"));
    write_text(BufWriter::new(std::fs::File::create(&text)?), calls)?;
    let bytes = std::fs::metadata(&text)?.len();
    let (mut of_parser, mut of_command) = (Vec::new(), Vec::new());
    for _ in 0..times {
        of_parser.push(processor_time_of(Command::new(parser).arg(&text))?);
        of_command.push(processor_time_of(&mut from_text(iolag, &text, &trace))?);
    }
    let told =
        [("the parser alone", of_parser), ("`trace --from`, which sums up and writes, too", of_command)];
    for (what, seconds) in told {
        let seconds = sorted(seconds.into_iter());
        let (usual, most) = (quantile(&seconds, 0.5), quantile(&seconds, 1.0));
        let (calls_per_s, bytes_per_s) = (calls as f64 / most, bytes as f64 / most);
        let is_met = calls_per_s >= CALLS_PER_SECOND_MIN && bytes_per_s >= BYTES_PER_SECOND_MIN;
        println!(
            "| {calls} calls in {:.0} MB of text, {what} | {:.2} million calls/s and {:.0} MB/s of processor time, the slowest of {times} {:.2} and {:.0} | \
             1 and 200 | {} | {} |",
            bytes as f64 / 1e6,
            calls as f64 / usual / 1e6,
            bytes as f64 / usual / 1e6,
            calls_per_s / 1e6,
            bytes_per_s / 1e6,
            verdict(size, is_met),
            machine::description()
        );
    }
    Ok(())
}

fn processor_time_of(command: &mut Command) -> Result<f64> {
    let before = processor_s();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(processor_s() - before)
}

fn summing_up(iolag: &Path, scratch: &Path, calls: u64, times: usize, size: Size) -> Result<()> {
    let trace = scratch.join("large.iolag");
    let mut reading =
        from_text(iolag, Path::new("-"), &trace).stdin(Stdio::piped()).spawn().context("starting iolag")?;
    write_text(BufWriter::new(reading.stdin.take().context("it has a pipe")?), calls)?;
    let status = reading.wait()?;
    ensure!(status.success(), "`iolag trace --from -` failed: {status}");
    let (mut seconds, mut mebibytes) = (Vec::new(), 0.0_f64);
    for _ in 0..times {
        let start = Instant::now();
        let child = Command::new(iolag).arg("show").arg(&trace).stdout(Stdio::null()).spawn()?;
        let peak = watch(child)?;
        seconds.push(start.elapsed().as_secs_f64());
        mebibytes = mebibytes.max(peak.proportional_kib as f64 / 1024.0);
    }
    let seconds = sorted(seconds.into_iter());
    let most = quantile(&seconds, 1.0);
    let is_met = most <= SUMMARY_SECONDS_MAX && mebibytes <= SUMMARY_MIB_MAX;
    println!(
        "| `show` of a trace of {calls} calls on {} paths | median {:.1} s, most {most:.1} s of {times}; {mebibytes:.0} MiB | {SUMMARY_SECONDS_MAX:.0} s, \
         {SUMMARY_MIB_MAX:.0} MiB | {} | {} |",
        2 * calls / CALLS_PER_FILE,
        quantile(&seconds, 0.5),
        verdict(size, is_met),
        machine::description()
    );
    Ok(())
}

const fn verdict(size: Size, is_met: bool) -> &'static str {
    match (size, is_met) {
        (Size::Tiny, _) => "not judged",
        (Size::Full, true) => "met",
        (Size::Full, false) => "missed",
    }
}

fn from_text(iolag: &Path, text: &Path, trace: &Path) -> Command {
    let mut command = Command::new(iolag);
    command.args(["trace", "--quiet", "-o"]).arg(trace).arg("--from").arg(text).stdout(Stdio::null());
    command
}

/// So many lines as strace writes them for iolag. The names come again for each hundred thousandth file.
fn write_text(mut output: impl Write, calls: u64) -> Result<()> {
    const DIRECTORIES: u64 = 500;
    let absent = "= -1 ENOENT (No such file or directory)";
    let mut at = 0;
    let mut line = |output: &mut dyn Write, call: std::fmt::Arguments<'_>| {
        at += 31;
        writeln!(
            output,
            "{}  17958{:05}.{:06} {call} <0.000{:03}>",
            1793 + at % 4,
            at / 1_000_000,
            at % 1_000_000,
            at % 97
        )
    };
    for file in 0..calls / CALLS_PER_FILE {
        let (place, name) = (file % DIRECTORIES, file % 100_000);
        let path =
            format!("/opt/site/releases/v{place}/lib/python3.11/site-packages/package_{place}/module_{name}");
        let output: &mut dyn Write = &mut output;
        for elsewhere in 0..4 {
            line(
                output,
                format_args!(
                    "newfstatat(AT_FDCWD, \"{path}.abi{elsewhere}.so\", 0x7ffe4e967bc8, 0) {absent}"
                ),
            )?;
        }
        line(output, format_args!("openat(AT_FDCWD, \"{path}.py\", O_RDONLY|O_CLOEXEC) = 3"))?;
        line(
            output,
            format_args!(
                "newfstatat(3, \"\", {{st_mode=S_IFREG|0644, st_size=19262, ...}}, AT_EMPTY_PATH) = 0"
            ),
        )?;
        line(
            output,
            format_args!("ioctl(3, TCGETS, 0x7ffe4e967bc8)     = -1 ENOTTY (Inappropriate ioctl for device)"),
        )?;
        line(output, format_args!("read(0x3, 0x7ffe4e967bc8, 0x4b3f)       = 0x4b3e"))?;
        line(output, format_args!("read(0x3, 0x7ffe4e967bc8, 0x1)          = 0"))?;
        line(output, format_args!("close(3)                                = 0"))?;
    }
    output.flush().context("writing text")
}

/// Processor time of all children that were waited for.
fn processor_s() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: written by the kernel, and valid as zeroes if it is not.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
