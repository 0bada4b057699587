//! Load, pressure and memory at one moment.

use std::path::Path;

use iolag_model::{MemoryLook, MemoryState, Pressure};

use super::{read_at_most, read_line};

const BYTES_PER_KIBIBYTE: u64 = 1024;

/// Load averages, tasks, pressure and memory from `proc` (/proc): `loadavg`, `pressure/{cpu,io,memory}`, `meminfo`.
/// The page cache is meminfo's `Cached`, so it contains tmpfs and shared memory, and not block devices' buffers.
pub fn capture(proc: &Path) -> MemoryState {
    let (load, tasks) = read_line(&proc.join("loadavg")).map_or((None, None), |line| parse_loadavg(&line));
    let pressure = ["cpu", "io", "memory"].iter().filter_map(|resource| capture_pressure(proc, resource));
    let memory = Meminfo::read(proc);
    MemoryState {
        load,
        tasks,
        pressure: pressure.collect(),
        page_cache_bytes: memory.bytes_of("Cached"),
        dirty_bytes: memory.bytes_of("Dirty"),
        writeback_bytes: memory.bytes_of("Writeback"),
        available_bytes: memory.bytes_of("MemAvailable"),
    }
}

/// What the page cache, dirty and write-back have at present, from `proc` (/proc); nothing where the kernel does not tell each of them.
pub fn look(proc: &Path) -> Option<MemoryLook> {
    let memory = Meminfo::read(proc);
    Some(MemoryLook {
        page_cache_bytes: memory.bytes_of("Cached")?,
        dirty_bytes: memory.bytes_of("Dirty")?,
        writeback_bytes: memory.bytes_of("Writeback")?,
    })
}

/// Memory that the kernel manages, in bytes: meminfo's `MemTotal`, a little less than what is built in.
pub(super) fn installed_bytes(proc: &Path) -> Option<u64> {
    Meminfo::read(proc).bytes_of("MemTotal")
}

/// /proc/meminfo as text.
struct Meminfo(String);

impl Meminfo {
    fn read(proc: &Path) -> Self {
        const MEMINFO_BYTES: u64 = 64 * 1024;
        let content = read_at_most(&proc.join("meminfo"), MEMINFO_BYTES).unwrap_or_default();
        Self(String::from_utf8_lossy(&content).into_owned())
    }

    /// The line `Name:   123 kB`, where kB are 1024 bytes.
    fn bytes_of(&self, name: &str) -> Option<u64> {
        let value = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kibibytes.checked_mul(BYTES_PER_KIBIBYTE)
    }
}

/// `0.40 0.65 0.51 1/90 22579`: load of 1, 5 and 15 minutes, runnable/all tasks, last process id.
fn parse_loadavg(line: &str) -> (Option<[f64; 3]>, Option<[u64; 2]>) {
    let mut fields = line.split_ascii_whitespace();
    let mut next_load = || fields.next()?.parse::<f64>().ok().filter(|load| load.is_finite() && *load >= 0.0);
    let loads = [next_load(), next_load(), next_load()];
    let load = match loads {
        [Some(one), Some(five), Some(fifteen)] => Some([one, five, fifteen]),
        _ => None,
    };
    let tasks = fields.next().and_then(|field| {
        let (runnable, all) = field.split_once('/')?;
        Some([runnable.parse().ok()?, all.parse().ok()?])
    });
    (load, tasks)
}

fn capture_pressure(proc: &Path, resource: &str) -> Option<Pressure> {
    const PRESSURE_BYTES: u64 = 4096;
    let content = read_at_most(&proc.join("pressure").join(resource), PRESSURE_BYTES)?;
    let text = String::from_utf8_lossy(&content);
    Some(Pressure {
        resource: resource.to_owned(),
        some_us: stalled_us(&text, "some")?,
        full_us: stalled_us(&text, "full"),
    })
}

/// The total of the line `some avg10=0.21 avg60=0.29 avg300=0.19 total=10525117`, in µs.
fn stalled_us(text: &str, share: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(share)?.strip_prefix(' '))?;
    line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::Tree;
    use super::*;

    const MEMINFO: &str = "MemTotal:       24684084 kB\nMemFree:          100000 kB\nMemAvailable:   20000000 kB\n\
        Buffers:           50000 kB\nCached:          3000000 kB\nSwapCached:            7 kB\n\
        Dirty:              1234 kB\nWriteback:            56 kB\nWritebackTmp:          9 kB\nHugePages_Total:       3\n";

    #[test]
    fn a_fixture_is_read_field_by_field() {
        let proc = Tree::with(&[
            ("loadavg", "0.40 0.65 12.51 3/1290 22579\n"),
            ("meminfo", MEMINFO),
            ("pressure/cpu", "some avg10=2.12 avg60=2.52 avg300=3.45 total=56363413\n"),
            (
                "pressure/io",
                "some avg10=0.21 avg60=0.29 avg300=0.19 total=10525117\n\
                             full avg10=0.16 avg60=0.23 avg300=0.15 total=9729358\n",
            ),
        ]);
        let state = capture(proc.path());
        assert_eq!(state.load, Some([0.40, 0.65, 12.51]));
        assert_eq!(state.tasks, Some([3, 1290]));
        let pressure =
            |resource: &str, some_us, full_us| Pressure { resource: resource.into(), some_us, full_us };
        assert_eq!(
            state.pressure,
            [pressure("cpu", 56_363_413, None), pressure("io", 10_525_117, Some(9_729_358))]
        );
        assert_eq!(state.page_cache_bytes, Some(3_000_000 * 1024), "not SwapCached");
        assert_eq!(state.dirty_bytes, Some(1234 * 1024));
        assert_eq!(state.writeback_bytes, Some(56 * 1024), "not WritebackTmp");
        assert_eq!(state.available_bytes, Some(20_000_000 * 1024));
        assert_eq!(installed_bytes(proc.path()), Some(24_684_084 * 1024));
    }

    #[test]
    fn a_kernel_that_tells_nothing_leaves_every_field_absent() {
        assert_eq!(capture(Tree::with(&[]).path()), MemoryState::default());
        let proc =
            Tree::with(&[("loadavg", "nan 1 2 x/y\n"), ("meminfo", "Dirty: 12 MB\n"), ("pressure/io", "\n")]);
        assert_eq!(capture(proc.path()), MemoryState::default());
    }

    #[test]
    fn an_old_loadavg_without_tasks_still_gives_load() {
        assert_eq!(parse_loadavg("1.0 2.0 3.0"), (Some([1.0, 2.0, 3.0]), None));
    }

    #[test]
    fn this_machine_has_load_and_memory() {
        let state = capture(Path::new("/proc"));
        assert!(state.load.is_some() && state.tasks.is_some_and(|[_, all]| all > 0));
        assert!(state.page_cache_bytes.is_some() && state.dirty_bytes.is_some());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(loadavg in ".{0,80}", meminfo in "(Cached|Dirty|MemTotal)?:? *[0-9]{0,25} ?(kB)?.{0,20}") {
            let proc = Tree::with(&[("loadavg", &loadavg), ("meminfo", &meminfo), ("pressure/io", &loadavg)]);
            let state = capture(proc.path());
            prop_assert!(state.load.is_none_or(|loads| loads.iter().all(|load| load.is_finite())));
        }
    }
}
