//! Whether what was read came from memory.

use iolag_model::{Phase, RunRecord, StreamIo, StreamSpec, Trust, format_bytes};

/// A doubt where files that were written before are read through a page cache that has room for them.
pub(super) fn read_from_cache(run: &RunRecord, spec: &StreamSpec) -> Option<Trust> {
    let reads =
        spec.phases.iter().any(|phase| matches!(phase, Phase::Read | Phase::RandomRead | Phase::Copy));
    let memory_bytes = run.environment.memory_bytes?;
    let all_bytes = spec.file_bytes.saturating_mul(u64::from(run.spec.clients));
    let fits = run.spec.caches.is_asis() && reads && spec.io != StreamIo::Direct && all_bytes < memory_bytes;
    fits.then(|| Trust {
        doubt: format!(
            "what was read had been written before, and {} fit into a memory of {}: blocks may have come from the page cache, and not from \
             the storage",
            format_bytes(all_bytes),
            format_bytes(memory_bytes)
        ),
        advice: "read more than fits (--file-size 2x), or past the cache (--io direct)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Nanoseconds, OnError, OnHang, RunId, RunSpec, RunState, WorkloadSpec};

    fn record(spec: &StreamSpec) -> RunRecord {
        let spec = RunSpec {
            workload: WorkloadSpec::Stream(spec.clone()),
            targets: vec!["/scratch".to_owned()],
            clients: 4,
            deadline_ns: Nanoseconds::from_seconds(15),
            deadlines: Vec::new(),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            seed: 1,
            ring_bytes: 1 << 20,
            caches: iolag_model::CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        RunRecord::new(RunId::new("20261127-120000", 1).unwrap(), spec, RunState::Complete)
    }

    #[test]
    fn only_what_fits_and_goes_through_the_cache_is_doubted() {
        let doubt = |spec: StreamSpec, memory_bytes| {
            let mut run = record(&spec);
            run.environment.memory_bytes = memory_bytes;
            read_from_cache(&run, &spec)
        };
        let spec = StreamSpec::of_file(1 << 30);
        let told = doubt(spec.clone(), Some(8 << 30)).unwrap();
        assert!(told.doubt.contains("4.00 GiB fit into a memory of 8.00 GiB"), "{told:?}");
        assert_eq!(doubt(spec.clone(), Some(4 << 30)), None);
        assert_eq!(doubt(spec.clone(), None), None);
        assert_eq!(doubt(StreamSpec { io: StreamIo::Direct, ..spec.clone() }, Some(8 << 30)), None);
        assert_eq!(doubt(StreamSpec { phases: vec![Phase::Write], ..spec }, Some(8 << 30)), None);
    }
}
