//! The examples in docs/backends.md are targets that parse.

use std::sync::Arc;

use iolag_backend::{WORKING_NAME, parse_target};
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
        let backend = parse_target(target, WORKING_NAME, Arc::new(SimulatedClock::default())).unwrap();
        assert_eq!(backend.describe().target, target);
    }
}
