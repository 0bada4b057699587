//! For what copies waited, in words.

use iolag_analysis::{WaitsFor, joined};
use iolag_model::{counted, format_count};

/// `From 4 copies on they wait for the processors of this machine, and not for the storage: …`; nothing if they do at no number of these.
pub(crate) fn waits_sentence(levels: impl Iterator<Item = (u32, Option<WaitsFor>)>) -> Option<String> {
    let levels: Vec<(u32, Option<WaitsFor>)> = levels.collect();
    let is_for_processors = |(_, waits): &(u32, Option<WaitsFor>)| *waits == Some(WaitsFor::Processors);
    let first = levels.iter().find(|level| is_for_processors(level))?.0;
    if levels.iter().all(is_for_processors) {
        return Some(
            "At every number of copies the processors of the machine that measured set the pace, and not the storage: it answers from memory, or they are busy \
             with something else."
                .to_owned(),
        );
    }
    let which = if levels.iter().all(|level| level.0 < first || is_for_processors(level)) {
        format!("From {} on", counted(u64::from(first), "copy", "copies"))
    } else {
        let some = levels.iter().filter(|level| is_for_processors(level));
        let some = some.map(|level| format_count(u64::from(level.0))).collect();
        format!("At {} copies", joined(some))
    };
    Some(format!(
        "{which} they wait for the processors of the machine that measured, and not for the storage: more processors, or fewer copies on each machine, would \
         show what the storage does."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use WaitsFor::{Processors, Storage};

    #[test]
    fn it_is_said_from_where_on_it_is_the_processors() {
        let said = |waits: [Option<WaitsFor>; 3]| waits_sentence([1, 2, 4].into_iter().zip(waits));
        let begins =
            |waits, expected: &str| assert!(said(waits).unwrap().starts_with(expected), "{:?}", said(waits));
        assert_eq!([said([Some(Storage); 3]), said([None; 3])], [None, None]);
        begins([Some(Processors); 3], "At every number of copies the processors of the machine");
        begins([Some(Storage), Some(Processors), Some(Processors)], "From 2 copies on they");
        begins([Some(Processors), None, Some(Processors)], "At 1 and 4 copies they");
    }
}
