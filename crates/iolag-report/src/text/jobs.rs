//! How many copies of a job to run, for a terminal.

use iolag_analysis::Recommendation;

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, wrapped};
use crate::words::jobs::{HEADING, cells, columns, recommendation_sentence};
use crate::words::setting::assumed;

/// A sentence and a table for each target; nothing without any.
pub fn recommendations_text(told: &[Recommendation], width: usize, colour: Colour) -> String {
    if told.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", colour.paint(Tone::Strong, HEADING));
    for one in told {
        text.push_str(&format!("{}\n", wrapped(&recommendation_sentence(one), width, "  ")));
        text.push_str(&table(one).render(colour));
    }
    text.push_str(&format!("{}\n", colour.paint(Tone::Faint, &wrapped(&assumed(told), width, "  "))));
    text
}

fn table(told: &Recommendation) -> Table {
    let names = columns(told);
    let side = |place| if place + 1 == names.len() { Side::Left } else { Side::Right };
    let columns = names.iter().enumerate().map(|(place, name)| match place {
        0 => (format!("  {name}").into(), side(place)),
        _ => ((*name).into(), side(place)),
    });
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: columns.collect() }]);
    for level in &told.levels {
        table.row(cells(told, level).into_iter().map(Cell::new).collect());
    }
    table
}
