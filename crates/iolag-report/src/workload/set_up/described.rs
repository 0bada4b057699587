//! A set-up, described.

use iolag_model::{
    JobTerms, Nanoseconds, RunRecord, SetUpSpec, counted, exact_duration, format_count, format_duration,
    one_line,
};

use crate::workload::command::{option, working_name};
use crate::workload::described::Described;

impl Described for SetUpSpec {
    fn heading(&self) -> &'static str {
        "Job set-up"
    }

    fn in_list(&self) -> String {
        match (self.preset, &self.like) {
            (Some(preset), _) => format!("setup, {preset}"),
            (None, Some(like)) => format!("setup, like {}", one_line(like)),
            (None, None) => "setup".to_owned(),
        }
    }

    fn in_a_line(&self, clients: u32) -> String {
        let mut parts = vec![
            self.in_list(),
            counted(u64::from(clients), "copy", "copies"),
            format!(
                "each with {} stat and {} open calls",
                format_count(self.stats),
                format_count(self.opens)
            ),
        ];
        if let Some(limit) = self.kill_after_ns {
            parts.push(format!("ended after {}", format_duration(limit)));
        }
        parts.join(", ")
    }

    fn command(&self, run: &RunRecord) -> (&'static [&'static str], Vec<String>) {
        let counts = match self.preset {
            Some(preset) => Vec::from(option("--preset", preset)),
            None => [option("--stat", self.stats), option("--open", self.opens)].concat(),
        };
        let mut words = Vec::from(option("--copies", run.spec.clients));
        words.extend(counts);
        words.extend(option("--miss", percent(self.misses_per_million)));
        let of_opens = self.open_misses_per_million;
        words.extend(of_opens.into_iter().flat_map(|share| option("--open-miss", percent(share))));
        words.extend(
            [
                option("--directories", self.directories),
                option("--files", self.files),
                option("--file-size", self.file_bytes),
                option("--shared", percent(self.shared_per_million)),
            ]
            .concat(),
        );
        words.extend(of_copies(&self.terms, self.kill_after_ns));
        words.extend(option("--on-hang", run.spec.on_hang));
        words.extend(option("--buffer", run.spec.ring_bytes));
        words.extend(working_name(run).into_iter().flat_map(|name| option("--working-name", name)));
        (&["bench", "setup"], words)
    }
}

/// The options that say what is asked of copies, and when they are ended.
pub(crate) fn of_copies(terms: &JobTerms, kill_after_ns: Option<Nanoseconds>) -> Vec<String> {
    let times =
        [("--judge", terms.judge_ns), ("--payload", terms.payload_ns), ("--kill-after", kill_after_ns)];
    let of_time = |(name, time): (&str, Option<Nanoseconds>)| Some(option(name, exact_duration(time?)));
    let mut words: Vec<String> = times.into_iter().filter_map(of_time).flatten().collect();
    let run = terms.payload_command.as_ref().filter(|_| terms.payload_ns.is_none());
    words.extend(run.into_iter().flat_map(|command| option("--payload", command)));
    let at_most = terms.timeouts_at_most_per_million;
    words.extend(at_most.into_iter().flat_map(|share| option("--timeouts-at-most", percent(share))));
    words
}

fn percent(per_million: u32) -> String {
    format!("{}%", f64::from(per_million) / 10_000.0)
}
