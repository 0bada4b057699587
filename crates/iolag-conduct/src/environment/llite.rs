//! What the Lustre client counts of each mount: the file `stats` of its llite.
//!
//! Until 2.12 calls are counted only (`[regs]`, or `[reqs]`), from 2.13 on most have microseconds, too (`[usec]`), with least, most, sum and sum of squares.
//! Before them stands when it was read; 2.15 adds since when it counts. Sums of squares overflow and are not read.

use iolag_model::{CallTimes, Nanoseconds};

/// What was counted of one mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LliteCounters {
    /// When it was read, by the client's clock.
    snapshot_seconds: u64,
    calls: Vec<LliteCall>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LliteCall {
    name: String,
    calls: u64,
    /// Where they are timed.
    took_microseconds: Option<u64>,
}

/// What the text counts.
///
/// # Errors
/// One sentence, if it is not understood.
pub(super) fn parse_llite(text: &[u8]) -> Result<LliteCounters, String> {
    let text = String::from_utf8_lossy(text);
    let mut snapshot_seconds = None;
    let mut calls = Vec::new();
    for line in text.lines() {
        if let Some((head, tail)) = line.split_once(" samples [") {
            let call = call(head, tail);
            calls.push(
                call.ok_or_else(|| format!("a line of Lustre's counters is not understood: {line:?}"))?,
            );
        } else if let Some(moment) = line.strip_prefix("snapshot_time") {
            // A colon stands there since 2.15, and a fraction behind the seconds.
            let seconds = moment.trim_start_matches(':').trim().split('.').next();
            snapshot_seconds = seconds.and_then(|seconds| seconds.parse().ok());
        }
    }
    let snapshot_seconds = snapshot_seconds.ok_or("Lustre's counters do not say when they were read")?;
    Ok(LliteCounters { snapshot_seconds, calls })
}

impl LliteCounters {
    /// One that was read at the same time, and had counted nothing.
    pub(super) const fn nothing(&self) -> Self {
        Self { snapshot_seconds: self.snapshot_seconds, calls: Vec::new() }
    }

    /// What was counted since an earlier reading of the same mount.
    ///
    /// # Errors
    /// One sentence, if a counter went back: it is another mount, or somebody has set them to zero.
    pub(super) fn since(&self, earlier: &Self) -> Result<Vec<CallTimes>, String> {
        if self.snapshot_seconds < earlier.snapshot_seconds {
            return Err("the clock went back between two readings of Lustre's counters".into());
        }
        let mut counted = Vec::new();
        for call in &self.calls {
            let before = earlier.calls.iter().find(|before| before.name == call.name);
            let went_back = || format!("the counter of {} went back between two readings", call.name);
            let calls =
                call.calls.checked_sub(before.map_or(0, |before| before.calls)).ok_or_else(went_back)?;
            if calls == 0 {
                continue;
            }
            let earlier_microseconds = before.map_or(Some(0), |before| before.took_microseconds);
            let took = call.took_microseconds.zip(earlier_microseconds);
            let took = took.map(|(now, before)| now.checked_sub(before).ok_or_else(went_back)).transpose()?;
            let took_ns = took.map(|microseconds| Nanoseconds(microseconds.saturating_mul(1000)));
            counted.push(CallTimes { name: call.name.clone(), calls, took_ns });
        }
        Ok(counted)
    }
}

/// `getattr      14812440` and `usec] 2 320411 1317584841 2110166912709`.
fn call(head: &str, tail: &str) -> Option<LliteCall> {
    let head = head.trim();
    let (name, calls) = head.rsplit_once(char::is_whitespace)?;
    let (unit, numbers) = tail.split_once(']')?;
    let sum = numbers.split_ascii_whitespace().nth(2);
    // A sum that has overflowed is negative: not known.
    let took_microseconds = sum.filter(|_| matches!(unit, "usec" | "usecs")).and_then(|sum| sum.parse().ok());
    Some(LliteCall { name: name.trim().to_owned(), calls: calls.parse().ok()?, took_microseconds })
}

/// Which of the directories of llite belongs to the mount of a file system with this source, `mgs@tcp:/name`.
///
/// # Errors
/// One sentence, if there is none, or more than one.
pub(super) fn instance_of<'names>(names: &'names [String], source: &str) -> Result<&'names str, String> {
    let file_system = source.rsplit_once(":/").map_or(source, |(_, name)| name);
    let file_system = file_system.split('/').next().unwrap_or(file_system);
    let is_of = |name: &&String| {
        let rest = name.strip_prefix(file_system).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let mut found = names.iter().filter(is_of);
    match (found.next(), found.next()) {
        (Some(name), None) => Ok(name),
        (None, _) => {
            Err(format!("Lustre's counters of {file_system} are not there, or only root may read them"))
        }
        (Some(_), Some(_)) => Err(format!(
            "{file_system} is mounted more than once, and Lustre's counters do not say which is which"
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Recorded in 2015, Lustre 2.5.
    const LUSTRE_2_5: &str = include_str!("recorded/llite-2.5");
    /// Recorded in 2021, Lustre 2.12.2.
    const LUSTRE_2_12: &str = include_str!("recorded/llite-2.12");
    /// Recorded in 2023, Lustre 2.15.
    const LUSTRE_2_15: &str = include_str!("recorded/llite-2.15");

    fn of(text: &str) -> LliteCounters {
        parse_llite(text.as_bytes()).unwrap()
    }

    fn all(counters: &LliteCounters) -> Vec<CallTimes> {
        counters.since(&LliteCounters { snapshot_seconds: 0, calls: Vec::new() }).unwrap()
    }

    fn counted(counters: &LliteCounters, name: &str) -> (u64, Option<u64>) {
        let call = all(counters).into_iter().find(|call| call.name == name).unwrap();
        (call.calls, call.took_ns.map(|took| took.0 / 1000))
    }

    #[test]
    fn recorded_files_of_several_versions_are_understood() {
        let (old, middle, new) = (of(LUSTRE_2_5), of(LUSTRE_2_12), of(LUSTRE_2_15));
        assert_eq!(old.snapshot_seconds, 1_441_417_734);
        assert_eq!(counted(&old, "getattr"), (20_417, None));
        // A sum of bytes is no time.
        assert_eq!(counted(&old, "read_bytes"), (632_846, None));
        assert_eq!(counted(&middle, "inode_permission"), (5_952_672_345, None));
        assert_eq!(all(&middle).len(), 27);
        assert_eq!(new.snapshot_seconds, 1_689_697_369);
        assert_eq!(counted(&new, "getattr"), (14_812_440, Some(1_317_584_841)));
        assert_eq!(counted(&new, "ioctl"), (2, None));
        let with_more = format!(
            "{LUSTRE_2_15}start_time                0.000000000 secs.nsecs\nelapsed_time              1689697369.3 secs.nsecs\n"
        );
        assert_eq!(of(&with_more), new);
        let with_colons = LUSTRE_2_15.replace("snapshot_time   ", "snapshot_time:  ");
        assert_eq!(of(&with_colons), new);
    }

    #[test]
    fn the_difference_is_of_both_and_what_went_back_is_said() {
        let before = of(LUSTRE_2_15);
        let later = |from: &str, to: &str| of(&LUSTRE_2_15.replace(from, to)).since(&before);
        assert_eq!(before.since(&before), Ok(vec![]));
        let getattr = "14812440 samples [usec] 2 320411 1317584841";
        let grown = later(getattr, "14812450 samples [usec] 2 320411 1317589841");
        let took_ns = Some(Nanoseconds(5_000_000));
        assert_eq!(grown, Ok(vec![CallTimes { name: "getattr".into(), calls: 10, took_ns }]));
        let cleared = later(getattr, "3 samples [usec] 2 320411 900").unwrap_err();
        assert_eq!(cleared, "the counter of getattr went back between two readings");
        let overflown = later(getattr, "14812450 samples [usec] 2 320411 -7").unwrap();
        assert_eq!(overflown[0].took_ns, None);
        let clock = later("1689697369", "1689697300").unwrap_err();
        assert!(clock.starts_with("the clock went back"), "{clock}");
    }

    #[test]
    fn what_is_not_understood_is_one_sentence() {
        let line = "getattr many samples [usec] 1 2 3";
        let sentence = parse_llite(line.as_bytes()).unwrap_err();
        assert_eq!(sentence, format!("a line of Lustre's counters is not understood: {line:?}"));
        assert!(parse_llite(b"").unwrap_err().contains("do not say when"));
    }

    #[test]
    fn the_mount_is_found_by_the_name_of_its_file_system() {
        let names =
            ["scratch-ffff9440f1003000", "scratch2-ffff00", "home-ffff01", "home-ffff02"].map(String::from);
        assert_eq!(instance_of(&names, "mgs@tcp:mgs2@tcp:/scratch"), Ok("scratch-ffff9440f1003000"));
        assert_eq!(instance_of(&names, "mgs@o2ib:/scratch2/sub"), Ok("scratch2-ffff00"));
        assert!(instance_of(&names, "mgs@tcp:/home").unwrap_err().contains("more than once"));
        assert!(instance_of(&names, "mgs@tcp:/none").unwrap_err().contains("are not there"));
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_result_or_a_sentence(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse_llite(&bytes);
        }

        #[test]
        fn a_recorded_file_with_something_changed_gives_a_result_or_a_sentence(
            at in 0..LUSTRE_2_15.len(), byte in any::<u8>(), cut in 0..LUSTRE_2_15.len()
        ) {
            let mut bytes = LUSTRE_2_15.as_bytes().to_vec();
            bytes[at] = byte;
            bytes.truncate(cut);
            if let Ok(counters) = parse_llite(&bytes) {
                let whole = of(LUSTRE_2_15);
                let _ = (counters.since(&whole), whole.since(&counters));
            }
        }
    }
}
