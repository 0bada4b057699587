//! Tags that processes of a run ask for.

use std::sync::Barrier;

use iolag_keeper::TAGS_MAX;
use iolag_model::TagKind;

use super::*;

#[test]
fn a_name_has_one_tag_in_all_processes_of_a_run_and_in_the_end_there_is_none() {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let tag = |exchange: &Exchange, number: usize| exchange.tag(TagKind::Server, &format!("node{number}"));
    let first = tag(&exchange, 0);
    let mut child = Child::fork("measurer", Orphanage::Die, || {
        let given: Vec<_> = (0..4).map(|number| tag(&exchange, number)).collect();
        i32::from(given != [Some(1), Some(2), Some(3), Some(4)])
    })
    .unwrap();
    assert_eq!((first, child.wait(LIMIT)), (Some(1), Some(Ending::Exited(0))));
    assert_eq!([tag(&exchange, 4), exchange.tag(TagKind::PathKind, "node1")], [Some(5), Some(6)]);
    let names: Vec<_> = exchange.tags().into_iter().map(|tag| (tag.tag, tag.name)).collect();
    let told = [(1, "node0"), (2, "node1"), (3, "node2"), (4, "node3"), (5, "node4"), (6, "node1")];
    assert_eq!(
        names,
        told.map(|(tag, name)| (tag, name.to_owned())),
        "also those of a process that has ended"
    );
    let given = (7..usize::from(TAGS_MAX)).filter_map(|number| tag(&exchange, number)).count();
    assert_eq!(given, usize::from(TAGS_MAX) - 7);
    let long = "ä".repeat(200);
    assert_eq!(exchange.tag(TagKind::Server, &long), Some(TAGS_MAX));
    assert_eq!(exchange.tags().last().unwrap().name, "ä".repeat(127));
    assert!(!exchange.lacked_tags());
    assert_eq!(exchange.tag(TagKind::Server, "one more"), None);
    assert!(exchange.lacked_tags());
    assert_eq!(tag(&exchange, 1), Some(2), "what is known goes on");
}

#[test]
fn a_name_that_many_mention_at_the_same_moment_has_one_tag() {
    const THREADS: usize = 8;
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let together = Barrier::new(THREADS);
    let ask = || {
        let tag = |number: usize| {
            together.wait();
            exchange.tag(TagKind::Server, &format!("node{number}"))
        };
        (0..500).map(tag).collect::<Vec<_>>()
    };
    let tags = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(tags, vec![(1..=500).map(Some).collect::<Vec<_>>(); THREADS]);
}

#[test]
fn long_names_are_fewer() {
    let exchange = Exchange::new(1, 1 << 20).unwrap();
    let named = |number: usize| exchange.tag(TagKind::Server, &format!("{number:0>255}"));
    assert_eq!((0..1000).filter_map(named).count(), (128 << 10) / 255);
    assert!(exchange.lacked_tags());
    assert_eq!(named(500), Some(501), "what is known goes on");
    assert!(exchange.tags().iter().zip(0..).all(|(tag, number)| tag.name == format!("{number:0>255}")));
}
