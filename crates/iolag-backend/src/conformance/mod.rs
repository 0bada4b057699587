//! The rules that every backend obeys, for the tests of each of them.
//!
//! A rule panics with a sentence that names it, the operation and the answer. Each rule works in a target of its own, made by
//! the caller's function, and is run with the blocking form of a session and, where there is one, with the asynchronous
//! form: both must give the same results.

mod conversation;
mod places;
mod sessions;

use iolag_model::{PlaceMaker, PlaceToken, RunId};

use crate::{Backend, Place};
use conversation::{Form, Subject};

/// Runs every rule. `make` makes a backend for a target of its own, with nothing in it, at each call.
///
/// # Panics
/// If the backend breaks a rule.
pub fn conformance(make: impl Fn() -> Box<dyn Backend>) {
    run(&Subject { make: &make, plant: None });
}

/// As [`conformance`], and additionally that clean-up leaves what is not iolag's: `plant` puts one thing of its own into the
/// working place and one into each dataset `0_0` there, and returns how many these were.
///
/// # Panics
/// If the backend breaks a rule.
pub fn conformance_with_foreign(make: impl Fn() -> Box<dyn Backend>, plant: impl Fn(&Place) -> usize) {
    run(&Subject { make: &make, plant: Some(&plant) });
}

/// Somebody who makes a working place.
pub fn maker() -> PlaceMaker {
    let run = RunId::new("20261122-120000", 1).expect("it has the form of a run's name");
    PlaceMaker { run, token: PlaceToken(1) }
}

fn run(subject: &Subject<'_>) {
    places::run(subject);
    for form in [Form::Blocking, Form::Asynchronous] {
        if subject.has(form) {
            sessions::run(subject, form);
        }
    }
    sessions::a_dropped_session_leaks_no_descriptor(subject);
}
