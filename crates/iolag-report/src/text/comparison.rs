//! `iolag compare`: sides against the first of them, a row for each thing that all have in common.

use std::borrow::Cow;

use iolag_analysis::compare::{ComparedCell, ComparedRow, ComparedTable};
use iolag_analysis::{ComparedWord, capitalised};

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::comparison::beside::{at_processor_speed, beside_lines, beside_title};
use crate::words::comparison::between::between;
use crate::words::comparison::bystanders::{TITLE, bystander_lines, bystander_sentences};
use crate::words::comparison::cells::{amount, percent_of, word_of};
use crate::words::comparison::design::{design, heading, remarks};
use crate::words::comparison::doubts::doubts;
use crate::words::comparison::left_out::left_out;
use crate::words::comparison::names::{RowNames, SideNames, cut};
use crate::words::comparison::profiles::{PROFILES_MEANING, Profiles, profiles, profiles_title};
use crate::words::comparison::steadiness::from_run_to_run;

/// Names are no wider than this share of the width.
const NAMES_PART: usize = 3;
const NAME_LEAST: usize = 12;
/// Beside many numbers.
const PROFILE_NAME_MOST: usize = 40;

/// The whole answer: what is compared, what to know before it is believed, the table, the others among themselves, what is left out.
pub fn comparison_text(table: &ComparedTable, width: usize, colour: Colour) -> String {
    let (names, rows) = (SideNames::of(table), RowNames::of(table));
    let mut text = Paragraphs { text: String::new(), width };
    text.line(&heading(table, &names), "");
    text.line(&design(table, &names, &rows), "");
    let mut doubts = doubts(table, &names);
    match doubts.len() {
        0 => {}
        1 => {
            let told = wrapped(&format!("{BEFORE} {}", doubts.remove(0)), width, "");
            text.text.push_str(&told.replacen(BEFORE, &colour.paint(Tone::Warning, BEFORE), 1));
            text.text.push('\n');
        }
        _ => {
            text.line(&colour.paint(Tone::Warning, BEFORE), "");
            doubts.iter().for_each(|doubt| text.line(&format!("  {}", capitalised(doubt)), "  "));
        }
    }
    text.text.push('\n');
    if !table.rows.is_empty() {
        text.text.push_str(&tables(table, &names, &rows, width, colour));
    }
    remarks(table).iter().for_each(|remark| text.line(remark, ""));
    from_run_to_run(table, &names, &rows).iter().for_each(|sentence| text.line(sentence, ""));
    text.text.push_str(&profiles_text(table, &names, &rows, width, colour));
    let felt = bystander_lines(table);
    if !felt.is_empty() {
        text.text.push('\n');
        bystander_sentences(table, &names).iter().for_each(|sentence| text.line(sentence, ""));
    }
    text.text.push_str(&lines_text(TITLE, &felt, &names, width, colour));
    let beside = beside_lines(table, &rows);
    text.text.push_str(&lines_text(&beside_title(table.units), &beside, &names, width, colour));
    at_processor_speed(table, &names, &rows).iter().for_each(|sentence| text.line(sentence, ""));
    text.section("Between the others", &between(table, &names, &rows), colour);
    text.section("Left out", &left_out(table, &names), colour);
    text.text
}

const BEFORE: &str = "Before you trust the numbers:";

struct Paragraphs {
    text: String,
    width: usize,
}

impl Paragraphs {
    fn line(&mut self, sentence: &str, indent: &str) {
        self.text.push_str(&wrapped(sentence, self.width, indent));
        self.text.push('\n');
    }

    fn section(&mut self, title: &str, sentences: &[String], colour: Colour) {
        if sentences.is_empty() {
            return;
        }
        self.text.push_str(&colour.paint(Tone::Strong, title));
        self.text.push('\n');
        sentences.iter().for_each(|sentence| self.line(&format!("  {sentence}"), "    "));
    }
}

/// Which columns each of the others has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// Its middle, percent and word.
    All,
    /// Percent and word.
    Difference,
}

/// All others side by side if they fit, with their middles if these fit, too; else a table for each.
fn tables(table: &ComparedTable, names: &SideNames, rows: &RowNames, width: usize, colour: Colour) -> String {
    let others: Vec<usize> = (1..table.sides.len()).collect();
    let most = (width / NAMES_PART).max(NAME_LEAST);
    let of = |others: &[usize], columns| side_by_side(table, others, columns, names, rows, most);
    let mut forms = vec![Columns::All];
    // Percent of shares say little without the shares.
    if table.threshold().is_none() {
        forms.push(Columns::Difference);
    }
    if let Some(fits) = forms.iter().map(|form| of(&others, *form)).find(|one| one.width() <= width) {
        return fits.render(colour);
    }
    // Rather a name is cut than a number left out.
    let narrower = || forms.iter().flat_map(|form| [(*form, most), (*form, NAME_LEAST)]);
    let alone = |other: &usize| {
        let of = |(form, most)| side_by_side(table, &[*other], form, names, rows, most);
        let fits = narrower().map(of).find(|one| one.width() <= width);
        fits.or_else(|| narrower().last().map(of)).map_or_else(String::new, |one| one.render(colour))
    };
    others.iter().map(alone).collect::<Vec<_>>().join("\n")
}

fn side_by_side(
    table: &ComparedTable,
    others: &[usize],
    form: Columns,
    names: &SideNames,
    rows: &RowNames,
    most: usize,
) -> Table {
    let title = |side: usize| cut(names.short(side), most);
    let mut groups = vec![
        ColumnGroup { title: String::new(), columns: columns([("", Side::Left)]) },
        ColumnGroup { title: title(0), columns: columns([("", Side::Right)]) },
    ];
    for other in others {
        let own = columns([("", Side::Right), ("", Side::Right), ("", Side::Left)]);
        let skipped = usize::from(form == Columns::Difference);
        groups.push(ColumnGroup { title: title(*other), columns: own.into_iter().skip(skipped).collect() });
    }
    let mut drawn = Table::new(groups);
    for (index, row) in table.rows.iter().enumerate() {
        let mut cells =
            vec![Cell::new(format!("  {}", cut(rows.name(index), most))), Cell::new(middle(row, 0))];
        for other in others {
            cells.extend((form == Columns::All).then(|| Cell::toned(middle(row, *other), Tone::Faint)));
            cells.extend(match row.cells.get(other - 1) {
                Some(cell) => of_cell(table, cell),
                None => [Cell::default(), Cell::default()],
            });
        }
        drawn.row(cells);
    }
    drawn
}

/// The sides below each operation. Rather a name is cut than a number left out.
fn profiles_text(
    table: &ComparedTable,
    names: &SideNames,
    rows: &RowNames,
    width: usize,
    colour: Colour,
) -> String {
    let Some(profiles) = profiles(table) else { return String::new() };
    let mut drawn =
        (NAME_LEAST..=PROFILE_NAME_MOST).rev().map(|most| drawn_profiles(&profiles, names, rows, most));
    let fits = drawn.find(|drawn| drawn.width() <= width);
    let drawn = fits.unwrap_or_else(|| drawn_profiles(&profiles, names, rows, NAME_LEAST));
    let mut text = Paragraphs { text: "\n".to_owned(), width };
    text.line(&format!("{}.", profiles_title(table.units)), "");
    text.line(PROFILES_MEANING, "");
    text.text + &drawn.render(colour) + "\n"
}

fn drawn_profiles(profiles: &Profiles, names: &SideNames, rows: &RowNames, most: usize) -> Table {
    let titles = profiles.titles.iter().map(|title| (Cow::Borrowed(*title), Side::Right));
    let columns = std::iter::once((Cow::Borrowed(""), Side::Left)).chain(titles).collect();
    let mut drawn = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for operation in &profiles.operations {
        drawn.section(&format!("  {}", rows.name(operation.row)));
        for (side, cells) in &operation.sides {
            let name = Cell::new(format!("    {}", cut(names.short(*side), most)));
            drawn.row(std::iter::once(name).chain(cells.iter().map(Cell::new)).collect());
        }
    }
    drawn
}

/// A line for each thing, with a column for each side if they fit, else with the names of the sides in it.
fn lines_text(
    above: &str,
    lines: &[(String, Vec<String>)],
    names: &SideNames,
    width: usize,
    colour: Colour,
) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let title = |side: &String| ColumnGroup {
        title: cut(side, (width / NAMES_PART).max(NAME_LEAST)),
        columns: columns([("", Side::Right)]),
    };
    let first = ColumnGroup { title: String::new(), columns: columns([("", Side::Left)]) };
    let mut drawn = Table::new(std::iter::once(first).chain(names.short.iter().map(title)).collect());
    for (name, sides) in lines {
        let name = std::iter::once(Cell::new(format!("  {name}")));
        drawn.row(name.chain(sides.iter().map(Cell::new)).collect());
    }
    let mut text = Paragraphs { text: "\n".to_owned(), width };
    text.line(above, "");
    if drawn.width() <= width {
        return text.text + &drawn.render(colour);
    }
    for (name, sides) in lines {
        let of_sides = names.short.iter().zip(sides).map(|(name, told)| format!("{name} {told}"));
        text.line(&format!("  {name}: {}", of_sides.collect::<Vec<_>>().join(", ")), "    ");
    }
    text.text
}

fn middle(row: &ComparedRow, side: usize) -> String {
    row.sides.get(side).map_or_else(String::new, |side| amount(row.quantity, side.middle))
}

fn of_cell(table: &ComparedTable, cell: &ComparedCell) -> [Cell; 2] {
    let tone = match cell.compared.word {
        ComparedWord::Faster => Tone::Good,
        ComparedWord::Slower => Tone::Serious,
        ComparedWord::Same => Tone::Plain,
        ComparedWord::NoDifferenceShown | ComparedWord::TooFew { .. } => Tone::Faint,
    };
    [Cell::new(percent_of(cell)), Cell::toned(word_of(table, cell), tone)]
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use iolag_analysis::RunQuantity;

    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::words::comparison::samples::{
        bad_names, by, hung_and_few, noisy, of_rows, stores, streams, study, table_of,
    };

    fn text(table: &ComparedTable, width: usize) -> String {
        comparison_text(table, width, Colour::Never)
    }

    #[test]
    fn the_study_fits_by_its_width() {
        for width in [60, 80, 120] {
            assert_snapshot!(format!("study_{width}"), text(&study(), width));
        }
    }

    #[test]
    fn what_hung_is_a_bound_and_what_is_too_few_is_told() {
        assert_snapshot!("hung_and_few", text(&hung_and_few(), 100));
    }

    #[test]
    fn what_is_known_beside_the_speed_stands_below_the_table() {
        for width in [60, 100] {
            assert_snapshot!(format!("streams_{width}"), text(&streams(), width));
        }
    }

    #[test]
    fn where_the_time_of_requests_goes_is_told_of_servers() {
        assert_snapshot!("stores", text(&stores(), 100));
    }

    #[test]
    fn runs_that_are_far_from_each_other_are_told() {
        assert_snapshot!("noisy", text(&noisy(), 100));
    }

    #[test]
    fn names_from_outside_steer_nothing() {
        for width in [60, 80, 120] {
            let text = text(&bad_names(), width);
            let is_plain =
                text.chars().all(|character| character == '\n' || !iolag_model::is_steering(character));
            assert!(is_plain && text.lines().all(|line| line.width() <= width), "{text}");
        }
        assert_snapshot!("bad_names", text(&bad_names(), 120));
    }

    #[test]
    fn eight_rows_and_a_share() {
        assert_snapshot!("rows_8", text(&of_rows(8), 100));
        let mut table = of_rows(2);
        let share = RunQuantity::ShareOver(iolag_model::Nanoseconds::from_milliseconds(100));
        by(&mut table, "metadata", share);
        for row in &mut table.rows {
            for side in &mut row.sides {
                side.middle = iolag_analysis::RunAmount::Known(side.middle.ends().0 / 10_000.0);
            }
        }
        assert_snapshot!("share", text(&table, 100));
    }

    #[test]
    fn a_table_without_rows_says_what_is_left() {
        let mut table = table_of(&["a", "b"], &[]);
        table.left_out = study().left_out;
        assert!(text(&table, 80).contains("Left out"));
    }

    #[test]
    fn colour_changes_no_column() {
        let coloured = comparison_text(&study(), 120, Colour::Always);
        let codes = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
        assert_eq!(codes.replace_all(&coloured, ""), text(&study(), 120));
    }
}
