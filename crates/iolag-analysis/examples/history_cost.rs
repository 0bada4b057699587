//! What the analysis of a long history costs: `cargo run --release -p iolag-analysis --example history_cost -- DAYS PERIOD_SECONDS`.
//! Ten series of one host (four tasks on two targets, the control in memory, a covariate) with a daily cycle, load that wanders, hangs
//! with skipped slots, changes of level, notes and journal lines. Prints samples, seconds, changes and findings, and the greatest resident
//! size in MiB. Without arguments a small input, so that it can serve as a test. With a third argument, `csv`, it prints the series as a table to import
//! instead: a column of the time in seconds, and one of seconds or values for each series.

use std::io::Write;
use std::time::Instant;

use iolag_analysis::history::{HistoryInput, HistoryOptions, analyse_history};
use iolag_model::Random;
use iolag_model::{
    Event, EventSource, FailureCode, HistoryColumns, HistorySample, Nanoseconds, Outcome, ProbeId, Series,
    SeriesKey, SeriesKind, Surroundings, WallTime,
};

const BEGIN: i64 = 1_700_000_000;
const DAY: i64 = 86_400;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<i64>().ok());
    let days = arguments.next().unwrap_or(7).max(1);
    let period = arguments.next().unwrap_or(900).max(1);
    let input = history(days, period);
    if std::env::args().nth(3).is_some_and(|form| form == "csv") {
        return write_csv(&input, std::io::stdout().lock());
    }
    let samples: usize = input.series.iter().map(|(_, columns)| columns.len()).sum();
    let begin = Instant::now();
    let analysis = analyse_history(&input, &HistoryOptions::default());
    let seconds = begin.elapsed().as_secs_f64();
    let changes: usize = analysis.series.iter().map(|series| series.changes.len()).sum();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak_kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let peak_mib = peak_kib.and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0) / 1024;
    writeln!(std::io::stdout(), "{samples} {seconds:.3} {changes} {} {peak_mib}", analysis.findings.len())
}

/// What was skipped is an empty field.
fn write_csv(input: &HistoryInput, to: impl Write) -> std::io::Result<()> {
    let mut to = std::io::BufWriter::new(to);
    let name = |(series, _): &(Series, HistoryColumns)| match series.key.target.as_str() {
        "" => series.key.task.clone(),
        target => format!("{}@{target}", series.key.task),
    };
    let names = input.series.iter().map(name);
    writeln!(to, "time,{}", names.collect::<Vec<String>>().join(","))?;
    let field = |(series, columns): &(Series, HistoryColumns), row: usize| match columns.outcome[row] {
        Outcome::Skipped => String::new(),
        _ if series.kind.is_duration() => columns.duration_ns[row].as_seconds().to_string(),
        _ => columns.value[row].to_string(),
    };
    let Some((_, first)) = input.series.first() else { return Ok(()) };
    for (row, due) in first.intended.iter().enumerate() {
        let fields = input.series.iter().map(|one| field(one, row)).collect::<Vec<String>>();
        writeln!(to, "{},{}", due.0 / 1_000_000_000, fields.join(","))?;
    }
    to.flush()
}

fn history(days: i64, period: i64) -> HistoryInput {
    let slots = days * DAY / period;
    let mut noise = Random::new(2008);
    let mut load = 0.0;
    let loads: Vec<f64> = (0..slots)
        .map(|slot| {
            load = 0.98 * load + 0.2 * noise.normal();
            let hour = (slot * period % DAY) as f64 / 3600.0;
            (0.4 * load + 0.5 * (std::f64::consts::TAU * (hour - 9.0) / 24.0).sin()).exp()
        })
        .collect();
    let mut series = Vec::new();
    for target in ["/home", "/scratch"] {
        for (task, seconds, is_changed) in [
            ("list", 0.02, true),
            ("create", 1.5, target == "/home"),
            ("compile", 2.5, false),
            ("stat", 0.001, false),
        ] {
            let key = key(target, task);
            let columns = durations(&key, &loads, period, seconds, is_changed, &mut noise);
            series.push((described(key, SeriesKind::Task, period), columns));
        }
    }
    let control = key("/dev/shm", "list");
    let columns = durations(&control, &loads, period, 0.004, false, &mut noise);
    series.push((described(control, SeriesKind::Control, period), columns));
    let users = key("", "users");
    let columns = values(&users, &loads, period);
    series.push((described(users, SeriesKind::Covariate, period), columns));
    HistoryInput { series, events: events(days, &mut noise), ..HistoryInput::default() }
}

fn key(target: &str, task: &str) -> SeriesKey {
    SeriesKey { host: "login1".into(), target: target.into(), task: task.into(), part: String::new() }
}

fn described(key: SeriesKey, kind: SeriesKind, period: i64) -> Series {
    Series {
        key,
        kind,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds::from_seconds(period as u64),
        deadline_ns: Nanoseconds::from_seconds(60),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    }
}

fn sample(key: &SeriesKey, slot: usize, period: i64, load: f64) -> HistorySample {
    let due = WallTime::from_seconds(BEGIN + slot as i64 * period);
    HistorySample {
        series: key.clone(),
        probe: ProbeId((slot as u64 + 1) << 8 | (key.task.len() as u64) << 4 | key.target.len() as u64),
        intended: due,
        start: due.after(Nanoseconds::from_milliseconds(50)),
        duration_ns: Nanoseconds::ZERO,
        value: None,
        outcome: Outcome::Ok,
        failure: FailureCode::NONE,
        exit_status: None,
        batch: None,
        blocker: None,
        configuration: None,
        processor_ns: Some([1_000_000, 2_000_000]),
        resident_bytes_max: None,
        surroundings: Some(Surroundings {
            load_milli: [(1000.0 * load) as u32; 3],
            runnable: 1 + load as u32,
            blocked: (load / 4.0) as u32,
            stalled_io_us: Some([(100.0 * load) as u64, 0]),
            ..Surroundings::default()
        }),
    }
}

fn durations(
    key: &SeriesKey,
    loads: &[f64],
    period: i64,
    seconds: f64,
    is_changed: bool,
    noise: &mut Random,
) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    let mut state = 0.0;
    let mut blocked_until = 0;
    let mut blocker = ProbeId(0);
    for (slot, load) in loads.iter().enumerate() {
        let mut one = sample(key, slot, period, *load);
        state = 0.7 * state + 0.3 * noise.normal();
        let level = if is_changed && (loads.len() / 3..loads.len() / 2).contains(&slot) { 2.0 } else { 1.0 };
        let took = seconds * level * (0.3 * load.ln() + state + 0.3 * noise.normal()).exp();
        if slot < blocked_until {
            (one.outcome, one.blocker, one.processor_ns, one.surroundings) =
                (Outcome::Skipped, Some(blocker), None, None);
        } else if noise.unit() < 1e-4 {
            let slots = 1 + (7.0 * noise.unit()) as usize;
            (one.outcome, one.duration_ns) =
                (Outcome::Late, Nanoseconds::from_seconds(slots as u64 * period as u64));
            (blocked_until, blocker) = (slot + slots, one.probe);
        } else {
            one.duration_ns = Nanoseconds((took * 1e9) as u64);
        }
        columns.push(&one);
    }
    columns
}

fn values(key: &SeriesKey, loads: &[f64], period: i64) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    for (slot, load) in loads.iter().enumerate() {
        let mut one = sample(key, slot, period, *load);
        (one.value, one.processor_ns, one.surroundings) = (Some((20.0 * load).round()), None, None);
        columns.push(&one);
    }
    columns
}

/// A note now and then, and lines of a journal.
fn events(days: i64, noise: &mut Random) -> Vec<Event> {
    let mut event = |number: i64, source: EventSource, kind: &str| Event {
        id: format!("{kind}{number:06}"),
        kind: kind.to_owned(),
        text: format!("{kind} {number}"),
        ..Event::of_all(source, WallTime::from_seconds(BEGIN + (noise.unit() * (days * DAY) as f64) as i64))
    };
    let notes: Vec<Event> =
        (0..days / 30 + 1).map(|number| event(number, EventSource::Note, "change")).collect();
    let lines = (0..3 * days).map(|number| event(number, EventSource::Journal, "node failure"));
    notes.into_iter().chain(lines).collect()
}
