//! Where probes waited that did not end within their deadline.

use std::collections::BTreeMap;

use iolag_model::{Evidence, Outage, ProbeId, WallTime, counted};

use super::report::IncidentHistory;
use crate::words::markdown::{escape, push};

/// Texts that are quoted.
const QUOTED_MOST: usize = 5;
/// Characters of a quoted text: a stack of twelve frames has a few hundred.
const CHARACTERS_MOST: usize = 800;
/// Before the name of a wait channel in the text of evidence.
const WAITS_IN: &str = "waits in ";

/// Probes that waited in one place of the kernel for one target.
struct Waiting<'a> {
    probes: Vec<ProbeId>,
    first: WallTime,
    last: WallTime,
    example: &'a Evidence,
}

impl IncidentHistory<'_> {
    pub(super) fn push_evidence(&self, text: &mut String) {
        text.push_str("## Evidence\n\n");
        let waiting = self.waiting();
        if waiting.is_empty() {
            let sentence = match self.incident.past_deadline.len() {
                0 => "No probe passed its deadline, so that nothing was looked at.".to_owned(),
                count => format!(
                    "{} passed the deadline; what {} waited in is not in the history.",
                    counted(count as u64, "probe", "probes"),
                    if count == 1 { "it" } else { "they" }
                ),
            };
            push(text, format_args!("{sentence}\n"));
            return;
        }
        text.push_str("Where the processes of probes waited when they passed their deadline, and later while they hung.\n\n");
        text.push_str("| target | waits in | probes | first seen | last seen |\n|---|---|--:|---|---|\n");
        for ((place, channel), one) in &waiting {
            push(
                text,
                format_args!(
                    "| {place} | {} | {} | {} | {} |",
                    escape(channel),
                    one.probes.len(),
                    self.moment(one.first),
                    self.moment(one.last)
                ),
            );
        }
        text.push_str("\nFor example:\n\n");
        for ((place, _), one) in waiting.iter().take(QUOTED_MOST) {
            let quoted: String = one.example.text.chars().take(CHARACTERS_MOST).collect();
            let rest = if quoted.len() < one.example.text.len() { " …" } else { "" };
            push(text, format_args!("- {}, {place}: {}{rest}", self.moment(one.example.at), escape(&quoted)));
        }
        text.push('\n');
    }

    /// By place (escaped) and wait channel, those with the most probes first.
    fn waiting(&self) -> Vec<((String, String), Waiting<'_>)> {
        let mut found: BTreeMap<(String, String), Waiting<'_>> = BTreeMap::new();
        // How a command failed is no place where it waited.
        for evidence in self.evidence.iter().filter(|one| one.failure().is_none()) {
            let key = (self.place_of(evidence), wait_channel(&evidence.text).to_owned());
            let one = found.entry(key).or_insert_with(|| Waiting {
                probes: Vec::new(),
                first: evidence.at,
                last: evidence.at,
                example: evidence,
            });
            if !one.probes.contains(&evidence.probe) {
                one.probes.push(evidence.probe);
            }
            one.first = one.first.min(evidence.at);
            one.last = one.last.max(evidence.at);
        }
        let mut sorted: Vec<_> = found.into_iter().collect();
        sorted.sort_by_key(|(_, one)| std::cmp::Reverse(one.probes.len()));
        sorted
    }

    fn place_of(&self, evidence: &Evidence) -> String {
        let of_probe = self
            .incident
            .past_deadline
            .iter()
            .find(|one| one.probe == evidence.probe && one.series.host == evidence.host)
            .map(|one| one.series.target.clone());
        let of_outage = || {
            let is_of = |outage: &&Outage| outage.probe == evidence.probe && outage.host == evidence.host;
            let outage = self.analysis.outages.iter().find(is_of)?;
            // As the samples of its other probes are called.
            let only_target = outage.targets.first().filter(|_| outage.targets.len() == 1);
            Some(only_target.cloned().unwrap_or_else(|| outage.place()))
        };
        self.place(&evidence.host, &of_probe.or_else(of_outage).unwrap_or_default())
    }
}

/// What the last process of a chain waits in: the others wait for it.
fn wait_channel(text: &str) -> &str {
    match text.rsplit_once(WAITS_IN) {
        Some((_, rest)) => rest.split([',', ';']).next().unwrap_or_default(),
        None => "not known",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_process_of_a_chain_tells() {
        let text = "process 7: state S, waits in do_wait, system call 61; process 8: state D, waits in \
                    request_wait_answer, stack a < b; host: load 1.00, 1 runnable, 2 blocked tasks";
        assert_eq!(wait_channel(text), "request_wait_answer");
        assert_eq!(wait_channel("process 7: state R"), "not known");
    }

    proptest! {
        #[test]
        fn any_text_has_a_channel_without_separators(text: String) {
            prop_assert!(!wait_channel(&text).contains([',', ';']));
            let labelled = format!("{text}waits in nfs_wait, x");
            prop_assert_eq!(wait_channel(&labelled), "nfs_wait");
        }
    }
}
