//! Who makes the working places of the tests.

use iolag_model::{PlaceMaker, PlaceToken, RunId};

/// Somebody who makes a working place.
pub fn maker() -> PlaceMaker {
    let run = RunId::new("20261122-120000", 1).expect("it has the form of a run's name");
    PlaceMaker { run, token: PlaceToken(1) }
}
