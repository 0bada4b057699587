//! The examples in docs/backends.md are targets that parse.

use std::sync::Arc;

use iolag_backend::{Target, WORKING_NAME};
use iolag_model::SimulatedClock;

#[test]
fn every_wrapped_target_in_the_documentation_parses() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/backends.md");
    let text = std::fs::read_to_string(page).unwrap();
    let targets: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.starts_with("delayed:") || code.starts_with("faulty:"))
        .filter(|code| !code.contains(":TARGET"))
        .collect();
    assert!(targets.len() >= 5, "{targets:?}");
    for target in targets {
        let parsed = Target::parse(target).unwrap();
        let backend = parsed.backend(WORKING_NAME, Arc::new(SimulatedClock::default())).unwrap();
        assert_eq!((backend.describe().target, parsed.to_string()), (target.to_owned(), target.to_owned()));
    }
}
