//! What a watch tells while it runs: at a terminal a line per round, elsewhere (a journal, cron's mail) only what is amiss.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::fd::AsFd;

use iolag_model::{
    EventSource, HistoryRecord, HistorySample, Nanoseconds, Outage, OutageEnding, OutageKind, Outcome,
    ProbeId, ProbePhase, ProbeStatus, SeriesKey, SeriesKind, counted,
};
use iolag_watch::WatchObserver;

use super::terminal::Lines;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// Every round, and what is amiss.
    Rounds,
    /// What is amiss.
    Trouble,
    /// Nothing.
    Nothing,
}

/// Tells.
pub struct Teller<W> {
    lines: Lines<W>,
    telling: Telling,
    round: Vec<String>,
    controls: Vec<String>,
    /// Those that were told, by the probes that found them.
    outages: BTreeSet<ProbeId>,
    /// Covariates that were told to be slow or to hang, and have not answered in time since.
    covariates: BTreeSet<(SeriesKey, &'static str)>,
}

impl<W: Write + AsFd> Teller<W> {
    /// Tells to `output`; targets named in `controls` are left out of the rounds.
    pub fn new(output: W, telling: Telling, controls: Vec<String>) -> Self {
        Self {
            lines: Lines::to(output),
            telling,
            round: Vec::new(),
            controls,
            outages: BTreeSet::new(),
            covariates: BTreeSet::new(),
        }
    }

    /// Gives whoever reads a last chance. Why lines were lost, as a sentence, if standard output took no more of them.
    pub fn finish(&mut self) -> Option<String> {
        self.lines.finish(Nanoseconds::from_seconds(1));
        self.lines.trouble().map(str::to_owned)
    }

    fn trouble(&mut self, line: &str) {
        if self.telling != Telling::Nothing {
            self.lines.line(line);
        }
    }

    /// Tells that the file of this name, if there is one, counts from now on as it is now.
    pub fn read_again(&mut self, file: &str) {
        if !file.is_empty() {
            self.trouble(&format!("iolag: {file} was read again and is in use from now on"));
        }
    }

    fn sample(&mut self, sample: &HistorySample) {
        if sample.outcome == Outcome::Ok {
            self.covariates.retain(|(series, _)| *series != sample.series);
        }
        if self.telling != Telling::Rounds
            || !sample.series.part.is_empty()
            || self.controls.contains(&sample.series.target)
        {
            return;
        }
        let what = match (sample.outcome, sample.value) {
            (Outcome::Ok | Outcome::Late, Some(value)) => format!("{value}"),
            (Outcome::Ok, None) => sample.duration_ns.to_string(),
            (Outcome::Late, None) => format!("late, {}", sample.duration_ns),
            (Outcome::Error | Outcome::Retried, _) => format!("failed: {}", sample.failure.class()),
            (Outcome::Timeout, _) => format!("over {}", sample.duration_ns),
            (Outcome::Hung, _) => format!("hung for {}", sample.duration_ns),
            (Outcome::Skipped, _) => "skipped".to_owned(),
            (Outcome::Interrupted, _) => format!("interrupted after {}", sample.duration_ns),
        };
        self.round.push(format!("{} {what}", sample.series));
    }

    fn outage(&mut self, outage: &Outage) {
        let line = match (outage.end, outage.ending) {
            (Some(end), Some(ending)) => {
                let how = match (outage.kind, ending) {
                    (OutageKind::NotMounted, OutageEnding::Recovered) => "need not be mounted any more",
                    _ => ending_in_words(ending),
                };
                let (mount, length) = (&outage.mount, end.since(outage.begin));
                let slots = counted(outage.skipped, "slot was", "slots were");
                // Where nothing was mounted they failed.
                let skipped = match outage.kind {
                    OutageKind::NoAnswer => format!("; {slots} skipped"),
                    OutageKind::NotMounted => String::new(),
                };
                format!("{end} {mount} {how} after {length}{skipped}")
            }
            _ if self.outages.insert(outage.probe) => {
                format!("{} {} {}", outage.begin, outage.mount, outage.kind.verb(false))
            }
            // It is repeated while it lasts; once is enough.
            _ => return,
        };
        self.trouble(&line);
    }
}

/// How an outage ended, after its mount.
pub fn ending_in_words(ending: OutageEnding) -> &'static str {
    match ending {
        OutageEnding::Recovered => "answers again",
        OutageEnding::Remounted => "was mounted again",
        OutageEnding::Unmounted => "was unmounted",
        OutageEnding::Rebooted => "came back with a reboot",
    }
}

impl<W: Write + AsFd> WatchObserver for Teller<W> {
    fn recorded(&mut self, record: &HistoryRecord) {
        match record {
            HistoryRecord::Sample(sample) => self.sample(sample),
            HistoryRecord::Outage(outage) => self.outage(outage),
            HistoryRecord::Event(event)
                if matches!(event.source, EventSource::Configuration | EventSource::Watch) =>
            {
                let line = format!("{} {}", event.begin, event.text);
                self.trouble(&line);
            }
            HistoryRecord::Series(series)
                if series.kind == SeriesKind::Control && !self.controls.contains(&series.key.target) =>
            {
                self.controls.push(series.key.target.clone());
            }
            _ => {}
        }
    }

    fn phase_changed(&mut self, probe: &ProbeStatus) {
        if matches!(probe.phase, ProbePhase::Slow | ProbePhase::Hung) {
            let what = if probe.phase == ProbePhase::Slow { "is slow" } else { "hangs" };
            let is_covariate = probe.series.is_of_host();
            if is_covariate && !self.covariates.insert((probe.series.clone(), what)) {
                return;
            }
            let waits = if probe.waits_in.is_empty() {
                String::new()
            } else {
                format!(", waiting in {}", probe.waits_in)
            };
            let line = format!("{} {} {what} (process {}{waits})", probe.start, probe.series, probe.process);
            self.trouble(&line);
        }
    }

    fn round_ended(&mut self, round: u64) {
        if self.telling == Telling::Rounds {
            let line = format!("round {}: {}", round + 1, self.round.join(", "));
            self.lines.line(&line);
        }
        self.round.clear();
    }

    fn troubled(&mut self, sentence: &str) {
        self.trouble(&format!("iolag: {sentence}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::WallTime;
    use std::io::Read;

    #[test]
    fn one_slot_was_skipped_and_two_were() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut teller = Teller::new(writer, Telling::Trouble, Vec::new());
        for skipped in [1, 2] {
            teller.recorded(&HistoryRecord::Outage(Outage {
                kind: Default::default(),
                targets: Default::default(),
                host: "node".to_owned(),
                mount: "/home".to_owned(),
                probe: ProbeId(skipped),
                begin: WallTime(0),
                end: Some(WallTime(9_000_000_000)),
                ending: Some(OutageEnding::Recovered),
                skipped,
            }));
        }
        drop(teller);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let [one, two] = lines[..] else { panic!("{text}") };
        assert!(one.ends_with("/home answers again after 9.00 s; 1 slot was skipped"), "{one}");
        assert!(two.ends_with("; 2 slots were skipped"), "{two}");
    }
}
