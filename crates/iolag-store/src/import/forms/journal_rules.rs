//! What messages of the journal are events, as a table.

use regex::{Regex, RegexSet};

/// What a message does to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Effect {
    /// It begins one; like messages that follow belong to it.
    Begins,
    /// It ends the one of the same kind and subject.
    Ends,
}

/// A rule: messages that match are events of its kind. The group `subject` says about what, so that events of two servers stay apart.
#[derive(Debug)]
pub(crate) struct Rule {
    pub kind: &'static str,
    pub effect: Effect,
    pattern: &'static str,
    is_of_kernel: bool,
}

const fn kernel(kind: &'static str, pattern: &'static str) -> Rule {
    Rule { kind, effect: Effect::Begins, pattern, is_of_kernel: true }
}

const fn kernel_end(kind: &'static str, pattern: &'static str) -> Rule {
    Rule { kind, effect: Effect::Ends, pattern, is_of_kernel: true }
}

const fn anybody_end(kind: &'static str, pattern: &'static str) -> Rule {
    Rule { kind, effect: Effect::Ends, pattern, is_of_kernel: false }
}

const fn anybody(kind: &'static str, pattern: &'static str) -> Rule {
    Rule { kind, effect: Effect::Begins, pattern, is_of_kernel: false }
}

/// Kind of an event in which a server does not answer.
pub(crate) const NOT_RESPONDING: &str = "file system not responding";
/// Kind of an event in which the machine did not run.
pub(crate) const NODE_DOWN: &str = "node down";

/// The first rule that matches counts. Messages as Linux 2.6 to 6.x, Lustre 1.6 to 2.15, GPFS 3 to 5, systemd, sssd and slurmctld print
/// them.
const RULES: [Rule; 29] = [
    kernel(NOT_RESPONDING, r"^nfs: server (?<subject>\S+) not responding"),
    kernel_end(NOT_RESPONDING, r"^nfs: server (?<subject>\S+) OK"),
    kernel(NOT_RESPONDING, r"(?i)^CIFS: (VFS: )?.*Server (?<subject>\S+) has not responded"),
    kernel(
        NOT_RESPONDING,
        r"^Lustre(Error)?: .*?(?<subject>\S+-(MDT|OST)[0-9a-f]{4})\S*: Connection to \S+ \(at .*\) was lost",
    ),
    kernel_end(
        NOT_RESPONDING,
        r"^Lustre: .*?(?<subject>\S+-(MDT|OST)[0-9a-f]{4})\S*: Connection restored to",
    ),
    kernel(NOT_RESPONDING, r"^ceph: (?<subject>mds\d+|osd\d+) (caps went stale|hung|went offline)"),
    kernel(
        NOT_RESPONDING,
        r"^libceph: (?<subject>(mon|mds|osd)\d+ \S+) (socket closed|connection reset|session lost)",
    ),
    kernel(NOT_RESPONDING, r"^afs: Lost contact with (?:file|vldb|protection) server (?<subject>\S+)"),
    kernel_end(NOT_RESPONDING, r"^afs: (?:file|vldb|protection) server (?<subject>\S+) .*is back up"),
    kernel("file system eviction", r"(?i)^Lustre(Error)?: .*(evicted|evicting)"),
    kernel("file system eviction", r"^libceph: .*(blocklisted|blacklisted)"),
    kernel("file system eviction", r"(?i)^nfs.* (lease|state).*(expired|lost|recovery failed)"),
    kernel("task blocked", r"^INFO: task (?<subject>\S+?):\d+ blocked( .*)? for more than"),
    kernel("task blocked", r"(?i)soft lockup - CPU#\d+ stuck|rcu.*detected stalls?"),
    kernel("remounted read-only", r"(?i)remount(ing|ed)? (file ?system )?read-?only|forced readonly"),
    kernel(
        "input/output error",
        r"(?i)I/O error,? (on )?dev(ice)? (?<subject>[\w/-]+)|critical medium error, dev (?<subject2>[\w-]+)",
    ),
    kernel(
        "input/output error",
        r"^(EXT[234]-fs|BTRFS) (error|critical) \(device (?<subject>[\w-]+)|(?i)^XFS \((?<subject2>[\w-]+)\): .*(corrupt|shut ?down|I/O error)",
    ),
    kernel(
        "input/output error",
        r"(?i)^(?<subject>ata\d+(\.\d+)?|nvme\d+\w*|sd \S+): .*(timeout|failed command|exception Emask|I/O \d+ QID)",
    ),
    kernel("input/output error", r"(?i)^nfs.*(error -?\d+|I/O error|stale file handle)"),
    kernel("hardware error", r"\[Hardware Error\]|^EDAC MC\d+: \d+ UE |: HANDLING MCE MEMORY ERROR"),
    kernel(NODE_DOWN, r"^Kernel panic - not syncing"),
    kernel("out of memory", r"(?i)^(Out of memory|Memory cgroup out of memory)|invoked oom-killer"),
    anybody(
        "file system mount",
        r"(?i)(automount|mount)\S*: .*(mount failed|failed to mount|timed out|timeout)|^Failed to mount (?<subject>.+?)\.?$|[Mm]ounting timed out",
    ),
    anybody(
        "directory service",
        r"(?i)^(Backend is offline|sssd.*(is offline|offline)|nslcd.*(no available LDAP server|can't contact LDAP))|Can't contact LDAP server",
    ),
    anybody("file system eviction", r"Lost membership in cluster (?<subject>\S+)\. Unmounting file systems?"),
    anybody(NODE_DOWN, r"^(error: )?Nodes? (?<subject>\S+) not responding, setting DOWN"),
    anybody_end(NODE_DOWN, r"^Node (?<subject>\S+) now responding"),
    anybody(NODE_DOWN, r"^System is (rebooting|powering down|powering off|halting)|^Shutting down\.$"),
    anybody("out of memory", r"(?i)killed by the OOM killer|Failed with result 'oom-kill'"),
];

/// The rules, ready to be applied.
pub(crate) struct Rules {
    any: RegexSet,
    each: Vec<Regex>,
}

impl Rules {
    /// Compiles the table.
    ///
    /// # Errors
    /// Never, unless a pattern of the table is none, which a test excludes.
    pub fn compile() -> Result<Self, regex::Error> {
        Ok(Self {
            any: RegexSet::new(RULES.iter().map(|rule| rule.pattern))?,
            each: RULES.iter().map(|rule| Regex::new(rule.pattern)).collect::<Result<_, _>>()?,
        })
    }

    /// The rule for a message, with its subject.
    pub fn find<'text>(
        &self,
        message: &'text str,
        is_of_kernel: bool,
    ) -> Option<(&'static Rule, &'text str)> {
        let index =
            self.any.matches(message).iter().find(|index| is_of_kernel || !RULES[*index].is_of_kernel)?;
        let found = self.each[index].captures(message)?;
        let subject = found.name("subject").or_else(|| found.name("subject2"));
        Some((&RULES[index], subject.map_or("", |subject| subject.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_real_kernels_have_their_kind() {
        let rules = Rules::compile().unwrap();
        for (message, kind, subject) in [
            ("nfs: server nfs01 not responding, still trying", NOT_RESPONDING, "nfs01"),
            ("nfs: server nfs01 not responding, timed out", NOT_RESPONDING, "nfs01"),
            ("nfs: server nfs01 OK", NOT_RESPONDING, "nfs01"),
            ("CIFS: VFS: \\\\fs01 has not responded in 180 seconds. Reconnecting...", "", ""),
            ("CIFS VFS: Server fs01 has not responded in 120 seconds. Reconnecting...", "", ""),
            (
                "CIFS: VFS: Server fs01 has not responded in 180 seconds. Reconnecting...",
                NOT_RESPONDING,
                "fs01",
            ),
            (
                "Lustre: scratch-MDT0000-mdc-ffff880123456789: Connection to scratch-MDT0000 (at 10.0.0.1@o2ib) was lost; in progress operations using this service will wait for recovery to complete",
                NOT_RESPONDING,
                "scratch-MDT0000",
            ),
            (
                "Lustre: scratch-MDT0000-mdc-ffff880123456789: Connection restored to 10.0.0.1@o2ib (at 10.0.0.1@o2ib)",
                NOT_RESPONDING,
                "scratch-MDT0000",
            ),
            (
                "LustreError: 167-0: scratch-OST0003-osc-ffff88: This client was evicted by scratch-OST0003; in progress operations using this service will fail.",
                "file system eviction",
                "",
            ),
            (
                "afs: Lost contact with file server 192.0.2.7 in cell example.org (code -1)",
                NOT_RESPONDING,
                "192.0.2.7",
            ),
            (
                "afs: file server 192.0.2.7 in cell example.org is back up (code 0)",
                NOT_RESPONDING,
                "192.0.2.7",
            ),
            ("INFO: task ls:12345 blocked for more than 120 seconds.", "task blocked", "ls"),
            (
                "INFO: task kworker/u8:1:77 blocked in I/O wait for more than 122 seconds.",
                "task blocked",
                "kworker/u8:1",
            ),
            ("EXT4-fs (sda1): Remounting filesystem read-only", "remounted read-only", ""),
            (
                "blk_update_request: I/O error, dev sdb, sector 12345 op 0x0:(READ) flags 0x0",
                "input/output error",
                "sdb",
            ),
            ("Buffer I/O error on dev dm-0, logical block 0, async page read", "input/output error", "dm-0"),
            (
                "XFS (sdc1): Corruption of in-memory data detected.  Shutting down filesystem",
                "input/output error",
                "sdc1",
            ),
            ("Out of memory: Killed process 4242 (ftn) total-vm:1kB", "out of memory", ""),
            ("ls invoked oom-killer: gfp_mask=0xcc0", "out of memory", ""),
            ("mce: [Hardware Error]: Machine check events logged", "hardware error", ""),
            ("[Hardware Error]: Deferred error, no action required.", "hardware error", ""),
            ("EDAC skx MC1: HANDLING MCE MEMORY ERROR", "hardware error", ""),
            ("Kernel panic - not syncing: Fatal machine check", NODE_DOWN, ""),
            ("usb 1-1: new high-speed USB device number 2", "", ""),
            ("EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro", "", ""),
        ] {
            let found = rules.find(message, true).map_or(("", ""), |(rule, subject)| (rule.kind, subject));
            assert_eq!(found, (kind, subject), "{message}");
        }
        let by_user = |message| rules.find(message, false).map_or("", |(rule, _)| rule.kind);
        assert_eq!(by_user("nfs: server nfs01 not responding, still trying"), "", "anybody may write that");
        assert_eq!(by_user("System is rebooting."), NODE_DOWN);
        assert_eq!(by_user("Failed to mount /scratch."), "file system mount");
        assert_eq!(
            by_user("mce: [Hardware Error]: Machine check events logged"),
            "",
            "anybody may write that"
        );
        let down = rules.find("error: Nodes cn[017-018] not responding, setting DOWN", false).unwrap();
        assert_eq!((down.0.kind, down.0.effect, down.1), (NODE_DOWN, Effect::Begins, "cn[017-018]"));
        let up = rules.find("Node cn017 now responding", false).unwrap();
        assert_eq!((up.0.kind, up.0.effect, up.1), (NODE_DOWN, Effect::Ends, "cn017"));
        assert_eq!(by_user("error: Nodes cn017 not responding"), "", "it may be a lost packet");
        let lost = rules
            .find("[E] Lost membership in cluster hpc.example. Unmounting file systems.", false)
            .unwrap();
        assert_eq!((lost.0.kind, lost.1), ("file system eviction", "hpc.example"));
        assert_eq!(rules.find("nfs: server a OK", true).unwrap().0.effect, Effect::Ends);
    }
}
