//! The correlation tables of study 000, and what else is told of series next to each other: modes, two places compared.

use iolag_analysis::history::{
    ComparisonVerdict, CorrelatedPair, CorrelationMethod, Modes, SeriesComparison, Strength,
};
use iolag_model::{format_count, format_duration};

use super::report::HistoryReport;
use super::strata::strata;
use super::time_spent::time_spent;
use crate::html::markup::Markup;
use crate::text::history::comparisons::strata_refused;
use crate::text::history::correlations::{Place, is_told, place_of, rank, side, sides, two_places};
use crate::words::history::{estimate, p_value, shift, with_interval};
use crate::words::names::task;
use crate::words::numbers::{NOTHING, percentage};

/// Rows of a table of pairs.
const PAIRS_MOST: usize = 60;
/// Rows of the table of places compared.
const COMPARISONS_MOST: usize = 60;

/// Modes and comparisons: they are about distributions.
pub(super) fn distributions(report: &HistoryReport<'_>, page: &mut Markup) {
    comparisons(report, page);
    modes(report, page);
    time_spent(report, page);
}

fn modes(report: &HistoryReport<'_>, page: &mut Markup) {
    let names = report.names();
    let found: Vec<(String, &Modes)> = report
        .analysis
        .series
        .iter()
        .filter_map(|one| Some((names.series(&one.summary.series.key), one.modes()?)))
        .collect();
    if found.is_empty() {
        return;
    }
    page.raw("<h3>Fast or slow, hardly anything between</h3>\n");
    page.raw(
        "<p>Series with separated groups of durations; often a cache, and the price of missing it.</p>\n",
    );
    page.begin_table(
        "modes",
        "",
        &["Series", "Group", "Share", "Shortest", "Median", "Longest", "Times the one before"],
    );
    for (name, modes) in found {
        for (index, mode) in modes.modes.iter().enumerate() {
            let words = |value| estimate(value, iolag_analysis::history::Quantity::Duration);
            let ratio = index.checked_sub(1).and_then(|before| modes.ratios.get(before));
            page.raw("<tr>").element("<th scope=\"row\">", &name, "</th>");
            for cell in [
                (index + 1).to_string(),
                format!("{} %", percentage(100.0 * mode.share)),
                words(mode.low),
                words(mode.median),
                words(mode.high),
                ratio.map_or_else(|| NOTHING.to_owned(), |ratio| format!("{ratio:.1}")),
            ] {
                page.element("<td>", &cell, "</td>");
            }
            page.raw("</tr>\n");
        }
    }
    page.raw("</tbody></table></div>\n");
}

fn comparisons(report: &HistoryReport<'_>, page: &mut Markup) {
    let all: &[SeriesComparison] = &report.analysis.comparisons;
    if let Some(refused) = strata_refused(report.analysis) {
        page.element("<p>", &refused, "</p>\n");
    }
    if all.is_empty() {
        return;
    }
    page.raw("<h3>The same task in two places</h3>\n<p>The factor is Hodges and Lehmann's shift of the second against the first. ");
    if all.len() > COMPARISONS_MOST {
        page.text(&format!("The first {COMPARISONS_MOST} of {}.", format_count(all.len() as u64)));
    }
    page.raw("</p>\n");
    page.begin_table(
        "compared",
        "",
        &["Task", "First", "median", "Second", "median", "Second is", "by a factor of", "p, adjusted"],
    );
    let names = report.names();
    for one in all.iter().take(COMPARISONS_MOST) {
        let comparison = &one.comparison;
        let is_shown =
            !matches!(comparison.verdict, ComparisonVerdict::NoDifferenceShown | ComparisonVerdict::TooFew);
        page.raw("<tr").attribute("class", if is_shown { "" } else { "unproven" });
        page.raw(">").element("<th scope=\"row\">", &task(&one.first), "</th>");
        for cell in [
            names.place(&one.first),
            with_interval(&comparison.first.median, comparison.quantity),
            names.place(&one.second),
            with_interval(&comparison.second.median, comparison.quantity),
            comparison.verdict.to_string(),
            comparison.shift.as_ref().map_or_else(|| NOTHING.to_owned(), shift),
            comparison.greater.map_or_else(|| NOTHING.to_owned(), |greater| p_value(greater.p_adjusted)),
        ] {
            page.element("<td>", &cell, "</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// The study's two tables, for whatever was watched.
pub(super) fn together(report: &HistoryReport<'_>, page: &mut Markup) {
    let matrix = &report.analysis.correlations;
    if matrix.pairs.is_empty() {
        return;
    }
    let how = match matrix.options.method {
        CorrelationMethod::Spearman => "Spearman's coefficients, of ranks",
        CorrelationMethod::Pearson => "Pearson's coefficients, of values as recorded",
        CorrelationMethod::PearsonLog => "Pearson's coefficients, of logarithms",
    };
    page.raw("<p>").text(&format!(
        "{how}, at the same time and beyond the daily cycle; the latter is judged: strong above 0.5, medium above 0.3, small above 0.1. What may well be chance (p above {} for all pairs together) is grey. \
         Load contains tasks that wait for storage, so it grows with hangs by itself.",
        matrix.options.significance
    ));
    page.raw("</p>\n");
    let names = report.names();
    let mut together: Vec<(String, String, &CorrelatedPair)> = Vec::new();
    let mut twice: Vec<(String, String, &CorrelatedPair)> = Vec::new();
    let mut elsewhere: Vec<(String, String, &CorrelatedPair)> = Vec::new();
    for pair in matrix.pairs.iter().filter(|pair| is_told(pair)) {
        match place_of(pair) {
            Place::Together(place) => {
                let [one, other] = sides(pair);
                together.push((names.place(&place), format!("{} & {}", side(one), side(other)), pair));
            }
            Place::Twice => twice.push((task(&pair.left.series), two_places(&names, pair), pair)),
            Place::Elsewhere => {
                let both =
                    format!("{} & {}", names.series(&pair.left.series), names.series(&pair.right.series));
                elsewhere.push((String::new(), both, pair));
            }
        }
    }
    together.sort_by(|one, other| (&one.0, rank(one.2)).cmp(&(&other.0, rank(other.2))));
    elsewhere.retain(|(_, _, pair)| pair.is_significant && pair.judged().strength > Strength::None);
    elsewhere.sort_by(|one, other| {
        other.2.judged().coefficient.abs().total_cmp(&one.2.judged().coefficient.abs())
    });
    pairs_table("Series pairs and load in one place", "Place", &together, page);
    pairs_table("The same task in two places", "Task", &twice, page);
    pairs_table("Other pairs that go together", "", &elsewhere, page);
    strata(report, page);
}

fn pairs_table(
    caption: &str,
    first: &'static str,
    pairs: &[(String, String, &CorrelatedPair)],
    page: &mut Markup,
) {
    if pairs.is_empty() {
        return;
    }
    let shown = &pairs[..pairs.len().min(PAIRS_MOST)];
    let caption = if shown.len() < pairs.len() {
        format!("{caption} (the first {} of {})", shown.len(), format_count(pairs.len() as u64))
    } else {
        caption.to_owned()
    };
    page.begin_table(
        "pairs",
        &caption,
        &[
            first,
            "Pair",
            "Coefficient",
            "beyond the day",
            "Correlation",
            "p, adjusted",
            "Samples",
            "Best lag",
        ],
    );
    for (place, name, pair) in shown {
        let (correlation, judged) = (&pair.correlation, pair.judged());
        let class = match (pair.is_significant, judged.strength) {
            (false, _) | (_, Strength::None) => "unproven",
            (true, Strength::Small) => "small",
            (true, Strength::Medium) => "medium",
            (true, Strength::Strong) => "strong",
        };
        page.raw("<tr").attribute("class", class).raw("><td>").text(place).raw("</td>");
        page.element("<th scope=\"row\">", name, "</th>");
        let word = if pair.is_significant { judged.strength.to_string() } else { "not shown".to_owned() };
        for cell in [
            coefficient_words(correlation.coefficient),
            pair.beyond_daily_cycle
                .map_or_else(|| NOTHING.to_owned(), |beyond| coefficient_words(beyond.coefficient)),
            word,
            p_value(pair.p_adjusted),
            format!("{} (worth {:.0})", format_count(judged.pairs), judged.pairs_effective),
            lag(pair),
        ] {
            page.element("<td>", &cell, "</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// Three digits, and no minus before nothing.
fn coefficient_words(coefficient: f64) -> String {
    let text = format!("{coefficient:.3}");
    if text == "-0.000" { "0.000".to_owned() } else { text }
}

/// Only a lag that goes together better than none, and not by chance.
fn lag(pair: &CorrelatedPair) -> String {
    let Some(scan) = &pair.lags else { return NOTHING.to_owned() };
    if scan.best_slots == 0 || scan.p_adjusted > 0.05 {
        return "none".to_owned();
    }
    let apart = format_duration(iolag_model::Nanoseconds(scan.slot_ns.0 * scan.best_slots.unsigned_abs()));
    let way = if scan.best_slots > 0 { "later" } else { "earlier" };
    format!("second {apart} {way}: {:.2}", scan.best.coefficient)
}
