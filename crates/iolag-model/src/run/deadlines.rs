//! How long an operation may take: by operation and by what its client is there for.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::spec::names;
use crate::{Nanoseconds, Operation, Role};

/// A deadline other than the usual one. The first rule that fits an operation counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlineRule {
    /// For clients that are there for this; absent: for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// For this operation; absent: for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// After this long it counts as hung, or late.
    pub deadline_ns: Nanoseconds,
}

/// Reads rules. One about an operation that only a later iolag knows is left out: nothing that this one knows fits it.
pub(super) fn known_rules<'de, D: Deserializer<'de>>(stored: D) -> Result<Vec<DeadlineRule>, D::Error> {
    #[derive(Deserialize)]
    struct Stored {
        role: Option<Role>,
        operation: Option<String>,
        deadline_ns: Nanoseconds,
    }
    let known = |Stored { role, operation, deadline_ns }| {
        let operation = operation.map(|name| name.parse()).transpose().ok()?;
        Some(DeadlineRule { role, operation, deadline_ns })
    };
    Ok(Vec::deserialize(stored)?.into_iter().filter_map(known).collect())
}

/// The deadlines of the clients of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlines {
    usual: Nanoseconds,
    /// Nothing that took no longer is past its deadline.
    least: Nanoseconds,
    others: Arc<[(Operation, Nanoseconds)]>,
}

impl From<Nanoseconds> for Deadlines {
    /// One for all operations.
    fn from(usual: Nanoseconds) -> Self {
        Self { usual, least: usual, others: Arc::from([]) }
    }
}

impl Deadlines {
    /// The deadlines of clients of this role, by the first rule that fits each operation.
    pub fn by_rules(role: Role, usual: Nanoseconds, rules: &[DeadlineRule]) -> Self {
        let fitting = |rule: &&DeadlineRule| rule.role.is_none_or(|other| other == role);
        let mut usual_here = usual;
        let mut others: Vec<(Operation, Nanoseconds)> = Vec::new();
        for rule in rules.iter().filter(fitting) {
            match rule.operation {
                Some(operation) => {
                    if others.iter().all(|(other, _)| *other != operation) {
                        others.push((operation, rule.deadline_ns));
                    }
                }
                None => {
                    // What comes after a rule for all operations fits nothing any more.
                    usual_here = rule.deadline_ns;
                    break;
                }
            }
        }
        Self { usual, least: Nanoseconds::ZERO, others: Arc::from(others) }.with_usual(usual_here)
    }

    /// The same with another deadline for the operations of which nothing is said.
    pub fn with_usual(self, usual: Nanoseconds) -> Self {
        let least = self.others.iter().map(|(_, deadline)| *deadline).fold(usual, Nanoseconds::min);
        Self { usual, least, ..self }
    }

    /// Whether an operation that took, or has lasted, so long is past its deadline: one comparison for nearly every one.
    #[inline]
    pub fn has_passed(&self, operation: Operation, duration: Nanoseconds) -> bool {
        duration > self.least && duration > self.of(operation)
    }

    /// The deadline of this operation.
    pub fn of(&self, operation: Operation) -> Nanoseconds {
        let own = self.others.iter().find(|(other, _)| *other == operation);
        own.map_or(self.usual, |(_, deadline)| *deadline)
    }

    /// That of operations of which nothing is said.
    pub const fn usual(&self) -> Nanoseconds {
        self.usual
    }
}

/// What a request of the load that failed, or had no answer at its deadline, does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// It is counted, and the next one is made.
    #[default]
    Continue,
    /// The run ends, with what was measured.
    Stop,
}
names!(OnError { Continue = "continue", Stop = "stop" });

impl OnError {
    /// Whether the run goes on.
    pub const fn is_continue(&self) -> bool {
        matches!(self, Self::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: fn(u64) -> Nanoseconds = Nanoseconds::from_seconds;

    #[test]
    fn the_first_rule_that_fits_counts() {
        let rule = |role, operation, seconds| DeadlineRule { role, operation, deadline_ns: S(seconds) };
        let rules = [
            rule(Some(Role::Bystander), Some(Operation::List), 1),
            rule(None, Some(Operation::List), 2),
            rule(Some(Role::Bystander), None, 3),
            rule(None, Some(Operation::Stat), 4),
        ];
        let of = |role| Deadlines::by_rules(role, S(10), &rules);
        let asked = [Operation::List, Operation::Stat, Operation::Read];
        assert_eq!(asked.map(|operation| of(Role::Bystander).of(operation)), [S(1), S(3), S(3)]);
        assert_eq!(asked.map(|operation| of(Role::Load).of(operation)), [S(2), S(4), S(10)]);
        assert_eq!(of(Role::Load).usual(), S(10));
        assert_eq!(
            asked.map(|operation| of(Role::Load).with_usual(S(11)).of(operation)),
            [S(2), S(4), S(11)]
        );
    }

    #[test]
    fn a_rule_about_what_only_a_later_iolag_does_is_left_out_and_a_damaged_one_is_not() {
        let read = |text: &str| known_rules(&mut serde_json::Deserializer::from_str(text)).ok();
        let list = DeadlineRule { role: None, operation: Some(Operation::List), deadline_ns: S(1) };
        let usual = DeadlineRule { operation: None, ..list };
        let later = r#"{"operation":"teleport","deadline_ns":5}"#;
        let known = r#"{"operation":"list","deadline_ns":1000000000}, {"deadline_ns":1000000000}"#;
        assert_eq!(
            read(&format!("[{later}, {known}]")),
            Some(vec![list, usual]),
            "it fits no other operation"
        );
        assert_eq!(read(r#"[{"operation":"list"}]"#), None);
        assert_eq!(read(r#"[{"operation":7,"deadline_ns":5}]"#), None);
    }

    proptest! {
        /// The shortcut decides nothing by itself.
        #[test]
        fn an_operation_has_passed_if_it_took_longer_than_its_own(
            usual in 0_u64..50, list in 0_u64..50, stat in 0_u64..50, duration in 0_u64..60, which in 0_usize..3,
        ) {
            let rules = [(Operation::List, list), (Operation::Stat, stat)].map(|(operation, ns)| DeadlineRule {
                role: None, operation: Some(operation), deadline_ns: Nanoseconds(ns),
            });
            let deadlines = Deadlines::by_rules(Role::Load, Nanoseconds(usual), &rules);
            let (operation, own) = [(Operation::List, list), (Operation::Stat, stat), (Operation::Read, usual)][which];
            prop_assert_eq!(deadlines.has_passed(operation, Nanoseconds(duration)), duration > own);
        }
    }
}
