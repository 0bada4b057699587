//! What was planned of the campaign that a run belongs to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Nanoseconds, RunRecord};

/// The plan of a campaign, as each of its runs has it: two with different plans are not put side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignPlan {
    /// In which order its runs were to be conducted; what is random of it is drawn by the seed of their specs.
    pub order: Order,
    /// When it was to end, if that was not after a number of repetitions: a comparison of its runs allows for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    /// What it is called, if a plan gave it a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is compared, by the names of sides, else targets, in the order in which they were named; none where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<String>,
    /// What is measured of each of them, by the names of the other coordinates, in the order in which it was named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub coordinates: BTreeMap<String, Vec<String>>,
    /// What was executed around its runs of this side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<SideRecord>,
}

impl CampaignPlan {
    /// The kinds of connections of clients, if these are compared: of one target, to which there are several. Else sides are, or targets.
    pub fn compared_sessions(&self) -> Option<&[String]> {
        let sessions = self.coordinates.get(RunRecord::SESSION)?;
        (self.sides.len() < 2 && sessions.len() > 1).then_some(sessions)
    }
}

/// When a campaign ends that is to be precise: at the first of some looks at which its comparison is, or when its time is up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stopping {
    /// Half of each interval of the comparison is to be at most so wide, as a share.
    pub precision: f64,
    /// How long a command may take for it.
    pub budget_ns: Nanoseconds,
}

/// The commands that bring a target into the state that is measured, and out of it; secrets removed. The side has its name in the
/// coordinates of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideRecord {
    /// Before each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// After each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// What became of the command after a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum PutBack {
    /// It ended well.
    Done,
    /// It failed, or did not end: nobody knows what was in place then.
    Failed {
        /// How, as a sentence.
        reason: String,
    },
}

/// In which order the runs of a campaign are conducted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Blocks come in twos: the second is the first backwards (A B, B A). What drifts evenly hits all alike.
    #[default]
    Interleaved,
    /// Each block has an order of its own.
    Random,
    /// All repetitions of one thing, then those of the next. A block is no stretch of time.
    Sequential,
}
super::spec::names!(Order { Interleaved = "interleaved", Random = "random", Sequential = "sequential" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_iolag_adds_to_a_plan_is_no_damage() {
        let plan: CampaignPlan = serde_json::from_str(r#"{"order":"random","weather":"fine"}"#).unwrap();
        assert_eq!(plan, CampaignPlan { order: Order::Random, ..CampaignPlan::default() });
    }

    #[test]
    fn a_precision_is_read_as_it_was_written() {
        for precision in [0.05, 0.033, 0.1 + 0.2] {
            let stopping = Some(Stopping { precision, budget_ns: Nanoseconds::from_seconds(600) });
            let plan = CampaignPlan { stopping, ..CampaignPlan::default() };
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<CampaignPlan>(&text).unwrap(), plan, "{text}");
        }
    }
}
