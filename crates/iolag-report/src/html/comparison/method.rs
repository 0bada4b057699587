//! How the numbers came about.

use std::collections::BTreeSet;

use iolag_analysis::RunMethod;
use iolag_analysis::compare::{ComparedTable, UnitKind};

use crate::html::markup::Markup;
use crate::words::comparison::cells::same;
use crate::words::comparison::design::cells;

/// What a run is here, how its interval is made, and what the words mean.
pub(super) fn method(table: &ComparedTable, page: &mut Markup) {
    let same = same(table.same_within);
    page.raw("<p class=\"method\">").raw(match table.units {
        UnitKind::Run => "A run is one value, whatever the number of its attempts: they share its luck. ",
        UnitKind::DayOfRuns => "The runs of one day are one value, their middle, whatever their number: they share its luck. ",
        UnitKind::Day => "A day is one value, whatever the number of its attempts: they share its luck. Slots that were skipped because an earlier attempt had not ended count as what was left of it. Days that resemble the one before are worth fewer: by as much as these days show and so few may hide, by ranks by a half at least. ",
    });
    page.raw("What is compared is the logarithm of speed, so that middles are geometric means of what is compared, and percent are those of their ratio. ");
    if table.threshold().is_some() {
        page.raw("A share is that of one attempt more, of which half was over the threshold; where none was, it is that or less. ");
    }
    for sentence in methods(table) {
        page.raw(sentence).raw(" ");
    }
    page.raw("</p>\n<p class=\"method\">");
    page.raw("Intervals are made wider so that all of a table hold together in 95 % of tables; how the others differ among themselves is a table of its own, and so are rules. ");
    page.raw("<em>Faster</em> and <em>slower</em>: the interval excludes no difference. <em>Same within ")
        .text(&same);
    page.raw("</em>: all of the interval lies there, whichever is faster. <em>No difference shown</em> is neither: more runs would tell. ");
    page.raw("A run that hung or failed is no missing value but a bound: it was no faster than that.</p>\n");
}

fn methods(table: &ComparedTable) -> BTreeSet<&'static str> {
    let judged = cells(table).filter(|cell| cell.compared.interval.is_some());
    let methods =
        judged.filter_map(|cell| cell.compared.difference.as_ref()).map(|difference| difference.method());
    methods
        .map(|method| match method {
            RunMethod::PairedT => "Intervals are Student's, of the differences within blocks, or days.",
            RunMethod::ApartT => "Intervals of sides that are not in blocks are the wider of Welch's and Student's.",
            RunMethod::SignedRanks => "Where runs are only bounded, they are those of signed ranks of the differences within blocks.",
            RunMethod::RankSums => "Where runs that are not in blocks are only bounded, they are those of rank sums.",
        })
        .collect()
}
