//! What tracing costs, measured on this program itself just before: calls that touch no file, traced as those of the command will be.
//!
//! strace tells the time from where a call is entered to where it comes back, and stops the task at both. What the stops cost within that
//! time cannot be told from a slow call, so it is stated; what they cost outside of it makes the time between calls longer, and is
//! taken from there. A task that is traced together with others on other processors may pay more.

use std::io::{self, Read};
use std::os::fd::AsRawFd;

use iolag_model::{Clock, MonotonicClock, Nanoseconds};
use iolag_trace::{
    Beginning, Cost, Network, Refusal, StraceProgram, StraceReader, Subject, Trace, TracingCost,
    strace_arguments,
};

use super::gulps::Gulps;
use super::program::Strace;
use super::starting::{Streams, start};
use crate::failure::Failure;

const BATCHES: usize = 5;
const BATCH: usize = 400;
/// How long it may take: a tenth of it is usual.
const LIMIT: Nanoseconds = Nanoseconds::from_seconds(20);
/// The argument by which this program knows that it is traced for that.
const ARGUMENT: &str = "--iolag-is-traced-to-see-what-that-costs";

/// Makes the calls, if this process was started for that, under strace. To be called first of all.
pub fn perform_calibrating_calls(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> bool {
    let is_meant =
        arguments.nth(1).is_some_and(|argument| argument == ARGUMENT) && arguments.next().is_none();
    if is_meant {
        call_often();
    }
    is_meant
}

/// Asks whether nothing is there: the kernel answers without looking anywhere.
fn call_often() {
    for _ in 0..BATCHES * BATCH {
        // SAFETY: the string ends with zero.
        unsafe { libc::syscall(libc::SYS_faccessat, libc::AT_FDCWD, c"".as_ptr(), 0) };
    }
}

/// What tracing a call costs with this strace, as `program` says that it is used.
///
/// # Errors
/// If it cannot trace, with the reason.
pub(super) fn calibrate(strace: &Strace, program: &StraceProgram) -> Result<TracingCost, Failure> {
    let native = native();
    let trace = traced(strace, program)?;
    Ok(cost(&trace, native).unwrap_or_default())
}

/// How long a call takes that is not traced.
fn native() -> Nanoseconds {
    let begin = MonotonicClock.now();
    call_often();
    Nanoseconds(MonotonicClock.now().since(begin).0 / (BATCHES * BATCH) as u64)
}

fn traced(strace: &Strace, program: &StraceProgram) -> Result<Trace, Failure> {
    let failed = |error: io::Error| Failure::unusable(format!("strace cannot be tried: {error}"));
    let (pipe, ours) = io::pipe().map_err(failed)?;
    let mut gulps = Gulps::of(pipe).map_err(failed)?;
    let own = std::process::id();
    let output = format!("/proc/{own}/fd/{}", ours.as_raw_fd());
    let command = [format!("/proc/{own}/exe").into(), ARGUMENT.into()];
    let arguments = strace_arguments(program, Subject::Command(&command), Network::Left, output.as_ref());
    let mut child = start(&strace.path, &arguments, Streams::Complaints, None).map_err(failed)?;
    let mut reader = StraceReader::new(&Beginning::default(), Trace::default());
    let end = MonotonicClock.now().after(LIMIT);
    let is_over = loop {
        gulps.gulp(&[], Nanoseconds::from_milliseconds(20), |text| reader.feed(text)).map_err(failed)?;
        match child.try_wait() {
            Ok(None) if MonotonicClock.now() < end => {}
            Ok(None) => break false,
            _ => break true,
        }
    };
    if !is_over {
        // With it goes what it traces: this program itself.
        let _ = child.kill();
        return Err(Failure::unusable(format!("strace has not traced iolag itself within {LIMIT}")));
    }
    drop(ours);
    gulps.drain(|text| reader.feed(text)).map_err(failed)?;
    let (trace, tables, _) = reader.finish().map_err(failed)?;
    let trace = Trace { tables, ..trace };
    let mut complaints = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut complaints);
    }
    match Refusal::of(&complaints) {
        Some(refusal) if of_calls(&trace).next().is_none() => Err(Failure::unusable(refusal)),
        None if of_calls(&trace).next().is_none() => {
            Err(Failure::unusable("strace traced nothing of iolag itself, and did not say why"))
        }
        _ => Ok(trace),
    }
}

/// Start and duration of the calls that were made for this.
fn of_calls(trace: &Trace) -> impl Iterator<Item = (u64, u64)> + '_ {
    let is_meant = |name: &[u8]| name == b"faccessat" || name == b"access";
    let calls = trace.calls.iter().filter(move |call| is_meant(trace.tables.names.name(call.name)));
    calls.filter(|call| call.errno == 2).filter_map(|call| Some((call.start.0, call.duration?.0)))
}

/// By batches, which the machine disturbs one by one. Nothing if the trace has not what was asked for.
fn cost(trace: &Trace, native: Nanoseconds) -> Option<TracingCost> {
    let calls: Vec<(u64, u64)> = of_calls(trace).collect();
    let batches = || calls.chunks_exact(BATCH);
    let between = batches().map(|batch| {
        middle(batch.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0 + pair[0].1)).collect())
    });
    let within = batches()
        .map(|batch| middle(batch.iter().map(|(_, duration)| duration.saturating_sub(native.0)).collect()));
    Some(TracingCost { between_ns: cost_of(between.collect())?, within_ns: cost_of(within.collect())? })
}

fn cost_of(mut batches: Vec<u64>) -> Option<Cost> {
    batches.sort_unstable();
    Some(Cost {
        median: Nanoseconds(*batches.get(batches.len() / 2)?),
        least: Nanoseconds(*batches.first()?),
        most: Nanoseconds(*batches.last()?),
    })
}

fn middle(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_stops_cost_is_told_apart_by_where_it_falls() {
        let mut reader = StraceReader::new(&Beginning::default(), Trace::default());
        let mut text = String::new();
        for number in 0..(BATCHES * BATCH) as u64 {
            // A call in 25 microseconds; it takes 11, and once in a while the machine is busy.
            let busy = if number % 40 == 0 { 3000 } else { 0 };
            let start = 1_700_000_000_000_000_000 + number * 25_000 + busy;
            let (seconds, rest) = (start / 1_000_000_000, start % 1_000_000_000);
            text += &format!(
                "7 {seconds}.{rest:09} faccessat(AT_FDCWD, \"\", F_OK) = -1 ENOENT (No such file or directory) <0.000011000>\n"
            );
        }
        reader.feed(text.as_bytes()).unwrap();
        let (trace, tables, _) = reader.finish().unwrap();
        let cost = cost(&Trace { tables, ..trace }, Nanoseconds(300)).unwrap();
        assert_eq!(
            (cost.between_ns.median, cost.within_ns.median),
            (Nanoseconds(14_000), Nanoseconds(10_700))
        );
        assert_eq!(cost.whole().median, Nanoseconds(24_700));
    }

    #[test]
    fn only_the_one_argument_means_it() {
        let words = |words: &[&str]| words.iter().map(std::ffi::OsString::from).collect::<Vec<_>>();
        assert!(perform_calibrating_calls(words(&["iolag", ARGUMENT]).into_iter()));
        assert!(!perform_calibrating_calls(words(&["iolag", ARGUMENT, "x"]).into_iter()));
        assert!(!perform_calibrating_calls(words(&["iolag", "check"]).into_iter()));
    }
}
