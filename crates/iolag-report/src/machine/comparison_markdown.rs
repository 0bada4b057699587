//! A comparison as Markdown, for a ticket: what is compared, doubts, then the table.

use std::fmt::Write as _;

use iolag_analysis::capitalised;
use iolag_analysis::compare::ComparedTable;

use crate::words::comparison::beside::{at_processor_speed, beside_lines, beside_title};
use crate::words::comparison::between::between;
use crate::words::comparison::bystanders::{TITLE, bystander_lines, bystander_sentences};
use crate::words::comparison::cells::{amount, percent_of, word_of};
use crate::words::comparison::design::{design, heading, remarks};
use crate::words::comparison::doubts::doubts;
use crate::words::comparison::left_out::left_out;
use crate::words::comparison::names::{RowNames, SideNames};
use crate::words::comparison::profiles::{self, PROFILES_MEANING, profiles_title};
use crate::words::comparison::steadiness::from_run_to_run;
use crate::words::markdown::{escape, push};

/// Doubts as a list, then the table; names from outside stay text.
pub fn comparison_markdown(table: &ComparedTable) -> String {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    let mut text = String::new();
    push(&mut text, format_args!("{}  ", escape(&heading(table, &names))));
    push(&mut text, format_args!("{}\n", escape(&capitalised(&design(table, &names, &rows)))));
    let doubts: Vec<String> = doubts(table, &names).iter().map(|doubt| capitalised(doubt)).collect();
    list(&mut text, "Before you trust the numbers:", &doubts);
    let titles: Vec<String> = names.short.iter().map(|name| escape(name)).collect();
    push(&mut text, format_args!("| | {} |", titles.join(" | ")));
    push(&mut text, format_args!("|---|{}", "---:|".repeat(titles.len())));
    for (index, row) in table.rows.iter().enumerate() {
        let mut line = format!("| {} |", escape(rows.name(index)));
        let base = row.sides.first().map_or_else(String::new, |side| amount(row.quantity, side.middle));
        write!(line, " {} |", escape(&base)).expect("writing to a string cannot fail");
        for (side, cell) in row.sides.iter().skip(1).zip(&row.cells) {
            let cell = format!(
                "{}: {}, {}",
                amount(row.quantity, side.middle),
                percent_of(cell),
                word_of(table, cell)
            );
            write!(line, " {} |", escape(&cell)).expect("writing to a string cannot fail");
        }
        push(&mut text, format_args!("{line}"));
    }
    text.push('\n');
    list(&mut text, "", &remarks(table));
    list(&mut text, "", from_run_to_run(table, &names, &rows).as_slice());
    profiles(&mut text, table, &names, &rows);
    list(&mut text, "", &bystander_sentences(table, &names));
    beside(&mut text, TITLE, bystander_lines(table), &names);
    beside(&mut text, &beside_title(table.units), beside_lines(table, &rows), &names);
    list(&mut text, "", &at_processor_speed(table, &names, &rows));
    list(&mut text, "Between the others:", &between(table, &names, &rows));
    list(&mut text, "Left out:", &left_out(table, &names));
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn profiles(text: &mut String, table: &ComparedTable, names: &SideNames, rows: &RowNames) {
    let Some(profiles) = profiles::profiles(table) else { return };
    push(text, format_args!("{}. {PROFILES_MEANING}\n", escape(&profiles_title(table.units))));
    push(text, format_args!("| | | {} |", profiles.titles.join(" | ")));
    push(text, format_args!("|---|---|{}", "---:|".repeat(profiles.titles.len())));
    for operation in &profiles.operations {
        for (side, cells) in &operation.sides {
            let (name, side) = (escape(rows.name(operation.row)), escape(names.short(*side)));
            push(text, format_args!("| {name} | {side} | {} |", cells.join(" | ")));
        }
    }
    text.push('\n');
}

fn beside(text: &mut String, above: &str, lines: Vec<(String, Vec<String>)>, names: &SideNames) {
    if lines.is_empty() {
        return;
    }
    let cells = |cells: &[String]| cells.iter().map(|cell| escape(cell)).collect::<Vec<_>>().join(" | ");
    push(text, format_args!("| {} | {} |", escape(above), cells(&names.short)));
    push(text, format_args!("|---|{}", "---:|".repeat(names.short.len())));
    for (name, sides) in lines {
        push(text, format_args!("| {} | {} |", escape(&name), cells(&sides)));
    }
    text.push('\n');
}

fn list(text: &mut String, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    if !title.is_empty() {
        push(text, format_args!("{title}\n"));
    }
    for sentence in sentences {
        push(text, format_args!("- {}", escape(sentence)));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{bad_names, hung_and_few, noisy, stores, streams, study};

    #[test]
    fn a_ticket_has_doubts_and_the_table() {
        insta::assert_snapshot!(
            "comparison_markdown",
            comparison_markdown(&study()) + &comparison_markdown(&hung_and_few())
        );
    }

    #[test]
    fn what_is_known_beside_the_speed_is_a_table_of_its_own() {
        insta::assert_snapshot!("comparison_markdown_streams", comparison_markdown(&streams()));
    }

    #[test]
    fn where_the_time_of_requests_goes_is_a_table_of_its_own() {
        insta::assert_snapshot!("comparison_markdown_stores", comparison_markdown(&stores()));
    }

    #[test]
    fn runs_that_are_far_from_each_other_are_told() {
        insta::assert_snapshot!("comparison_markdown_noisy", comparison_markdown(&noisy()));
    }

    #[test]
    fn names_end_no_cell() {
        let markdown = comparison_markdown(&bad_names());
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let table: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.iter().map(|line| cells(line)).collect::<Vec<_>>(), [6, 6, 6, 6], "{markdown}");
        assert!(!markdown.replace("\\<", "").contains(['<', '\u{1b}']), "{markdown}");
    }
}
