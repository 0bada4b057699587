//! What is wrong with a plan as a whole, in the words of the plan and with the line of the key that is meant.

use std::ops::Range;

use iolag_conduct::Failure;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::documents::{DocumentError, Source};

/// What was refused of a plan that was read: the sentence has the options of the command line, whose names are those of keys. If the file has
/// none of them, what is meant is `otherwise`.
pub(super) fn told(source: &Source<'_>, otherwise: Range<usize>, failure: &Failure) -> DocumentError {
    let words: Vec<&str> = failure.sentence.split(' ').collect();
    let place = place(source.text, &words, otherwise.start).unwrap_or(otherwise);
    let plain: Vec<&str> = words.iter().map(|word| word.strip_prefix("--").unwrap_or(word)).collect();
    DocumentError::at(source.file, source.text, place, plain.join(" "))
}

/// Where the first option that the file has a key for stands there, and in a list the value that is named behind it; without any, what the
/// sentence calls by the name of a key of the `[[bench]]` that is `meant`, else the first.
fn place(text: &str, words: &[&str], meant: usize) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let top = document.get_ref();
    let bench = find(top, "bench").and_then(|benches| match benches.get_ref() {
        DeValue::Array(benches) => {
            let own = benches.iter().find(|bench| bench.span().contains(&meant));
            own.or_else(|| benches.iter().next())?.get_ref().as_table()
        }
        _ => None,
    });
    let (options, bench) = ([Some(top), bench], [bench]);
    let mut indices = 0..words.len();
    indices
        .find_map(|index| stands(&options, words, index, words[index].strip_prefix("--")?))
        .or_else(|| (0..words.len()).find_map(|index| stands(&bench, words, index, words[index])))
}

/// Where the key of this name, the word with this index, stands in the first of the tables that has it.
fn stands(tables: &[Option<&DeTable<'_>>], words: &[&str], index: usize, name: &str) -> Option<Range<usize>> {
    let name = name.trim_end_matches([',', ':', ';', '.']);
    let value = tables.iter().flatten().find_map(|table| find(table, name))?;
    let next = words.get(index + 1).copied().unwrap_or_default();
    let named = match value.get_ref() {
        DeValue::Array(values) => values.iter().find(|value| is_called(value.get_ref(), next)),
        _ => None,
    };
    Some(named.unwrap_or(value).span())
}

fn find<'a, 'i>(table: &'a DeTable<'i>, name: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    table.iter().find_map(|(key, value)| (key.get_ref() == name).then_some(value))
}

fn is_called(value: &DeValue<'_>, word: &str) -> bool {
    match value {
        DeValue::Integer(number) => number.as_str() == word,
        DeValue::String(text) => text == word,
        _ => false,
    }
}
