//! What a plan means to the history: the series of its subjects.

use std::collections::BTreeMap;

use iolag_model::{Nanoseconds, Series, SeriesKey, SeriesKind, WallTime};
use iolag_workload::{ProbeTask, TaskSpec};

use crate::WatchPlan;
use crate::agenda::subjects::{Subject, covariate_spec};

/// The series of every subject of a plan.
pub(crate) struct PlannedSeries {
    by_subject: BTreeMap<Subject, Vec<SeriesKey>>,
}

impl PlannedSeries {
    /// Asks each task for its parts. Says what to record, too.
    pub fn of(
        plan: &WatchPlan,
        described: WallTime,
        probe_task: &dyn Fn(&TaskSpec, u64) -> Box<dyn ProbeTask>,
    ) -> (Self, Vec<Series>) {
        let (mut by_subject, mut all) = (BTreeMap::new(), Vec::new());
        for (target_index, target) in plan.targets.iter().enumerate() {
            for (task_index, task) in target.tasks.iter().enumerate() {
                let made = probe_task(&task.spec, 0);
                let key = |part: &&str| SeriesKey {
                    host: plan.host.clone(),
                    target: target.name.clone(),
                    task: task.name.clone(),
                    part: (*part).to_owned(),
                };
                // Whatever its parts are, a task has a whole.
                let parts = if made.parts().is_empty() { &[""] } else { made.parts() };
                let keys: Vec<SeriesKey> = parts.iter().map(key).collect();
                all.extend(keys.iter().map(|key| Series {
                    key: key.clone(),
                    kind: target.kind,
                    resolution_ns: Nanoseconds::ZERO,
                    period_ns: plan.period,
                    deadline_ns: task.deadline,
                    description: task.spec.describe(),
                    unit: String::new(),
                    described,
                }));
                by_subject.insert(Subject::Task { target: target_index, task: task_index }, keys);
            }
        }
        for (index, covariate) in plan.covariates.iter().enumerate() {
            let key =
                SeriesKey { host: plan.host.clone(), task: covariate.name.clone(), ..SeriesKey::default() };
            all.push(Series {
                key: key.clone(),
                kind: SeriesKind::Covariate,
                resolution_ns: Nanoseconds::ZERO,
                period_ns: plan.period,
                deadline_ns: covariate.deadline,
                description: covariate_spec(&covariate.command).describe(),
                unit: covariate.unit.clone(),
                described,
            });
            by_subject.insert(Subject::Covariate(index), vec![key]);
        }
        (Self { by_subject }, all)
    }

    /// The series of a subject, that of the whole first.
    pub fn of_subject(&self, subject: Subject) -> &[SeriesKey] {
        self.by_subject.get(&subject).map_or(&[], Vec::as_slice)
    }
}
