//! What the system allows, compared with what a run needs: told before anything is created.
//!
//! Limits: what other processes take meanwhile is not foreseen. A thread, a descriptor or memory that is lacking later is an
//! error of its own then.

use std::fs;
use std::path::{Path, PathBuf};

use iolag_keeper::{Exchange, Room};
use iolag_model::{format_bytes, format_count};

use crate::environment::memory::installed_bytes;
use crate::failure::Failure;

/// Processes beside the clients: keeper, writer, measurer, scouts, clean-up.
const PROCESSES: u64 = 8;
/// A thread's stack and its guard.
const MAPPINGS_PER_CLIENT: u64 = 2;
/// Those of the program itself and of its libraries.
const MAPPINGS_OF_A_PROCESS: u64 = 500;
/// A client's directory, its object and its stream.
const DESCRIPTORS_PER_CLIENT: u64 = 3;
/// Pipes, standard streams and what was inherited.
const DESCRIPTORS_OF_A_PROCESS: u64 = 64;
/// What a client touches of its stack and allocates: measured by `cargo xtask bench many-clients`.
const BYTES_PER_CLIENT: u64 = 48 << 10;

/// What the system allows this user at this moment; nothing where it does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Threads that can still be started, and what sets the limit, the tightest first.
    threads: Option<(u64, String)>,
    /// Mappings of a process.
    mappings: Option<u64>,
    /// Memory that can be had without swapping, and what sets the limit.
    memory_bytes: Option<(u64, String)>,
    /// Descriptors of a process.
    descriptors: Option<u64>,
    /// Local ports for connections to one server.
    ports: Option<u64>,
    /// Memory of the machine.
    pub(crate) installed_bytes: Option<u64>,
}

/// What the clients of a run need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    clients: u64,
    threads: u64,
    mappings: u64,
    /// In one process in any case, and if all clients of it share one table.
    descriptors: u64,
    descriptors_shared: u64,
    ports: u64,
}

impl Needs {
    /// Of clients that are threads, each with its directory.
    pub fn of_threads(clients: u32) -> Self {
        let clients = u64::from(clients);
        Self {
            clients,
            threads: clients + PROCESSES,
            mappings: clients * MAPPINGS_PER_CLIENT + MAPPINGS_OF_A_PROCESS,
            // The few of a process are not foreseen: opening one too many says so.
            descriptors: 0,
            descriptors_shared: clients * DESCRIPTORS_PER_CLIENT + DESCRIPTORS_OF_A_PROCESS,
            ports: 0,
        }
    }

    /// Of clients that are processes, each with a thread and that of its heart.
    pub fn of_processes(clients: u32) -> Self {
        let clients = u64::from(clients);
        let descriptors_shared = DESCRIPTORS_PER_CLIENT + DESCRIPTORS_OF_A_PROCESS;
        Self {
            clients,
            threads: clients * 3 + PROCESSES,
            mappings: MAPPINGS_OF_A_PROCESS,
            descriptors: 0,
            descriptors_shared,
            ports: 0,
        }
    }

    /// Of clients that are tasks of so many workers, each with a connection; the server that most of them connect to has
    /// `connections` of them.
    pub fn of_tasks(clients: u32, workers: u32, connections: u32) -> Self {
        let (clients, workers) = (u64::from(clients), u64::from(workers));
        let descriptors = clients + DESCRIPTORS_OF_A_PROCESS;
        Self {
            clients,
            threads: workers + PROCESSES,
            mappings: workers * MAPPINGS_PER_CLIENT + MAPPINGS_OF_A_PROCESS,
            descriptors,
            descriptors_shared: descriptors,
            ports: u64::from(connections),
        }
    }
}

/// Whether the clients of a process share its table of descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// Each has its own.
    Own,
    /// The system lets no thread have its own.
    Shared,
}

impl Limits {
    /// Local ports for connections to one server, where the system says.
    pub(crate) const fn ports(&self) -> Option<u64> {
        self.ports
    }

    /// Nothing but so many ports.
    #[cfg(test)]
    pub(crate) fn with_ports(ports: u64) -> Self {
        Self { ports: Some(ports), ..Self::default() }
    }

    /// Reads them: of this process, below `proc` (`/proc`) and `control_groups` (`/sys/fs/cgroup`).
    pub fn read(proc: &Path, control_groups: &Path) -> Self {
        use rustix::process::{Resource, geteuid, getrlimit};
        let mut threads = Vec::new();
        let running = running_threads(proc).unwrap_or(0);
        for (file, name) in [("threads-max", "kernel.threads-max"), ("pid_max", "kernel.pid_max")] {
            let limit = number(&proc.join("sys/kernel").join(file));
            threads.extend(limit.map(|limit| (limit.saturating_sub(running), name.to_owned())));
        }
        // The kernel does not hold the superuser to it.
        if !geteuid().is_root() {
            let limit = getrlimit(Resource::Nproc).current;
            threads.extend(limit.map(|limit| (limit, "ulimit -u".to_owned())));
        }
        let mut memory = Vec::new();
        memory.extend(available_bytes(proc).map(|bytes| (bytes, "of the machine's memory".to_owned())));
        for group in own_groups(proc, control_groups) {
            if let Some(limit) = number(&group.join("pids.max")) {
                let here = number(&group.join("pids.current")).unwrap_or(0);
                threads.push((limit.saturating_sub(here), format!("pids.max of {}", group.display())));
            }
            memory.extend(OF_MEMORY.iter().filter_map(|names| names.available(&group)));
        }
        Self {
            threads: threads.into_iter().min(),
            mappings: number(&proc.join("sys/vm/max_map_count")),
            memory_bytes: memory.into_iter().min(),
            descriptors: getrlimit(Resource::Nofile).maximum,
            ports: local_ports(proc),
            installed_bytes: installed_bytes(proc),
        }
    }

    /// Refuses what the system does not give. The shared memory is made for a moment, to know its size and whether it can be had.
    ///
    /// # Errors
    /// The first limit that the run would reach.
    pub fn refuse(&self, room: Room, needs: Needs, tables: impl FnOnce() -> Tables) -> Result<(), Failure> {
        let exchange = Exchange::with_room(room)?;
        let refusal = self.refusal(needs, exchange.bytes() as u64, tables);
        refusal.map_or(Ok(()), |sentence| Err(Failure::usage(sentence)))
    }

    /// Why a run that needs this and shares `shared_bytes` bytes cannot be, as one sentence; `None` if nothing speaks against it.
    /// `tables` is asked only where it matters, because the answer takes a thread.
    fn refusal(&self, needs: Needs, shared_bytes: u64, tables: impl FnOnce() -> Tables) -> Option<String> {
        let who = match needs.clients {
            1 => "1 client needs".to_owned(),
            clients => format!("{} clients need", format_count(clients)),
        };
        let needed = needs.threads;
        if let Some((allowed, by)) = self.threads.as_ref().filter(|(allowed, _)| *allowed < needed) {
            return Some(format!(
                "{who} {} threads and processes, and {by} leaves {}: use fewer clients, or raise that limit",
                format_count(needed),
                format_count(*allowed)
            ));
        }
        let needed = needs.mappings;
        if let Some(allowed) = self.mappings.filter(|allowed| *allowed < needed) {
            return Some(format!(
                "{who} {} mappings of memory in one process, and vm.max_map_count allows {}: use fewer clients, or raise that limit",
                format_count(needed),
                format_count(allowed)
            ));
        }
        let needed = shared_bytes.saturating_add(needs.clients * BYTES_PER_CLIENT);
        if let Some((allowed, by)) = self.memory_bytes.as_ref().filter(|(allowed, _)| *allowed < needed) {
            return Some(format!(
                "{who} {} of memory, of which {} are for samples, and {} are available {by}: use fewer clients, or a smaller --buffer",
                format_bytes(needed),
                format_bytes(shared_bytes),
                format_bytes(*allowed)
            ));
        }
        let needed = needs.ports;
        if let Some(allowed) = self.ports.filter(|allowed| *allowed < needed) {
            return Some(format!(
                "{who} {} local ports for one server, and net.ipv4.ip_local_port_range leaves {}: use fewer clients, or widen that range",
                format_count(needed),
                format_count(allowed)
            ));
        }
        self.refusal_of_descriptors(&who, needs, tables)
    }

    /// Why this cannot be had of memory, if it cannot: copies of a program that each read and write so much at once.
    pub(crate) fn refusal_of_buffers(&self, copies: u32, bytes_each: u64) -> Option<String> {
        let (allowed, why) = self.memory_bytes.as_ref()?;
        let needed = bytes_each.saturating_mul(copies.into());
        (needed > *allowed).then(|| {
            format!(
                "{copies} copies need {} of memory for what the program reads and writes at once, and {} are free {why}: reduce --copies, or leave \
                 out what reads so much (--only)",
                format_bytes(needed),
                format_bytes(*allowed)
            )
        })
    }

    fn refusal_of_descriptors(
        &self,
        who: &str,
        needs: Needs,
        tables: impl FnOnce() -> Tables,
    ) -> Option<String> {
        let allowed = self.descriptors?;
        let (needed, why) = if allowed < needs.descriptors {
            (needs.descriptors, "")
        } else if allowed < needs.descriptors_shared && tables() == Tables::Shared {
            (needs.descriptors_shared, ", because this system lets no thread have a table of its own")
        } else {
            return None;
        };
        Some(format!(
            "{who} {} descriptors in one process{why}, and the hard limit is {}: use fewer clients, or raise it (ulimit -Hn)",
            format_count(needed),
            format_count(allowed)
        ))
    }
}

/// What the two versions of control groups call the same: the limit, what is used of it, and in `memory.stat` the part of that which
/// the system gives back where it is needed.
struct MemoryNames {
    limit: &'static str,
    used: &'static str,
    cached: &'static str,
}

const OF_MEMORY: [MemoryNames; 2] = [
    MemoryNames { limit: "memory.max", used: "memory.current", cached: "file" },
    MemoryNames { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cached: "total_cache" },
];

impl MemoryNames {
    /// What a group leaves, and what says so.
    fn available(&self, group: &Path) -> Option<(u64, String)> {
        let limit = number(&group.join(self.limit))?;
        let used = number(&group.join(self.used)).unwrap_or(0);
        let statistics = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let mut fields = statistics.lines().filter_map(|line| line.split_once(' '));
        let cached = fields.find(|(name, _)| *name == self.cached).and_then(|(_, bytes)| bytes.parse().ok());
        let taken = used.saturating_sub(cached.unwrap_or(0));
        Some((limit.saturating_sub(taken), format!("by {} of {}", self.limit, group.display())))
    }
}

/// The only number in a file; `None` also for `max`.
fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Threads of the whole machine: the second of the two numbers in the fourth field.
fn running_threads(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("loadavg")).ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// A connection to a server has a port of this range, both ends included, which none of the others to it has.
pub fn local_ports(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("sys/net/ipv4/ip_local_port_range")).ok()?;
    let mut ends = text.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some((last + 1).saturating_sub(first))
}

fn available_bytes(proc: &Path) -> Option<u64> {
    let text = fs::read_to_string(proc.join("meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// The directories of this process's control groups and of all groups around them, of both versions.
fn own_groups(proc: &Path, control_groups: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(proc.join("self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let root = match controllers.split(',').find(|name| matches!(*name, "" | "pids" | "memory")) {
            Some(controller) => control_groups.join(controller),
            None => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        groups.extend(own.ancestors().take_while(|group| group.starts_with(&root)).map(Path::to_owned));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Limits = Limits {
        threads: None,
        mappings: None,
        memory_bytes: None,
        descriptors: None,
        ports: None,
        installed_bytes: None,
    };

    fn refusal(limits: &Limits, clients: u32, tables: Tables) -> Option<String> {
        limits.refusal(Needs::of_threads(clients), 100 << 20, || tables)
    }

    #[test]
    fn clients_that_are_tasks_need_descriptors_and_ports_and_few_threads() {
        let refusal = |limits: &Limits, connections| {
            limits.refusal(Needs::of_tasks(5000, 2, connections), 100 << 20, || {
                panic!("nobody asks for tables")
            })
        };
        let descriptors = Limits { descriptors: Some(1024), ..PLENTY };
        assert_eq!(
            refusal(&descriptors, 10).unwrap(),
            "5 000 clients need 5 064 descriptors in one process, and the hard limit is 1 024: use fewer clients, or raise it (ulimit -Hn)"
        );
        let ports = Limits { ports: Some(1000), ..PLENTY };
        assert_eq!(
            refusal(&ports, 5000).unwrap(),
            "5 000 clients need 5 000 local ports for one server, and net.ipv4.ip_local_port_range leaves 1 000: \
             use fewer clients, or widen that range"
        );
        assert_eq!(refusal(&ports, 1000), None);
        let threads = Limits { threads: Some((100, "kernel.threads-max".into())), ..PLENTY };
        assert_eq!(refusal(&threads, 5000), None);
    }

    #[test]
    fn copies_that_need_more_memory_than_there_is_are_refused() {
        let limits = Limits { memory_bytes: Some((1 << 30, "of the machine's memory".into())), ..PLENTY };
        assert_eq!(limits.refusal_of_buffers(16, 64 << 20), None);
        assert_eq!(
            limits.refusal_of_buffers(17, 64 << 20).unwrap(),
            "17 copies need 1.06 GiB of memory for what the program reads and writes at once, and 1.00 GiB are free of the machine's memory: reduce \
             --copies, or leave out what reads so much (--only)"
        );
    }

    #[test]
    fn each_limit_is_told_with_what_to_change() {
        let threads = Limits { threads: Some((1000, "kernel.threads-max".into())), ..PLENTY };
        let mappings = Limits { mappings: Some(4000), ..PLENTY };
        let memory = Limits { memory_bytes: Some((200 << 20, "of the machine's memory".into())), ..PLENTY };
        let descriptors = Limits { descriptors: Some(1024), ..PLENTY };
        for (limits, said) in [
            (
                &threads,
                "5 000 clients need 5 008 threads and processes, and kernel.threads-max leaves 1 000: use fewer",
            ),
            (&mappings, "vm.max_map_count allows 4 000"),
            (&memory, "of which 100 MiB are for samples, and 200 MiB are available of the machine's memory"),
            (&descriptors, "hard limit is 1 024"),
        ] {
            let sentence = refusal(limits, 5000, Tables::Shared).unwrap_or_default();
            assert!(sentence.contains(said), "{said}: {sentence}");
            assert_eq!(refusal(limits, 100, Tables::Shared), None, "{limits:?}");
        }
        assert_eq!(refusal(&descriptors, 5000, Tables::Own), None);
        assert_eq!(refusal(&PLENTY, u32::MAX, Tables::Shared), None);
    }

    #[test]
    fn the_tightest_limit_is_found_in_every_control_group_around() {
        let place = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/loadavg", "0.1 0.2 0.3 3/400 12345\n");
        write("proc/sys/kernel/threads-max", "100000\n");
        write("proc/sys/kernel/pid_max", "32768\n");
        write("proc/sys/vm/max_map_count", "65530\n");
        write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    2048 kB\n");
        write("proc/self/cgroup", "9:pids:/user/me\n0::/slice/job\n");
        write("groups/slice/job/pids.max", "max\n");
        write("groups/slice/pids.max", "5000\n");
        write("groups/slice/pids.current", "4000\n");
        write("groups/pids/user/pids.max", "3000\n");
        write("groups/slice/job/memory.max", "1048576\n");
        write("groups/slice/job/memory.current", "786432\n");
        write("groups/slice/job/memory.stat", "anon 524288\nfile 262144\nfile_mapped 7\n");
        let limits = Limits::read(&place.path().join("proc"), &place.path().join("groups"));
        assert_eq!(limits.ports, Some(28_232));
        let (threads, by) = limits.threads.unwrap();
        assert!(threads == 1000 && by.ends_with("groups/slice"), "{threads} {by}");
        let (bytes, by) = limits.memory_bytes.unwrap();
        assert!(bytes == 512 << 10 && by.ends_with("groups/slice/job"), "{bytes} {by}");
        assert!(by.starts_with("by memory.max of "), "{by}");

        // The older version has its own names for the same.
        write("proc/self/cgroup", "4:memory:/user/me\n");
        write("groups/memory/user/memory.limit_in_bytes", "400000\n");
        write("groups/memory/user/memory.usage_in_bytes", "300000\n");
        write("groups/memory/user/memory.stat", "cache 1\ntotal_cache 200000\n");
        let older = Limits::read(&place.path().join("proc"), &place.path().join("groups"));
        let (bytes, by) = older.memory_bytes.unwrap();
        assert_eq!(bytes, 300_000);
        assert!(by.starts_with("by memory.limit_in_bytes of ") && by.ends_with("groups/memory/user"), "{by}");
        assert_eq!(limits.mappings, Some(65_530));
        let nothing = Limits::read(Path::new("/nowhere"), Path::new("/nowhere"));
        assert_eq!((nothing.mappings, nothing.memory_bytes), (None, None));
    }
}
