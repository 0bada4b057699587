//! The figures, drawn here: the page has no script that could.

use std::io;

use super::report::ComparisonReport;
use crate::figure::comparison_figures;
use crate::html::markup::Markup;

/// Writes each as SVG.
///
/// # Errors
/// If one cannot be drawn.
pub(super) fn figures(report: &ComparisonReport<'_>, page: &mut Markup) -> io::Result<()> {
    let drawn = comparison_figures(report.table, report.curves).map_err(io::Error::other)?;
    page.raw("<section id=\"figures\"><h2>Figures</h2>\n");
    for figure in &drawn {
        page.raw("<figure class=\"drawn\">\n").drawn(figure).raw("</figure>\n");
    }
    page.raw("</section>\n");
    Ok(())
}
