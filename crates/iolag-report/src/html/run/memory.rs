//! What memory had while a run lasted, as a picture that needs no script.

use std::io;

use iolag_model::{MemoryCourse, MemoryLook, RunRecord, format_bytes};

use crate::figure::memory_figure;
use crate::html::markup::Markup;

/// Of less there is no course to see.
const LOOKS_LEAST: usize = 3;
/// The figure's number on its page; the first is that of a trace, which has no memory.
const NUMBER: usize = 2;

/// Draws it with a sentence that says the same, if it is known.
///
/// # Errors
/// If it cannot be drawn.
pub(super) fn memory(run: &RunRecord, page: &mut Markup) -> io::Result<()> {
    let Some(course) = run.memory.as_ref().filter(|course| course.seen().count() >= LOOKS_LEAST) else {
        return Ok(());
    };
    let drawn = memory_figure(course, NUMBER).map_err(io::Error::other)?;
    page.raw("<section id=\"memory\"><h2>Memory</h2>\n");
    page.figure(&drawn, &sentence(course));
    page.raw("</section>\n");
    Ok(())
}

fn sentence(course: &MemoryCourse) -> String {
    let most = |of: fn(MemoryLook) -> u64| format_bytes(course.seen().map(of).max().unwrap_or_default());
    let page_cache = [course.seen().next(), course.seen().next_back()]
        .map(|look| format_bytes(look.map_or(0, |look| look.page_cache_bytes)));
    format!(
        "Of the host's memory up to {} were dirty and up to {} were being written back; the page cache had {} at first and {} at last.",
        most(|look| look.dirty_bytes),
        most(|look| look.writeback_bytes),
        page_cache[0],
        page_cache[1]
    )
}

#[cfg(test)]
mod tests {
    use iolag_model::{MonotonicTime, Nanoseconds};

    use super::*;

    #[test]
    fn the_sentence_says_what_the_figure_shows() {
        let mut course = MemoryCourse::new(MonotonicTime(0), Nanoseconds::from_seconds(1));
        for (second, mebibytes) in [(0, [1229, 3, 1]), (1, [9000, 812, 2]), (5, [10_035, 0, 96])] {
            let [page_cache_bytes, dirty_bytes, writeback_bytes] =
                mebibytes.map(|mebibytes: u64| mebibytes << 20);
            let look = MemoryLook { page_cache_bytes, dirty_bytes, writeback_bytes };
            course.add(MonotonicTime(second * 1_000_000_000), look);
        }
        assert_eq!(
            sentence(&course),
            "Of the host's memory up to 812 MiB were dirty and up to 96.0 MiB were being written back; the page cache had 1.20 GiB at first and \
             9.80 GiB at last."
        );
    }
}
