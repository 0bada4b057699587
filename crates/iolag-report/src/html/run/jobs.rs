//! How many copies of a job to run, on the page of the runs that say it: sentences, a table for each target, and the figure.

use std::io;

use iolag_analysis::Recommendation;

use crate::figure::jobs_figure;
use crate::html::markup::Markup;
use crate::words::jobs::{HEADING, cells, columns, recommendation_sentence};
use crate::words::setting::assumed;

/// The figure's number on its page; the first two are those of a trace and of memory.
const NUMBER: usize = 3;

/// Writes what is advised; nothing where nothing was asked, and of a run alone: its campaign says more.
///
/// # Errors
/// If the figure cannot be drawn.
pub(super) fn jobs(told: &[Recommendation], page: &mut Markup) -> io::Result<()> {
    let runs: u64 = told.iter().flat_map(|one| &one.levels).map(|level| level.runs).sum();
    if told.is_empty() || runs <= 1 {
        return Ok(());
    }
    page.element("<section id=\"jobs\"><h2>", HEADING, "</h2>\n");
    for one in told {
        page.raw("<p class=\"lede\">").prose(&recommendation_sentence(one)).raw("</p>\n");
    }
    let drawn = jobs_figure(told, NUMBER).map_err(io::Error::other)?;
    page.figure(&drawn, "");
    for one in told {
        page.begin_table("numbers list", &one.target, &columns(one));
        for level in &one.levels {
            page.raw("<tr>");
            for cell in cells(one, level) {
                page.element("<td>", &cell, "</td>");
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n");
    }
    page.raw("<p>").prose(&assumed(told)).raw("</p>\n</section>\n");
    Ok(())
}
