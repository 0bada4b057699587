//! What was asked where, and how long it took before, during and after the load.

use iolag_analysis::{BesideAnalysis, BesideCell, BesideRow};
use iolag_model::LoadTime;

use super::sentence::{beside_sentence, factor, place, time_name};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::estimates::{quantile, quantile_with_interval};
use crate::words::numbers::NOTHING;

/// A line of the table: of one place, operation and time.
pub(crate) struct BesideLine {
    pub(crate) place: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) time: String,
    pub(crate) attempts: u64,
    pub(crate) median: String,
    pub(crate) p95: String,
    pub(crate) longest: String,
    pub(crate) stuck: u64,
    pub(crate) times_as_long: String,
}

/// All lines, place by place.
pub(crate) fn lines(analysis: &BesideAnalysis) -> Vec<BesideLine> {
    let of_row = |row: &BesideRow| {
        let felt = analysis.times.iter().zip(&row.felt);
        felt.filter_map(|(time, cell)| Some(line(row, time_name(time), cell.as_ref()?))).collect::<Vec<_>>()
    };
    analysis.rows.iter().flat_map(of_row).collect()
}

fn line(row: &BesideRow, time: String, cell: &BesideCell) -> BesideLine {
    let durations = &cell.summary.durations;
    BesideLine {
        place: place(row.standpoint),
        operation: row.operation.name(),
        time,
        attempts: cell.summary.attempts - cell.summary.retried,
        median: quantile_with_interval(&durations.median),
        p95: quantile(durations.p95.value),
        longest: quantile(durations.max),
        stuck: cell.stuck(),
        times_as_long: cell.times_as_long.map_or_else(|| NOTHING.to_owned(), factor),
    }
}

/// What they asked themselves: `up to 90 attempts a second at the target, and 40 in this machine's memory are the bystanders' own load`.
pub(crate) fn own_load(analysis: &BesideAnalysis) -> String {
    let number = |rate: f64| format!("{}", (rate * 100.0).round() / 100.0);
    let of_control = match analysis.control_per_second > 0.0 {
        true => format!(", and {} in this machine's memory", number(analysis.control_per_second)),
        false => String::new(),
    };
    format!(
        "Each row is asked {} times a second at most: up to {} attempts a second at the target{of_control} are the bystanders' own load.",
        number(analysis.rate_per_second),
        number(analysis.target_per_second)
    )
}

/// All of it, for a terminal of `width` columns.
pub(crate) fn beside_text(analysis: &BesideAnalysis, width: usize, colour: Colour) -> String {
    let heading = colour.paint(Tone::Strong, "Beside the load");
    let sentence = wrapped(&beside_sentence(analysis), width, "  ");
    let own_load = wrapped(&own_load(analysis), width, "  ");
    format!("\n{heading}\n{sentence}\n{}{own_load}\n", table(analysis).render(colour))
}

/// A line for each row: before, when it was felt most, and after.
fn table(analysis: &BesideAnalysis) -> Table {
    let (left, right) = (Side::Left, Side::Right);
    let group = |title: &str, columns| ColumnGroup { title: title.to_owned(), columns };
    let during = columns([
        ("in", left),
        ("n", right),
        ("median", right),
        ("p95", right),
        ("max", right),
        ("hung", right),
        ("times as long", right),
    ]);
    let mut table = Table::new(vec![
        group("", columns([("", left), ("", left)])),
        group("before", columns([("median", right)])),
        group("when it was felt most", during),
        group("after", columns([("median", right)])),
    ]);
    let mut last = "";
    for row in &analysis.rows {
        let place = place(row.standpoint);
        let median = |time: LoadTime| {
            let cells = analysis.times.iter().zip(&row.felt);
            let cell = cells.filter(|(known, _)| known.time == time).find_map(|(_, cell)| cell.as_ref());
            Cell::new(
                cell.map_or_else(|| NOTHING.to_owned(), |cell| quantile(cell.summary.durations.median.value)),
            )
        };
        // What stands above is not said again.
        let told = if last == place { "" } else { place };
        last = place;
        let mut cells = vec![Cell::new(format!("  {told}")), Cell::new(row.operation.name())];
        cells.push(median(LoadTime::Before));
        cells.extend(during_cells(analysis, row));
        cells.push(median(LoadTime::After));
        table.row(cells);
    }
    table
}

fn during_cells(analysis: &BesideAnalysis, row: &BesideRow) -> Vec<Cell> {
    let felt = analysis.felt_most_of(row).map(|felt| line(row, time_name(felt.time), felt.cell));
    let Some(line) = felt else { return vec![Cell::new(NOTHING); 7] };
    let (attempts, stuck) = (line.attempts.to_string(), line.stuck.to_string());
    [line.time, attempts, line.median, line.p95, line.longest, stuck, line.times_as_long]
        .map(Cell::new)
        .into()
}
