//! What the client of a file system counts, read twice: what was asked of its servers meanwhile. Only the kernel's tables are read, so this is for the
//! keeper, too.

use std::fs;
use std::path::Path;

use iolag_model::{Counted, FileSystem};

use super::llite::{LliteCounters, instance_of, parse_llite};
use super::lustre_requests::LustreRequests;
use super::mountstats::{NfsCounters, parse_mountstats};
use super::read_at_most;

/// Some thousand mounts of NFS.
const TEXT_BYTES_MAX: u64 = 32 << 20;

/// What the client of a file system has counted until one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCounters(Reading);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Reading {
    Nfs(NfsCounters),
    /// Of Lustre, where its requests are counted.
    LustreRequests(LustreRequests),
    /// Of Lustre, where only calls are.
    LustreCalls(LliteCounters),
    /// It counts, and this is why it is not known what.
    Unknown(String),
    /// The file system has no counters.
    Nothing,
}

impl ClientCounters {
    /// Of what was not there.
    pub const fn nothing() -> Self {
        Self(Reading::Nothing)
    }

    /// Reads them; `proc` and `sys` are /proc and /sys.
    pub fn take(file_system: &FileSystem, proc: &Path, sys: &Path) -> Self {
        let read = match file_system.kind.as_str() {
            "nfs" | "nfs4" => read_nfs(file_system, proc).map(Reading::Nfs),
            "lustre" => read_lustre(file_system, proc, sys),
            _ => Ok(Reading::Nothing),
        };
        Self(read.unwrap_or_else(Reading::Unknown))
    }

    /// What was counted since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Counted {
        let counted = match (&self.0, &earlier.0) {
            (Reading::Nfs(now), Reading::Nfs(before)) => now.since(before).map(Counted::Requests),
            (Reading::LustreRequests(now), Reading::LustreRequests(before)) => {
                now.since(before).map(Counted::Requests)
            }
            (Reading::LustreCalls(now), Reading::LustreCalls(before)) => {
                now.since(before).map(Counted::Calls)
            }
            (Reading::Unknown(sentence), _) | (_, Reading::Unknown(sentence)) => Err(sentence.clone()),
            _ => return Counted::Nothing,
        };
        counted.unwrap_or_else(Counted::Unknown)
    }
}

fn read_nfs(file_system: &FileSystem, proc: &Path) -> Result<NfsCounters, String> {
    let text = read_at_most(&proc.join("self/mountstats"), TEXT_BYTES_MAX);
    let text = text.ok_or("the kernel's counters of NFS (/proc/self/mountstats) cannot be read")?;
    parse_mountstats(&text, &file_system.mount_point)
}

/// What its clients of servers count, or if that may not be read what its calls are.
fn read_lustre(file_system: &FileSystem, proc: &Path, sys: &Path) -> Result<Reading, String> {
    // Older ones in /proc, then where only root may look.
    let roots = [proc.join("fs/lustre"), sys.join("kernel/debug/lustre")];
    let entries = |root: &Path| {
        let entries = fs::read_dir(root.join("llite")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
    };
    let found = roots.iter().map(|root| (root, entries(root))).find(|(_, names)| !names.is_empty());
    let Some((root, names)) = found else {
        return Err("Lustre's counters are not there, or only root may read them".into());
    };
    let instance = instance_of(&names, &file_system.source)?;
    if let Some(requests) = LustreRequests::read(&roots, instance)? {
        return Ok(Reading::LustreRequests(requests));
    }
    let text = read_at_most(&root.join("llite").join(instance).join("stats"), TEXT_BYTES_MAX);
    parse_llite(&text.ok_or("Lustre's counters cannot be read")?).map(Reading::LustreCalls)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    fn file_system(kind: &str, mount_point: &str, source: &str) -> FileSystem {
        let (kind, mount_point, source) = (kind.into(), mount_point.into(), source.into());
        FileSystem { kind, mount_point, source, ..FileSystem::default() }
    }

    #[test]
    fn each_kind_of_file_system_is_read_where_its_counters_are() {
        let llite = include_str!("recorded/llite-2.12");
        let proc = Tree::with(&[("self/mountstats", include_str!("recorded/mountstats-5.x"))]);
        let sys = Tree::with(&[("kernel/debug/lustre/llite/scratch-ffff00/stats", llite)]);
        let take = |file_system: &FileSystem| ClientCounters::take(file_system, proc.path(), sys.path());
        let nfs = take(&file_system("nfs", "/mnt", "s:/x"));
        assert_eq!(nfs.since(&nfs), Counted::Requests(vec![]));
        let lustre = take(&file_system("lustre", "/scratch", "mgs@tcp:/scratch"));
        assert_eq!(lustre.since(&lustre), Counted::Calls(vec![]));
        let clients = Tree::with(&[
            ("kernel/debug/lustre/llite/scratch-ffff00/stats", llite),
            ("kernel/debug/lustre/mdc/scratch-MDT0000-mdc-ffff00/stats", include_str!("recorded/mdc-2.15")),
        ]);
        let lustre = file_system("lustre", "/scratch", "mgs@tcp:/scratch");
        let requests = ClientCounters::take(&lustre, proc.path(), clients.path());
        assert_eq!(requests.since(&requests), Counted::Requests(vec![]));
        let local = take(&file_system("ext4", "/", "/dev/sda1"));
        assert_eq!(local.since(&local), Counted::Nothing);
        let other = take(&file_system("nfs4", "/elsewhere", "s:/y"));
        let unknown = "the kernel counts nothing of an NFS mounted at /elsewhere".to_owned();
        assert_eq!(other.since(&nfs), Counted::Unknown(unknown));
        let empty = Tree::with(&[]);
        let lustre = file_system("lustre", "/scratch", "m:/scratch");
        let unread = ClientCounters::take(&lustre, empty.path(), empty.path());
        let sentence = "Lustre's counters are not there, or only root may read them".to_owned();
        assert_eq!(unread.since(&unread), Counted::Unknown(sentence));
    }
}
