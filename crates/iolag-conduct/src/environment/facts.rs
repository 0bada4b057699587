//! The facts of a configuration: what decides how a target behaves and does not change by itself.
//!
//! ```text
//! kernel              Linux 5.14.0-427 …                 version with its build
//! processors          16 of 32 online                    that this process may use, of those that are online
//! smt                 on                                 simultaneous multithreading
//! file-system         lustre                             kind of the target's mount
//! directory           /scratch/me                        the target without symbolic links
//! mount-source        10.0.0.1@o2ib:/scratch             secrets removed
//! mount-point         /scratch                           where it is mounted
//! mount-options       rw,flock,…                         sorted, secrets and the client's own address removed
//! client: lustre      2.15.3                             version of a client module that is loaded
//! daemons             nscd sssd                          resolvers and directory services that run
//! name-service: passwd  files sss                        line of /etc/nsswitch.conf
//! server-kind         s3                                 of a server, instead of those of a file system
//! server-software     versitygw                          as it calls itself
//! server-protection   TLSv1_3                            if the connection is protected
//! ```
//! Not among them is what changes by itself: free space, load, process ids, mount ids, the client's own address and ports.
//! Whatever cannot be found out is absent, and its coming and going is a change like another.
//!
//! Limits: the target is asked which mount it lies on, so [`facts`] hangs if the target does: it is for a child with a
//! deadline. Daemons in other process namespaces are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iolag_backend::Target;
use iolag_model::FileSystem;

use crate::contact::greeting::{ServerFacts, greet_here};

use super::{file_system, file_system_kinds, machine, read_at_most, read_line};

/// Daemons that stand between a name and its number, by the names that the kernel has of them (at most 15 bytes).
const DAEMONS: [&str; 12] = [
    "nscd",
    "unscd",
    "sssd",
    "sssd_be",
    "sssd_nss",
    "nslcd",
    "winbindd",
    "ypbind",
    "systemd-resolve",
    "systemd-userdbd",
    "dnsmasq",
    "unbound",
];

/// Modules of clients, by the kinds that know where their version is.
const CLIENTS: [&str; 9] = ["lustre", "nfs4", "nfs", "beegfs", "gpfs", "cifs", "ceph", "wekafs", "panfs"];

/// Options that differ from one mount to the next without anything having changed.
const VOLATILE_OPTIONS: [&str; 3] = ["clientaddr", "port", "mountport"];

/// Lines of nsswitch.conf that decide how owners of files are looked up.
const DATABASES: [&str; 3] = ["passwd", "group", "initgroups"];

/// The facts that hold for `target` now. May block for as long as the target's file system does.
pub fn facts(target: &Path) -> BTreeMap<String, String> {
    let mut facts = facts_of_host(Path::new("/proc"), Path::new("/sys"), Path::new("/etc"));
    let found = file_system::identify(target, Path::new("/proc"), Path::new("/sys"));
    facts.extend(facts_of_file_system(&found));
    facts.extend(target.canonicalize().ok().map(|path| ("directory".to_owned(), path.display().to_string())));
    facts
}

/// The facts that hold for a server now; none if it does not say what it is. Takes as long as the server does.
pub fn facts_of_server(target: &Target) -> BTreeMap<String, String> {
    let Ok(Some(ServerFacts { record, .. })) = greet_here(target) else { return BTreeMap::new() };
    let mut facts = facts_of_host(Path::new("/proc"), Path::new("/sys"), Path::new("/etc"));
    facts.insert("server-kind".to_owned(), target.kind().to_owned());
    let told = [("server-software", record.software), ("server-protection", record.protection)];
    facts.extend(told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    facts
}

/// What the host alone says, from kernel tables under `proc` and `sys` and from `etc`/nsswitch.conf.
fn facts_of_host(proc: &Path, sys: &Path, etc: &Path) -> BTreeMap<String, String> {
    const NO_VARIABLES: [(&str, &str); 0] = [];
    let machine = machine::capture(proc, sys, NO_VARIABLES);
    let online = read_line(&sys.join("devices/system/cpu/online")).as_deref().and_then(count_listed);
    let processors = match online {
        Some(online) => format!("{} of {online} online", machine.cpus),
        None => machine.cpus.to_string(),
    };
    let mut facts = BTreeMap::new();
    facts.insert("kernel".to_owned(), machine.kernel);
    facts.insert("processors".to_owned(), processors);
    if let Some(state) = machine.simultaneous_multithreading {
        facts.insert("smt".to_owned(), state);
    }
    for client in CLIENTS {
        if let Some(version) = file_system_kinds::client_version(client, proc, sys) {
            facts.insert(format!("client: {client}"), version);
        }
    }
    // "None" is a fact where /proc can be read: a cache that is switched off is what one wants to see.
    if let Some(running) = running_daemons(proc) {
        let names = if running.is_empty() { "none".to_owned() } else { joined(running) };
        facts.insert("daemons".to_owned(), names);
    }
    let switch = read_at_most(&etc.join("nsswitch.conf"), 64 << 10).unwrap_or_default();
    for (database, services) in name_services(&String::from_utf8_lossy(&switch)) {
        facts.insert(format!("name-service: {database}"), services);
    }
    facts
}

pub(crate) fn facts_of_file_system(found: &FileSystem) -> BTreeMap<String, String> {
    let facts = [
        ("file-system", found.kind.clone()),
        ("mount-source", found.source.clone()),
        ("mount-point", found.mount_point.clone()),
        ("mount-options", stable_options(&found.options)),
    ];
    let mut facts: BTreeMap<_, _> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    if let Some(version) = &found.client_version {
        facts.insert(format!("client: {}", found.kind), version.clone());
    }
    facts
}

/// Options in alphabetical order, since kernels print them in different ones, without those that change by themselves.
fn stable_options(options: &str) -> String {
    let is_volatile = |option: &str| {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        VOLATILE_OPTIONS.contains(&name)
    };
    let options: BTreeSet<_> =
        options.split(',').filter(|option| !option.is_empty() && !is_volatile(option)).collect();
    options.into_iter().collect::<Vec<_>>().join(",")
}

/// Names of the daemons that run; `None` if processes cannot be listed.
fn running_daemons(proc: &Path) -> Option<BTreeSet<&'static str>> {
    let entries = std::fs::read_dir(proc).ok()?;
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let names = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(is_process))
        .filter_map(|entry| read_line(&entry.path().join("comm")));
    Some(names.filter_map(|name| DAEMONS.into_iter().find(|daemon| *daemon == name)).collect())
}

/// The services of each database that matters, in their order, without comments and with single blanks.
fn name_services(switch: &str) -> Vec<(&'static str, String)> {
    let line = |text: &str| {
        let (database, services) = text.split('#').next()?.split_once(':')?;
        let database = DATABASES.into_iter().find(|known| *known == database.trim())?;
        let services = services.split_whitespace().collect::<Vec<_>>().join(" ");
        (!services.is_empty()).then_some((database, services))
    };
    switch.lines().filter_map(line).collect()
}

/// How many numbers a list of the kernel has: `0-3,8` has five. `None` if it is no such list.
fn count_listed(list: &str) -> Option<u64> {
    list.trim().split(',').try_fold(0_u64, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some(count + u64::from(last.checked_sub(first)?) + 1)
    })
}

fn joined(names: BTreeSet<&str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;
    use proptest::prelude::*;

    fn machine() -> (Tree, Tree, Tree) {
        let proc = Tree::with(&[
            ("1/comm", "systemd\n"),
            ("77/comm", "sssd_nss\n"),
            ("78/comm", "sssd\n"),
            ("79/comm", "nscd-not\n"),
            ("self/comm", "nscd\n"),
            ("loadavg", "1 2 3 1/2 3\n"),
        ]);
        let sys = Tree::with(&[
            ("devices/system/cpu/online", "0-3,8\n"),
            ("devices/system/cpu/smt/control", "off\n"),
            ("fs/lustre/version", "2.15.3\n"),
            ("module/beegfs/version", "7.4.2\n"),
        ]);
        let switch = "# passwd: nis\npasswd:  files   sss # local first\ngroup: files [!NOTFOUND=return] ldap\nhosts: dns\nbroken\n";
        (proc, sys, Tree::with(&[("nsswitch.conf", switch)]))
    }

    #[test]
    fn a_host_is_described_by_what_does_not_change_by_itself() {
        let (proc, sys, etc) = machine();
        let facts = facts_of_host(proc.path(), sys.path(), etc.path());
        let fact = |name: &str| facts.get(name).map(String::as_str);
        assert_eq!(fact("daemons"), Some("sssd sssd_nss"));
        assert_eq!(fact("name-service: passwd"), Some("files sss"));
        assert_eq!(fact("name-service: group"), Some("files [!NOTFOUND=return] ldap"));
        assert_eq!(fact("name-service: hosts"), None);
        assert_eq!((fact("client: lustre"), fact("client: beegfs")), (Some("2.15.3"), Some("7.4.2")));
        assert_eq!(fact("smt"), Some("off"));
        assert!(fact("processors").is_some_and(|text| text.ends_with(" of 5 online")), "{facts:?}");
        assert!(fact("kernel").is_some_and(|text| text.starts_with("Linux ")));
        assert_eq!(facts, facts_of_host(proc.path(), sys.path(), etc.path()));
    }

    #[test]
    fn an_empty_machine_says_that_no_daemon_runs_and_guesses_nothing() {
        let empty = Tree::with(&[]);
        let facts = facts_of_host(empty.path(), empty.path(), empty.path());
        assert_eq!(facts.keys().collect::<Vec<_>>(), ["daemons", "kernel", "processors"]);
        assert_eq!(facts["daemons"], "none");
        assert_eq!(running_daemons(&empty.join("missing")), None);
    }

    #[test]
    fn the_file_system_is_told_without_what_changes_and_without_secrets() {
        let found = FileSystem {
            kind: "nfs4".to_owned(),
            source: "nas:/home".to_owned(),
            options: "rw,vers=4.2,rsize=1048576,clientaddr=10.0.0.7,addr=10.0.0.1,port=0".to_owned(),
            free_bytes: Some(5),
            mount_id: Some(77),
            client_version: Some("1.2".to_owned()),
            ..FileSystem::default()
        };
        let facts = facts_of_file_system(&found);
        assert_eq!(facts["mount-options"], "addr=10.0.0.1,rsize=1048576,rw,vers=4.2");
        assert_eq!((facts["client: nfs4"].as_str(), facts.len()), ("1.2", 4));
        let shuffled = FileSystem {
            options: "vers=4.2,addr=10.0.0.1,rsize=1048576,rw".to_owned(),
            free_bytes: None,
            ..found
        };
        assert_eq!(facts_of_file_system(&shuffled), facts);
        assert!(facts_of_file_system(&FileSystem::default()).is_empty());
    }

    #[test]
    fn this_machine_says_the_same_twice() {
        let directory = tempfile::tempdir().unwrap();
        let facts = facts(directory.path());
        assert!(facts.contains_key("file-system") && facts.contains_key("mount-options"), "{facts:?}");
        assert_eq!(facts, super::facts(directory.path()));
    }

    #[test]
    fn processors_are_counted() {
        for (list, count) in
            [("0", Some(1)), ("0-3", Some(4)), ("0-1,4-5\n", Some(4)), ("", None), ("3-1", None), ("a", None)]
        {
            assert_eq!(count_listed(list), count, "{list:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in "\\PC{0,80}|([a-z:#= ,\n-]{0,20}(passwd:|group:|0-4294967295)){0,4}") {
            let _ = count_listed(&text);
            for (_, services) in name_services(&text) {
                prop_assert!(!services.is_empty() && !services.contains('\n'));
            }
            let stable = stable_options(&text);
            prop_assert_eq!(stable_options(&stable), stable);
        }
    }
}
