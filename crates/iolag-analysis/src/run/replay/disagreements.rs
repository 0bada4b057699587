//! Which calls of a replay came back otherwise than when they were traced, as far as its clients said.

use iolag_model::{Detail, DetailKind};
use serde::Serialize;

/// So many are told.
const TOLD_MAX: usize = 20;

/// A call that came back otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Call, path, what came, and what the trace has.
    pub text: String,
    /// How often that was said.
    pub calls: u64,
}

/// The first of them, each once.
pub(crate) fn first_of(details: &[Detail]) -> Vec<Disagreement> {
    let mut told: Vec<Disagreement> = Vec::new();
    for detail in details.iter().filter(|detail| detail.kind == DetailKind::Message) {
        match told.iter().position(|known| known.text == detail.text) {
            Some(known) => told[known].calls += 1,
            None if told.len() < TOLD_MAX => {
                told.push(Disagreement { text: detail.text.clone(), calls: 1 });
            }
            None => {}
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::AttemptId;

    #[test]
    fn what_several_copies_said_is_told_once_and_the_first_twenty_are() {
        let said = |number: u64, kind| Detail { attempt: AttemptId(number), kind, text: format!("{number}") };
        let mut details = vec![said(7, DetailKind::Message), said(0, DetailKind::Subject)];
        details.extend((0..30).map(|number| said(number, DetailKind::Message)));
        let told = first_of(&details);
        assert_eq!(told.len(), 20);
        assert_eq!((told[0].text.as_str(), told[0].calls, told[1].calls), ("7", 2, 1));
    }
}
