//! What else goes on while a probe runs: load, runnable and blocked tasks, and pressure, from /proc.
//!
//! Each file is opened once and read by position, so a reading opens nothing and allocates nothing. Invariants: nothing is
//! guessed, what the kernel does not tell is absent.
//!
//! Limits: pressure (PSI) exists from Linux 4.20 on, where the kernel was built with it and it is not switched off; stalls within a
//! probe are those of the whole machine.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use iolag_model::Surroundings;

/// Room for one reading. A kernel's pressure file has some 120 bytes, its load average some 40.
const READING_BYTES: usize = 4096;

/// Reads what surrounds a probe.
#[derive(Debug)]
pub struct SurroundingsMeter {
    load: Option<File>,
    tasks: Option<File>,
    processor: Option<File>,
    storage: Option<File>,
    memory: Option<File>,
}

/// Stall times when a probe started: what [`SurroundingsMeter::finish`] subtracts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SurroundingsStart {
    processor_us: Option<[u64; 2]>,
    storage_us: Option<[u64; 2]>,
    memory_us: Option<[u64; 2]>,
}

/// Tasks of the whole machine at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TaskCounts {
    runnable: u32,
    blocked: u32,
}

impl SurroundingsMeter {
    /// A meter that reads below `proc` (/proc). Files that are not there are absent from every reading.
    pub fn open(proc: &Path) -> Self {
        let open = |name: &str| File::open(proc.join(name)).ok();
        Self {
            load: open("loadavg"),
            tasks: open("stat"),
            processor: open("pressure/cpu"),
            storage: open("pressure/io"),
            memory: open("pressure/memory"),
        }
    }

    /// To be called when a probe starts.
    pub fn start(&self) -> SurroundingsStart {
        SurroundingsStart {
            processor_us: read_stalls(self.processor.as_ref()),
            storage_us: read_stalls(self.storage.as_ref()),
            memory_us: read_stalls(self.memory.as_ref()),
        }
    }

    /// To be called when the probe that began at `start` has ended, or at a deadline. `None` if the kernel tells neither load nor tasks.
    pub fn finish(&self, start: &SurroundingsStart) -> Option<Surroundings> {
        let load_milli =
            self.load.as_ref().and_then(|file| parse_load(read_once(file, &mut [0; READING_BYTES])))?;
        let tasks = self.tasks.as_ref().and_then(read_task_counts)?;
        let end = self.start();
        Some(Surroundings {
            load_milli,
            runnable: tasks.runnable,
            blocked: tasks.blocked,
            stalled_cpu_us: difference(start.processor_us, end.processor_us).map(|[some, _]| some),
            stalled_io_us: difference(start.storage_us, end.storage_us),
            stalled_memory_us: difference(start.memory_us, end.memory_us),
        })
    }
}

fn difference(start: Option<[u64; 2]>, end: Option<[u64; 2]>) -> Option<[u64; 2]> {
    let (start, end) = (start?, end?);
    Some([end[0].saturating_sub(start[0]), end[1].saturating_sub(start[1])])
}

fn read_stalls(file: Option<&File>) -> Option<[u64; 2]> {
    parse_stalls(read_once(file?, &mut [0; READING_BYTES]))
}

/// The beginning of a file; nothing if it cannot be read.
fn read_once<'buffer>(file: &File, buffer: &'buffer mut [u8]) -> &'buffer [u8] {
    let bytes = file.read_at(buffer, 0).unwrap_or(0);
    &buffer[..bytes]
}

/// /proc/stat has a line of many kilobytes (interrupts) on large machines, and what is wanted comes after it.
fn read_task_counts(file: &File) -> Option<TaskCounts> {
    let mut counting = TaskCounting::default();
    let mut buffer = [0; READING_BYTES];
    let mut offset = 0;
    loop {
        let bytes = file.read_at(&mut buffer, offset).ok()?;
        if bytes == 0 {
            return counting.end();
        }
        counting.take(&buffer[..bytes]);
        offset += bytes as u64;
    }
}

/// Finds the lines `procs_running` and `procs_blocked` in a text that comes in pieces.
#[derive(Debug, Default)]
struct TaskCounting {
    /// The beginning of the present line. The lines that are wanted are shorter than this.
    line: [u8; 32],
    line_bytes: usize,
    runnable: Option<u32>,
    blocked: Option<u32>,
}

impl TaskCounting {
    fn take(&mut self, piece: &[u8]) {
        for byte in piece {
            if *byte == b'\n' {
                self.end_line();
            } else {
                if let Some(place) = self.line.get_mut(self.line_bytes) {
                    *place = *byte;
                }
                self.line_bytes = self.line_bytes.saturating_add(1);
            }
        }
    }

    fn end_line(&mut self) {
        if let Some(line) = self.line.get(..self.line_bytes) {
            for (name, count) in
                [(&b"procs_running "[..], &mut self.runnable), (&b"procs_blocked "[..], &mut self.blocked)]
            {
                if let Some(value) = line.strip_prefix(name) {
                    *count = number(value).and_then(|value| u32::try_from(value).ok());
                }
            }
        }
        self.line_bytes = 0;
    }

    fn end(mut self) -> Option<TaskCounts> {
        self.end_line();
        Some(TaskCounts { runnable: self.runnable?, blocked: self.blocked? })
    }
}

/// `0.20 0.18 0.12 1/80 11206`: the first three, in thousandths.
fn parse_load(text: &[u8]) -> Option<[u32; 3]> {
    let mut fields = text.split(|byte| *byte == b' ').map(thousandths);
    Some([fields.next()??, fields.next()??, fields.next()??])
}

/// A decimal number with at most three digits after its point, which may be missing, times a thousand.
fn thousandths(field: &[u8]) -> Option<u32> {
    let point = field.iter().position(|byte| *byte == b'.').unwrap_or(field.len());
    let (whole, fraction) = (number(&field[..point])?, field.get(point + 1..).unwrap_or_default());
    let fraction = match fraction.len() {
        0 => 0,
        1 => number(fraction)? * 100,
        2 => number(fraction)? * 10,
        3 => number(fraction)?,
        _ => return None,
    };
    u32::try_from(whole.checked_mul(1000)?.checked_add(fraction)?).ok()
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=17` and the same with `full`, which older kernels lack for processors: the
/// totals in µs.
fn parse_stalls(text: &[u8]) -> Option<[u64; 2]> {
    let total = |kind: &[u8]| {
        let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(kind))?;
        number(line.split(|byte| *byte == b' ').find_map(|field| field.strip_prefix(b"total="))?)
    };
    Some([total(b"some ")?, total(b"full ").unwrap_or(0)])
}

/// Decimal digits and nothing else.
fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAT: &str = "cpu  1 2 3\nintr 5 0 0\nctxt 7\nbtime 1\nprocesses 9\nprocs_running 3\nprocs_blocked 12\nsoftirq 1 2\n";
    const PRESSURE: &str = "some avg10=0.00 avg60=1.50 avg300=0.00 total=1234567\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=890\n";

    fn counts(text: &[u8], piece_bytes: usize) -> Option<(u32, u32)> {
        let mut counting = TaskCounting::default();
        text.chunks(piece_bytes).for_each(|piece| counting.take(piece));
        counting.end().map(|counts| (counts.runnable, counts.blocked))
    }

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir(tree.path().join("pressure")).unwrap();
        for (name, content) in files {
            std::fs::write(tree.path().join(name), content).unwrap();
        }
        tree
    }

    #[test]
    fn load_is_read_in_thousandths() {
        assert_eq!(parse_load(b"0.20 10.18 123.05 1/80 11206\n"), Some([200, 10_180, 123_050]));
        assert_eq!(parse_load(b"1 0.5 0.125 1/80 1\n"), Some([1000, 500, 125]));
        for wrong in
            ["", "0.20", "0.20 0.18", "a b c", "-1.0 0 0 ", "0.1234 0 0 ", "5000000.0 0 0 ", "0.2\n0.1 0.1 "]
        {
            assert_eq!(parse_load(wrong.as_bytes()), None, "{wrong:?}");
        }
    }

    #[test]
    fn stalls_are_totals_and_a_missing_full_line_is_none_of_it() {
        assert_eq!(parse_stalls(PRESSURE.as_bytes()), Some([1_234_567, 890]));
        assert_eq!(parse_stalls(b"some avg10=0.00 total=7\n"), Some([7, 0]));
        assert_eq!(parse_stalls(b"full avg10=0.00 total=7\n"), None);
        assert_eq!(parse_stalls(b"some avg10=0.00 total=x\n"), None);
    }

    #[test]
    fn task_counts_are_found_behind_a_line_of_any_length() {
        let long = format!("intr {}\n{STAT}", "17 ".repeat(10_000));
        for piece_bytes in [1, 7, 4096, 1 << 20] {
            assert_eq!(counts(STAT.as_bytes(), piece_bytes), Some((3, 12)));
            assert_eq!(counts(long.as_bytes(), piece_bytes), Some((3, 12)));
        }
        assert_eq!(counts(b"procs_running 1\n", 8), None);
        assert_eq!(counts(b"procs_running 1\nprocs_blocked 2", 8), Some((1, 2)));
        assert_eq!(counts(b"xprocs_running 1\nprocs_blocked 2\n", 8), None);
    }

    #[test]
    fn stalls_within_a_probe_are_the_difference_of_two_readings() {
        let tree = tree(&[
            ("loadavg", "0.20 0.18 0.12 1/80 11206\n"),
            ("stat", STAT),
            ("pressure/cpu", "some avg10=0.00 total=100\n"),
            ("pressure/io", PRESSURE),
        ]);
        let meter = SurroundingsMeter::open(tree.path());
        let start = meter.start();
        // Written in place: the meter keeps the file open, as the kernel's stays the same.
        std::fs::write(tree.path().join("pressure/io"), "some total=1234600\nfull total=990\n").unwrap();
        std::fs::write(tree.path().join("pressure/cpu"), "some total=99\n").unwrap();
        std::fs::write(tree.path().join("loadavg"), "1.00 0.18 0.12 1/80 11206\n").unwrap();
        let expected = Surroundings {
            load_milli: [1000, 180, 120],
            runnable: 3,
            blocked: 12,
            stalled_cpu_us: Some(0),
            stalled_io_us: Some([33, 100]),
            stalled_memory_us: None,
        };
        assert_eq!(meter.finish(&start), Some(expected));
    }

    #[test]
    fn a_kernel_that_tells_nothing_gives_nothing() {
        let meter = SurroundingsMeter::open(Path::new("/nowhere"));
        assert_eq!(meter.start(), SurroundingsStart::default());
        assert_eq!(meter.finish(&meter.start()), None);
        let tree = tree(&[("loadavg", "0.20 0.18 0.12 1/80 1\n"), ("stat", "cpu 1\n")]);
        let meter = SurroundingsMeter::open(tree.path());
        assert_eq!(meter.finish(&meter.start()), None, "runnable tasks are not guessed");
    }

    #[test]
    fn this_kernel_is_read_again_and_again() {
        let meter = SurroundingsMeter::open(Path::new("/proc"));
        let start = meter.start();
        let first = meter.finish(&start).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            // One that runs is counted, whoever else does.
            let reading = scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let found = (0..10_000).any(|_| meter.finish(&start).unwrap().runnable >= 1);
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            reading.join().unwrap();
            assert!(found);
        });
        let later = meter.finish(&start).unwrap();
        assert!(
            later.stalled_io_us >= first.stalled_io_us && later.stalled_memory_us >= first.stalled_memory_us
        );
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece_bytes in 1..50_usize) {
            let _ = (parse_load(&bytes), parse_stalls(&bytes), counts(&bytes, piece_bytes));
        }

        #[test]
        fn mutilated_samples_never_panic(
            place in 0..200_usize, bytes in proptest::collection::vec(any::<u8>(), 0..6), cut in 0..250_usize,
        ) {
            for sample in [STAT, PRESSURE, "0.20 0.18 0.12 1/80 11206\n"] {
                let mut text = sample.as_bytes().to_vec();
                let place = place.min(text.len());
                text.splice(place..(place + bytes.len()).min(text.len()), bytes.iter().copied());
                text.truncate(cut);
                let _ = (parse_load(&text), parse_stalls(&text), counts(&text, 16));
            }
        }

        #[test]
        fn pieces_do_not_matter(text in "(procs_running [0-9]{1,4}\n|procs_blocked [0-9]{1,4}\n|[a-z ]{0,60}\n){0,8}", piece_bytes in 1..50_usize) {
            prop_assert_eq!(counts(text.as_bytes(), piece_bytes), counts(text.as_bytes(), 1 << 20));
        }
    }
}
