//! What memory had while a run lasted is in its record, whatever was measured.

use serde_json::Value;

use crate::user::{User, number};

#[test]
fn every_run_tells_what_page_cache_dirty_and_write_back_had() {
    let user = User::new();
    let target = user.directory("target");
    let bench = ["bench", "metadata", &target, "-D", "1", "-P", "5", "-I", "5", "-R", "2"];
    let ping = ["ping", &target, "-n", "2", "--every", "1100ms"];
    // This ping ends in a later second than it began in.
    for (arguments, slots_least) in [(&bench[..], 1), (&ping[..], 2)] {
        user.fine(arguments);
        let record = user.record();
        let memory = &record["memory"];
        assert_eq!(number(memory, "interval_ns"), 1_000_000_000, "{memory}");
        let anchors = record["anchors"].as_array().unwrap();
        let [first, last] = [0, anchors.len() - 1].map(|index| number(&anchors[index], "monotonic_ns"));
        assert!((first..=last).contains(&number(memory, "begin")), "{memory} in {anchors:?}");
        let columns = ["page_cache_bytes", "dirty_bytes", "writeback_bytes"];
        let columns = columns.map(|column| memory[column].as_array().unwrap().clone());
        assert!(columns[0].len() >= slots_least && columns.iter().all(|one| one.len() == columns[0].len()));
        // The last look is that of the end.
        assert!(columns.iter().all(|column| column.last().is_some_and(Value::is_u64)), "{memory}");
        assert!(columns[0].iter().any(|bytes| bytes.as_u64() > Some(0)), "{memory}");
        assert_eq!(user.document("last")["run"]["memory"], *memory);
    }
}
