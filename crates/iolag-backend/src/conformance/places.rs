//! Rules about working places.

use iolag_model::{ErrorClass, Operation};

use super::conversation::{Conversation, Form, Subject, object, options};
use super::maker::maker;
use crate::{BackendError, Inventory, Request};

pub(super) fn run(subject: &Subject<'_>) {
    a_session_needs_a_place(subject);
    a_place_with_something_in_it_is_refused(subject);
    a_place_can_be_found_again(subject);
    the_inventory_counts_what_is_there(subject);
    clean_up_removes_everything_and_may_be_repeated(subject);
    clean_up_leaves_what_is_not_ours(subject);
}

fn a_session_needs_a_place(subject: &Subject<'_>) {
    let backend = (subject.make)();
    assert!(backend.open_session(&options()).is_err(), "a session must not open before there is a place");
    assert!(
        matches!(backend.reopen_place(), Err(BackendError::NoWorkingSet { .. })),
        "a place must not be found before it was made"
    );
}

fn a_place_with_something_in_it_is_refused(subject: &Subject<'_>) {
    let backend = subject.backend();
    assert!(backend.create_place(&maker()).is_ok(), "an empty place may be used");
    drop(Conversation::with_dataset(backend.as_ref(), Form::Blocking));
    let answer = backend.create_place(&maker());
    let is_refused = matches!(answer, Err(BackendError::NotEmpty { .. } | BackendError::Claimed { .. }));
    assert!(is_refused, "a place with a dataset: {answer:?}");
}

fn a_place_can_be_found_again(subject: &Subject<'_>) {
    let backend = (subject.make)();
    let made = backend.create_place(&maker()).expect("a place can be made in a target with nothing in it");
    assert!(backend.reopen_place().is_err(), "a place without datasets holds no working set");
    drop(Conversation::with_dataset(backend.as_ref(), Form::Blocking));
    let found = backend.reopen_place().expect("a place with a dataset is found again");
    assert_eq!(made, found, "a place is the same when it is found again");
    backend.expect_place(&made);
    backend.reopen_place().expect("a place is found again when the manifest names it");
}

fn the_inventory_counts_what_is_there(subject: &Subject<'_>) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), Form::Blocking);
    let count = || backend.inventory(0, 0).expect("a dataset that was made can be counted");
    assert_eq!(count(), Inventory::default());
    for index in [0, 1, 10] {
        session.must(Request::new(Operation::Create, object(index), 1));
    }
    session.must(Request::new(Operation::Delete, object(1), 0));
    assert_eq!(count(), Inventory { objects: 2, foreign: 0 });
    match backend.inventory(0, 1) {
        Err(BackendError::Failed { class: ErrorClass::NotFound, .. }) => {}
        other => panic!("the inventory of a missing dataset is {other:?}, not an error of class not found"),
    }
}

fn clean_up_removes_everything_and_may_be_repeated(subject: &Subject<'_>) {
    let backend = subject.backend();
    let mut session = Conversation::with_dataset(backend.as_ref(), Form::Blocking);
    for index in 0..2000 {
        session.must(Request::new(Operation::Create, object(index), 1));
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
    let place = backend.create_place(&maker()).expect("a place can be made in a target with nothing in it");
    let mut session = Conversation::with_dataset(backend.as_ref(), Form::Blocking);
    session.must(Request::new(Operation::Create, object(0), 1));
    let planted = plant(&place);
    let counted = backend.inventory(0, 0).expect("a dataset that was made can be counted");
    assert_eq!(counted, Inventory { objects: 1, foreign: 1 });
    for _ in 0..2 {
        let leftovers = backend.remove_place().expect("clean-up reaches its target");
        assert_eq!(leftovers.len(), planted, "clean-up left {leftovers:?}");
    }
    session.must_fail(Request::new(Operation::Stat, object(0), 1), ErrorClass::NotFound);
}
