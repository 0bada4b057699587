//! What a traced program did when, as a picture that needs no script.

use std::io;

use crate::figure::trace_figure;
use crate::html::markup::Markup;
use crate::workload::OverTime;

/// Draws it as the `number`th figure of the page, with a sentence that says the same; `caption` names the run if there are several.
///
/// # Errors
/// If it cannot be drawn.
pub(super) fn over_time(
    over_time: Option<OverTime<'_>>,
    caption: Option<&str>,
    number: usize,
    page: &mut Markup,
) -> io::Result<()> {
    let Some(it) = over_time else { return Ok(()) };
    let drawn = trace_figure(it.line, it.durations, number).map_err(io::Error::other)?;
    page.raw("<section class=\"over-time\"><h2>Over time</h2>\n");
    if let Some(caption) = caption {
        page.element("<h3>", caption, "</h3>\n");
    }
    page.figure(&drawn, &it.sentence());
    page.raw("</section>\n");
    Ok(())
}
