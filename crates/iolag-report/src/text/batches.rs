//! `iolag history batches`.

use iolag_model::{BatchContent, format_count, one_line};

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns};
use crate::words::numbers::{NOTHING, moment};

/// A line per import, oldest first: id, when in UTC, by whom, what of it counts, and how it was read.
pub fn batches_text(batches: &[BatchContent], colour: Colour) -> String {
    let (left, right) = (Side::Left, Side::Right);
    let columns = columns([
        ("batch", left),
        ("imported (UTC)", left),
        ("by", left),
        ("samples", right),
        ("events", right),
        ("state", left),
        ("file", left),
        ("read with", left),
    ]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for content in batches {
        let batch = &content.batch;
        let known = |text: &str| if text.is_empty() { NOTHING.to_owned() } else { one_line(text) };
        let made = if content.is_described { moment(batch.made) } else { NOTHING.to_owned() };
        table.row(vec![
            Cell::toned(batch.id.to_string(), Tone::Strong),
            Cell::new(made),
            Cell::new(known(&batch.author)),
            Cell::new(format_count(content.samples_counting + content.samples_beside)),
            Cell::new(format_count(content.events)),
            state(content),
            Cell::new(known(&batch.file)),
            Cell::new(known(&batch.options)),
        ]);
    }
    table.render(colour)
}

fn state(content: &BatchContent) -> Cell {
    match (content.batch.undone, content.samples_counting, content.samples_beside) {
        (Some(undone), ..) => Cell::toned(format!("undone {}", moment(undone)), Tone::Warning),
        (None, _, 0) => Cell::toned("counts", Tone::Good),
        (None, 0, _) => Cell::new("replaced"),
        (None, _, beside) => Cell::new(format!("{} replaced", format_count(beside))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Batch, BatchId, WallTime};

    #[test]
    fn what_counts_is_told_from_what_was_replaced_and_undone() {
        let content = |samples_counting, samples_beside, undone: Option<i64>| BatchContent {
            batch: Batch {
                id: BatchId(0x18bc_fe56_8000_000a),
                made: WallTime::from_seconds(1_700_000_000),
                file: "scratch.csv".into(),
                hash: "00".into(),
                options: "--time-zone \u{1b}[2Jlocal".into(),
                author: "ann".into(),
                undone: undone.map(WallTime::from_seconds),
            },
            is_described: true,
            samples_counting,
            samples_beside,
            events: 0,
        };
        let batches = [
            content(6231, 0, None),
            content(6231, 12, None),
            content(0, 3, None),
            content(0, 9, Some(1_700_000_060)),
        ];
        let text = batches_text(&batches, Colour::Never);
        let states = ["counts  ", "12 replaced", "replaced", "undone 2023-11-14 22:14"];
        for (line, state) in text.lines().skip_while(|line| !line.starts_with("18bcfe568000000a")).zip(states)
        {
            assert!(line.contains(state) && line.contains("ann") && !line.contains('\u{1b}'), "{line}");
        }
        assert_eq!(text.lines().filter(|line| line.contains("scratch.csv")).count(), 4, "{text}");
        let unknown = BatchContent {
            batch: Batch { file: String::new(), ..content(1, 0, None).batch },
            is_described: false,
            ..content(1, 0, None)
        };
        assert!(batches_text(&[unknown], Colour::Never).contains(NOTHING));
    }
}
