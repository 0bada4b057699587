//! Which metrics there are: from a status and tallies to families.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::history::{RunOutcome, SeriesTally};
use iolag_model::{
    LastSample, Nanoseconds, Outcome, ProbePhase, ProbeStatus, SeriesKey, TargetState, TargetStatus,
    WallTime, WatchStatus,
};

use super::exposition::Exposition;
use super::family::{Durations, Family, FamilyKind, Labels, SampleValue};

use FamilyKind::{Counter, Gauge, Histogram, Info};

/// What is known of one series.
#[derive(Default)]
struct Known<'a> {
    labels: Labels,
    tally: Option<&'a SeriesTally>,
    last: Option<&'a LastSample>,
    in_flight: Vec<&'a ProbeStatus>,
}

pub(super) fn families<'a>(exposition: &Exposition<'a>) -> Vec<Family<'a>> {
    let known = known(exposition);
    let mut families = targets(exposition);
    families.extend(in_flight(&known, exposition));
    families.extend(last_ends(&known));
    families.extend(counts(&known));
    families.extend(of_watch(exposition));
    families.retain(|family| !family.samples.is_empty());
    families
}

fn known<'a>(exposition: &Exposition<'a>) -> Vec<Known<'a>> {
    let mut all: BTreeMap<&'a SeriesKey, Known<'a>> = BTreeMap::new();
    for tally in exposition.tallies.iter().flat_map(|tallies| tallies.series()) {
        all.entry(&tally.key).or_default().tally = Some(tally);
    }
    // Covariates have no target.
    let is_whole_task = |key: &SeriesKey| key.part.is_empty() && !key.is_of_host();
    if let Some(status) = exposition.status {
        for last in status.last.iter().filter(|last| is_whole_task(&last.series)) {
            all.entry(&last.series).or_default().last = Some(last);
        }
    }
    for probe in in_flight_of(exposition).iter().filter(|probe| is_whole_task(&probe.series)) {
        all.entry(&probe.series).or_default().in_flight.push(probe);
    }
    // Names that differ in characters that labels cannot have would make one series of two: the first is kept.
    let mut taken = BTreeSet::new();
    let labelled =
        all.into_iter().map(|(key, known)| Known { labels: labels(key, exposition.host), ..known });
    labelled.filter(|known| taken.insert(known.labels.clone())).collect()
}

/// Probes that have not ended, whether a watch looks after them or not.
fn in_flight_of<'a>(exposition: &Exposition<'a>) -> &'a [ProbeStatus] {
    exposition.status.map_or(exposition.left_behind, |status| &status.in_flight)
}

fn labels(key: &SeriesKey, host: &str) -> Labels {
    let labels = Labels::default().with("task", &key.task).with("target", &key.target);
    if key.host == host { labels } else { labels.with("host", &key.host) }
}

/// How the targets of this host are, with what is mounted there.
fn targets<'a>(exposition: &Exposition<'a>) -> Vec<Family<'a>> {
    let mut answers = Family::new(
        "iolag_target_answers",
        Gauge,
        "Whether the target answers, however slowly: 0 from when an operation or a canary is known not to come back.",
    );
    let mut mounted = Family::new(
        "iolag_target_mounted",
        Gauge,
        "Whether something is mounted where the target was seen mounted.",
    );
    let mut lasts = Family::new(
        "iolag_outage_seconds",
        Gauge,
        "For how long the target has not answered, or not been mounted.",
    );
    let mut begin = Family::new(
        "iolag_outage_begin_timestamp_seconds",
        Gauge,
        "Since when the target does not answer, or is not mounted, in seconds since 1970.",
    );
    let Some(status) = exposition.status else { return Vec::new() };
    let one = |is: bool| SampleValue::Number(f64::from(u8::from(is)));
    let mut taken = BTreeSet::new();
    for target in status.targets.iter().filter(|target| target.state != TargetState::Unknown) {
        let labels = labels_of_target(target);
        if !taken.insert(labels.clone()) {
            continue;
        }
        let is_silent = matches!(target.state, TargetState::NoAnswer | TargetState::NotMounted);
        answers.push(labels.clone(), one(!is_silent));
        if !target.is_server() {
            mounted.push(labels.clone(), one(target.state != TargetState::NotMounted));
        }
        let age = target.since.map_or(Nanoseconds::ZERO, |since| status.wall(exposition.now).since(since));
        lasts.push(labels.clone(), SampleValue::Number(age.as_seconds()));
        begin = begin.number(&labels, target.since.map(WallTime::as_seconds));
    }
    vec![answers, mounted, lasts, begin]
}

fn labels_of_target(target: &TargetStatus) -> Labels {
    let labels = Labels::default().with("target", &target.name);
    let labels =
        if target.mount_point.is_empty() { labels } else { labels.with("mount", &target.mount_point) };
    if target.kind.is_empty() { labels } else { labels.with("type", &target.kind) }
}

fn in_flight<'a>(known: &[Known<'a>], exposition: &Exposition<'a>) -> Vec<Family<'a>> {
    let mut age = Family::new(
        "iolag_probe_in_flight_seconds",
        Gauge,
        "Age of the oldest probe that has not ended, zero without one; it rises while storage hangs.",
    );
    let mut hung = Family::new(
        "iolag_probe_hung",
        Gauge,
        "Probes that are past their deadline and cannot be ended, or are waited for.",
    );
    for one in known {
        let key_host = one.tally.map(|tally| &tally.key.host);
        let is_watched =
            exposition.status.is_some_and(|status| one.last.is_some() || key_host == Some(&status.host));
        if is_watched || !one.in_flight.is_empty() {
            let ages = one.in_flight.iter().map(|probe| exposition.now.since(probe.start_ns));
            let oldest = ages.max().unwrap_or(Nanoseconds::ZERO);
            age.push(one.labels.clone(), SampleValue::Number(oldest.as_seconds()));
            let count = one.in_flight.iter().filter(|probe| probe.phase == ProbePhase::Hung).count();
            hung.push(one.labels.clone(), SampleValue::Count(count as u64));
        }
    }
    vec![age, hung]
}

fn last_ends<'a>(known: &[Known<'a>]) -> Vec<Family<'a>> {
    let mut last = Family::new(
        "iolag_probe_last_duration_seconds",
        Gauge,
        "What the last probe took; one that has not ended took at least this.",
    );
    let mut success = Family::new(
        "iolag_probe_last_success_timestamp_seconds",
        Gauge,
        "When the latest probe that succeeded was over, in seconds since 1970.",
    );
    let mut deadline = Family::new("iolag_probe_deadline_seconds", Gauge, "When a probe is ended.");
    let mut period =
        Family::new("iolag_probe_period_seconds", Gauge, "From one probe that is due to the next.");
    let positive = |time: Nanoseconds| (time > Nanoseconds::ZERO).then(|| time.as_seconds());
    for one in known {
        let newest = one.last.or(one.tally.and_then(|tally| tally.last.as_ref()));
        last = last.number(&one.labels, newest.map(|last| last.duration_ns.as_seconds()));
        let stored = one.tally.and_then(|tally| tally.last_success);
        let latest = one.last.and_then(end_of_success).max(stored);
        success = success.number(&one.labels, latest.map(WallTime::as_seconds));
        deadline = deadline.number(&one.labels, one.tally.and_then(|tally| positive(tally.deadline_ns)));
        period = period.number(&one.labels, one.tally.and_then(|tally| positive(tally.period_ns)));
    }
    vec![last, success, deadline, period]
}

fn end_of_success(last: &LastSample) -> Option<WallTime> {
    matches!(last.outcome, Outcome::Ok).then(|| last.start.after(last.duration_ns))
}

fn counts<'a>(known: &[Known<'a>]) -> Vec<Family<'a>> {
    let mut runs = Family::new(
        "iolag_probe_runs",
        Counter,
        "Probes by how they ended: ok, error, timeout (not over at the deadline, whatever came of it), skipped (not started).",
    );
    let mut timeouts =
        Family::new("iolag_probe_timeouts", Counter, "Probes that were not over at their deadline.");
    let mut durations = Family::new(
        "iolag_probe_duration_seconds",
        Histogram,
        "What probes took; one that was not over at its deadline is counted there.",
    );
    let mut late = Family::new(
        "iolag_probe_late_completion_seconds",
        Histogram,
        "What probes took in truth that were over after their deadline.",
    );
    for (labels, tally) in known.iter().filter_map(|one| Some((&one.labels, one.tally?))) {
        for outcome in RunOutcome::ALL {
            let labels = labels.clone().with("outcome", outcome.name());
            runs.push(labels, SampleValue::Count(tally.runs(outcome)));
        }
        timeouts.push(labels.clone(), SampleValue::Count(tally.runs(RunOutcome::Timeout)));
        let coarse = tally.durations.below_deadline(tally.deadline_ns);
        let value = Durations { coarse, tally: &tally.durations };
        durations.push(labels.clone(), SampleValue::Durations(value));
        let value = Durations { coarse: tally.late.above_a_second(), tally: &tally.late };
        late.push(labels.clone(), SampleValue::Durations(value));
    }
    vec![runs, timeouts, durations, late]
}

fn of_watch<'a>(exposition: &Exposition<'a>) -> Vec<Family<'a>> {
    let plain = Labels::default();
    let status = exposition.status;
    let gauge = |name, help, value: Option<f64>| Family::new(name, Gauge, help).number(&plain, value);
    let of_status = |read: &dyn Fn(&WatchStatus) -> f64| status.map(read);
    let in_flight = in_flight_of(exposition);
    let orphans = in_flight.iter().filter(|probe| probe.phase == ProbePhase::Hung).count() as f64;
    let are_known = status.is_some() || !in_flight.is_empty();
    let mut rounds = Family::new("iolag_watch_rounds", Counter, "Rounds that the running watch has begun.");
    if let Some(status) = status {
        rounds.push(plain.clone(), SampleValue::Count(status.rounds));
    }
    let version = Labels::default().with("version", exposition.iolag_version);
    vec![
        gauge("iolag_watch_up", "Whether a watch runs.", Some(f64::from(u8::from(status.is_some())))),
        rounds,
        gauge(
            "iolag_scheduler_lag_seconds",
            "How late the last round began.",
            of_status(&|status| status.lag_ns.as_seconds()),
        ),
        gauge("iolag_orphans", "Probes of all series that are hung.", are_known.then_some(orphans)),
        gauge(
            "iolag_outages",
            "Mounts that do not answer, or are not there.",
            of_status(&|status| status.outages.len() as f64),
        ),
        gauge(
            "iolag_history_waiting_records",
            "Records that wait for the history.",
            of_status(&|status| status.waiting_records as f64),
        ),
        gauge(
            "iolag_history_trouble",
            "Whether the watch could not write the history the last time.",
            of_status(&|status| f64::from(u8::from(status.history_trouble.is_some()))),
        ),
        gauge(
            "iolag_history_last_read_timestamp_seconds",
            "When the history last answered, in seconds since 1970.",
            exposition.history_read.map(WallTime::as_seconds),
        ),
        Family::new("iolag_build", Info, "What answers.").number(&version, Some(1.0)),
    ]
}
