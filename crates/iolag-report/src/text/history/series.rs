//! The tables of series: durations, shares over thresholds, how attempts ended, values.

use iolag_analysis::history::{Quantity, Rate, Regime, SeriesSummary, WeightedSummary};
use iolag_model::{Nanoseconds, WallTime, format_count, format_duration};

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::estimates::{all_succeeded, no_deadline};
use crate::words::history::{estimate, share_over, with_interval};
use crate::words::names::label;
use crate::words::numbers::percentage;

/// How levels are named in a table: the more the terminal has room for.
#[derive(Clone, Copy)]
enum LevelNames {
    /// `since 8 May 19:00`
    WithHour,
    /// `since 8 May`
    Day,
}

/// Times between changes of level of one series that a table tells of: the latest.
const REGIMES_MOST: usize = 4;

impl Page<'_> {
    /// Everything about series by themselves.
    pub(super) fn series_text(&self) -> String {
        let summaries = || self.analysis.series.iter().map(|one| &one.summary);
        let durations: Vec<&SeriesSummary> =
            summaries().filter(|one| one.quantity == Quantity::Duration).collect();
        let (benchmarks, values): (Vec<&SeriesSummary>, Vec<&SeriesSummary>) = summaries()
            .filter(|one| one.quantity != Quantity::Duration)
            .partition(|one| one.series.kind.is_of_runs());
        let mut text = String::new();
        if !durations.is_empty() {
            text.push_str(
                &self.heading("How long it takes", "median with 95 % interval, slowest 5 % and 1 %, longest"),
            );
            text.push_str(&self.durations_table(&durations, true));
            text.push_str(&self.heading("How often it takes long", "share of attempts with 95 % interval"));
            text.push_str(&self.shares_table(&durations));
            text.push_str(&self.endings(&durations));
            text.push_str(&self.time_spent(&durations));
        }
        if !benchmarks.is_empty() {
            text.push_str(&self.heading(
                "Benchmarks",
                "a value for each run: median with 95 % interval, greatest 5 %, greatest",
            ));
            text.push_str(&self.durations_table(&benchmarks, false));
        }
        if !values.is_empty() {
            text.push_str(&self.heading("Values", "median with 95 % interval, greatest 5 %, greatest"));
            text.push_str(&self.durations_table(&values, false));
        }
        text
    }

    /// With the hours of changes where they fit.
    fn durations_table(&self, summaries: &[&SeriesSummary], has_p99: bool) -> String {
        let with_hours = self.durations(summaries, has_p99, LevelNames::WithHour);
        let table = if with_hours.width() <= self.width {
            with_hours
        } else {
            self.durations(summaries, has_p99, LevelNames::Day)
        };
        table.render(self.colour)
    }

    fn durations(&self, summaries: &[&SeriesSummary], has_p99: bool, names_of: LevelNames) -> Table {
        let right = Side::Right;
        let mut names = columns([("", Side::Left), ("n", right), ("median", right), ("p95", right)]);
        if has_p99 {
            names.push(("p99".into(), right));
        }
        names.push(("max".into(), right));
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        self.fill(&mut table, summaries, |summary| {
            rows_of(summary, names_of)
                .map(|(label, weighted)| {
                    let quantity = summary.quantity;
                    let quantile = |q: f64| weighted.quantiles.iter().find(|quantile| quantile.q == q);
                    let plain = |q: f64| {
                        Cell::new(quantile(q).map_or_else(String::new, |one| estimate(one.value, quantity)))
                    };
                    let median = quantile(0.5).map_or_else(String::new, |one| with_interval(one, quantity));
                    let mut cells = vec![
                        Cell::new(label),
                        Cell::new(format_count(weighted.counts.total())),
                        Cell::new(format!("{median}{}", unit_of(summary))),
                        plain(0.95),
                    ];
                    if has_p99 {
                        cells.push(plain(0.99));
                    }
                    cells.push(Cell::new(estimate(weighted.greatest, quantity)));
                    cells
                })
                .collect()
        });
        table
    }

    /// With intervals where they fit, and with the hours of changes.
    fn shares_table(&self, summaries: &[&SeriesSummary]) -> String {
        let shapes = [(true, LevelNames::WithHour), (true, LevelNames::Day), (false, LevelNames::WithHour)];
        let tables = shapes.map(|(has_intervals, names_of)| self.shares(summaries, has_intervals, names_of));
        let narrow = || self.shares(summaries, false, LevelNames::Day);
        let table = tables.into_iter().find(|table| table.width() <= self.width);
        table.unwrap_or_else(narrow).render(self.colour)
    }

    fn shares(&self, summaries: &[&SeriesSummary], has_intervals: bool, names_of: LevelNames) -> Table {
        let mut names = columns([("", Side::Left)]);
        let thresholds = summaries.first().map(|one| one.by_attempt.shares.as_slice()).unwrap_or_default();
        for share in thresholds {
            names.push((format!("> {}", format_duration(share.counted.threshold_ns)).into(), Side::Right));
        }
        let count = thresholds.len();
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        self.fill(&mut table, summaries, |summary| {
            rows_of(summary, names_of)
                .map(|(label, weighted)| {
                    let mut cells = vec![Cell::new(label)];
                    cells.extend(
                        weighted.shares.iter().map(|share| Cell::new(share_over(share, has_intervals))),
                    );
                    cells.resize(count + 1, Cell::default());
                    cells
                })
                .collect()
        });
        table
    }

    /// How attempts ended, of series in which any did not end well.
    fn endings(&self, summaries: &[&SeriesSummary]) -> String {
        let is_bad = |summary: &&SeriesSummary| {
            let rates = &summary.rates.total;
            rates.ok + rates.interrupted < rates.slots
        };
        let bad: Vec<&SeriesSummary> = summaries.iter().copied().filter(is_bad).collect();
        if bad.is_empty() {
            let has_deadline = summaries.iter().any(|one| one.series.deadline_ns > Nanoseconds::ZERO);
            let has_attempts = summaries.iter().any(|one| one.rates.total.attempts > 0);
            let told = match (has_attempts, has_deadline) {
                (false, _) => "No attempt was left to itself until its end.".to_owned(),
                (true, true) => all_succeeded("", &self.analysis.gaps),
                (true, false) => no_deadline(&self.analysis.gaps),
            };
            return format!("\n{}\n", wrapped(&told, self.width, ""));
        }
        let right = Side::Right;
        let names = columns([
            ("", Side::Left),
            ("slots", right),
            ("ok", right),
            ("errors", right),
            ("time-outs", right),
            ("hung", right),
            ("late", right),
            ("skipped", right),
        ]);
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        self.fill(&mut table, &bad, |summary| {
            let rates = &summary.rates.total;
            let mut cells = vec![
                Cell::new(label(&summary.series.key)),
                Cell::new(format_count(rates.slots)),
                Cell::new(format_count(rates.ok)),
            ];
            let all = [&rates.error, &rates.timeout, &rates.hung, &rates.late, &rates.skipped];
            cells.extend(all.map(rate));
            vec![cells]
        });
        let others = if bad.len() < summaries.len() {
            wrapped(&all_succeeded(" of the other series", &self.analysis.gaps), self.width, "") + "\n"
        } else {
            String::new()
        };
        format!(
            "{}{}{others}",
            self.heading("How attempts ended", "skipped slots: an earlier probe had not ended"),
            table.render(self.colour)
        )
    }

    /// Rows below the name of their place.
    pub(super) fn fill(
        &self,
        table: &mut Table,
        summaries: &[&SeriesSummary],
        rows: impl Fn(&SeriesSummary) -> Vec<Vec<Cell>>,
    ) {
        let mut previous = None;
        for summary in summaries {
            let place = self.names.place(&summary.series.key);
            if previous.as_ref() != Some(&place) {
                table.section(&place);
                previous = Some(place);
            }
            for row in rows(summary) {
                table.row(row);
            }
        }
    }
}

/// Each attempt once and, where slots were skipped, each slot once; then each attempt once between the latest changes of level.
fn rows_of(
    summary: &SeriesSummary,
    names_of: LevelNames,
) -> impl Iterator<Item = (String, &WeightedSummary)> {
    let label = label(&summary.series.key);
    let indent = " ".repeat(label.len() - label.trim_start().len() + 2);
    let by_time = summary.by_time.iter().map(|by_time| ("at any time".to_owned(), by_time));
    // On narrow terminals the time of the day stands with the changes only.
    let name = move |regime: &Regime| {
        time_of(regime, |at| {
            let day = day(at, summary.last.unwrap_or(at));
            match names_of {
                LevelNames::WithHour => format!("{day} {}", hour(at)),
                LevelNames::Day => day,
            }
        })
    };
    let regimes = latest_regimes(summary).iter().map(move |regime| (name(regime), &regime.summary));
    let below = by_time.chain(regimes).map(move |(name, weighted)| (format!("{indent}{name}"), weighted));
    std::iter::once((label, &summary.by_attempt)).chain(below)
}

/// Regimes that tables tell of.
pub(crate) fn latest_regimes(summary: &SeriesSummary) -> &[Regime] {
    &summary.regimes[summary.regimes.len().saturating_sub(REGIMES_MOST)..]
}

/// As in `until 8 May`, `since 2008-05-08 19:00`, moments being written by `moment`; one between two changes ends with the next.
pub(crate) fn time_of(regime: &Regime, moment: impl Fn(WallTime) -> String) -> String {
    match (regime.since, regime.until) {
        (Some(since), _) => format!("since {}", moment(since)),
        (None, Some(until)) => format!("until {}", moment(until)),
        (None, None) => String::new(),
    }
}

/// As in `8 May`, with the year if it is not that of `last`.
fn day(at: WallTime, last: WallTime) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = at.to_string();
    let date = text.split('T').next().unwrap_or_default();
    let mut parts = date.rsplitn(3, '-');
    let mut part = || parts.next().unwrap_or_default();
    let (day, month, year) = (part(), part(), part());
    let name = month.parse::<usize>().ok().and_then(|month| MONTHS.get(month.checked_sub(1)?));
    let year = if last.to_string().starts_with(year) { String::new() } else { format!(" {year}") };
    format!("{} {}{year}", day.trim_start_matches('0'), name.copied().unwrap_or(month))
}

/// As in `19:00`, of UTC.
fn hour(at: WallTime) -> String {
    let text = at.to_string();
    text.split('T').nth(1).and_then(|time| time.get(..5)).unwrap_or_default().to_owned()
}

fn unit_of(summary: &SeriesSummary) -> String {
    match summary.series.unit.as_str() {
        "" => String::new(),
        unit => format!(" {unit}"),
    }
}

/// `12 (0.3 %)`.
fn rate(rate: &Rate) -> Cell {
    match rate.share() {
        None | Some(0.0) => Cell::toned("0", Tone::Faint),
        Some(share) => Cell::toned(
            format!("{} ({} %)", format_count(rate.count), percentage(100.0 * share)),
            Tone::Warning,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_year_where_that_is_another() {
        let at = |seconds| WallTime::from_seconds(seconds);
        assert_eq!(day(at(1_210_273_200), at(1_212_000_000)), "8 May");
        assert_eq!(day(at(1_210_273_200), at(1_262_304_000)), "8 May 2008");
        assert_eq!(day(at(1_230_768_000), at(1_230_768_000)), "1 Jan");
        assert_eq!(hour(at(1_210_273_200)), "19:00");
    }
}
