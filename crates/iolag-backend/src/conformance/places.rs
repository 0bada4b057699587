//! Rules about working places.

use iolag_model::{ErrorClass, Operation, PlaceMaker, PlaceToken, RunId};

use super::conversation::{Conversation, Form, Subject, options, request};
use super::maker::maker;
use crate::{Backend, BackendError, Inventory, Place, PlaceProof};

pub(super) fn run(subject: &Subject<'_>) {
    a_place_with_something_in_it_is_refused(subject);
    a_place_can_be_found_again(subject);
    a_place_is_known_as_declared(subject);
    a_place_says_whose_it_is(subject);
    the_inventory_counts_what_is_there(subject);
    clean_up_removes_everything_and_may_be_repeated(subject);
    clean_up_leaves_what_is_not_ours(subject);
}

pub(super) fn run_in(subject: &Subject<'_>, form: Form) {
    a_session_needs_a_place(subject, form);
    clean_up_for_another_run_removes_nothing(subject, form);
}

fn a_session_needs_a_place(subject: &Subject<'_>, form: Form) {
    let backend = (subject.make)();
    let opened = Conversation::try_open(backend.as_ref(), form, &options());
    assert!(opened.is_err(), "a session must not open before there is a place");
    assert!(
        matches!(backend.reopen_place(), Err(BackendError::NoWorkingSet { .. })),
        "a place must not be found before it was made"
    );
}

fn a_place_with_something_in_it_is_refused(subject: &Subject<'_>) {
    let backend = subject.backend();
    assert!(backend.create_place(&maker()).is_ok(), "an empty place may be used");
    drop(Conversation::with_working_set(backend.as_ref(), Form::Blocking));
    let answer = backend.create_place(&maker());
    let is_refused = matches!(answer, Err(BackendError::NotEmpty { .. } | BackendError::Claimed { .. }));
    assert!(is_refused, "a place with a dataset: {answer:?}");
}

fn a_place_can_be_found_again(subject: &Subject<'_>) {
    let backend = (subject.make)();
    let made = make_place(backend.as_ref());
    assert!(backend.reopen_place().is_err(), "a place without datasets holds no working set");
    drop(Conversation::with_working_set(backend.as_ref(), Form::Blocking));
    let found = backend.reopen_place().expect("a place with a dataset is found again");
    assert_eq!(made, found, "a place is the same when it is found again");
    backend.expect_place(&made);
    backend.reopen_place().expect("a place is found again when the manifest names it");
}

fn a_place_is_known_as_declared(subject: &Subject<'_>) {
    let backend = (subject.make)();
    let declared = backend.capabilities().semantics.place;
    let place = make_place(backend.as_ref());
    let wanted = match declared {
        PlaceProof::Process => (false, None),
        PlaceProof::Identity => (true, Some(maker().token)),
        PlaceProof::Marker => (false, Some(maker().token)),
    };
    let known = (place.identity.is_some(), place.token);
    assert_eq!(known, wanted, "{declared:?} is declared: whether the place has an identity, and its token");
}

/// Others can come there, and are told.
fn a_place_says_whose_it_is(subject: &Subject<'_>) {
    let backend = subject.backend();
    let declared = backend.capabilities().semantics.place;
    if declared == PlaceProof::Process {
        return;
    }
    let run = RunId::new("20261122-120000", 2).expect("it has the form of a run's name");
    let answer = backend.create_place(&PlaceMaker { run, token: PlaceToken(2) });
    match answer {
        Err(BackendError::Claimed { run, .. }) => assert_eq!(run, maker().run, "whose the place is"),
        other => panic!("{declared:?} is declared, another run that makes the place is told {other:?}"),
    }
}

/// Neither for one with another token, whose marker is not there, nor for one that has none.
fn clean_up_for_another_run_removes_nothing(subject: &Subject<'_>, form: Form) {
    let backend = (subject.make)();
    let declared = backend.capabilities().semantics.place;
    if declared == PlaceProof::Process {
        return;
    }
    let made = make_place(backend.as_ref());
    let mut session = Conversation::with_dataset(backend.as_ref(), form);
    session.must(request(Operation::Create, 0, 10));
    for token in [Some(PlaceToken(2)), None] {
        backend.expect_place(&Place { token, identity: None, ..made.clone() });
        let answer = backend.remove_place();
        let is_refused = answer.as_ref().map_or(true, |leftovers| !leftovers.is_empty());
        assert!(is_refused, "{declared:?} is declared, clean-up for {token:?} says that nothing is left");
        let still_there = session.ask(request(Operation::Read, 0, 10));
        assert!(
            still_there.is_ok(),
            "{declared:?} is declared, clean-up for {token:?} has removed an object"
        );
    }
    backend.expect_place(&made);
    let found = backend.reopen_place().expect("a place that another's clean-up left is found again");
    assert_eq!(found, made, "a place is the same after another's clean-up");
    let leftovers = backend.remove_place().expect("clean-up reaches its target");
    assert!(leftovers.is_empty(), "clean-up left {leftovers:?}");
    session.must_fail(request(Operation::Stat, 0, 10), ErrorClass::NotFound);
}

fn the_inventory_counts_what_is_there(subject: &Subject<'_>) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), Form::Blocking);
    let count = || backend.inventory(0, 0).expect("a dataset that was made can be counted");
    assert_eq!(count(), Inventory::default());
    for index in [0, 1, 10] {
        session.must(request(Operation::Create, index, 1));
    }
    session.must(request(Operation::Delete, 1, 0));
    assert_eq!(count(), Inventory { objects: 2, foreign: 0 });
}

fn clean_up_removes_everything_and_may_be_repeated(subject: &Subject<'_>) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), Form::Blocking);
    for index in 0..2000 {
        session.must(request(Operation::Create, index, 1));
    }
    drop(session);
    for _ in 0..2 {
        let leftovers = backend.remove_place().expect("clean-up reaches its target");
        assert!(leftovers.is_empty(), "clean-up left {leftovers:?}");
        assert!(backend.reopen_place().is_err(), "a removed place must not be found");
    }
    backend.create_place(&maker()).expect("a place can be made again after clean-up");
}

fn clean_up_leaves_what_is_not_ours(subject: &Subject<'_>) {
    let Some(plant) = subject.plant else { return };
    let backend = (subject.make)();
    let place = make_place(backend.as_ref());
    let mut session = Conversation::with_dataset(backend.as_ref(), Form::Blocking);
    session.must(request(Operation::Create, 0, 1));
    let planted = plant(&place);
    let counted = backend.inventory(0, 0).expect("a dataset that was made can be counted");
    assert_eq!(counted, Inventory { objects: 1, foreign: planted.in_dataset });
    for _ in 0..2 {
        let leftovers = backend.remove_place().expect("clean-up reaches its target");
        let expected = planted.beside + planted.in_dataset;
        assert_eq!(leftovers.len() as u64, expected, "clean-up left {leftovers:?}");
    }
    session.must_fail(request(Operation::Stat, 0, 1), ErrorClass::NotFound);
}

fn make_place(backend: &dyn Backend) -> Place {
    backend.create_place(&maker()).expect("a place can be made in a target with nothing in it")
}
