//! Tasks by configuration and day: rows of tables, for text and page.

use iolag_analysis::history::{AttemptsTold, MeanLimit, Quantity, TaskByDay};
use iolag_analysis::joined;
use iolag_model::{Nanoseconds, counted, format_count, format_duration};

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table, columns};
use crate::words::estimates::rate;
use crate::words::history::with_interval;
use crate::words::interval::{Known, Measure, with_ends};
use crate::words::numbers::NOTHING;

/// Days of a configuration on a terminal: the latest.
const DAYS_MOST: usize = 7;
/// With more configurations their days are left to the document.
const CONFIGURATIONS_BY_DAY: usize = 8;
/// More configurations are left to it as well.
const CONFIGURATIONS_MOST: usize = 60;
/// What the tables of days say of themselves.
pub(crate) const DAYS_EXPLANATION: &str = "attempts of all hosts of a configuration; 95 % intervals that know that what takes too long comes in clusters; local days";

impl Page<'_> {
    /// A table for each task that was measured under several configurations.
    pub(super) fn by_day_text(&self) -> String {
        told_by_day(&self.analysis.by_day).map(|task| self.task_by_day(task)).collect()
    }

    fn task_by_day(&self, task: &TaskByDay) -> String {
        let mean = mean_column(task);
        let right = Side::Right;
        let mut names = columns([("", Side::Left), ("n", right)]);
        names.push((mean.into(), right));
        names.extend(columns([("median", right), ("past deadline", right)]));
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        let (rows, left_out) = day_rows(task, DAYS_MOST);
        for [configuration, day, cells @ ..] in rows {
            if !configuration.is_empty() {
                table.section(&configuration);
            }
            table.row(std::iter::once(format!("  {day}")).chain(cells).map(Cell::new).collect());
        }
        let more = left_out
            .map_or_else(String::new, |what| self.item(2, &format!("{what} more are in --json FILE")));
        self.heading(&days_title(task), DAYS_EXPLANATION) + &table.render(self.colour) + &more
    }
}

/// Tasks with more than one configuration: what one alone does stands in the other tables.
pub(crate) fn told_by_day(all: &[TaskByDay]) -> impl Iterator<Item = &TaskByDay> {
    all.iter().filter(|task| task.configurations.len() > 1)
}

pub(crate) fn days_title(task: &TaskByDay) -> String {
    format!("{} on {} by configuration and day", task.task, task.target)
}

/// `mean up to 60.0 s`, which is no mean of all that was waited.
pub(crate) fn mean_column(task: &TaskByDay) -> String {
    let limit = format_duration(Nanoseconds((task.limit_seconds * 1e9) as u64));
    match task.limit_is {
        MeanLimit::Deadline => format!("mean up to {limit}"),
        MeanLimit::Longest => format!("mean up to {limit} (longest)"),
    }
}

/// Configuration, day, attempts, mean, median and share past the deadline: of each configuration all days, then the latest if configurations are few;
/// and what is left out, as in `53 days and 3 configurations`.
pub(crate) fn day_rows(task: &TaskByDay, days_most: usize) -> (Vec<[String; 6]>, Option<String>) {
    let told = &task.configurations[..task.configurations.len().min(CONFIGURATIONS_MOST)];
    let days_most = if told.len() <= CONFIGURATIONS_BY_DAY { days_most } else { 0 };
    let (mut rows, mut days) = (Vec::new(), 0);
    for one in told {
        let hosts = if one.hosts.len() > 1 { format!(" ({} hosts)", one.hosts.len()) } else { String::new() };
        rows.push(row(format!("{}{hosts}", one.name), "all".to_owned(), &one.all));
        let earlier = one.days.len().saturating_sub(days_most);
        days += earlier as u64;
        rows.extend(one.days[earlier..].iter().map(|day| row(String::new(), day.day.to_string(), &day.told)));
    }
    let configurations = (task.configurations.len() - told.len()) as u64;
    let left_out = [(days, ["day", "days"]), (configurations, ["configuration", "configurations"])];
    let left_out = left_out.into_iter().filter(|(count, _)| *count > 0);
    let left_out: Vec<String> = left_out.map(|(count, [one, many])| counted(count, one, many)).collect();
    (rows, (!left_out.is_empty()).then(|| joined(left_out)))
}

fn row(
    name: String,
    day: String,
    AttemptsTold { mean, median, past_deadline }: &AttemptsTold,
) -> [String; 6] {
    let mean = mean.as_ref().map_or_else(
        || NOTHING.to_owned(),
        |mean| match mean.interval_seconds {
            Some(ends) => with_ends(
                Measure::Duration,
                Known::exactly(1e9 * mean.seconds),
                ends.map(|end| Known::exactly(1e9 * end)),
            ),
            None => format_duration(Nanoseconds((1e9 * mean.seconds) as u64)),
        },
    );
    let median = with_interval(median, Quantity::Duration);
    [name, day, format_count(past_deadline.of), mean, median, rate(past_deadline)]
}
