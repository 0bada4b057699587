//! What a plan means to the history and to the agenda: its series, and how each subject is provided for.

use iolag_model::{HistoryRecord, Nanoseconds, Series, SeriesKey, SeriesKind};
use iolag_workload::{TaskOutput, TaskSpec};

use crate::agenda::{Provision, Restraint, Subject};
use crate::run::running::Running;
use crate::{AtDeadline, Deadlines, WatchPlan};

/// Between the signals to a covariate that is past its deadline.
const COVARIATE_GRACE: Nanoseconds = Nanoseconds::from_seconds(1);

impl Running<'_> {
    /// Records the series of all subjects, and remembers their keys.
    pub fn describe_series(&mut self) {
        for (target_index, target) in self.plan.targets.iter().enumerate() {
            for (task_index, task) in target.tasks.iter().enumerate() {
                let subject = Subject::Task { target: target_index, task: task_index };
                let made = (self.callbacks.probe_task)(&task.spec, 0);
                let key = |part: &&str| SeriesKey {
                    host: self.plan.host.clone(),
                    target: target.name.clone(),
                    task: task.name.clone(),
                    part: (*part).to_owned(),
                };
                // Whatever its parts are, a task has a whole.
                let parts = if made.parts().is_empty() { &[""] } else { made.parts() };
                let keys: Vec<SeriesKey> = parts.iter().map(key).collect();
                for key in &keys {
                    self.ledger.record(HistoryRecord::Series(Series {
                        key: key.clone(),
                        kind: target.kind,
                        resolution_ns: Nanoseconds::ZERO,
                        period_ns: self.plan.period,
                        deadline_ns: task.deadline,
                        description: task.spec.describe(),
                        unit: String::new(),
                        described: self.session.begin,
                    }));
                }
                self.series.insert(subject, keys);
            }
        }
        for (index, covariate) in self.plan.covariates.iter().enumerate() {
            let key = SeriesKey {
                host: self.plan.host.clone(),
                task: covariate.name.clone(),
                ..SeriesKey::default()
            };
            self.ledger.record(HistoryRecord::Series(Series {
                key: key.clone(),
                kind: SeriesKind::Covariate,
                resolution_ns: Nanoseconds::ZERO,
                period_ns: self.plan.period,
                deadline_ns: covariate.deadline,
                description: covariate_spec(&covariate.command).describe(),
                unit: covariate.unit.clone(),
                described: self.session.begin,
            }));
            self.series.insert(Subject::Covariate(index), vec![key]);
        }
    }
}

/// Every subject of a plan, with its deadlines.
pub(crate) fn provisions(plan: &WatchPlan) -> Vec<Provision> {
    let tasks = plan.targets.iter().enumerate().flat_map(|(target, planned)| {
        let restraint =
            if planned.kind == SeriesKind::Control { Restraint::Free } else { Restraint::HeldBack };
        planned.tasks.iter().enumerate().map(move |(task, planned)| Provision {
            subject: Subject::Task { target, task },
            deadlines: Deadlines {
                soft: planned.soft_deadline,
                hard: planned.deadline,
                at_deadline: planned.at_deadline,
            },
            restraint,
        })
    });
    let covariates = plan.covariates.iter().enumerate().map(|(index, planned)| Provision {
        subject: Subject::Covariate(index),
        deadlines: Deadlines {
            soft: planned.deadline,
            hard: planned.deadline,
            at_deadline: AtDeadline::End { grace: COVARIATE_GRACE },
        },
        restraint: Restraint::HeldBack,
    });
    tasks.chain(covariates).collect()
}

/// What a covariate executes.
pub(crate) fn covariate_spec(command: &[String]) -> TaskSpec {
    TaskSpec::Command { command: command.to_vec(), output: TaskOutput::Number }
}
