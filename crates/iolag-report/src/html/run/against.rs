//! The time of a copy against copies at once, on the page of the runs that say it: sentences, the figure, a table for each target.

use std::io;

use iolag_analysis::CopiesFigure;

use crate::figure::curves_figure;
use crate::html::markup::Markup;
use crate::text::{CURVE_COLUMNS, CURVES_HEADING, copies_sentence, curve_cells};

/// The figure's number on its page; the first three are those of a trace, of memory and of jobs.
const NUMBER: usize = 4;

/// Writes the curves; nothing without several runs of copies.
///
/// # Errors
/// If the figure cannot be drawn.
pub(super) fn against(curves: &[CopiesFigure], page: &mut Markup) -> io::Result<()> {
    if curves.iter().map(|curve| curve.points.len()).sum::<usize>() < 2 {
        return Ok(());
    }
    page.element("<section id=\"copies-at-once\"><h2>", CURVES_HEADING, "</h2>\n");
    for curve in curves {
        page.raw("<p>").prose(&copies_sentence(curve)).raw("</p>\n");
    }
    let drawn = curves_figure(curves, NUMBER).map_err(io::Error::other)?;
    page.figure(&drawn, "");
    for curve in curves {
        page.begin_table("numbers list", &curve.target, &CURVE_COLUMNS);
        for level in &curve.levels {
            page.raw("<tr>");
            for cell in curve_cells(curve, level) {
                page.element("<td>", &cell, "</td>");
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n");
    }
    page.raw("</section>\n");
    Ok(())
}
