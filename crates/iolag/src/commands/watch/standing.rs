//! Where a watch stands: what one that reads its configuration again must not forget.

use iolag_model::Outage;
use iolag_watch::{Configurations, Recall, Recollection, WatchLimit, WatchSummary};

use super::prepare::Opened;

/// Where a watch stands when it begins, and when it goes on with a configuration that was read again.
pub struct Standing {
    /// Whether the history has said what it knows.
    pub recall: Recall,
    /// The configurations that hold.
    pub configurations: Configurations,
    /// Outages that the history takes for open and the runtime directory does not know.
    pub open_outages: Vec<Outage>,
    /// Rounds begun so far.
    rounds: u64,
    /// Why the history could not be asked.
    pub trouble: Option<String>,
}

impl Standing {
    /// At the beginning.
    pub fn new(opened: Opened) -> Self {
        let (recall, known, trouble) = match opened {
            Opened::Known(known) => (Recall::Done, known, None),
            Opened::Later { why, stuck } => {
                (stuck.map_or(Recall::Due, Recall::DueAfter), Recollection::default(), Some(why))
            }
        };
        let mut configurations = Configurations::resume(known.configurations);
        configurations.know_names(known.names, known.former_names);
        Self { recall, configurations, open_outages: known.open_outages, rounds: 0, trouble }
    }

    /// After a part of the watch.
    pub fn go_on_from(&mut self, summary: &WatchSummary) {
        self.recall = summary.recall;
        self.configurations = summary.configurations.clone();
        // From here on the runtime directory knows them.
        self.open_outages.clear();
        self.rounds += summary.rounds;
    }

    /// What is left of the rounds that were asked for in all.
    pub const fn rest_of(&self, limit: WatchLimit) -> WatchLimit {
        match limit {
            WatchLimit::Rounds(rounds) => WatchLimit::Rounds(rounds.saturating_sub(self.rounds)),
            WatchLimit::UntilStopped => WatchLimit::UntilStopped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_watch::WatchEnd;

    #[test]
    fn what_is_known_and_the_rounds_that_are_left_outlive_a_reload() {
        let known = iolag_model::Configuration {
            key: iolag_model::ConfigurationKey(1),
            host: "node".to_owned(),
            target: "/home".to_owned(),
            first_seen: iolag_model::WallTime(1),
            facts: Default::default(),
        };
        let mut standing =
            Standing::new(Opened::Later { why: "the server is starting".to_owned(), stuck: None });
        assert_eq!(
            (standing.recall, standing.trouble.as_deref()),
            (Recall::Due, Some("the server is starting"))
        );
        let configurations = Configurations::resume([known]);
        let summary = |rounds| WatchSummary {
            end: WatchEnd::HungUp,
            rounds,
            left_behind: Vec::new(),
            waiting_records: 0,
            history_trouble: None,
            recall: Recall::Done,
            configurations: configurations.clone(),
        };
        standing.go_on_from(&summary(2));
        assert_eq!((standing.recall, &standing.configurations), (Recall::Done, &configurations));
        assert_eq!(standing.rest_of(WatchLimit::Rounds(5)), WatchLimit::Rounds(3));
        assert_eq!(standing.rest_of(WatchLimit::UntilStopped), WatchLimit::UntilStopped);
        standing.go_on_from(&summary(4));
        assert_eq!(standing.rest_of(WatchLimit::Rounds(5)), WatchLimit::Rounds(0));
    }
}
