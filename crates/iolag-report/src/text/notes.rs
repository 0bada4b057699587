//! `iolag history notes`.

use iolag_model::{Event, one_line};

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns};
use crate::words::numbers::{NOTHING, moment};

/// How much of an id tells events apart.
const ID_CHARACTERS: usize = 8;

/// A line per event: the beginning of its id, when in UTC, what it concerns, what happened, and who says so.
pub fn notes_text(events: &[Event], colour: Colour) -> String {
    let names = ["id", "begin (UTC)", "end (UTC)", "host", "target", "kind", "what happened", "by"];
    let mut table = Table::new(vec![ColumnGroup {
        title: String::new(),
        columns: columns(names.map(|name| (name, Side::Left))),
    }]);
    for event in events {
        let known =
            |text: &str, all: &str| Cell::new(if text.is_empty() { all.to_owned() } else { one_line(text) });
        table.row(vec![
            Cell::toned(event.id.chars().take(ID_CHARACTERS).collect::<String>(), Tone::Strong),
            Cell::new(moment(event.begin)),
            Cell::new(event.end.map_or_else(|| NOTHING.to_owned(), moment)),
            known(&event.host, "all"),
            known(&event.target, "all"),
            known(&event.kind, NOTHING),
            known(&event.text, NOTHING),
            known(&event.author, NOTHING),
        ]);
    }
    table.render(colour)
}
