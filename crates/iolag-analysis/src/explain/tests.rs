use iolag_model::{
    CacheWord, CallTimes, Connecting, Counted, FileSystem, ListPair, ProbeEnd, RequestTimes, ServedBy, Waits,
};
use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

fn probed(milliseconds: u64) -> Probed {
    Probed {
        took_ns: Nanoseconds(milliseconds * MS),
        end: ProbeEnd::Ended,
        processor_ns: Nanoseconds(2 * MS),
        counted: Counted::Nothing,
        waits: Waits::default(),
    }
}

/// `ls -l` and `ls -n` in milliseconds.
fn place(first: u64, again: u64, pairs: &[(u64, u64)]) -> SeenPlace {
    let pair = |&(names, numbers): &(u64, u64)| ListPair { names: probed(names), numbers: probed(numbers) };
    SeenPlace {
        directory: "/data".into(),
        file_system: FileSystem::default(),
        served_by: ServedBy::ThisMachine,
        names: 100,
        first: probed(first),
        again: probed(again),
        pairs: pairs.iter().map(pair).collect(),
        start_ns: Nanoseconds(3 * MS),
        connecting: Connecting::NoServer,
    }
}

/// What an NFS counts while 100 names are asked about: the times of each request in microseconds.
fn nfs(queue: u64, round_trip: u64) -> Counted {
    let of = |name: &str, requests: u64| RequestTimes {
        name: name.into(),
        requests,
        resent: 0,
        queue_ns: Nanoseconds(requests * queue * 1000),
        round_trip_ns: Nanoseconds(requests * round_trip * 1000),
        execute_ns: Nanoseconds(requests * (queue + round_trip) * 1000),
    };
    Counted::Requests(vec![of("READDIRPLUS", 4), of("GETATTR", 96)])
}

/// An NFS where each of 100 requests takes so many microseconds here and there; nothing is kept.
fn nfs_place(queue: u64, round_trip: u64, connecting: Connecting) -> SeenPlace {
    let took = (queue + round_trip) / 10 + 5;
    let mut seen = place(took, took, &[(took, took); 5]);
    (seen.served_by, seen.connecting) = (ServedBy::Servers, connecting);
    seen.first.counted = nfs(queue, round_trip);
    seen.again.counted = nfs(queue, round_trip);
    for pair in &mut seen.pairs {
        pair.numbers.counted = nfs(queue, round_trip);
    }
    seen
}

fn cause(explanation: &Explanation) -> (&[Layer], f64) {
    (&explanation.parts[0].layers, explanation.parts[0].share)
}

#[test]
fn a_slow_name_service_is_named_with_its_share() {
    let explained = explain(place(20, 15, &[(1020, 20), (1021, 19), (1019, 20), (1025, 22), (1020, 20)]));
    assert_eq!(explained.word, ExplanationWord::Because);
    assert_eq!(explained.names.word, NameServiceWord::TakesTime);
    let (layers, share) = cause(&explained);
    assert_eq!(layers, [Layer::NameService]);
    assert!((0.97..0.99).contains(&share), "{share}");
    assert_eq!(explained.took_ns, Nanoseconds(1020 * MS));
}

#[test]
fn a_name_service_that_does_not_answer_at_all_is_named_and_once_is_an_accident() {
    let mut seen = place(20, 15, &[(15_000, 20), (15_000, 19)]);
    seen.pairs.iter_mut().for_each(|pair| pair.names.end = ProbeEnd::CutOff);
    assert_eq!(cause(&explain(seen.clone())).0, [Layer::NameService]);
    seen.pairs[0] = ListPair { names: probed(21), numbers: probed(20) };
    let once = explain(seen);
    assert_eq!((once.names.word, once.names.cut_off), (NameServiceWord::CannotTell, 1));
}

#[test]
fn what_was_longer_once_is_not_told_as_the_name_service() {
    let explained = explain(place(20, 15, &[(3020, 20), (21, 19), (20, 20), (23, 22), (20, 20)]));
    assert_eq!(explained.names.word, NameServiceWord::OnlyFirst);
    assert_eq!(explained.word, ExplanationWord::CannotTell);
    assert_eq!(cause(&explained).0, []);
    assert_eq!(explained.parts[0].lack, Some(Lack::Steadiness));
    let later = explain(place(20, 15, &[(20, 20), (21, 19), (20, 20), (2023, 22), (20, 20)]));
    assert_ne!(later.names.word, NameServiceWord::TakesTime);
    assert_eq!(later.word, ExplanationWord::NotSlow);
}

#[test]
fn a_slow_network_is_told_from_a_slow_server_by_the_way_to_it() {
    let network = explain(nfs_place(100, 50_000, Connecting::Took(Nanoseconds(48 * MS))));
    assert_eq!((network.word.clone(), cause(&network).0), (ExplanationWord::Because, &[Layer::Network][..]));
    assert!((0.94..0.97).contains(&cause(&network).1), "{:?}", network.parts);
    let server = explain(nfs_place(100, 50_000, Connecting::Took(Nanoseconds(MS / 5))));
    assert_eq!((server.word.clone(), cause(&server).0), (ExplanationWord::Because, &[Layer::Server][..]));
    assert!((0.98..1.0).contains(&cause(&server).1), "{:?}", server.parts);
    let unknown = explain(nfs_place(100, 50_000, Connecting::Unknown("it is refused".into())));
    assert_eq!(cause(&unknown).0, [Layer::Network, Layer::Server]);
    assert_eq!(unknown.parts[0].lack, Some(Lack::Way("it is refused".into())));
    for explained in [network, server, unknown] {
        assert_eq!(explained.caches.word, CacheWord::NotKept);
    }
}

#[test]
fn what_waits_here_to_be_sent_is_the_clients() {
    let explained = explain(nfs_place(50_000, 1_000, Connecting::Took(Nanoseconds(MS / 5))));
    assert_eq!(cause(&explained).0, [Layer::Client]);
    let PartReason::Queue { requests, queue_ns } = explained.parts[0].reason else { panic!("{explained:?}") };
    assert_eq!(requests, 500);
    assert_eq!(queue_ns, Nanoseconds(500 * 50 * MS));
}

#[test]
fn where_others_asked_more_than_we_waited_nothing_is_told() {
    let mut seen = nfs_place(0, 50_000, Connecting::Took(Nanoseconds(48 * MS)));
    let of_others = nfs(0, 500_000);
    seen.first.counted = of_others.clone();
    seen.pairs.iter_mut().for_each(|pair| pair.numbers.counted = of_others.clone());
    let explained = explain(seen);
    assert_eq!(explained.word, ExplanationWord::CannotTell);
    assert_eq!(explained.parts[0].lack, Some(Lack::Others));
}

#[test]
fn who_waits_for_the_answer_to_another_task_waits_for_the_same_process() {
    let mut seen = place(2000, 2000, &[(8010, 8000), (7990, 8000), (8000, 8000), (8010, 8000), (7990, 8000)]);
    seen.served_by = ServedBy::Process;
    let functions = vec![("d_alloc_parallel".into(), 50), ("request_wait_answer".into(), 48)];
    let waits = Waits { looks: 100, functions };
    seen.pairs.iter_mut().for_each(|pair| pair.numbers.waits = waits.clone());
    assert_eq!(cause(&explain(seen)), (&[Layer::Server][..], 0.96));
}

#[test]
fn the_process_behind_a_file_system_is_named_where_it_is_waited_for() {
    let mut seen = place(2000, 2000, &[(8010, 8000), (7990, 8000), (8000, 8000), (8010, 8000), (7990, 8000)]);
    seen.served_by = ServedBy::Process;
    let waits = Waits { looks: 100, functions: vec![("request_wait_answer".into(), 96)] };
    seen.pairs.iter_mut().for_each(|pair| pair.numbers.waits = waits.clone());
    let explained = explain(seen.clone());
    assert_eq!(
        (explained.word.clone(), cause(&explained)),
        (ExplanationWord::Because, (&[Layer::Server][..], 0.96))
    );
    assert_eq!(explained.names.word, NameServiceWord::TakesNone);
    assert_eq!(explained.caches.word, CacheWord::NotKept);
    let unknown = Waits { looks: 100, functions: vec![("?".into(), 96)] };
    seen.pairs.iter_mut().for_each(|pair| pair.numbers.waits = unknown.clone());
    let explained = explain(seen);
    assert_eq!(cause(&explained).0, [Layer::Client, Layer::Server]);
    assert_eq!(explained.parts[0].lack, Some(Lack::Functions));
}

#[test]
fn without_counters_or_with_those_of_calls_only_servers_are_not_told_from_the_way() {
    let mut seen = place(2000, 20, &[(30, 30); 5]);
    seen.served_by = ServedBy::Servers;
    let explained = explain(seen.clone());
    assert_eq!((explained.word, explained.subject), (ExplanationWord::CannotTell, Subject::First));
    assert_eq!(explained.parts[0].lack, Some(Lack::Counters));
    assert_eq!(explained.caches.word, CacheWord::Kept);
    let calls = vec![CallTimes { name: "getattr".into(), calls: 100, took_ns: None }];
    seen.first.counted = Counted::Calls(calls);
    assert_eq!(explain(seen.clone()).parts[0].lack, Some(Lack::Requests));
    seen.first.counted = Counted::Unknown("no".into());
    assert_eq!(explain(seen).parts[0].lack, Some(Lack::CountersUnread("no".into())));
}

#[test]
fn lustre_is_divided_by_its_requests_also_where_several_are_under_way() {
    let lustre = |connecting: Connecting, times: u64| {
        let mut seen = nfs_place(0, 20_000, connecting);
        seen.file_system.kind = "lustre".into();
        for pair in &mut seen.pairs {
            pair.numbers.counted = nfs(0, 20_000 * times);
        }
        seen.first.took_ns = Nanoseconds(MS);
        explain(seen)
    };
    let unknown = || Connecting::Unknown("iolag opens no connection".into());
    let explained = lustre(unknown(), 1);
    assert_eq!(explained.word, ExplanationWord::Because);
    assert_eq!(explained.parts[0].layers, [Layer::Network, Layer::Server]);
    assert!((explained.parts[0].share - 2000.0 / 2005.0).abs() < 0.001, "{:?}", explained.parts);
    // Attributes of the names that come next: each waits for its part of the time.
    let explained = lustre(Connecting::Took(Nanoseconds(15 * MS)), 3);
    assert_eq!(
        (&explained.parts[0].layers[..], &explained.parts[0].lack),
        (&[Layer::Server][..], &Some(Lack::Overlap))
    );
    assert!((explained.parts[0].share - 0.75).abs() < 0.001, "{:?}", explained.parts);
    assert!((explained.parts[1].share - 0.25).abs() < 0.001, "{:?}", explained.parts);
    // That much can only be of others.
    let explained = lustre(unknown(), 40);
    assert_eq!(explained.parts[0].lack, Some(Lack::Others));
}

#[test]
fn what_nobody_waits_for_is_not_slow() {
    let explained = explain(place(9, 8, &[(12, 11); 5]));
    assert_eq!(explained.word, ExplanationWord::NotSlow);
    let explained = explain(place(209, 8, &[(12, 11); 5]));
    assert_eq!(explained.word, ExplanationWord::Because, "2 ms for each name");
}

fn any_probed() -> impl Strategy<Value = Probed> {
    let counted = prop_oneof![
        Just(Counted::Nothing),
        Just(Counted::Unknown("why".into())),
        (0_u64..100_000, 0_u64..100_000).prop_map(|(queue, round_trip)| nfs(queue, round_trip)),
        Just(Counted::Calls(Vec::new())),
    ];
    (0_u64..100_000, 0_u64..100, 0_u64..100, any::<bool>(), counted).prop_map(
        |(took, looks, found, ended, counted)| Probed {
            end: if ended { ProbeEnd::Ended } else { ProbeEnd::CutOff },
            counted,
            waits: Waits { looks, functions: vec![("request_wait_answer".into(), found.min(looks))] },
            ..probed(took)
        },
    )
}

proptest! {
    #[test]
    fn the_parts_come_to_the_whole_whatever_was_seen(
        first in any_probed(), again in any_probed(), names in 0_u64..500, connect in 0_u64..100,
        pairs in proptest::collection::vec((any_probed(), any_probed()), 0..6), served in 0..4,
    ) {
        let pairs = pairs.into_iter().map(|(names, numbers)| ListPair { names, numbers }).collect();
        let served_by =
            [ServedBy::ThisMachine, ServedBy::Process, ServedBy::Servers, ServedBy::Unknown][served as usize];
        let connecting = Connecting::Took(Nanoseconds(connect * MS));
        let seen = SeenPlace { first, again, names, pairs, served_by, connecting, ..place(0, 0, &[]) };
        let explained = explain(seen);
        let shares: f64 = explained.parts.iter().map(|part| part.share).sum();
        prop_assert!(explained.parts.iter().all(|part| (0.0..=1.000_001).contains(&part.share)));
        prop_assert!(shares <= 1.000_001, "{shares}");
        // Nothing to be divided, or all of it is.
        prop_assert!(explained.took_ns.0 == 0 || shares > 0.999_999 || explained.seen.pairs.iter().all(|pair| pair.numbers.took_ns.0 == 0), "{shares}");
    }
}
