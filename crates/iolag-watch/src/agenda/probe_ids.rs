//! Names of probes: unique on a host and ascending, without asking anybody.
//!
//! ```text
//! upper 40 bits  the wall-clock second in which the watch started, or a later one
//! next 12 bits   a count; more probes than that count on into the next seconds, which take longer to pass
//! lower 12 bits  a tag of the watch, the same for all its probes
//! ```
//! Invariants: within a watch names ascend; a watch goes on behind all names that its runtime directory knows. Watches with
//! different runtime directories know nothing of each other (`iolag watch` and `iolag ping`, two histories that are merged later): those
//! that start in the same second differ by their tags. Limits: two of 4096 such pairs have the same tag by chance, and then the same names.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use iolag_model::{Fingerprint, ProbeId};

const SECOND_SHIFT: u32 = 24;
const TAG_BITS: u32 = 12;

/// What tells a watch from others that start in the same second: the process, and where it keeps its things.
pub(crate) fn tag_of(process: u32, runtime_directory: &Path) -> u64 {
    let named =
        Fingerprint::default().and(process.to_le_bytes()).and(runtime_directory.as_os_str().as_bytes());
    let hash = named.value();
    (hash ^ (hash >> 32) ^ (hash >> 48)) & ((1 << TAG_BITS) - 1)
}

/// The first name for probes of a watch with this tag that starts at this second of wall-clock time: later than all names given before
/// `taken`, even if the clock was set back or a watch has started in this second already.
pub(crate) fn first_probe(start_seconds: u64, taken: ProbeId, tag: u64) -> ProbeId {
    let next_second = (taken.0 + (1 << SECOND_SHIFT) - 1) >> SECOND_SHIFT;
    ProbeId(start_seconds.max(next_second) << SECOND_SHIFT | tag & ((1 << TAG_BITS) - 1))
}

/// The name after this one.
pub(crate) const fn next_probe(probe: ProbeId) -> ProbeId {
    ProbeId(probe.0 + (1 << TAG_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_never_given_twice_by_one_watch_after_the_other() {
        let second = |second: u64| second << SECOND_SHIFT;
        assert_eq!(first_probe(1000, ProbeId(0), 5), ProbeId(second(1000) + 5));
        assert_eq!(first_probe(1000, ProbeId(second(1000) + 1), 5), ProbeId(second(1001) + 5));
        assert_eq!(first_probe(900, ProbeId(second(1000) + 5), 0), ProbeId(second(1001)));
        assert_eq!(first_probe(1000, ProbeId(second(1000)), 0), ProbeId(second(1000)));
    }

    #[test]
    fn watches_that_start_together_differ_by_process_and_by_place() {
        let place = Path::new("/run/user/7/iolag");
        assert_ne!(tag_of(100, place), tag_of(101, place));
        assert_ne!(tag_of(100, place), tag_of(100, Path::new("/run/user/8/iolag")));
        assert_eq!(tag_of(100, place), tag_of(100, place));
        // Neighbouring processes spread over the tags: of 64 hardly any two share one.
        let tags: BTreeSet<u64> = (0..64).map(|process| tag_of(process, place)).collect();
        assert!(tags.len() >= 60, "{}", tags.len());
    }

    proptest! {
        #[test]
        fn two_watches_of_one_second_share_no_name(
            tags in (0_u64..4096, 0_u64..4096).prop_filter("differ", |(one, other)| one != other),
            counts in (1_u64..20_000, 1_u64..20_000),
        ) {
            let names = |tag, count| {
                let first = first_probe(1_700_000_000, ProbeId(0), tag);
                std::iter::successors(Some(first), |name| Some(next_probe(*name))).take(count as usize)
            };
            let one: BTreeSet<ProbeId> = names(tags.0, counts.0).collect();
            prop_assert_eq!(one.len() as u64, counts.0);
            prop_assert!(names(tags.1, counts.1).all(|name| !one.contains(&name)));
        }
    }
}
