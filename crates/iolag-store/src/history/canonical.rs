//! The form of a record that every database can hold, so that what is read equals what was written.

use iolag_model::{BatchId, FailureCode, HistoryRecord, HistorySample, Nanoseconds, Outcome, SeriesKey};

/// `number`, or the greatest that a database holds.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The record as it comes back from a history: durations and counts of at most `i64::MAX`, finite values, no zero bytes in texts, and what
/// a watch before version 2 of the tables interrupted under its present name.
pub fn canonical(mut record: HistoryRecord) -> HistoryRecord {
    match &mut record {
        HistoryRecord::Series(series) => {
            clean_key(&mut series.key);
            bound_time(&mut series.resolution_ns);
            bound_time(&mut series.period_ns);
            bound_time(&mut series.deadline_ns);
            clean(&mut series.description);
            clean(&mut series.unit);
        }
        HistoryRecord::Sample(sample) => canonical_sample(sample),
        HistoryRecord::Configuration(configuration) => {
            clean(&mut configuration.host);
            clean(&mut configuration.target);
            let facts = std::mem::take(&mut configuration.facts);
            configuration.facts =
                facts.into_iter().map(|(name, fact)| (cleaned(name), cleaned(fact))).collect();
        }
        HistoryRecord::Event(event) => {
            for text in [
                &mut event.id,
                &mut event.host,
                &mut event.target,
                &mut event.kind,
                &mut event.text,
                &mut event.author,
            ] {
                clean(text);
            }
            event.batch = event.batch.map(BatchId::bounded);
            event.link.iter_mut().for_each(clean);
        }
        HistoryRecord::Outage(outage) => {
            clean(&mut outage.host);
            clean(&mut outage.mount);
            outage.targets = std::mem::take(&mut outage.targets).into_iter().map(cleaned).collect();
            bound(&mut outage.skipped);
            // How it ended is known of what has ended.
            outage.ending = outage.end.and(outage.ending);
        }
        HistoryRecord::Evidence(evidence) => {
            clean(&mut evidence.host);
            clean(&mut evidence.text);
        }
        HistoryRecord::Session(session) => {
            clean(&mut session.host);
            clean(&mut session.boot_id);
            clean(&mut session.iolag_version);
        }
        HistoryRecord::Batch(batch) => {
            batch.id = batch.id.bounded();
            for text in [&mut batch.file, &mut batch.hash, &mut batch.options, &mut batch.author] {
                clean(text);
            }
        }
        HistoryRecord::Rename(rename) => {
            for text in [&mut rename.host, &mut rename.old, &mut rename.new, &mut rename.author] {
                clean(text);
            }
        }
    }
    record
}

fn canonical_sample(sample: &mut HistorySample) {
    clean_key(&mut sample.series);
    sample.batch = sample.batch.map(BatchId::bounded);
    // What a watch broke off before its deadline, and nothing else, was written like this before it had a name of its own.
    if (sample.outcome, sample.failure) == (Outcome::Timeout, FailureCode::ABANDONED) {
        (sample.outcome, sample.failure) = (Outcome::Interrupted, FailureCode::NONE);
    }
    bound_time(&mut sample.duration_ns);
    // Adding zero makes the negative zero, which SQLite does not keep, a zero.
    sample.value = sample.value.filter(|value| value.is_finite()).map(|value| value + 0.0);
    sample.processor_ns.iter_mut().flatten().for_each(bound);
    sample.resident_bytes_max.iter_mut().for_each(bound);
    if let Some(surroundings) = &mut sample.surroundings {
        surroundings.stalled_cpu_us.iter_mut().for_each(bound);
        surroundings.stalled_io_us.iter_mut().flatten().for_each(bound);
        surroundings.stalled_memory_us.iter_mut().flatten().for_each(bound);
    }
}

fn bound(number: &mut u64) {
    *number = (*number).min(i64::MAX as u64);
}

fn bound_time(time: &mut Nanoseconds) {
    bound(&mut time.0);
}

fn clean_key(key: &mut SeriesKey) {
    for text in [&mut key.host, &mut key.target, &mut key.task, &mut key.part] {
        clean(text);
    }
}

fn clean(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{fffd}");
    }
}

fn cleaned(mut text: String) -> String {
    clean(&mut text);
    text
}
