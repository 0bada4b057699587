//! What a watch is doing, as text.

use iolag_model::{
    LastSample, MonotonicTime, Outage, OutageKind, Outcome, ProbeId, ProbePhase, ProbeStatus, SeriesKey,
    WatchStatus, counted,
};

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns};
use crate::words::numbers::NOTHING;

/// The status of a watch for people, at the moment `now` of the monotonic clock: what hangs first, with its age. Of a watch that is gone,
/// `left` are the probes that are still there.
pub fn watch_status_text(
    status: &WatchStatus,
    is_live: bool,
    left: &[ProbeId],
    now: MonotonicTime,
    colour: Colour,
) -> String {
    let mut text = head(status, is_live, now);
    for probe in &status.in_flight {
        let is_there = is_live || left.contains(&probe.probe);
        text.push_str(&if is_there { in_flight(probe, now) } else { gone(probe) });
    }
    for outage in &status.outages {
        text.push_str(&lasting(outage));
    }
    if let Some(trouble) = &status.history_trouble {
        text.push_str(&format!(
            "the history cannot be written: {trouble}; {}\n",
            counted(status.waiting_records, "record waits", "records wait")
        ));
    }
    if !status.last.is_empty() {
        text.push('\n');
        text.push_str(&last_values(status, is_live, now, colour));
    }
    text
}

/// An outage that lasts. The targets are named if the mount point is not the name of the only one.
fn lasting(outage: &Outage) -> String {
    let mut names: Vec<&str> = outage.targets.iter().map(String::as_str).collect();
    names.retain(|name| *name != outage.mount);
    let targets = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let (place, begin) = (&outage.mount, outage.begin);
    let slots = counted(outage.skipped, "slot", "slots");
    match outage.kind {
        OutageKind::NoAnswer => format!("{place}{targets} has not answered since {begin}; {slots} skipped\n"),
        OutageKind::NotMounted => {
            format!("{place}{targets} is not mounted since {begin}; nothing is written beneath\n")
        }
    }
}

fn head(status: &WatchStatus, is_live: bool, now: MonotonicTime) -> String {
    let history = &status.history;
    if !is_live {
        return format!(
            "no watch is running on {}; the last one said this at {} (history {history})\n",
            status.host, status.written
        );
    }
    let next = if status.next_round_ns > now {
        format!("next round in {}", status.next_round_ns.since(now))
    } else {
        "a round is under way".to_owned()
    };
    format!(
        "watching on {} since {} (process {}): {} begun, {next}; history {history}\n",
        status.host,
        status.begin,
        status.process,
        counted(status.rounds, "round", "rounds")
    )
}

fn in_flight(probe: &ProbeStatus, now: MonotonicTime) -> String {
    let phase = match probe.phase {
        ProbePhase::InFlight => "in flight",
        ProbePhase::Slow => "slow",
        ProbePhase::Ending => "past its deadline, being ended",
        ProbePhase::Hung => "HUNG",
    };
    let part = if probe.part.is_empty() { String::new() } else { format!(" (at {})", probe.part) };
    let waits =
        if probe.waits_in.is_empty() { String::new() } else { format!(", waiting in {}", probe.waits_in) };
    let progress = probe.progress.map(|one| format!(", {} of {}", one.done, one.of)).unwrap_or_default();
    let age = now.since(probe.start_ns);
    format!("{phase} for {age}: {}{part}{progress}, process {}{waits}\n", probe.series, probe.process)
}

/// A probe that outlived its watch. Nobody has seen its end.
fn gone(probe: &ProbeStatus) -> String {
    format!(
        "{} (process {}) had not ended when that watch did, and is gone by now; the next watch records what is known of it\n",
        probe.series, probe.process
    )
}

fn last_values(status: &WatchStatus, is_live: bool, now: MonotonicTime, colour: Colour) -> String {
    // What hangs grows older; its last sample has the age that it had.
    let in_flight = |sample: &&LastSample| {
        let is_it = |probe: &&ProbeStatus| {
            probe.start == sample.start
                && SeriesKey { part: String::new(), ..probe.series.clone() } == sample.series
        };
        status.in_flight.iter().find(is_it).filter(|_| is_live).map(|probe| now.since(probe.start_ns))
    };
    let columns = columns([
        ("series", Side::Left),
        ("last", Side::Right),
        ("outcome", Side::Left),
        ("started (UTC)", Side::Left),
    ]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for sample in &status.last {
        let age = in_flight(&sample).unwrap_or(sample.duration_ns);
        let value = match (sample.value, sample.outcome) {
            (Some(value), _) => value.to_string(),
            (None, Outcome::Skipped) => NOTHING.to_owned(),
            (None, Outcome::Timeout | Outcome::Hung | Outcome::Interrupted) => {
                format!("≥ {age}")
            }
            (None, _) => sample.duration_ns.to_string(),
        };
        let tone = match sample.outcome {
            Outcome::Ok | Outcome::Interrupted | Outcome::Retried => Tone::Plain,
            Outcome::Late | Outcome::Skipped => Tone::Warning,
            Outcome::Error | Outcome::Timeout | Outcome::Hung => Tone::Serious,
        };
        table.row(vec![
            Cell::new(sample.series.to_string()),
            Cell::new(value),
            Cell::toned(sample.outcome.to_string(), tone),
            Cell::new(sample.start.to_string()),
        ]);
    }
    table.render(colour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Nanoseconds, WallTime};

    fn series(task: &str) -> SeriesKey {
        SeriesKey { host: "node".into(), target: "/scratch".into(), task: task.into(), part: String::new() }
    }

    fn status() -> WatchStatus {
        let begin = WallTime::from_seconds(1_210_204_800);
        WatchStatus {
            version: 1,
            iolag_version: "0.1.0".into(),
            process: 77,
            process_start_ticks: 1,
            host: "node".into(),
            boot_id: "b".into(),
            history: "/var/lib/iolag/history.sqlite".into(),
            begin,
            written: begin.after(Nanoseconds::from_seconds(900)),
            written_ns: MonotonicTime(900_000_000_000),
            next_round_ns: MonotonicTime(1_800_000_000_000),
            rounds: 2,
            in_flight: vec![ProbeStatus {
                series: series("list"),
                probe: ProbeId(9),
                part: "ls -n".into(),
                process: 4711,
                start_ns: MonotonicTime(600_000_000_000),
                start: begin.after(Nanoseconds::from_seconds(600)),
                phase: ProbePhase::Hung,
                waits_in: "rpc_wait_bit_killable".into(),
                progress: None,
            }],
            last: vec![
                LastSample {
                    series: series("create"),
                    start: begin,
                    duration_ns: Nanoseconds::from_milliseconds(350),
                    value: None,
                    outcome: Outcome::Ok,
                },
                LastSample {
                    series: series("list"),
                    start: begin.after(Nanoseconds::from_seconds(600)),
                    duration_ns: Nanoseconds::from_seconds(60),
                    value: None,
                    outcome: Outcome::Hung,
                },
            ],
            targets: Vec::new(),
            outages: Vec::new(),
            waiting_records: 3,
            history_trouble: Some("database is locked".into()),
            lag_ns: Nanoseconds::ZERO,
        }
    }

    #[test]
    fn what_hangs_is_told_first_and_with_its_present_age() {
        let text = watch_status_text(&status(), true, &[], MonotonicTime(900_000_000_000), Colour::Never);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_watch_that_is_gone_is_told_to_be_gone() {
        let text = watch_status_text(&status(), false, &[], MonotonicTime(5), Colour::Never);
        assert!(text.starts_with("no watch is running on node"), "{text}");
    }

    #[test]
    fn only_a_probe_that_is_still_there_grows_older() {
        let told = |left: &[ProbeId]| {
            watch_status_text(&status(), false, left, MonotonicTime(900_000_000_000), Colour::Never)
        };
        let there = told(&[ProbeId(9)]);
        assert!(there.contains("HUNG for 5 min 00 s: list on /scratch (at ls -n), process 4711"), "{there}");
        let gone = told(&[ProbeId(8)]);
        assert!(
            !gone.contains("HUNG") && gone.contains("list on /scratch (process 4711) had not ended"),
            "{gone}"
        );
    }
}
