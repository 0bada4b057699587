//! Time against copies, for a terminal: what more copies at once do to each.

use iolag_analysis::{
    BLOCKS_NEEDED, CopiesFigure, CopiesLevel, CopiesLine, CopiesShape, CopiesTime, LEVELS_NEEDED,
    STRAIGHT_WITHIN, SlowestMissing,
};
use iolag_model::{Nanoseconds, counted, format_count, format_duration};

use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::copies::waits_sentence;
use crate::words::history::p_value;
use crate::words::interval::{Known, Measure, with_ends};
use crate::words::numbers::{NOTHING, percentage};

/// What stands above.
pub(crate) const HEADING: &str = "Time of a copy against copies at once";
/// Of more runs only the ends of their times are told.
const RUNS_LISTED_MAX: usize = 9;
/// The names of the columns; the last is the times of runs.
pub(crate) const COLUMNS: [&str; 4] = ["copies", "runs", "mean", "each run"];

/// A sentence for each target, and all runs.
pub fn copies_text(figures: &[CopiesFigure], width: usize, colour: Colour) -> String {
    let mut text = format!("{}\n", colour.paint(Tone::Strong, HEADING));
    for figure in figures {
        text.push_str(&format!("{}\n", wrapped(&copies_sentence(figure), width, "  ")));
        text.push_str(&table(figure).render(colour));
    }
    text
}

/// `/afs takes 21.0 [18.2–24.1] s more for each further copy, and curves upward (p 0.003): …`
pub fn copies_sentence(figure: &CopiesFigure) -> String {
    let waits = waits_sentence(figure.levels.iter().map(|level| (level.copies, level.waits_for)));
    [Some(line_sentence(figure)), waits].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn line_sentence(figure: &CopiesFigure) -> String {
    let target = &figure.target;
    let Some(line) = &figure.line else {
        let why = match figure.levels.len() {
            0 | 1 => "there is one number of copies only: --copies 1,2,4,8",
            _ => "no repetition has a known time for every number of copies",
        };
        return format!("{target}: no line can be drawn, since {why}.");
    };
    let slope = slope_in_words(line);
    if let Some(missing) = &figure.missing {
        return format!(
            "{target} takes {slope} for each further copy in the repetitions of which all times are known. {}",
            missing_in_words(missing)
        );
    }
    match (line.shape, line.slope_interval_ns) {
        (CopiesShape::SlowestMissing, _) => String::new(),
        (CopiesShape::TooFew, None) => format!(
            "{target} takes {slope} for each further copy; how sure that is, and whether it is a line, {} repetitions show (--repeat {0}).",
            BLOCKS_NEEDED
        ),
        (CopiesShape::TooFew, Some(_)) => format!(
            "{target} takes {slope} for each further copy; whether it is a line, {LEVELS_NEEDED} numbers of copies show."
        ),
        (CopiesShape::Straight { off }, _) if off >= STRAIGHT_WITHIN => format!(
            "{target} takes {slope} for each further copy; no curve is shown, but the means are up to {} % off a line, which chance may be.",
            percentage(off * 100.0)
        ),
        (CopiesShape::Straight { off }, _) => format!(
            "{target} takes {slope} for each further copy, straight: the means are at most {} % off a line.",
            percentage(off * 100.0)
        ),
        (CopiesShape::Uneven { off, p }, _) => format!(
            "{target} takes {slope} for each further copy on average, and not along a line (p {}): the means are up to {} % off one, as with a step or a bend.",
            p_value(p),
            percentage(off * 100.0)
        ),
        (CopiesShape::Upward { p }, _) => format!(
            "{target} takes {slope} for each further copy on average, and curves upward (p {}): the more copies, the more each further one costs.",
            p_value(p)
        ),
        (CopiesShape::Downward { p }, _) => format!(
            "{target} takes {slope} for each further copy on average, and curves downward (p {}): the more copies, the less each further one costs.",
            p_value(p)
        ),
    }
}

/// `Of 3 of 4 repetitions with 8 copies the time is known; the slowest are missing, …`
fn missing_in_words(missing: &SlowestMissing) -> String {
    format!(
        "The time is known of {} of {} with {}; the slowest are missing, so that it may be more, and whether it is a line is not known.",
        format_count(missing.known),
        counted(missing.runs, "repetition", "repetitions"),
        counted(u64::from(missing.copies), "copy", "copies")
    )
}

fn slope_in_words(line: &CopiesLine) -> String {
    let exactly = Known::exactly;
    let ends = |[low, high]: [f64; 2], sign: f64| {
        let [low, high] = if sign < 0.0 { [-high, -low] } else { [low, high] };
        // Of the two only the lower one may be less than nothing.
        with_ends(Measure::Duration, exactly(line.slope_ns.abs()), [exactly(low), exactly(high)])
            .replace("[-", "[−")
    };
    let amount = match line.slope_interval_ns {
        Some(interval) => ends(interval, line.slope_ns),
        None => time(line.slope_ns.abs()),
    };
    let which = if line.slope_ns < 0.0 { "less" } else { "more" };
    match line.slope_interval_ns {
        Some([low, high]) if low < 0.0 && high > 0.0 => format!("{amount} {which}, which may be nothing,"),
        _ => format!("{amount} {which}"),
    }
}

fn table(figure: &CopiesFigure) -> Table {
    let right = Side::Right;
    let [copies, runs, mean, each] = COLUMNS;
    let mut columns = columns([(copies, right), (runs, right), (mean, right), (each, Side::Left)]);
    columns[0].0 = format!("  {copies}").into();
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for level in &figure.levels {
        let [copies, runs, mean, each] = cells(figure, level);
        table.row(vec![Cell::new(copies), Cell::new(runs), Cell::new(mean), Cell::toned(each, Tone::Faint)]);
    }
    table
}

/// The cells of a row.
pub(crate) fn cells(figure: &CopiesFigure, level: &CopiesLevel) -> [String; COLUMNS.len()] {
    let points = figure.points.iter().filter(|point| point.copies == level.copies);
    [
        format_count(u64::from(level.copies)),
        format_count(level.runs),
        mean_in_words(level),
        times_in_words(points.map(|point| point.time).collect()),
    ]
}

fn times_in_words(mut times: Vec<CopiesTime>) -> String {
    let told = |time: &CopiesTime| {
        let bound = if time.is_at_least { "≥ " } else { "" };
        format!("{bound}{}", format_duration(time.median_ns))
    };
    if times.len() <= RUNS_LISTED_MAX {
        return times.iter().map(told).collect::<Vec<_>>().join(", ");
    }
    times.sort_by_key(|time| (time.median_ns, time.is_at_least));
    let ends = [times.first(), times.last()].map(|time| time.map(told).unwrap_or_default());
    format!("from {} to {}", ends[0], ends[1])
}

fn mean_in_words(level: &CopiesLevel) -> String {
    match (level.mean_ns, level.interval_ns) {
        (Some(mean), Some([low, high])) => with_ends(
            Measure::Duration,
            Known::exactly(mean),
            [Known::exactly(low.max(0.0)), Known::exactly(high)],
        ),
        (Some(mean), None) => time(mean),
        (None, _) => NOTHING.to_owned(),
    }
}

fn time(ns: f64) -> String {
    format_duration(Nanoseconds(ns.max(0.0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(line: Option<CopiesLine>) -> CopiesFigure {
        CopiesFigure {
            target: "/afs".to_owned(),
            points: Vec::new(),
            levels: Vec::new(),
            line,
            missing: None,
        }
    }

    fn said(slope: f64, interval: Option<[f64; 2]>, shape: CopiesShape) -> String {
        let line = CopiesLine {
            blocks: 3,
            slope_ns: slope * 1e9,
            base_ns: 0.0,
            slope_interval_ns: interval.map(|ends| ends.map(|end| end * 1e9)),
            shape,
        };
        copies_sentence(&figure(Some(line)))
    }

    #[test]
    fn a_sentence_says_how_steep_it_is_how_sure_and_whether_it_is_a_line() {
        let ends = Some([18.2, 24.1]);
        assert_eq!(
            said(21.0, ends, CopiesShape::Upward { p: 0.0031 }),
            "/afs takes 21.0 [18.2–24.1] s more for each further copy on average, and curves upward (p 0.003): \
             the more copies, the more each further one costs."
        );
        assert_eq!(
            said(0.4, Some([0.3, 0.5]), CopiesShape::Straight { off: 0.012 }),
            "/afs takes 400 [300–500] ms more for each further copy, straight: the means are at most 1.2 % off a line."
        );
        let unsure = said(0.4, Some([-0.3, 1.1]), CopiesShape::Straight { off: 0.19 });
        assert!(
            unsure.contains(
                "400 [−300–1100] ms more, which may be nothing, for each further copy; no curve is shown"
            ),
            "{unsure}"
        );
        let step = said(21.0, ends, CopiesShape::Uneven { off: 0.25, p: 0.0004 });
        assert!(step.contains("not along a line (p < 0.001): the means are up to 25 % off one"), "{step}");
        let alone = said(21.0, None, CopiesShape::TooFew);
        assert!(alone.starts_with("/afs takes 21.0 s more for each further copy; how sure"), "{alone}");
        assert!(copies_sentence(&figure(None)).contains("one number of copies only"));
    }

    #[test]
    fn of_many_runs_the_ends_are_told() {
        let time = |milliseconds| CopiesTime {
            median_ns: Nanoseconds::from_milliseconds(milliseconds),
            is_at_least: milliseconds == 30,
        };
        let told = |times: &[u64]| times_in_words(times.iter().map(|one| time(*one)).collect());
        assert_eq!(told(&[20, 10, 30]), "20.0 ms, 10.0 ms, ≥ 30.0 ms");
        assert_eq!(told(&[20, 10, 30, 12, 13, 14, 15, 16, 17, 18]), "from 10.0 ms to ≥ 30.0 ms");
    }

    #[test]
    fn a_line_without_the_slowest_is_not_called_straight() {
        let line = CopiesLine {
            blocks: 3,
            slope_ns: 21e9,
            base_ns: 0.0,
            slope_interval_ns: Some([18e9, 24e9]),
            shape: CopiesShape::SlowestMissing,
        };
        let missing = Some(SlowestMissing { copies: 8, known: 3, runs: 4 });
        let said = copies_sentence(&CopiesFigure { missing, ..figure(Some(line)) });
        assert!(
            said.contains("The time is known of 3 of 4 repetitions with 8 copies; the slowest are missing"),
            "{said}"
        );
        assert!(!said.contains("straight") && !said.contains("no curve"), "{said}");
    }
}
