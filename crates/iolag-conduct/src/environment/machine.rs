//! The machine: host, kernel, processors, memory, batch job.

use std::ffi::OsStr;
use std::path::Path;

use iolag_model::Environment;
use rustix::process::geteuid;
use rustix::system::uname;
use rustix::thread::sched_getaffinity;

use super::{memory, read_at_most, read_line};

/// Batch systems by the variable that names their job, in the order of preference.
const JOB_VARIABLES: [(&str, &str); 6] = [
    ("SLURM_JOB_ID", "slurm"),
    ("PBS_JOBID", "pbs"),
    ("LSB_JOBID", "lsf"),
    ("FLUX_JOB_ID", "flux"),
    ("OAR_JOB_ID", "oar"),
    ("_CONDOR_JOB_AD", "htcondor"),
];

/// The machine as the kernel tables under `proc` (/proc) and `sys` (/sys) describe it, with the batch job that
/// `variables` (the process environment) name. Touches no other file and no name service.
pub fn capture(
    proc: &Path,
    sys: &Path,
    variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
) -> Environment {
    let name = uname();
    let kernel = [name.sysname(), name.release(), name.version()].map(|part| part.to_string_lossy());
    Environment {
        host: name.nodename().to_string_lossy().into_owned(),
        kernel: kernel.join(" "),
        boot_id: read_line(&proc.join("sys/kernel/random/boot_id")),
        cpu_model: cpu_model(proc),
        cpus: usable_cpus(),
        simultaneous_multithreading: read_line(&sys.join("devices/system/cpu/smt/control")),
        memory_bytes: memory::installed_bytes(proc),
        iolag_version: env!("CARGO_PKG_VERSION").to_owned(),
        root: geteuid().is_root(),
        job: job(variables),
    }
}

/// The batch job as `system:id`, for example `slurm:4711`, of the first batch system that has one: Slurm, PBS,
/// LSF, Flux, OAR, HTCondor. HTCondor's id is the path of the job's description. No other variable is looked at.
pub fn job(variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>) -> Option<String> {
    variables
        .into_iter()
        .filter_map(|(name, value)| {
            let rank =
                JOB_VARIABLES.iter().position(|(variable, _)| name.as_ref() == OsStr::new(variable))?;
            Some((rank, printable(value.as_ref())?))
        })
        .min_by_key(|(rank, _)| *rank)
        .map(|(rank, id)| format!("{}:{id}", JOB_VARIABLES[rank].1))
}

/// A job's id on one line and of bounded length, since anybody can set a variable; `None` if nothing is left.
fn printable(value: &OsStr) -> Option<String> {
    const ID_CHARACTERS: usize = 256;
    let text = value.to_string_lossy();
    let id: String =
        text.trim().chars().filter(|character| !character.is_control()).take(ID_CHARACTERS).collect();
    (!id.is_empty()).then_some(id)
}

/// Processors that this process may use: its affinity, else what the standard library finds, at least 1.
fn usable_cpus() -> u32 {
    // The set holds 1024 processors; on a larger machine the kernel refuses it, and the library asks another way.
    let by_affinity = sched_getaffinity(None).map(|set| set.count()).ok().filter(|count| *count > 0);
    by_affinity.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
    })
}

/// The processor model. The file's keys differ by architecture: `model name` (x86), `cpu` (POWER), `cpu model` (MIPS),
/// `uarch` (RISC-V), `processor 0` (s390x); Arm gives only the numbers of implementer and part.
fn cpu_model(proc: &Path) -> Option<String> {
    const CPUINFO_BYTES: u64 = 64 * 1024;
    const MODEL_KEYS: [&str; 5] = ["model name", "cpu", "cpu model", "uarch", "processor 0"];
    let content = read_at_most(&proc.join("cpuinfo"), CPUINFO_BYTES)?;
    let text = String::from_utf8_lossy(&content);
    let value_of = |wanted: &str| {
        text.lines().filter_map(|line| line.split_once(':')).find_map(|(key, value)| {
            let value = value.trim();
            (key.trim() == wanted && !value.is_empty()).then(|| value.to_owned())
        })
    };
    MODEL_KEYS.iter().find_map(|key| value_of(key)).or_else(|| {
        let (implementer, part) = (value_of("CPU implementer")?, value_of("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    const NO_VARIABLES: [(&str, &str); 0] = [];

    #[test]
    fn a_fixture_is_read_field_by_field() {
        let proc = Tree::with(&[
            (
                "cpuinfo",
                "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 7763 64-Core Processor\n\n\
                         processor\t: 1\nmodel name\t: another\n",
            ),
            ("meminfo", "MemTotal:       263856412 kB\nMemFree:        1 kB\n"),
            ("sys/kernel/random/boot_id", "0f1d2c3b-0000-4000-8000-000000000001\n"),
        ]);
        let sys = Tree::with(&[("devices/system/cpu/smt/control", "off\n")]);
        let environment = capture(proc.path(), sys.path(), [("SLURM_JOB_ID", "4711")]);
        assert_eq!(environment.cpu_model.as_deref(), Some("AMD EPYC 7763 64-Core Processor"));
        assert_eq!(environment.memory_bytes, Some(263_856_412 * 1024));
        assert_eq!(environment.boot_id.as_deref(), Some("0f1d2c3b-0000-4000-8000-000000000001"));
        assert_eq!(environment.simultaneous_multithreading.as_deref(), Some("off"));
        assert_eq!(environment.job.as_deref(), Some("slurm:4711"));
        assert_eq!(environment.iolag_version, env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn nothing_is_guessed_where_the_kernel_says_nothing() {
        let empty = Tree::with(&[]);
        let environment = capture(empty.path(), empty.path(), NO_VARIABLES);
        assert_eq!(environment.cpu_model, None);
        assert_eq!(environment.memory_bytes, None);
        assert_eq!(environment.boot_id, None);
        assert_eq!(environment.simultaneous_multithreading, None);
        assert_eq!(environment.job, None);
        assert!(environment.cpus >= 1 && !environment.host.is_empty());
    }

    #[test]
    fn this_machine_is_described() {
        let environment = capture(Path::new("/proc"), Path::new("/sys"), NO_VARIABLES);
        assert!(environment.kernel.starts_with("Linux "));
        assert!(environment.memory_bytes.is_some_and(|bytes| bytes > 16 << 20));
        assert!(environment.boot_id.is_some_and(|id| id.len() == 36));
    }

    #[test]
    fn processors_of_other_architectures_are_named() {
        let cases = [
            (
                "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800MHz\n",
                Some("POWER9, altivec supported"),
            ),
            (
                "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
                Some("Arm implementer 0x41 part 0xd0c"),
            ),
            ("processor\t: 0\nhart\t\t: 1\nuarch\t\t: sifive,u74-mc\n", Some("sifive,u74-mc")),
            (
                "vendor_id       : IBM/S390\nprocessor 0: version = FF,  identification = 2733E8,  machine = 3931\n",
                Some("version = FF,  identification = 2733E8,  machine = 3931"),
            ),
            ("nonsense\n:::\n", None),
        ];
        for (content, expected) in cases {
            let proc = Tree::with(&[("cpuinfo", content)]);
            assert_eq!(cpu_model(proc.path()).as_deref(), expected, "{content}");
        }
    }

    #[test]
    fn only_job_variables_are_kept_in_the_order_of_the_table() {
        let pairs = [("PBS_JOBID", "12.server"), ("AWS_SECRET_ACCESS_KEY", "x"), ("SLURM_JOB_ID", " 7\n")];
        assert_eq!(job(pairs).as_deref(), Some("slurm:7"));
        assert_eq!(job([("SLURM_JOB_ID_X", "1"), ("HOME", "/root"), ("LSB_JOBID", "")]), None);
        assert_eq!(
            job([("_CONDOR_JOB_AD", "/e/dir_9/.job.ad")]).as_deref(),
            Some("htcondor:/e/dir_9/.job.ad")
        );
        let long = job([("LSB_JOBID", &"9".repeat(9_000))]).unwrap();
        assert_eq!(long.len(), "lsf:".len() + 256);
    }
}
