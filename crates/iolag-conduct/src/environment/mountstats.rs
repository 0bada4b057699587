//! What the kernel's NFS client counts of each mount: /proc/self/mountstats.
//!
//! Since Linux 2.6.17 a line per operation has eight numbers: requests, transmissions, major timeouts, bytes sent, bytes received, and milliseconds in
//! the queue, of the round trip, in all. Since 5.3 ("RPC iostats version: 1.1") a ninth counts errors. The version behind `statvers=` says nothing of that.

use iolag_keeper::mounts::unescape;
use iolag_model::{Nanoseconds, RequestTimes};

/// What was counted of one mount since it was mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NfsCounters {
    /// For how many seconds it has been mounted.
    age_seconds: u64,
    operations: Vec<NfsOperation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NfsOperation {
    name: String,
    requests: u64,
    transmissions: u64,
    queue_milliseconds: u64,
    round_trip_milliseconds: u64,
    execute_milliseconds: u64,
}

/// Numbers that a line of an operation has at least.
const COLUMNS_LEAST: usize = 8;

/// What the text counts of what is mounted at `mount_point`: of several there the last one, which covers the others.
///
/// # Errors
/// One sentence, if there is none, or what it says is not understood.
pub(super) fn parse_mountstats(text: &[u8], mount_point: &str) -> Result<NfsCounters, String> {
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let begin = lines
        .iter()
        .rposition(|line| nfs_mount_point(line).is_some_and(|point| point == mount_point))
        .ok_or_else(|| format!("the kernel counts nothing of an NFS mounted at {mount_point}"))?;
    let mut age_seconds = None;
    let mut operations = Vec::new();
    let mut in_operations = false;
    for line in lines[begin + 1..].iter().take_while(|line| !is_head(line)) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if line == "per-op statistics" {
            in_operations = true;
        } else if let Some(age) = line.strip_prefix("age:") {
            age_seconds = age.trim().parse().ok();
        } else if in_operations && !line.is_empty() {
            operations.push(operation(line)?);
        }
    }
    let age_seconds = age_seconds.ok_or("the kernel does not say for how long the NFS has been mounted")?;
    Ok(NfsCounters { age_seconds, operations })
}

impl NfsCounters {
    /// What was counted since an earlier reading of the same mount, by operation.
    ///
    /// # Errors
    /// One sentence, if the two are not of one mount, or a counter went back.
    pub(super) fn since(&self, earlier: &Self) -> Result<Vec<RequestTimes>, String> {
        if self.age_seconds < earlier.age_seconds {
            return Err("it was mounted anew between two readings of its counters".into());
        }
        let mut counted = Vec::new();
        for operation in &self.operations {
            let before = earlier.operations.iter().find(|before| before.name == operation.name);
            let times = operation.since(before).ok_or_else(|| {
                format!("the counters of {} went back between two readings", operation.name)
            })?;
            if times.requests > 0 {
                counted.push(times);
            }
        }
        Ok(counted)
    }
}

impl NfsOperation {
    fn since(&self, earlier: Option<&Self>) -> Option<RequestTimes> {
        let less = |count: fn(&Self) -> u64| count(self).checked_sub(earlier.map_or(0, count));
        let time = |count| less(count).map(milliseconds);
        let requests = less(|operation| operation.requests)?;
        Some(RequestTimes {
            name: self.name.clone(),
            requests,
            resent: less(|operation| operation.transmissions)?.saturating_sub(requests),
            queue_ns: time(|operation| operation.queue_milliseconds)?,
            round_trip_ns: time(|operation| operation.round_trip_milliseconds)?,
            execute_ns: time(|operation| operation.execute_milliseconds)?,
        })
    }
}

/// Whatever is read is in range.
fn milliseconds(count: u64) -> Nanoseconds {
    Nanoseconds(count.saturating_mul(1_000_000))
}

/// The beginning of what is told of a mount.
fn is_head(line: &[u8]) -> bool {
    line.starts_with(b"device ") || line.starts_with(b"no device ")
}

/// Where an NFS is mounted, if the line is the head of one.
fn nfs_mount_point(line: &[u8]) -> Option<String> {
    let line = line.strip_prefix(b"device ")?;
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    let [_, b"mounted", b"on", point, b"with", b"fstype", b"nfs" | b"nfs4", ..] = words[..] else {
        return None;
    };
    Some(String::from_utf8_lossy(&unescape(point)).into_owned())
}

/// `GETATTR: 115 115 0 0 12880 0 16 24`.
fn operation(line: &str) -> Result<NfsOperation, String> {
    let not_understood = || format!("a line of NFS counters is not understood: {line:?}");
    let (name, numbers) = line.split_once(':').ok_or_else(not_understood)?;
    let numbers: Vec<u64> = numbers
        .split_ascii_whitespace()
        .map(|number| number.parse().map_err(|_| not_understood()))
        .collect::<Result<_, _>>()?;
    if numbers.len() < COLUMNS_LEAST {
        return Err(not_understood());
    }
    Ok(NfsOperation {
        name: name.trim().to_owned(),
        requests: numbers[0],
        transmissions: numbers[1],
        queue_milliseconds: numbers[5],
        round_trip_milliseconds: numbers[6],
        execute_milliseconds: numbers[7],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Recorded in 2006 on Linux 2.6.16, NFS 3 by UDP: eight numbers.
    const LINUX_2_6_16: &str = include_str!("recorded/mountstats-2.6.16");
    /// Recorded on a kernel before 5.3, NFS 4.1 by TCP with Kerberos: `statvers=1.1`, and still eight numbers.
    const BEFORE_5_3: &str = include_str!("recorded/mountstats-4.x");
    /// Recorded on a kernel after 5.3, NFS 3 by TCP: nine numbers.
    const AFTER_5_3: &str = include_str!("recorded/mountstats-5.x");
    /// Recorded on a busy client, NFS 3 by RDMA with 16 connections: nine numbers, errors among them.
    const RDMA: &str = include_str!("recorded/mountstats-rdma");

    fn of(text: &str, mount_point: &str) -> NfsCounters {
        parse_mountstats(text.as_bytes(), mount_point).unwrap()
    }

    fn nothing() -> NfsCounters {
        NfsCounters { age_seconds: 0, operations: Vec::new() }
    }

    fn times(counters: &NfsCounters, name: &str) -> RequestTimes {
        counters.since(&nothing()).unwrap().into_iter().find(|times| times.name == name).unwrap()
    }

    fn request_times(name: &str, [requests, resent, queue, round_trip, execute]: [u64; 5]) -> RequestTimes {
        let [queue_ns, round_trip_ns, execute_ns] = [queue, round_trip, execute].map(milliseconds);
        RequestTimes { name: name.into(), requests, resent, queue_ns, round_trip_ns, execute_ns }
    }

    #[test]
    fn recorded_files_of_several_kernels_are_understood() {
        let old = of(LINUX_2_6_16, "/u/joe");
        assert_eq!((old.age_seconds, old.operations.len()), (2526, 12));
        assert_eq!(times(&old, "READ"), request_times("READ", [193, 0, 176, 424, 600]));
        assert_eq!(times(&old, "LOOKUP"), request_times("LOOKUP", [149, 0, 4, 28, 32]));
        let kerberos = of(BEFORE_5_3, "/srv/elwe/space");
        assert_eq!(kerberos.age_seconds, 3542);
        assert_eq!(times(&kerberos, "OPEN"), request_times("OPEN", [1, 0, 0, 124, 124]));
        let new = of(AFTER_5_3, "/mnt");
        assert_eq!((new.age_seconds, new.operations.len()), (159, 22));
        assert_eq!(times(&new, "CREATE"), request_times("CREATE", [1, 0, 0, 23, 23]));
        let rdma = of(RDMA, "/data");
        let expected = [2_654_501_510, 0, 6_347_457_114, 31_407_021_389, 37_927_280_438];
        assert_eq!(times(&rdma, "READ"), request_times("READ", expected));
        // What was never asked is not told.
        assert!(rdma.since(&nothing()).unwrap().iter().all(|times| times.name != "WRITE"));
    }

    #[test]
    fn the_mount_that_covers_is_meant_and_the_numbers_of_the_next_are_its_own() {
        let line = |age: u32, requests: u32| {
            format!(
                "device s:/a\\040b mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1\n\tage:\t{age}\n\tper-op statistics\n\t GETATTR: {requests} 9 0 1 1 2 3 6 0\n"
            )
        };
        let text = format!(
            "device rootfs mounted on / with fstype rootfs\n{}{}no device mounted on /proc with fstype proc\n",
            line(7, 1),
            line(5, 8)
        );
        assert_eq!(times(&of(&text, "/mnt/a b"), "GETATTR"), request_times("GETATTR", [8, 1, 2, 3, 6]));
        let none = parse_mountstats(text.as_bytes(), "/").unwrap_err();
        assert_eq!(none, "the kernel counts nothing of an NFS mounted at /");
    }

    #[test]
    fn what_cannot_be_subtracted_is_said() {
        let early = of(AFTER_5_3, "/mnt");
        let later = |change: fn(&mut NfsCounters)| {
            let mut later = early.clone();
            change(&mut later);
            later.since(&early)
        };
        assert_eq!(later(|_| {}), Ok(vec![]));
        let grown = later(|later| {
            later.age_seconds += 1;
            let getattr = &mut later.operations[1];
            (getattr.requests, getattr.transmissions, getattr.queue_milliseconds) = (12, 13, 1);
            (getattr.round_trip_milliseconds, getattr.execute_milliseconds) = (70, 72);
        });
        assert_eq!(grown, Ok(vec![request_times("GETATTR", [10, 1, 1, 70, 72])]));
        let remounted = later(|later| later.age_seconds = 3).unwrap_err();
        assert_eq!(remounted, "it was mounted anew between two readings of its counters");
        let went_back = later(|later| later.operations[1].requests = 0).unwrap_err();
        assert_eq!(went_back, "the counters of GETATTR went back between two readings");
    }

    #[test]
    fn what_is_not_understood_is_one_sentence() {
        let text = |line: &str| {
            format!("device s:/ mounted on /m with fstype nfs\n age: 1\n per-op statistics\n {line}\n")
        };
        for line in ["READ 1 2 3", "READ: 1 2 3 4 5 6 7", "READ: 1 2 3 4 5 6 7 x", "READ: -1 2 3 4 5 6 7 8"] {
            let sentence = parse_mountstats(text(line).as_bytes(), "/m").unwrap_err();
            assert_eq!(sentence, format!("a line of NFS counters is not understood: {line:?}"));
        }
        let ageless = parse_mountstats(b"device s:/ mounted on /m with fstype nfs\n", "/m").unwrap_err();
        assert!(ageless.contains("for how long"), "{ageless}");
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_result_or_a_sentence(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse_mountstats(&bytes, "/mnt");
        }

        #[test]
        fn a_recorded_file_with_something_changed_gives_a_result_or_a_sentence(
            at in 0..AFTER_5_3.len(), byte in any::<u8>(), cut in 0..AFTER_5_3.len()
        ) {
            let mut bytes = AFTER_5_3.as_bytes().to_vec();
            bytes[at] = byte;
            bytes.truncate(cut);
            if let Ok(counters) = parse_mountstats(&bytes, "/mnt") {
                let whole = of(AFTER_5_3, "/mnt");
                let _ = (counters.since(&whole), whole.since(&counters));
            }
        }
    }
}
