//! What became of probes, in words.

use std::borrow::Cow;

use iolag_analysis::{NotSentBecause, ProbesLost, ProbesNotSent};
use iolag_model::counted;

use crate::finding::in_words::{About, InWords};

impl InWords for ProbesLost {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { probes, deadline_ns } = self;
        let unanswered = probes.late + probes.timeout + probes.hung;
        let mut causes = Vec::new();
        if unanswered > 0 {
            causes.push(format!("{unanswered} without an answer within {deadline_ns}"));
        }
        if probes.skipped > 0 {
            // Nobody but a removal can have been in the way if every probe that was sent was answered in time.
            let when = if unanswered > 0 { "meanwhile" } else { "while the removal of a file waited" };
            causes.push(format!("{} skipped {when}", probes.skipped));
        }
        if probes.failed > 0 {
            causes.push(format!("{} with an error", probes.failed));
        }
        let due = counted(probes.due, "probe", "probes");
        format!("{} of {due} went lost: {}.", probes.lost(), causes.join(", "))
    }

    fn advice(&self) -> Cow<'static, str> {
        "`iolag export` gives every probe with its moment: compare them with what the server, the network and other \
         jobs did then. `iolag watch` keeps looking."
            .into()
    }
}

impl InWords for ProbesNotSent {
    fn sentence(&self, _about: &About<'_>) -> String {
        let Self { count, due, because } = self;
        let why = match because {
            NotSentBecause::Outrun(every) => {
                format!("the one before took longer than the {every} from one to the next")
            }
            NotSentBecause::HeldUp => "removing the file of the one before was not done".to_owned(),
        };
        let were = if *count == 1 { "was" } else { "were" };
        format!("{count} of {} {were} not sent: {why}.", counted(*due, "probe", "probes"))
    }

    fn advice(&self) -> Cow<'static, str> {
        match self.because {
            NotSentBecause::Outrun(_) => {
                "They count as at least as long as that one still took. Take a longer `--every`, and compare what was sent."
            }
            NotSentBecause::HeldUp => {
                "That is no part of a probe, so they are in no duration; the row `remove` says how long it took. Take a longer `--every`."
            }
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use iolag_analysis::PingCounts;
    use iolag_model::Nanoseconds;

    use super::*;
    use crate::words::names::Names;

    #[test]
    fn findings_name_the_cause_that_lines_and_summary_name() {
        let names = Names { several_hosts: false };
        let about = About { series: &[], span: None, names: &names };
        let second = Nanoseconds::from_seconds(1);
        let said = [(1, NotSentBecause::Outrun(second)), (2, NotSentBecause::HeldUp)]
            .map(|(count, because)| ProbesNotSent { count, due: 9, because }.sentence(&about));
        let expected = [
            "1 of 9 probes was not sent: the one before took longer than the 1.00 s from one to the next.",
            "2 of 9 probes were not sent: removing the file of the one before was not done.",
        ];
        assert_eq!(said, expected);
        let probes = PingCounts { due: 9, answered: 6, skipped: 3, ..PingCounts::default() };
        let said = ProbesLost { probes, deadline_ns: second }.sentence(&about);
        assert_eq!(said, "3 of 9 probes went lost: 3 skipped while the removal of a file waited.");
    }
}
