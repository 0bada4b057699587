//! What is read of a history to be analysed, and how.

use iolag_analysis::history::{
    CorrelationMethod, HistoryInput, HistoryOptions, LocalTime, MatrixOptions, Stratify, SummaryOptions,
    last_failed,
};
use iolag_model::{WallSpan, WallTime};
use iolag_store::history::{History, HistoryError};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::args::{HistoryMethod, Method, Stratification};

/// Everything within `span` that is analysed. Series without a sample in it are left out.
///
/// # Errors
/// If the history cannot be read.
pub fn read(history: &mut dyn History, span: WallSpan) -> Result<HistoryInput, HistoryError> {
    let (mut series, mut failures) = (Vec::new(), Vec::new());
    for one in history.series()? {
        let columns = history.samples(&one.key, span)?;
        if let Some((probe, _)) = last_failed(&columns) {
            failures.extend(history.evidence(&one.key.host, probe)?);
        }
        if !columns.is_empty() {
            series.push((one, columns));
        }
    }
    Ok(HistoryInput { series, failures, ..read_told(history, span)? })
}

/// The same without series, in the order of time.
///
/// # Errors
/// If the history cannot be read.
pub fn read_told(history: &mut dyn History, span: WallSpan) -> Result<HistoryInput, HistoryError> {
    let mut input = HistoryInput {
        series: Vec::new(),
        events: history.events(span)?,
        outages: history.outages(span)?,
        configurations: history.configurations()?,
        sessions: history.sessions(span)?,
        failures: Vec::new(),
    };
    input.put_in_order();
    Ok(input)
}

/// How a history with samples of this time is analysed: days and hours are those of `zone`.
pub fn analysis_options(covered: Option<WallSpan>, how: &HistoryMethod, zone: &TimeZone) -> HistoryOptions {
    let WallSpan { begin, end } =
        covered.unwrap_or(WallSpan { begin: WallTime::default(), end: WallTime::default() });
    let method = match how.correlations.method {
        None | Some(Method::Spearman) => CorrelationMethod::Spearman,
        Some(Method::Pearson) => CorrelationMethod::Pearson,
        Some(Method::PearsonLog) => CorrelationMethod::PearsonLog,
    };
    HistoryOptions {
        summary: SummaryOptions { local_time: local_time(zone, begin, end), ..SummaryOptions::default() },
        matrix: MatrixOptions {
            method,
            tolerance_ns: how.correlations.tolerance,
            ..MatrixOptions::default()
        },
        stratify: match how.stratify {
            None | Some(Stratification::None) => Stratify::No,
            Some(Stratification::HourOfWeek) => Stratify::HourOfWeek,
        },
        ..HistoryOptions::default()
    }
}

/// How a zone differs from UTC between two moments, with its changes between summer and winter.
pub fn local_time(zone: &TimeZone, begin: WallTime, end: WallTime) -> LocalTime {
    /// A zone has two changes a year; a broken one must not keep us.
    const CHANGES_MAX: usize = 2000;
    let Ok(first) = Timestamp::from_nanosecond(i128::from(begin.0)) else { return LocalTime::UTC };
    let changes = zone.following(first).take(CHANGES_MAX).map(|change| {
        let moment = i64::try_from(change.timestamp().as_nanosecond()).map_or(WallTime(i64::MAX), WallTime);
        (moment, change.offset().seconds())
    });
    changes
        .take_while(|(moment, _)| *moment <= end)
        .fold(LocalTime::fixed(zone.to_offset(first).seconds()), |local, (moment, offset)| {
            local.changing(moment, offset)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_time_follows_summer_and_winter() {
        let zone = TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").unwrap();
        // 2008-01-01 to 2008-12-31.
        let local =
            local_time(&zone, WallTime::from_seconds(1_199_145_600), WallTime::from_seconds(1_230_681_600));
        // Noon by UTC.
        for (seconds, hour) in [(1_199_188_800, 4), (1_214_913_600, 5), (1_230_638_400, 4)] {
            assert_eq!(local.at(WallTime::from_seconds(seconds)).hour, hour);
        }
        assert_eq!(local_time(&TimeZone::UTC, WallTime(0), WallTime(1)), LocalTime::UTC);
    }
}
