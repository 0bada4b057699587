//! The circumstances of targets as they are found out while a watch runs, told from what the history knows of them.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Configuration, ConfigurationKey, HistoryRecord, Rename};

use crate::memory::ledger::Ledger;
use crate::{Configurations, Recall, Recollection, WatchTarget};

/// The configurations of a watch's targets.
pub(crate) struct Circumstances {
    configurations: Configurations,
    /// What was looked up before the history has said what it knows.
    unrecorded: Vec<Configuration>,
}

impl Circumstances {
    /// What held last, and what waits in the spool, which is newer.
    pub fn new(mut configurations: Configurations, ledger: &Ledger<'_>) -> Self {
        for record in ledger.spool().pending() {
            if let HistoryRecord::Configuration(known) = record
                && known.host == ledger.host()
            {
                configurations.take_up(known.clone());
            }
        }
        Self { configurations, unrecorded: Vec::new() }
    }

    /// The configurations that hold.
    pub fn all(&self) -> impl Iterator<Item = &Configuration> {
        self.configurations.all()
    }

    /// The same, for another watch.
    pub fn into_configurations(self) -> Configurations {
        self.configurations
    }

    /// The configuration that holds for a target, if it was ever looked up.
    pub fn key_of(&self, target: &str) -> Option<ConfigurationKey> {
        self.configurations.key_of(target)
    }

    /// This was looked up. It is recorded if it is news, and as soon as the history has said what it knows.
    pub fn found(
        &mut self,
        name: &str,
        facts: BTreeMap<String, String>,
        recall: Recall,
        targets: &[WatchTarget],
        ledger: &mut Ledger<'_>,
    ) {
        let is_new = self.configurations.key_of(name).is_none();
        let wall = ledger.wall();
        let Some((configuration, event)) = self.configurations.found(ledger.host(), name, facts, wall) else {
            return;
        };
        if is_new && recall == Recall::Done {
            self.go_on_under_new_name(name, targets, ledger);
        }
        // What shows where the history has seen something mounted is not the target's; it may say so later.
        match recall {
            Recall::Done => ledger.record(HistoryRecord::Configuration(configuration)),
            Recall::Due | Recall::DueAfter(_) => self.unrecorded.push(configuration),
        }
        if let Some(event) = event {
            ledger.record(HistoryRecord::Event(event));
        }
    }

    /// The history says only now what it knows. What was looked up of targets that are `missing` is not the targets'.
    pub fn recalled(
        &mut self,
        recollection: &Recollection,
        missing: &BTreeSet<String>,
        targets: &[WatchTarget],
        ledger: &mut Ledger<'_>,
    ) {
        let before = &recollection.configurations;
        let remembered = |name: &str| before.iter().find(|known| known.target == name);
        self.configurations.know_names(recollection.names.clone(), recollection.former_names.clone());
        for event in self.configurations.recalled(before.iter().cloned()) {
            if !missing.contains(&event.target) {
                ledger.record(HistoryRecord::Event(event));
            }
        }
        for configuration in std::mem::take(&mut self.unrecorded) {
            if !missing.contains(&configuration.target) {
                ledger.record(HistoryRecord::Configuration(configuration));
            } else if let Some(known) = remembered(&configuration.target) {
                self.configurations.take_up(known.clone());
            }
        }
        for target in targets.iter().filter(|target| remembered(&target.name).is_none()) {
            self.go_on_under_new_name(&target.name, targets, ledger);
        }
    }

    /// A target of which the history knows nothing under this name may be one that it knows under another: then that is its past.
    fn go_on_under_new_name(&mut self, name: &str, targets: &[WatchTarget], ledger: &mut Ledger<'_>) {
        let is_watched = |other: &str| targets.iter().any(|target| target.name == other);
        let Some(old) = self.configurations.predecessor(name, is_watched) else { return };
        let (host, at) = (ledger.host().to_owned(), ledger.wall());
        let text = format!("{old} is called {name} from now on; what was measured before is its past");
        ledger.record_event(name, at, "rename", text);
        let rename = Rename { host, old, new: name.to_owned(), at, author: "iolag".to_owned() };
        ledger.record(HistoryRecord::Rename(rename));
    }
}
