//! Thousands of clients that are tasks, with the keeper and the writer of a run.

use std::time::Duration;

use iolag_backend::{AsyncOpening, AsyncSession};
use iolag_keeper::{Child, Ending, Exchange, HangDetection, Orphanage, Room, Sleeps};
use iolag_model::{Clock, MonotonicClock, Nanoseconds, Operation, Sample};
use iolag_workload::{DriveEnd, IfNotOpen, Job, Workers, run_async_clients};
use rustix::process::{Pid, Signal, kill_process};

use crate::{DEADLINE, Known, LIMIT, client, count, drain, first_intended};

#[test]
fn five_thousand_asynchronous_clients_with_keeper_and_writer_lose_nothing_in_200_mebibytes() {
    const CLIENTS: u32 = 5000;
    const MOST_KIB: u64 = 200 << 10;
    let room = Room {
        clients: CLIENTS,
        lanes: 1,
        ring_bytes: Room::usual_bytes(CLIENTS),
        samples_per_client: Some(5 + 2),
    };
    let exchange = Exchange::with_room(room).unwrap();
    let mut writer = Child::fork("writer", Orphanage::Die, || {
        let mut samples = Vec::new();
        while !exchange.is_measured() {
            samples.extend(drain(&exchange));
            std::thread::sleep(Duration::from_millis(20));
        }
        samples.extend(drain(&exchange));
        assert_eq!(count(&samples, Operation::Stat), 25_000);
        assert_eq!(count(&samples, Operation::Stage), 5_000);
        assert_eq!(count(&samples, Operation::OpenSession), 5_000);
        assert_eq!(samples.len(), 35_000, "nobody waited for room in a ring for everything");
        let waited = |sample: &&Sample| sample.operation() != Operation::OpenSession;
        let shortest = samples.iter().filter(waited).map(|sample| sample.duration).min();
        assert!(shortest >= Some(Nanoseconds::from_milliseconds(5)), "{shortest:?}");
        assert_eq!(first_intended(&samples).len(), 1, "one beginning for all");
        0
    })
    .unwrap();
    let mut measurer = Child::fork("measurer", Orphanage::Die, || {
        let known = || Ok(Box::new(Known(Duration::from_millis(5))) as Box<dyn AsyncSession>);
        let open = move || Box::pin(async move { known() }) as AsyncOpening<'static>;
        let jobs = (0..CLIENTS)
            .map(|rank| {
                exchange.prefault(rank);
                Job { client: client(&exchange, rank, 5), open, if_not_open: IfNotOpen::StopAll }
            })
            .collect();
        let workers = Workers { threads: 2, opening_at_once: CLIENTS as usize };
        let ends = run_async_clients(jobs, workers, &exchange.coordinator(), &MonotonicClock).unwrap();
        i32::from(!ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))))
    })
    .unwrap();
    let sleeps = Sleeps::new(MonotonicClock.now());
    let mut hangs = HangDetection::new(&exchange, [DEADLINE; 3].map(Into::into), MonotonicClock.now());
    let processes = [std::process::id(), measurer.id(), writer.id()];
    let mut most_kib = 0;
    while measurer.wait(Nanoseconds::from_milliseconds(50)).is_none() {
        assert_eq!(hangs.look(&exchange, 0..CLIENTS, &sleeps, MonotonicClock.now()), []);
        most_kib = most_kib.max(proportional_kib_of(processes));
    }
    assert_eq!(measurer.ending(), Some(Ending::Exited(0)));
    exchange.set_measured();
    assert_eq!(writer.wait(LIMIT), Some(Ending::Exited(0)));
    assert_eq!((exchange.samples_lost(), exchange.samples_recorded()), (0, 35_000));
    assert!((1..=MOST_KIB).contains(&most_kib), "{most_kib} KiB, pages that processes share counted once");
}

/// Memory of this process and two children, which stand still meanwhile: a page that comes to be shared between two looks would count
/// twice.
fn proportional_kib_of(processes: [u32; 3]) -> u64 {
    let signal = |signal| {
        let children = processes[1..].iter().filter_map(|process| Pid::from_raw(*process as i32));
        // One that has just ended needs none.
        children.for_each(|child| {
            let _ = kill_process(child, signal);
        });
    };
    signal(Signal::STOP);
    let kib = processes.into_iter().map(proportional_kib).sum();
    signal(Signal::CONT);
    kib
}

/// Memory of a process; pages that it shares with others in equal parts. 0 if it has ended.
fn proportional_kib(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse().unwrap_or(0))
}

#[test]
fn tasks_of_several_workers_meet() {
    const CLIENTS: u32 = 6;
    let exchange = Exchange::new(CLIENTS, 1 << 20).unwrap();
    let known = || Ok(Box::new(Known(Duration::from_millis(1))) as Box<dyn AsyncSession>);
    let open = move || Box::pin(async move { known() }) as AsyncOpening<'static>;
    let job = |rank| Job { client: client(&exchange, rank, 2), open, if_not_open: IfNotOpen::StopAll };
    let workers = Workers { threads: 2, opening_at_once: 1 };
    let jobs = (0..CLIENTS).map(job).collect();
    // Ended by the meeting that opens, of which each worker's own bell tells.
    let ends = run_async_clients(jobs, workers, &exchange.coordinator(), &MonotonicClock).unwrap();
    assert!(ends.iter().all(|end| matches!(end, Ok(DriveEnd::Finished))), "{ends:?}");
}
