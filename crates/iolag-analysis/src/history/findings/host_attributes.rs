//! Findings about attributes of hosts: the first of each task.

use crate::finding::Severity;
use crate::finding::of_histories::{HistoryFinding, HistoryFound, HostAttributeFound};
use crate::history::configurations::ranking::{HostRanking, Standing};

pub(crate) fn host_attribute(ranking: &HostRanking) -> Option<HistoryFinding> {
    let attribute = ranking.attributes.first().filter(|one| one.standing == Standing::Explains)?;
    let [most, .., least] = &attribute.levels[..] else { return None };
    let size = most.share - least.share;
    let found = HostAttributeFound {
        task: ranking.task.clone(),
        target: ranking.target.clone(),
        hosts: ranking.hosts,
        attribute: attribute.clone(),
    };
    Some(HistoryFinding::new(HistoryFound::HostAttribute(found), Severity::Warning).sized(size))
}
