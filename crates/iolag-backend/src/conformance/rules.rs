//! All rules, in each form of a session.

use super::conversation::{Form, Planted, Subject};
use super::{asynchronous, declared, lanes, marks, places, sessions};
use crate::{Backend, Place};

/// Runs every rule. `make` makes a backend for a target of its own, with nothing in it, at each call.
///
/// # Panics
/// If the backend breaks a rule.
pub fn conformance(make: impl Fn() -> Box<dyn Backend>) {
    run(&Subject { make: &make, plant: None });
}

/// As [`conformance`], and additionally that clean-up leaves what is not iolag's: `plant` puts something of its own into the
/// working place and into dataset `0_0` there.
///
/// # Panics
/// If the backend breaks a rule.
pub fn conformance_with_foreign(make: impl Fn() -> Box<dyn Backend>, plant: impl Fn(&Place) -> Planted) {
    run(&Subject { make: &make, plant: Some(&plant) });
}

fn run(subject: &Subject<'_>) {
    declared::run(subject);
    places::run(subject);
    for form in subject.forms() {
        places::run_in(subject, form);
        sessions::run(subject, form);
        marks::a_mark_lies_within_its_request(subject, form);
    }
    lanes::run(subject);
    if subject.forms().contains(&Form::Asynchronous) {
        asynchronous::run(subject);
    }
}
