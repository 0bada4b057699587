//! For what copies waited, in words.

use iolag_analysis::{WaitsFor, joined};
use iolag_model::{counted, format_count};

/// `From 4 copies on they took most of what they could use of the processors: …`; nothing if they wait for the storage, or if that is not known.
pub(crate) fn waits_sentence(levels: impl Iterator<Item = (u32, Option<WaitsFor>)>) -> Option<String> {
    let levels: Vec<(u32, Option<WaitsFor>)> = levels.collect();
    let told = [
        (
            WaitsFor::Processors,
            "they took most of what they could use of the processors of the machine that measured: more processors, or fewer copies on each machine, would show \
             what the storage does",
        ),
        (
            WaitsFor::OthersOrStorage,
            "other programs kept the processors of the machine that measured busy: whether copies waited for these or for the storage is not known, and measuring \
             while nothing else runs would show it",
        ),
        (
            WaitsFor::Pauses,
            "most of the time of a copy is pauses, in which the program computed: a faster storage would change little",
        ),
    ];
    let sentence = |(waits, what): (WaitsFor, &str)| Some(format!("{} {what}.", at_which(&levels, waits)?));
    let sentences: Vec<String> = told.into_iter().filter_map(sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// `At every number of copies`, `From 4 copies on` or `With 2 and 8 copies`; nothing with none.
fn at_which(levels: &[(u32, Option<WaitsFor>)], waits: WaitsFor) -> Option<String> {
    let is_so = |level: &&(u32, Option<WaitsFor>)| level.1 == Some(waits);
    let first = levels.iter().find(is_so)?.0;
    if levels.iter().all(|level| is_so(&level)) {
        return Some("At every number of copies".to_owned());
    }
    if levels.len() > 1 && levels.iter().all(|level| level.0 < first || is_so(&level)) {
        return Some(format!("From {} on", counted(u64::from(first), "copy", "copies")));
    }
    let some: Vec<u32> = levels.iter().filter(is_so).map(|level| level.0).collect();
    let noun = if some == [1] { "copy" } else { "copies" };
    let names = some.iter().map(|copies| format_count(u64::from(*copies))).collect();
    Some(format!("With {} {noun}", joined(names)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use WaitsFor::{OthersOrStorage, Pauses, Processors, Storage};

    #[test]
    fn it_is_said_from_where_on_it_is_the_processors() {
        let said = |waits: [Option<WaitsFor>; 3]| waits_sentence([1, 2, 4].into_iter().zip(waits));
        let begins =
            |waits, expected: &str| assert!(said(waits).unwrap().starts_with(expected), "{:?}", said(waits));
        assert_eq!([said([Some(Storage); 3]), said([None; 3])], [None, None]);
        begins([Some(Processors); 3], "At every number of copies they took most of what they could use");
        begins([Some(Storage), Some(Processors), Some(Processors)], "From 2 copies on they");
        begins([Some(Processors), None, Some(Processors)], "With 1 and 4 copies they");
        begins([Some(Pauses), Some(Storage), None], "With 1 copy most of the time of a copy is pauses");
        let both = said([Some(Storage), Some(OthersOrStorage), Some(Processors)]).unwrap();
        assert!(
            both.starts_with("From 4 copies on they took") && both.contains(". With 2 copies other"),
            "{both}"
        );
    }
}
