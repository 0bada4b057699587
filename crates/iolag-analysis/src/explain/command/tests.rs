use iolag_model::{Connecting, Counted, FileSystem, RequestTimes, TraceElapsed, TraceLookups, TraceSummary};
use proptest::prelude::*;

use super::*;
use crate::run::trace::lists::Searched;

const MS: u64 = 1_000_000;

fn activity(kind: TraceActivityKind, milliseconds: u64, calls: u64) -> TraceActivity {
    let time = Nanoseconds(milliseconds * MS);
    TraceActivity { kind, elapsed_ns: time, tasks_ns: time, calls }
}

fn storage(milliseconds: u64) -> TraceActivity {
    activity(TraceActivityKind::Storage("/mnt".into()), milliseconds, 100)
}

fn seen(activities: Vec<TraceActivity>) -> SeenCommand {
    let span: u64 = activities.iter().map(|activity| activity.elapsed_ns.0).sum();
    let tracing_ns = Nanoseconds(100 * MS);
    SeenCommand {
        program: "cat".into(),
        elapsed: TraceElapsed { span_ns: Nanoseconds(span + tracing_ns.0), tracing_ns, activities },
        ..SeenCommand::default()
    }
}

fn mounted(
    mut seen: SeenCommand,
    served_by: ServedBy,
    counted: Counted,
    connecting: Connecting,
) -> SeenCommand {
    let file_system = FileSystem { mount_point: "/mnt".into(), ..FileSystem::default() };
    seen.mounts = vec![SeenMount { file_system, served_by, counted, connecting }];
    seen
}

/// 100 requests that took so many milliseconds in all.
fn counted(queue: u64, round_trip: u64) -> Counted {
    Counted::Requests(vec![RequestTimes {
        name: "READ".into(),
        requests: 100,
        queue_ns: Nanoseconds(queue * MS),
        round_trip_ns: Nanoseconds(round_trip * MS),
        execute_ns: Nanoseconds((queue + round_trip) * MS),
        ..RequestTimes::default()
    }])
}

/// The first part's layers, and its share in percent.
fn first(explained: &CommandExplanation) -> (ExplanationWord, &[Layer], u64) {
    let part = &explained.parts[0];
    (explained.word.clone(), &part.layers, (part.share * 100.0).round() as u64)
}

#[test]
fn what_takes_most_is_named_and_tracing_is_of_no_part() {
    use TraceActivityKind::{LookUps, NameService, Network, Processor, Time, Unknown};
    let because = ExplanationWord::Because;
    for (kind, layers) in [
        (LookUps("/mnt".into()), &[Layer::LookUps][..]),
        (NameService, &[Layer::NameService]),
        (Processor, &[Layer::Processor]),
        (Time, &[Layer::Elsewhere]),
    ] {
        let explained = explain_command(seen(vec![activity(kind, 900, 7), storage(100)]));
        assert_eq!(explained.took_ns, Nanoseconds(1000 * MS));
        assert_eq!(first(&explained), (because.clone(), layers, 90));
    }
    let explained = explain_command(seen(vec![activity(Unknown, 900, 0), storage(100)]));
    assert_eq!(first(&explained), (ExplanationWord::CannotTell, &[][..], 90));
    let explained =
        explain_command(seen(vec![activity(Time, 300, 1), activity(Network, 500, 1), storage(200)]));
    assert_eq!(first(&explained), (because, &[Layer::Elsewhere][..], 80));
    let explained = explain_command(seen(vec![activity(Time, 400, 1), storage(600)]));
    let lacking = mounted(explained.seen, ServedBy::Servers, Counted::Nothing, Connecting::NoServer);
    assert_eq!(first(&explain_command(lacking)).0, ExplanationWord::CannotTell);
    assert_eq!(explain_command(seen(vec![storage(20)])).word, ExplanationWord::NotSlow);
}

#[test]
fn a_mount_is_divided_by_its_clients_counters_also_where_look_ups_are_most_of_its_requests() {
    let activities = || vec![storage(500), activity(TraceActivityKind::LookUps("/mnt".into()), 400, 50)];
    let of = |counted, connecting| {
        explain_command(mounted(seen(activities()), ServedBy::Servers, counted, connecting))
    };
    let near = || Connecting::Took(Nanoseconds(100_000));
    let explained = of(counted(10, 880), near());
    assert_eq!(explained.parts[0].layers, [Layer::Server]);
    assert_eq!(explained.parts[0].mount.as_deref(), Some("/mnt"));
    // Of the calls that found what they asked for, as of all.
    assert!((explained.parts[0].time_ns.as_seconds() - 0.5 * 870.0 / 900.0).abs() < 0.001, "{explained:?}");
    assert_eq!(of(counted(10, 880), Connecting::Took(Nanoseconds(8 * MS))).parts[0].layers, [Layer::Network]);
    assert_eq!(of(counted(880, 10), near()).parts[0].layers, [Layer::Client]);
    // Reading ahead: four at the same time.
    let explained = of(counted(0, 3600), near());
    assert_eq!(
        (&explained.parts[0].layers[..], &explained.parts[0].lack),
        (&[Layer::Server][..], &Some(iolag_model::Lack::Overlap))
    );
}

#[test]
fn a_process_that_serves_is_named_by_the_looks_that_found_tasks_waiting_for_it() {
    let mut seen = mounted(
        seen(vec![storage(500), activity(TraceActivityKind::Time, 500, 1)]),
        ServedBy::Process,
        Counted::Nothing,
        Connecting::NoServer,
    );
    seen.looked_ns = Nanoseconds(1000 * MS);
    let functions = vec![("hrtimer_nanosleep".to_owned(), 95), ("request_wait_answer".to_owned(), 80)];
    seen.waits = Waits { looks: 200, functions };
    let explained = explain_command(seen.clone());
    let of_server = explained.parts.iter().find(|part| part.layers == [Layer::Server]).unwrap();
    // 80 of the 100 looks that fall into the calls on it.
    assert_eq!(of_server.time_ns, Nanoseconds(400 * MS));
    assert_eq!(
        of_server.reason,
        PartReason::ServingProcess { function: "request_wait_answer".into(), found: 80, looks: 100 }
    );
    seen.waits.functions = vec![("?".into(), 190)];
    let explained = explain_command(seen);
    assert!(
        explained.parts.iter().any(|part| part.layers == [Layer::Client, Layer::Server]),
        "{explained:?}"
    );
}

#[test]
fn what_to_change_is_what_its_trace_says() {
    let mut seen = seen(vec![activity(TraceActivityKind::LookUps("/mnt".into()), 900, 200), storage(100)]);
    seen.summary = TraceSummary {
        calls: 300,
        lookups: TraceLookups { calls: 250, absent: 200, absent_ns: Nanoseconds(900 * MS) },
        in_vain: iolag_model::TraceVain {
            directories: 100,
            calls: 200,
            time_ns: Nanoseconds(900 * MS),
            most: vec![iolag_model::VainDirectory {
                path: "/mnt/a".into(),
                looked_for: Some("x.py".into()),
                calls: 2,
                ..Default::default()
            }],
            ..iolag_model::TraceVain::default()
        },
        ..TraceSummary::default()
    };
    let explained = explain_command(seen);
    assert_eq!(
        explained.parts[0].reason,
        PartReason::Absent { absent: 200, look_ups: 250, tasks_ns: Nanoseconds(900 * MS) }
    );
    let [finding] = &explained.findings[..] else { panic!("{explained:?}") };
    let crate::finding::of_runs::RunFound::AskedInVain(found) = &finding.found else { panic!("{finding:?}") };
    assert_eq!(found.searched, Searched::PythonModules);
}

proptest! {
    #[test]
    fn the_parts_come_to_the_whole_whatever_was_seen(
        times in proptest::collection::vec(0_u64..5000, 9), round_trip in 0_u64..100_000, queue in 0_u64..1000,
        looks in 0_u64..300, found in 0_u64..900, served in 0..4, has_mount in any::<bool>(), counts in any::<bool>(),
    ) {
        use TraceActivityKind::{LookUps, NameService, Network, Others, Processes, Processor, Storage, Time, Unknown};
        let kinds = [
            LookUps("/mnt".into()), Storage("/mnt".into()), NameService, Processor, Time, Network, Others, Processes, Unknown,
        ];
        let activities = kinds.into_iter().zip(&times).map(|(kind, time)| activity(kind, *time, 3)).collect();
        let served_by =
            [ServedBy::ThisMachine, ServedBy::Process, ServedBy::Servers, ServedBy::Unknown][served as usize];
        let counted = if counts { counted(queue, round_trip) } else { Counted::Nothing };
        let connecting = Connecting::Took(Nanoseconds(MS));
        let mut seen = seen(activities);
        if has_mount {
            seen = mounted(seen, served_by, counted, connecting);
        }
        seen.looked_ns = Nanoseconds(1000 * MS);
        seen.waits = Waits { looks, functions: vec![("fuse_x".into(), found)] };
        let explained = explain_command(seen);
        let shares: f64 = explained.parts.iter().map(|part| part.share).sum();
        prop_assert!(explained.parts.iter().all(|part| (0.0..=1.000_001).contains(&part.share)));
        prop_assert!(explained.took_ns.0 == 0 || (shares - 1.0).abs() < 1e-6, "{shares}");
    }
}
