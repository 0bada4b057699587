//! The table with which the page begins, and the one of all runs at its end.

use iolag_analysis::compare::{ComparedCell, ComparedTable};
use iolag_analysis::{ComparedWord, RunAmount, Standing};

use crate::html::markup::Markup;
use crate::words::comparison::beside::{at_processor_speed, beside_lines, beside_title};
use crate::words::comparison::bystanders::{TITLE, bystander_lines, bystander_sentences};
use crate::words::comparison::cells::{amount, percent_of, unit_names, word_of};
use crate::words::comparison::names::{RowNames, SideNames};
use crate::words::comparison::profiles::{self, PROFILES_MEANING, profiles_title};
use crate::words::numbers::NOTHING;

/// More columns do not fit on a sheet of paper.
const COLUMNS_MOST: usize = 6;
/// Nor do more sides beside the base.
const OTHERS_MOST: usize = 2;

/// What is compared: a row for each thing, for each of the others its middle, percent and word; of many sides several tables.
pub(super) fn table(table: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    if table.rows.is_empty() {
        page.raw("<p class=\"nothing\">The sides have nothing in common, so there is no table.</p>\n");
        return;
    }
    let others: Vec<usize> = (1..table.sides.len()).collect();
    others.chunks(OTHERS_MOST).for_each(|others| some_sides(table, others, names, rows, page));
}

/// The base and these others.
fn some_sides(
    table: &ComparedTable,
    others: &[usize],
    names: &SideNames,
    rows: &RowNames,
    page: &mut Markup,
) {
    page.raw("<div class=\"table-box\"><table class=\"compared sides\"><thead><tr><th scope=\"col\"></th>");
    page.element("<th scope=\"col\" class=\"number\">", names.short(0), "</th>");
    for other in others {
        page.raw("<th scope=\"colgroup\" colspan=\"3\" class=\"group\">");
        page.text(names.short(*other)).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for (index, row) in table.rows.iter().enumerate() {
        let middle = |side: usize| row.sides.get(side).map(|value| amount(row.quantity, value.middle));
        page.raw("<tr>").element("<th scope=\"row\">", rows.name(index), "</th>");
        page.element("<td>", &middle(0).unwrap_or_default(), "</td>");
        for other in others {
            page.element("<td class=\"faint\">", &middle(*other).unwrap_or_default(), "</td>");
            match row.cells.get(other - 1) {
                Some(cell) => of_cell(table, cell, page),
                None => page.raw("<td></td><td></td>"),
            };
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

fn of_cell<'a>(table: &ComparedTable, cell: &ComparedCell, page: &'a mut Markup) -> &'a mut Markup {
    let open = match cell.compared.word {
        ComparedWord::Faster => "<td class=\"word good\">",
        ComparedWord::Slower => "<td class=\"word serious\">",
        ComparedWord::Same => "<td class=\"word\">",
        ComparedWord::NoDifferenceShown | ComparedWord::TooFew { .. } => "<td class=\"word faint\">",
    };
    page.element("<td>", &percent_of(cell), "</td>").element(open, &word_of(table, cell), "</td>")
}

/// The sides operation by operation, where any of them has servers.
pub(super) fn profiles(table: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    let Some(profiles) = profiles::profiles(table) else { return };
    page.raw("<h2>").text(&profiles_title(table.units)).raw("</h2>\n<p>").plain(PROFILES_MEANING);
    page.raw("</p>\n<div class=\"table-box\"><table class=\"compared sides\"><thead><tr>");
    page.raw("<th scope=\"col\"></th><th scope=\"col\"></th>");
    for title in &profiles.titles {
        page.element("<th scope=\"col\" class=\"number\">", title, "</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for operation in &profiles.operations {
        for (place, (side, cells)) in operation.sides.iter().enumerate() {
            let name = if place == 0 { rows.name(operation.row) } else { "" };
            page.raw("<tr>").element("<th scope=\"row\">", name, "</th>");
            page.element("<td class=\"word\">", names.short(*side), "</td>");
            for cell in cells {
                page.element("<td>", cell, "</td>");
            }
            page.raw("</tr>\n");
        }
    }
    page.raw("</tbody></table></div>\n");
}

/// What others felt beside the loads: sentences, and a row for each place and thing.
pub(super) fn bystanders(table: &ComparedTable, names: &SideNames, page: &mut Markup) {
    for sentence in bystander_sentences(table, names) {
        page.raw("<p>").plain(&sentence).raw("</p>\n");
    }
    lines(TITLE, bystander_lines(table), names, page);
}

/// What is known beside the speed: a row for each thing.
pub(super) fn beside(table: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    lines(&beside_title(table.units), beside_lines(table, rows), names, page);
    for sentence in at_processor_speed(table, names, rows) {
        page.raw("<p class=\"faint\">").plain(&sentence).raw("</p>\n");
    }
}

/// A column for each side.
fn lines(above: &str, lines: Vec<(String, Vec<String>)>, names: &SideNames, page: &mut Markup) {
    if lines.is_empty() {
        return;
    }
    page.raw("<div class=\"table-box\"><table class=\"compared sides\">");
    page.element("<caption>", above, "</caption>");
    page.raw("<thead><tr><th scope=\"col\"></th>");
    for name in &names.short {
        page.element("<th scope=\"col\" class=\"number\">", name, "</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for (name, sides) in lines {
        page.raw("<tr>").element("<th scope=\"row\">", &name, "</th>");
        for side in sides {
            page.element("<td>", &side, "</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// A line for each run, with what it has in each row; of many rows several tables.
pub(super) fn runs(table: &ComparedTable, names: &SideNames, rows: &RowNames, page: &mut Markup) {
    let all: Vec<usize> = (0..table.rows.len()).collect();
    for columns in all.chunks(COLUMNS_MOST) {
        page.raw("<div class=\"table-box\"><table class=\"compared sides\"><thead><tr>");
        page.raw("<th scope=\"col\">side</th>");
        page.element("<th scope=\"col\">", unit_names(table.units)[0], "</th>");
        for row in columns {
            page.element("<th scope=\"col\" class=\"number\">", rows.name(*row), "</th>");
        }
        page.raw("</tr></thead>\n<tbody>\n");
        for (side, compared) in table.sides.iter().enumerate() {
            for (run, id) in compared.runs.iter().enumerate() {
                page.raw("<tr>").element("<td class=\"word\">", names.short(side), "</td>");
                page.element("<td class=\"word\"><code>", id, "</code>");
                page.raw(compared.standings.get(run).copied().map_or("", ended)).raw("</td>");
                columns.iter().for_each(|row| of_run(table, *row, side, run, page));
                page.raw("</tr>\n");
            }
        }
        page.raw("</tbody></table></div>\n");
    }
}

fn of_run(table: &ComparedTable, row: usize, side: usize, run: usize, page: &mut Markup) {
    let of_row = table.rows.get(row);
    let own = of_row.and_then(|row| row.sides.get(side)?.amount(run));
    let told = of_row.zip(own).map(|(row, known)| amount(row.quantity, known));
    let told = told.unwrap_or_else(|| NOTHING.to_owned());
    let is_known = own.is_none_or(|known| matches!(known, RunAmount::Known(_)));
    page.element(if is_known { "<td>" } else { "<td class=\"warning\">" }, &told, "</td>");
}

/// How a run ended, unless all was done.
const fn ended(standing: Standing) -> &'static str {
    match standing {
        Standing::Hung => " <span class=\"serious\">hung</span>",
        Standing::Failed => " <span class=\"serious\">failed</span>",
        Standing::Whole | Standing::BrokenOff | Standing::Running | Standing::Unreached | Standing::Void => {
            ""
        }
    }
}
