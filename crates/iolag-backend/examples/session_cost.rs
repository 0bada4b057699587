//! What a session costs above the bare system calls: `session_cost [OBJECTS] [PAIRS] [DIRECTORY]`.
//!
//! Per object both sides do a stat, a read, a delete and a create of 3901 bytes, on names that are prepared: the bare side
//! has all of them as C strings in a vector and calls rustix; the session forms each in `prepare` and executes it. The
//! sides alternate (ABBA); judged is the median of the ratios of neighbours, with its 95 % interval by order
//! statistics. Time is processor time of the thread: nothing sleeps on tmpfs, and other people's load is left out. The default is a tiny run that shows that it works; use 1000 objects and 400 pairs for a figure.

#![allow(clippy::print_stdout, reason = "a program")]

use std::error::Error;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use iolag_backend::{
    Backend, Completion, ObjectKey, PosixBackend, Request, Session, SessionOptions, WORKING_NAME,
};
use iolag_model::{ClientId, Operation};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, openat, statx, unlinkat};
use rustix::io::{read, write};
use rustix::time::{ClockId, clock_gettime};

const DATASETS: u32 = 10;
const BYTES: u64 = 3901;
const CYCLE: [Operation; 4] = [Operation::Stat, Operation::Read, Operation::Delete, Operation::Create];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let objects: u64 = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let pairs: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let directory = arguments.next().map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let target = tempfile::tempdir_in(directory)?;
    let backend = PosixBackend::new(target.path().to_owned(), WORKING_NAME)?;
    backend.create_place(&iolag_backend::conformance::maker())?;
    let measured = measure(&backend, &target.path().join(WORKING_NAME), objects.max(1), pairs.max(1));
    backend.remove_place()?;
    let (mut ratios, bare_ns, session_ns, prepare_ns) = measured?;
    ratios.sort_by(f64::total_cmp);
    let (low, high) = interval(ratios.len());
    println!(
        "per object: bare {bare_ns:.0} ns, session {session_ns:.0} ns; session / bare {:.4}, 95 % interval {:.4} to {:.4}, \
         {} pairs of {objects} objects; a name takes {prepare_ns:.1} ns",
        ratios[ratios.len() / 2],
        ratios[low],
        ratios[high],
        ratios.len(),
    );
    Ok(())
}

type Measured = (Vec<f64>, f64, f64, f64);

fn measure(
    backend: &PosixBackend,
    working: &Path,
    objects: u64,
    pairs: usize,
) -> Result<Measured, Box<dyn Error>> {
    let mut session = backend.open_session(&SessionOptions::new(ClientId(0), 0, 1, BYTES))?;
    let keys: Vec<ObjectKey> = (0..objects)
        .map(|number| ObjectKey {
            rank: 0,
            dataset: (number % u64::from(DATASETS)) as u32,
            index: number / u64::from(DATASETS),
        })
        .collect();
    for dataset in 0..DATASETS {
        let key = ObjectKey { rank: 0, dataset, index: 0 };
        ask(session.as_mut(), &Request::new(Operation::MakeDirectory, key, 0))?;
    }
    for key in &keys {
        ask(session.as_mut(), &Request::new(Operation::Create, *key, BYTES))?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut bare = Bare {
        directory: openat(CWD, working, flags, Mode::empty())?,
        names: keys
            .iter()
            .map(|key| CString::new(format!("{}_{}/file-{}", key.rank, key.dataset, key.index)))
            .collect::<Result<_, _>>()?,
        buffer: vec![0x5a; BYTES as usize],
    };
    let mut ratios = Vec::with_capacity(pairs);
    let mut sums_ns = (0.0, 0.0);
    for pair in 0..=pairs {
        let (bare_ns, session_ns) = if pair % 2 == 0 {
            let bare_ns = timed(|| bare.cycle())?;
            (bare_ns, timed(|| by_session(session.as_mut(), &keys))?)
        } else {
            let session_ns = timed(|| by_session(session.as_mut(), &keys))?;
            (timed(|| bare.cycle())?, session_ns)
        };
        // The first pair warms up.
        if pair > 0 {
            ratios.push(session_ns / bare_ns);
            sums_ns = (sums_ns.0 + bare_ns, sums_ns.1 + session_ns);
        }
    }
    let count = pairs as f64 * objects as f64;
    Ok((ratios, sums_ns.0 / count, sums_ns.1 / count, name_ns(session.as_mut(), &keys)?))
}

/// Preparing alone, with a name that changes every time.
fn name_ns(session: &mut dyn Session, keys: &[ObjectKey]) -> Result<f64, Box<dyn Error>> {
    const ROUNDS: usize = 100;
    let ns = timed(|| {
        for _ in 0..ROUNDS {
            for key in keys {
                session.prepare(&Request::new(Operation::Stat, *key, 0));
            }
        }
        Ok(())
    })?;
    Ok(ns / (ROUNDS * keys.len()) as f64)
}

fn timed(run: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = processor_time_ns();
    run()?;
    Ok(processor_time_ns() - start)
}

fn processor_time_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn by_session(session: &mut dyn Session, keys: &[ObjectKey]) -> Result<(), Box<dyn Error>> {
    for key in keys {
        for operation in CYCLE {
            ask(session, &Request::new(operation, *key, BYTES))?;
        }
    }
    Ok(())
}

#[inline]
fn ask(session: &mut dyn Session, request: &Request) -> Result<Completion, Box<dyn Error>> {
    session.prepare(request);
    let completion = session.execute(request);
    let completion = session.inspect(request, completion);
    if completion.is_ok() { Ok(completion) } else { Err(format!("{request:?}: {}", completion.code).into()) }
}

/// The same system calls without a session.
struct Bare {
    directory: OwnedFd,
    names: Vec<CString>,
    buffer: Vec<u8>,
}

impl Bare {
    fn cycle(&mut self) -> Result<(), Box<dyn Error>> {
        let directory = &self.directory;
        for name in &self.names {
            let name = name.as_c_str();
            statx(directory, name, AtFlags::STATX_SYNC_AS_STAT, StatxFlags::BASIC_STATS)?;
            let file = openat(directory, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut done = 0;
            while done < self.buffer.len() {
                match read(&file, &mut self.buffer[done..])? {
                    0 => return Err("short read".into()),
                    bytes => done += bytes,
                }
            }
            drop(file);
            unlinkat(directory, name, AtFlags::empty())?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
            let file = openat(directory, name, flags, Mode::from_raw_mode(0o644))?;
            let mut done = 0;
            while done < self.buffer.len() {
                done += write(&file, &self.buffer[done..])?;
            }
        }
        Ok(())
    }
}

/// Ranks (from 0) of the order statistics that hold the median with 95 %: n/2 ± 0.98 √n.
fn interval(count: usize) -> (usize, usize) {
    let half = 0.98 * (count as f64).sqrt();
    let middle = count as f64 / 2.0;
    ((middle - half).floor().max(0.0) as usize, ((middle + half).ceil() as usize).min(count - 1))
}
