//! Meetings and stopping, in shared memory.
//!
//! A client arrives by storing the meeting's number in its slot and then looks whether everybody has; the last one opens
//! the meeting and wakes the others. The keeper does the same look after it has given a client up, so that a hung client
//! holds nobody for longer than its deadline. Each role has meetings of its own: who hangs in one holds nobody of another.
//!
//! A meeting ends in a moment of the near future at which all begin: else the first to be woken would have done its share
//! before the last is awake, and nobody would have measured what many clients do to each other.
//!
//! Limits: a moment is not a processor. Of more clients than processors some begin late; their first operation is intended
//! for the moment, so that its response time tells.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use iolag_model::{Arrival, Coordinator, Meeting, MonotonicTime, Nanoseconds, Role, Waiting};
use rustix::thread::futex;

use super::layout::{Exchange, Gathering, LastMeeting};
use super::slot::GIVEN_UP;

/// What it takes to wake one more client on the same processor and let it prepare its first operation: some 10 µs on a virtual
/// one, by `examples/meeting_cost.rs`.
const SHARE: Nanoseconds = Nanoseconds(10_000);
/// Nobody waits longer than this for thousands of others to be woken.
const LEAD_MAX: Nanoseconds = Nanoseconds::from_milliseconds(50);
/// Who waits looks again after this long, told or not.
const SLICE: Nanoseconds = Nanoseconds::from_milliseconds(100);
/// What a client that sleeps in the kernel needs to be woken: the keeper opens a meeting for such.
const NOTICE: Nanoseconds = Nanoseconds(100_000);

/// How far ahead the moment is at which `clients` clients on `processors` processors begin: the time that one needs to
/// notice, and a share for each that has to be woken on the same processor. One client waits for nobody.
fn lead(clients: usize, processors: usize, notice: Nanoseconds) -> Nanoseconds {
    if clients < 2 {
        return Nanoseconds::ZERO;
    }
    let shares = clients.div_ceil(processors.max(1)) as u64;
    Nanoseconds(notice.0.saturating_add(SHARE.0.saturating_mul(shares))).min(LEAD_MAX)
}

/// Where the clients of an [`Exchange`] meet.
#[derive(Debug, Clone)]
pub struct SharedCoordinator {
    exchange: Exchange,
}

impl Exchange {
    /// Where clients meet and learn that they are to stop.
    pub fn coordinator(&self) -> SharedCoordinator {
        SharedCoordinator { exchange: self.clone() }
    }
}

impl SharedCoordinator {
    /// Whether everything is to stop.
    pub fn is_stopping(&self) -> bool {
        self.exchange.shared.control().stop_all.load(Ordering::Acquire) != 0
    }

    /// The clients of this role stop before their next operation.
    pub fn stop_role(&self, role: Role) {
        for client in self.members(role) {
            self.exchange.shared.slot(client).stop.store(1, Ordering::Release);
        }
        self.tell();
    }

    /// The clients of a role, by number.
    fn members(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        let shared = &self.exchange.shared;
        (0..shared.clients).filter(move |client| shared.slot(*client).role() == role)
    }

    fn open_if_complete(&self, role: Role, number: u32, now: MonotonicTime, notice: Nanoseconds) {
        let shared = &self.exchange.shared;
        let is_there = |client| {
            let slot = shared.slot(client);
            slot.arrived.load(Ordering::SeqCst) >= number || slot.standing.load(Ordering::SeqCst) == GIVEN_UP
        };
        if self.members(role).all(is_there) {
            let gathering = shared.gathering(role);
            let ahead = lead(gathering.expected(), shared.processors, notice);
            gathering.agree_on_begin(number, now.after(ahead));
            gathering.open_meeting.fetch_max(number, Ordering::SeqCst);
            self.tell();
        }
    }

    fn look(&self, role: Role, number: u32) -> Meeting {
        let shared = &self.exchange.shared;
        let value = |client: usize| {
            let slot = shared.slot(client);
            // A client that was given up may have brought its value before.
            (slot.role() == role && slot.arrived.load(Ordering::SeqCst) >= number)
                .then(|| slot.values[number as usize % 2].load(Ordering::SeqCst))
        };
        // All roles share the processors.
        let expected = Role::ALL.map(|role| shared.gathering(role).expected()).iter().sum::<usize>();
        let waiting = if expected > shared.processors { Waiting::Asleep } else { Waiting::Actively };
        let begin = MonotonicTime(shared.gathering(role).begin_ns.load(Ordering::SeqCst));
        Meeting { values: (0..shared.clients).map(value).collect(), begin, waiting }
    }

    /// Something has happened: those who wait look again.
    fn tell(&self) {
        let control = self.exchange.shared.control();
        control.news.fetch_add(1, Ordering::SeqCst);
        let meetings = control.gatherings.iter().map(|gathering| &gathering.open_meeting);
        for word in meetings.chain([&control.news]) {
            // Clients wait with a time limit, so a lost wake costs milliseconds and a failed one nothing else.
            let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
        }
    }
}

impl Gathering {
    /// How many are waited for.
    fn expected(&self) -> usize {
        let members = self.members.load(Ordering::SeqCst);
        members.saturating_sub(self.given_up.load(Ordering::SeqCst)) as usize
    }

    /// Sets when those at meeting `number` begin, unless somebody else has. The last client and the keeper may both come to
    /// open it, and whoever does may be killed in between; so nobody waits for the other, and the first word counts: the
    /// lowest bit tells this meeting's word from that of the one before.
    fn agree_on_begin(&self, number: u32, begin: MonotonicTime) {
        let known = self.begin_ns.load(Ordering::SeqCst);
        let parity = u64::from(number & 1);
        if known & 1 != parity && self.open_meeting.load(Ordering::SeqCst) < number {
            // That it has changed meanwhile means that it is said already.
            let _ = self.begin_ns.compare_exchange(
                known,
                (begin.0 & !1) | parity,
                Ordering::SeqCst,
                Ordering::SeqCst,
            );
        }
    }
}

impl Coordinator for SharedCoordinator {
    #[inline]
    fn is_stopped(&self, rank: u32) -> bool {
        self.exchange.shared.slot(rank as usize).stop.load(Ordering::Relaxed) != 0
    }

    fn stop_all(&self) {
        let shared = &self.exchange.shared;
        shared.control().stop_all.store(1, Ordering::Release);
        for client in 0..shared.clients {
            shared.slot(client).stop.store(1, Ordering::Release);
        }
        self.tell();
    }

    fn give_up(&self, rank: u32, now: MonotonicTime) {
        let slot = self.exchange.shared.slot(rank as usize);
        let gathering = self.exchange.shared.gathering(slot.role());
        let was_given_up = slot.standing.swap(GIVEN_UP, Ordering::SeqCst) == GIVEN_UP;
        // A follower is none of those who meet.
        if !was_given_up && slot.arrived.load(Ordering::SeqCst) != u32::MAX {
            gathering.given_up.fetch_add(1, Ordering::SeqCst);
        }
        slot.stop.store(1, Ordering::Release);
        let next = gathering.open_meeting.load(Ordering::SeqCst) + 1;
        self.open_if_complete(slot.role(), next, now, NOTICE);
        self.tell();
    }

    fn arrive(&self, arrival: Arrival) {
        let Arrival { rank, number, value, now, notice } = arrival;
        let slot = self.exchange.shared.slot(rank as usize);
        slot.values[number as usize % 2].store(value, Ordering::SeqCst);
        slot.arrived.store(number, Ordering::SeqCst);
        let gathering = self.exchange.shared.gathering(slot.role());
        let arrivals = gathering.arrivals.fetch_add(1, Ordering::SeqCst) + 1;
        // Everyone who is expected has arrived at every meeting up to this one, so nobody before the last can see this many:
        // with thousands of clients, looking at all slots at every arrival would take seconds.
        if arrivals >= u64::from(number) * gathering.expected() as u64 {
            self.open_if_complete(slot.role(), number, now, notice);
        }
    }

    fn meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>> {
        let shared = &self.exchange.shared;
        let role = shared.slot(rank as usize).role();
        if shared.gathering(role).open_meeting.load(Ordering::SeqCst) < number {
            return None;
        }
        // Made by the first of this process that looks: thousands of clients would read millions of slots.
        let mut all = shared.last_meetings.lock().unwrap_or_else(PoisonError::into_inner);
        let last = &mut all[role as usize];
        match &last.meeting {
            Some(meeting) if last.number == number => Some(Arc::clone(meeting)),
            _ => {
                let meeting = Arc::new(self.look(role, number));
                // Who was given up and comes late to an old meeting does not take the present one from the others.
                if number > last.number {
                    *last = LastMeeting { number, meeting: Some(Arc::clone(&meeting)) };
                }
                Some(meeting)
            }
        }
    }

    fn wait_for_meeting(&self, rank: u32, number: u32) -> Option<Arc<Meeting>> {
        let shared = &self.exchange.shared;
        let word = &shared.gathering(shared.slot(rank as usize).role()).open_meeting;
        loop {
            let open = word.load(Ordering::SeqCst);
            if open >= number {
                return self.meeting(rank, number);
            }
            if self.is_stopped(rank) {
                return None;
            }
            // Any answer means the same: look again.
            let _ = futex::wait(word, futex::Flags::empty(), open, Some(&SLICE.as_timespec()));
        }
    }

    fn wait_for_news(&self, seen: u32) -> u32 {
        let news = &self.exchange.shared.control().news;
        let now = news.load(Ordering::SeqCst);
        if now != seen {
            return now;
        }
        // Any answer means the same: look again.
        let _ = futex::wait(news, futex::Flags::empty(), seen, Some(&SLICE.as_timespec()));
        news.load(Ordering::SeqCst)
    }

    fn beat(&self, rank: u32, lag: Nanoseconds, next: MonotonicTime) {
        self.exchange.shared.slot(rank as usize).beat(lag, next);
    }

    fn heart_ends(&self, rank: u32) {
        self.exchange.shared.slot(rank as usize).heart_ends();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arrival(rank: u32, number: u32, now: u64) -> Arrival {
        Arrival { rank, number, value: u64::from(rank), now: MonotonicTime(now), notice: NOTICE }
    }

    proptest! {
        #[test]
        fn the_moment_is_ahead_for_several_and_never_far(clients in 2_usize..100_000, processors in 0_usize..1000) {
            let ahead = lead(clients, processors, NOTICE);
            prop_assert!(ahead > NOTICE && ahead <= LEAD_MAX);
            prop_assert!(ahead <= lead(clients + processors, processors, NOTICE));
            prop_assert_eq!(lead(1, processors, NOTICE), Nanoseconds::ZERO);
        }
    }

    #[test]
    fn all_begin_at_the_moment_that_the_last_to_arrive_has_named() {
        let exchange = Exchange::new(3, 1 << 20).unwrap();
        let coordinator = exchange.coordinator();
        for number in 1..=4 {
            let now = u64::from(number) * 1_000_000_000;
            coordinator.arrive(arrival(0, number, now - 900));
            coordinator.arrive(arrival(1, number, now - 5));
            assert_eq!(coordinator.meeting(0, number), None);
            coordinator.arrive(arrival(2, number, now));
            let meeting = coordinator.meeting(0, number).unwrap();
            let ahead = meeting.begin.since(MonotonicTime(now));
            let wanted = lead(3, exchange.shared.processors, NOTICE);
            assert!(ahead.0.abs_diff(wanted.0) <= 1, "{ahead:?}");
            let again = coordinator.meeting(0, number).unwrap();
            assert!(Arc::ptr_eq(&meeting, &again), "made once for all");
        }
    }

    #[test]
    fn nobody_waits_for_a_follower_at_a_meeting() {
        let exchange = Exchange::new(4, 1 << 20).unwrap();
        [2, 3].into_iter().for_each(|client| exchange.set_follower(client));
        let coordinator = exchange.coordinator();
        coordinator.give_up(3, MonotonicTime(1));
        coordinator.arrive(arrival(0, 1, 1000));
        assert_eq!(coordinator.meeting(0, 1), None);
        coordinator.arrive(arrival(1, 1, 1001));
        assert!(coordinator.meeting(0, 1).is_some());
        coordinator.give_up(1, MonotonicTime(1002));
        coordinator.arrive(arrival(0, 2, 1003));
        assert!(coordinator.meeting(0, 2).is_some());
    }

    #[test]
    fn a_meeting_that_two_come_to_open_has_one_beginning() {
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let coordinator = exchange.coordinator();
        coordinator.arrive(arrival(0, 1, 1000));
        let gathering = exchange.shared.gathering(Role::Load);
        gathering.agree_on_begin(1, MonotonicTime(5_000));
        // Whoever had named the moment was killed before it could open the meeting; the keeper does.
        coordinator.give_up(1, MonotonicTime(900_000));
        assert_eq!(coordinator.meeting(0, 1).unwrap().begin, MonotonicTime(5_001));
        // A keeper that was slow: the meeting is open.
        gathering.agree_on_begin(1, MonotonicTime(7_000));
        coordinator.open_if_complete(Role::Load, 1, MonotonicTime(8_000), NOTICE);
        assert_eq!(coordinator.meeting(0, 1).unwrap().begin, MonotonicTime(5_001));
        coordinator.arrive(arrival(0, 2, 10_000));
        assert_eq!(coordinator.meeting(0, 2).unwrap().begin, MonotonicTime(10_000), "it waits for nobody");
        gathering.agree_on_begin(1, MonotonicTime(11_000));
        assert_eq!(coordinator.look(Role::Load, 2).begin, MonotonicTime(10_000));
    }

    /// Two of the load, two bystanders.
    fn mixed() -> Exchange {
        let exchange = Exchange::new(4, 1 << 20).unwrap();
        [2, 3].into_iter().for_each(|client| exchange.set_role(client, Role::Bystander));
        exchange
    }

    #[test]
    fn roles_meet_apart() {
        let exchange = mixed();
        let coordinator = exchange.coordinator();
        coordinator.arrive(arrival(2, 1, 1_000));
        coordinator.arrive(arrival(0, 1, 2_000));
        assert_eq!([0, 2].map(|rank| coordinator.meeting(rank, 1)), [None, None]);
        coordinator.arrive(arrival(1, 1, 3_000));
        assert_eq!(*coordinator.meeting(0, 1).unwrap().values, [Some(0), Some(1), None, None]);
        assert_eq!(coordinator.meeting(2, 1), None, "they still wait for one of theirs");
        coordinator.arrive(arrival(3, 1, 1_000_000_000));
        let bystanders = coordinator.meeting(2, 1).unwrap();
        assert_eq!(*bystanders.values, [None, None, Some(2), Some(3)]);
        assert!(bystanders.begin >= MonotonicTime(1_000_000_000));
        let load = coordinator.meeting(1, 1).unwrap();
        assert!(load.begin < MonotonicTime(1_000_000_000), "each role begins at a moment of its own");
        assert!(Arc::ptr_eq(&load, &coordinator.meeting(0, 1).unwrap()));
    }

    #[test]
    fn who_is_given_up_opens_no_meeting_of_another_role() {
        let exchange = mixed();
        let coordinator = exchange.coordinator();
        coordinator.arrive(arrival(0, 1, 1_000));
        coordinator.arrive(arrival(2, 1, 1_000));
        coordinator.give_up(3, MonotonicTime(2_000));
        assert_eq!(
            coordinator.meeting(0, 1),
            None,
            "its second client is missing, which nobody has given up"
        );
        assert_eq!(*coordinator.meeting(2, 1).unwrap().values, [None, None, Some(2), None]);
        coordinator.give_up(1, MonotonicTime(3_000));
        assert_eq!(*coordinator.meeting(0, 1).unwrap().values, [Some(0), None, None, None]);
        coordinator.arrive(arrival(0, 2, 4_000));
        assert!(coordinator.meeting(0, 2).is_some(), "only those of its role are counted");
    }

    #[test]
    fn a_role_is_stopped_by_itself() {
        let exchange = mixed();
        let coordinator = exchange.coordinator();
        let seen = coordinator.wait_for_news(u32::MAX);
        coordinator.stop_role(Role::Bystander);
        assert_eq!([0, 1, 2, 3].map(|rank| coordinator.is_stopped(rank)), [false, false, true, true]);
        assert!(!coordinator.is_stopping());
        assert_ne!(coordinator.wait_for_news(seen), seen);
        assert_eq!(coordinator.wait_for_meeting(3, 1), None);
    }

    #[test]
    fn who_waits_for_news_is_told_of_a_meeting_a_stop_and_a_client_given_up() {
        let exchange = Exchange::new(2, 1 << 20).unwrap();
        let coordinator = exchange.coordinator();
        let happenings: [&dyn Fn(); 3] = [
            &|| {
                coordinator.arrive(arrival(0, 1, 5));
                coordinator.arrive(arrival(1, 1, 5));
            },
            &|| coordinator.give_up(1, MonotonicTime(6)),
            &|| coordinator.stop_all(),
        ];
        let mut seen = coordinator.wait_for_news(u32::MAX);
        for happens in happenings {
            happens();
            let told = coordinator.wait_for_news(seen);
            assert_ne!(told, seen);
            seen = told;
        }
        assert_eq!(coordinator.wait_for_news(seen), seen, "nothing has happened since");
    }
}
