//! How many copies of a job to run, for a terminal.

use iolag_analysis::Recommendation;

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, wrapped};
use crate::words::jobs::{COLUMNS, HEADING, assumed, cells, recommendation_sentence};

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
    let side = |place| if place + 1 == COLUMNS.len() { Side::Left } else { Side::Right };
    let columns = COLUMNS.iter().enumerate().map(|(place, name)| match place {
        0 => (format!("  {name}").into(), side(place)),
        _ => ((*name).into(), side(place)),
    });
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: columns.collect() }]);
    for level in &told.levels {
        table.row(cells(level, &told.answer).map(Cell::new).to_vec());
    }
    table
}
