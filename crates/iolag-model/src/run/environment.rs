//! The environment: under which circumstances samples were taken. Every field that could not be found out is absent,
//! never guessed.

use serde::{Deserialize, Serialize};

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: String,
    /// Kernel name, release and version.
    pub kernel: String,
    /// Boot id: two runs with the same one share a monotonic clock.
    pub boot_id: Option<String>,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus: u32,
    /// Whether processors share cores: "on", "off", "notsupported" as the kernel says.
    pub simultaneous_multithreading: Option<String>,
    /// Installed memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Version of iolag.
    pub iolag_version: String,
    /// Whether iolag ran as root.
    pub root: bool,
    /// Batch job, if one is named by the environment.
    pub job: Option<String>,
}

/// The file system under a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Type as the kernel names it: ext4, nfs4, lustre, fuse.sshfs.
    pub kind: String,
    /// Mount point.
    pub mount_point: String,
    /// Mount source, secrets removed.
    pub source: String,
    /// Options of the mount and of the file system, as /proc/self/mountinfo has them, secrets removed.
    pub options: String,
    /// Kernel's id of the mount.
    pub mount_id: Option<u64>,
    /// Device number, `major:minor`.
    pub device: String,
    /// Version of the client module, where the kernel tells it.
    pub client_version: Option<String>,
    /// Free bytes for an ordinary user.
    pub free_bytes: Option<u64>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Free inodes.
    pub free_inodes: Option<u64>,
    /// What a striping tool (lfs, beegfs-ctl, mmlsattr) says of the directory.
    pub striping: Option<String>,
}

impl FileSystem {
    /// The device number in the form of stat(2).
    pub fn device_number(&self) -> Option<u64> {
        let (major, minor) = self.device.split_once(':')?;
        Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
    }
}

/// Load and memory at one moment; taken before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryState {
    /// Load averages of 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Runnable and all tasks.
    pub tasks: Option<[u64; 2]>,
    /// Pressure of cpu, io and memory.
    pub pressure: Vec<Pressure>,
    /// Page cache in bytes.
    pub page_cache_bytes: Option<u64>,
    /// Dirty memory in bytes.
    pub dirty_bytes: Option<u64>,
    /// Memory under write-back in bytes.
    pub writeback_bytes: Option<u64>,
    /// Memory available without swapping, in bytes.
    pub available_bytes: Option<u64>,
}

/// One line of /proc/pressure: accumulated stall time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// cpu, io or memory.
    pub resource: String,
    /// Time in which some task stalled, in µs since boot.
    pub some_us: u64,
    /// Time in which all tasks stalled, in µs since boot.
    pub full_us: Option<u64>,
}

/// What measuring itself costs here, measured before the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Cost of one clock reading in ns: the least of short batches.
    pub clock_read_ns: f64,
    /// Smallest step between two different readings in ns.
    pub clock_resolution_ns: f64,
    /// Cost of recording one sample, both clock readings included, in ns: the least of short batches.
    pub overhead_per_sample_ns: f64,
}
