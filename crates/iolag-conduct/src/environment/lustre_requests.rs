//! What the Lustre client counts of its requests to servers: the file `stats` of each metadata client (mdc) and each object client (osc) of a mount.
//!
//! They have the form of llite's. `req_waittime` is of all requests: how many, and from being sent until being answered, in microseconds. Lines by kind of
//! request are part of it, but for opening, looking up and changing names (`ldlm_enqueue`, `mds_reint`), which have none. Until when a request waits here
//! to be sent is counted nowhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use iolag_model::{CallTimes, Nanoseconds, RequestTimes};

use super::llite::{LliteCounters, parse_llite};
use super::read_at_most;

/// A few dozen lines.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// Who talks to servers.
const KINDS: [&str; 2] = ["mdc", "osc"];
/// The line of all requests.
const ALL: &str = "req_waittime";
/// Nobody waits for the answers: signs of life, and locks that are given back.
const UNAWAITED: [&str; 2] = ["obd_ping", "ldlm_cancel"];

/// What was counted of one mount, by the client of each server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LustreRequests {
    clients: BTreeMap<String, (&'static str, LliteCounters)>,
}

impl LustreRequests {
    /// Reads what the clients of the mount with this name in llite (`scratch-ffff9440f1003000`) count, below one of these directories; nothing if there are
    /// none, or they may not be read.
    ///
    /// # Errors
    /// One sentence, if what they say is not understood.
    pub(super) fn read(roots: &[PathBuf], instance: &str) -> Result<Option<Self>, String> {
        let mut clients = BTreeMap::new();
        for (root, kind) in roots.iter().flat_map(|root| KINDS.map(|kind| (root, kind))) {
            let directory = root.join(kind);
            for name in names_in(&directory).filter(|name| is_of(name, kind, instance)) {
                if let Some(text) = read_at_most(&directory.join(&name).join("stats"), TEXT_BYTES_MAX) {
                    clients.insert(name, (kind, parse_llite(&text)?));
                }
            }
        }
        Ok((!clients.is_empty()).then_some(Self { clients }))
    }

    /// What was asked since an earlier reading of the same mount, by kind of request.
    ///
    /// # Errors
    /// One sentence, if a counter went back, or there is no total.
    pub(super) fn since(&self, earlier: &Self) -> Result<Vec<RequestTimes>, String> {
        let mut asked: BTreeMap<String, RequestTimes> = BTreeMap::new();
        for (name, (kind, now)) in &self.clients {
            let before = earlier.clients.get(name).map(|(_, before)| before);
            let counted = now.since(before.unwrap_or(&now.nothing()))?;
            for times in requests(kind, &counted)? {
                let all = asked
                    .entry(times.name.clone())
                    .or_insert_with(|| RequestTimes { name: times.name.clone(), ..RequestTimes::default() });
                all.requests += times.requests;
                all.round_trip_ns.0 += times.round_trip_ns.0;
                all.execute_ns.0 += times.execute_ns.0;
            }
        }
        Ok(asked.into_values().collect())
    }
}

fn names_in(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Whether `scratch-OST0004-osc-ffff9440f1003000` is a client of the mount `scratch-ffff9440f1003000`. A server's own clients are of no mount.
fn is_of(name: &str, kind: &str, instance: &str) -> bool {
    let Some((file_system, mount)) = instance.rsplit_once('-') else { return false };
    let target = name.strip_prefix(file_system).and_then(|rest| rest.strip_prefix('-'));
    let target = target.and_then(|rest| rest.strip_suffix(mount)?.strip_suffix('-')?.strip_suffix(kind));
    target.and_then(|target| target.strip_suffix('-')).is_some_and(|target| {
        ["MDT", "OST"].iter().any(|begin| {
            let number = target.strip_prefix(begin);
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()))
        })
    })
}

/// The requests that somebody may have waited for.
fn requests(kind: &str, counted: &[CallTimes]) -> Result<Vec<RequestTimes>, String> {
    let timed = |times: &CallTimes| Some(request_times(times.name.clone(), times.calls, times.took_ns?));
    let is_kind = |times: &&CallTimes| !times.name.starts_with("req_") && !times.name.ends_with("_bytes");
    let by_kind: Vec<RequestTimes> = counted.iter().filter(is_kind).filter_map(timed).collect();
    let Some(all) = counted.iter().find(|times| times.name == ALL) else {
        let sentence =
            || format!("Lustre counts requests of {kind} by kind, but not how long all of them took");
        return if by_kind.is_empty() { Ok(Vec::new()) } else { Err(sentence()) };
    };
    let all_ns = all
        .took_ns
        .ok_or_else(|| format!("how long requests of {kind} took has overflowed in Lustre's counters"))?;
    let known: u64 = by_kind.iter().map(|times| times.requests).sum();
    let known_ns: u64 = by_kind.iter().map(|times| times.round_trip_ns.0).sum();
    // Each line is read by itself while the others go on counting.
    let rest = request_times(
        format!("{kind} others"),
        all.calls.saturating_sub(known),
        Nanoseconds(all_ns.0.saturating_sub(known_ns)),
    );
    let is_awaited = |times: &RequestTimes| times.requests > 0 && !UNAWAITED.contains(&times.name.as_str());
    Ok(by_kind.into_iter().chain([rest]).filter(is_awaited).collect())
}

fn request_times(name: String, requests: u64, round_trip_ns: Nanoseconds) -> RequestTimes {
    RequestTimes { name, requests, round_trip_ns, execute_ns: round_trip_ns, ..RequestTimes::default() }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    /// Written for these tests in the form of Lustre 2.5.
    const MDC_2_5: &str = include_str!("recorded/mdc-2.5");
    const OSC_2_5: &str = include_str!("recorded/osc-2.5");
    /// Written for these tests in the form of Lustre 2.15: `usecs`, and since when it counts.
    const MDC_2_15: &str = include_str!("recorded/mdc-2.15");
    const OSC_2_15: &str = include_str!("recorded/osc-2.15");
    const MOUNT: &str = "scratch-ffff9440f1003000";

    fn read(mdc: &str, osc: &str) -> LustreRequests {
        let tree = Tree::with(&[
            ("mdc/scratch-MDT0000-mdc-ffff9440f1003000/stats", mdc),
            ("osc/scratch-OST0000-osc-ffff9440f1003000/stats", osc),
            // Another mount, another file system, and a server's own.
            ("osc/scratch-OST0000-osc-ffff9440f1009999/stats", "no counters"),
            ("osc/scratch2-OST0000-osc-ffff9440f1003000/stats", "no counters"),
            ("osc/scratch-OST0000-osc-MDT0000/stats", "no counters"),
        ]);
        let roots = [tree.join("absent"), tree.path().to_owned()];
        LustreRequests::read(&roots, MOUNT).unwrap().unwrap()
    }

    fn told(name: &str, requests: u64, microseconds: u64) -> RequestTimes {
        request_times(name.into(), requests, Nanoseconds(microseconds * 1000))
    }

    #[test]
    fn what_was_asked_since_is_told_by_kind_of_request() {
        let before = read(MDC_2_5, OSC_2_5);
        assert_eq!(before.since(&before), Ok(vec![]));
        // 5 of getattr with 100 ms, 3 that have no line with 50 ms, 2 signs of life.
        let mdc = MDC_2_5
            .replace("41250 samples [usec] 41 902113 31206700", "41260 samples [usec] 41 902113 31365700")
            .replace("804 samples [usec] 55 6120 210410", "809 samples [usec] 55 6120 310410")
            .replace("2210 samples [usec] 60 30120 990310", "2212 samples [usec] 60 30120 999310");
        let osc = OSC_2_5
            .replace(
                "512300 samples [usec] 48 9120331 2610440200",
                "512301 samples [usec] 48 9120331 2610447200",
            )
            .replace(
                "401200 samples [usec] 70 2120331 1910440200",
                "401201 samples [usec] 70 2120331 1910447200",
            );
        let asked = read(&mdc, &osc).since(&before).unwrap();
        assert_eq!(
            asked,
            [told("mdc others", 3, 50_000), told("mds_getattr", 5, 100_000), told("ost_read", 1, 7000)]
        );
    }

    #[test]
    fn newer_files_are_read_and_what_went_back_is_said() {
        let before = read(MDC_2_15, OSC_2_15);
        let line = "2033044 samples [usecs] 35 4120331 3120330441";
        assert!(OSC_2_15.contains(line));
        let later = |now: &str| read(MDC_2_15, &OSC_2_15.replace(line, now)).since(&before);
        let grown = later("2033046 samples [usecs] 35 4120331 3120390441");
        assert_eq!(grown, Ok(vec![told("osc others", 2, 60_000)]));
        let cleared = later("7 samples [usecs] 35 4120331 900").unwrap_err();
        assert_eq!(cleared, "the counter of req_waittime went back between two readings");
        let overflown = later("2033046 samples [usecs] 35 4120331 -5").unwrap_err();
        assert!(overflown.contains("overflowed"), "{overflown}");
    }

    #[test]
    fn several_servers_are_added_up_and_one_that_came_meanwhile_counts_from_nothing() {
        let tree = |osts: &[(&str, &str)]| {
            let path = |ost: &str| format!("osc/scratch-{ost}-osc-ffff9440f1003000/stats");
            let files: Vec<_> = osts.iter().map(|(ost, text)| (path(ost), *text)).collect();
            let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
            let tree = Tree::with(&files);
            LustreRequests::read(&[tree.path().to_owned()], MOUNT).unwrap().unwrap()
        };
        let text = |requests: u64, microseconds: u64| {
            format!(
                "snapshot_time 7.1 secs.usecs\nreq_waittime {requests} samples [usec] 1 9 {microseconds} 81\n"
            )
        };
        let (few, more) = (text(10, 100), text(14, 500));
        let before = tree(&[("OST0000", &few), ("OST000a", &few)]);
        let now = tree(&[("OST0000", &more), ("OST000a", &more), ("OST000b", &few)]);
        assert_eq!(now.since(&before), Ok(vec![told("osc others", 4 + 4 + 10, 400 + 400 + 100)]));
    }

    #[test]
    fn what_is_not_there_is_nothing_and_what_is_not_understood_a_sentence() {
        let empty = Tree::with(&[]);
        assert_eq!(LustreRequests::read(&[empty.path().to_owned()], MOUNT), Ok(None));
        let odd =
            Tree::with(&[("mdc/scratch-MDT0000-mdc-ffff9440f1003000/stats", "x y samples [usec] 1 2 3\n")]);
        assert!(
            LustreRequests::read(&[odd.path().to_owned()], MOUNT).unwrap_err().contains("not understood")
        );
        let only_kinds = "snapshot_time 7.1 secs.usecs\nmds_close 3 samples [usec] 1 2 3 4\n";
        let requests = read(only_kinds, OSC_2_5);
        let nothing = LustreRequests { clients: BTreeMap::new() };
        assert!(requests.since(&nothing).unwrap_err().contains("not how long all of them took"));
    }
}
