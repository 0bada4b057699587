//! How far the load is, in shared memory: its clients tell, bystanders look.
//!
//! Limits: a bystander that looks at the very moment at which a stage begins or ends counts itself to one or the other.

use std::sync::atomic::Ordering;

use iolag_model::{Activity, LoadCourse, LoadTime, MonotonicTime, StageIndex};

use super::layout::{Exchange, LOAD_CHANGES};

const BETWEEN: u32 = 0;
const BEFORE: u32 = 1;
const AFTER: u32 = 2;
const OVER: u32 = 3;
/// The stages follow.
const STAGES: u32 = 4;

impl LoadCourse for Exchange {
    fn tell(&self, time: LoadTime, now: MonotonicTime) {
        let word = match time {
            LoadTime::Between => BETWEEN,
            LoadTime::Before => BEFORE,
            LoadTime::After => AFTER,
            LoadTime::Over => OVER,
            LoadTime::During(stage) => STAGES + u32::from(stage.0),
        };
        let control = self.shared.control();
        if control.load_time.swap(word, Ordering::SeqCst) != word {
            let made = control.load_changes_made.fetch_add(1, Ordering::SeqCst);
            let change = &control.load_changes[made as usize % LOAD_CHANGES];
            change.load_time.store(word, Ordering::SeqCst);
            change.begin_ns.store(now.0, Ordering::SeqCst);
        }
    }

    fn begin(&self, stage: StageIndex, now: MonotonicTime) {
        self.shared.control().load_clients.fetch_add(1, Ordering::SeqCst);
        self.tell(LoadTime::During(stage), now);
    }

    fn end(&self, now: MonotonicTime) {
        // Who was killed in a stage leaves it never: then the next stage is told by those that begin it.
        if self.shared.control().load_clients.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.tell(LoadTime::Between, now);
        }
    }

    fn time(&self) -> LoadTime {
        time_of(self.shared.control().load_time.load(Ordering::SeqCst))
    }

    fn time_at(&self, moment: MonotonicTime) -> Option<LoadTime> {
        let changes = self.shared.control().load_changes.iter();
        let known = changes
            .map(|change| (change.begin_ns.load(Ordering::SeqCst), change.load_time.load(Ordering::SeqCst)));
        // Nothing began at no time.
        let last = known.filter(|(begin_ns, _)| (1..=moment.0).contains(begin_ns)).max()?;
        Some(time_of(last.1))
    }

    fn beside(&self) -> usize {
        let is_beside = |client: &u32| !self.role(*client).is_load();
        let goes_on = |client: &u32| self.is_expected(*client) && self.activity(*client) != Activity::Ended;
        (0..self.clients()).filter(|client| is_beside(client) && goes_on(client)).count()
    }
}

fn time_of(word: u32) -> LoadTime {
    match word {
        BETWEEN => LoadTime::Between,
        BEFORE => LoadTime::Before,
        AFTER => LoadTime::After,
        OVER => LoadTime::Over,
        stage => LoadTime::During(StageIndex((stage - STAGES) as u16)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Coordinator as _, Recorder as _, Role};

    #[test]
    fn the_load_is_in_a_stage_until_the_last_of_its_clients_has_ended_it() {
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        assert_eq!(exchange.time(), LoadTime::Between);
        exchange.tell(LoadTime::Before, MonotonicTime(10));
        assert_eq!(exchange.time(), LoadTime::Before);
        let during = LoadTime::During(StageIndex(3));
        exchange.begin(StageIndex(3), MonotonicTime(20));
        exchange.begin(StageIndex(3), MonotonicTime(25));
        exchange.end(MonotonicTime(30));
        assert_eq!(exchange.time(), during);
        exchange.end(MonotonicTime(40));
        assert_eq!(exchange.time(), LoadTime::Between);
        for time in [LoadTime::After, LoadTime::Over] {
            exchange.tell(time, MonotonicTime(50));
            assert_eq!(exchange.time(), time);
        }
        let known = [9, 10, 19, 20, 25, 39, 40].map(|moment| exchange.time_at(MonotonicTime(moment)));
        let [before, between] = [LoadTime::Before, LoadTime::Between].map(Some);
        assert_eq!(known, [None, before, before, Some(during), Some(during), Some(during), between]);
    }

    #[test]
    fn who_hangs_for_good_is_not_waited_for() {
        let exchange = Exchange::new(3, 1 << 20).unwrap();
        exchange.set_role(1, Role::Bystander);
        exchange.set_role(2, Role::Control);
        assert_eq!(exchange.beside(), 2);
        exchange.recorder(1).set_activity(Activity::Ended);
        assert_eq!(exchange.beside(), 1);
        exchange.coordinator().give_up(2, MonotonicTime(5));
        assert_eq!(exchange.beside(), 0);
    }
}
