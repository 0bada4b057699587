//! Single values as they are typed.

pub(crate) mod form;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod tree;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use iolag_model::{
    BystanderTask, CacheState, Connections, Granularity, MILLION, Nanoseconds, OnError, OnHang, Operation,
    Order, Pattern, Phase, SetUpPreset, parse_duration,
};

use crate::args::values::form::MetadataForm;

macro_rules! by_name {
    ($function:ident, $type:ty, $choices:expr) => {
        pub(crate) fn $function(text: &str) -> Result<$type, String> {
            let choices: &[$type] = $choices;
            choices.iter().copied().find(|choice| choice.name() == text).ok_or_else(|| {
                let names: Vec<_> = choices.iter().map(|choice| choice.name()).collect();
                format!("expected one of: {}", names.join(", "))
            })
        }
    };
}

pub(crate) use by_name;

by_name!(parse_pattern, Pattern, Pattern::ALL);
by_name!(parse_granularity, Granularity, Granularity::ALL);
by_name!(parse_on_hang, OnHang, OnHang::ALL);
by_name!(parse_on_error, OnError, OnError::ALL);
by_name!(parse_order, Order, Order::ALL);
by_name!(parse_bystander_task, BystanderTask, BystanderTask::ALL);
by_name!(parse_caches, CacheState, CacheState::ALL);
by_name!(parse_session, Connections, Connections::ALL);
by_name!(parse_phase, Phase, &[Phase::Precreate, Phase::Benchmark, Phase::Cleanup]);

/// `stat,list`: what bystanders ask.
pub(crate) fn parse_bystander(text: &str) -> Result<Bystanders, String> {
    let named = text.split(',').map(|name| parse_bystander_task(name.trim()));
    named.collect::<Result<_, _>>().map(Bystanders).map_err(|expected| {
        format!("{expected}, several with commas between them, or nothing for all; targets stand before it")
    })
}

/// What bystanders ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bystanders(pub Vec<BystanderTask>);

/// `10/s`, `6/min`, or the number of a second.
pub(crate) fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, seconds) = match text.split_once('/') {
        None | Some((_, "s")) => (text.trim_end_matches("/s"), 1.0),
        Some((number, "min")) => (number, 60.0),
        Some(_) => (text, 1.0),
    };
    let rate = number.trim().parse::<f64>().map(|number| number / seconds);
    rate.ok()
        .filter(|rate| rate.is_finite())
        .ok_or_else(|| "expected a rate such as 10/s or 6/min".to_owned())
}

/// Absolute at once, since the program leaves the current directory before it measures.
pub(crate) fn parse_document(text: &str) -> Result<PathBuf, String> {
    match text {
        "" => Err("expected a file, or - for standard output".to_owned()),
        "-" => Ok(PathBuf::from(text)),
        _ => parse_file(text),
    }
}

/// A path as it is; clap refuses what is not UTF-8, which runs and messages between processes cannot hold.
#[expect(clippy::unnecessary_wraps, reason = "what clap expects")]
pub(crate) fn parse_readable(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(text))
}

/// As [`parse_document`], where standard output makes no sense: a file that is called so is ./-
pub(crate) fn parse_file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() || text == "-" {
        return Err("expected a file".to_owned());
    }
    std::path::absolute(text).map_err(|error| format!("the current directory is unknown: {error}"))
}

/// A duration that something takes: at least 1 ms, since nothing shorter can be waited for or shown with sense.
pub(crate) fn parse_period(text: &str) -> Result<Nanoseconds, String> {
    let period = parse_duration(text).map_err(|error| error.to_string())?;
    if period < Nanoseconds::from_milliseconds(1) {
        return Err("expected at least 1ms".to_owned());
    }
    Ok(period)
}

/// In less time a check cannot set up, measure something and clean up.
pub(crate) fn parse_budget(text: &str) -> Result<Nanoseconds, String> {
    const BUDGET_MIN: Nanoseconds = Nanoseconds::from_seconds(1);
    let budget = parse_duration(text).map_err(|error| error.to_string())?;
    if budget < BUDGET_MIN {
        return Err("a check needs at least 1s".to_owned());
    }
    Ok(budget)
}

/// `5%` as a share. Half an interval of more says nothing.
pub(crate) fn parse_precision(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match percent.filter(|percent| (0.01..=100.0).contains(percent)) {
        Some(percent) => Ok(percent / 100.0),
        None => Err("expected a percentage from 0.01% to 100%, such as 5%".to_owned()),
    }
}

/// `80%`, in millionths.
pub(crate) fn parse_share(text: &str) -> Result<u32, String> {
    let percent = text.trim_end().strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
        Some(percent) => Ok((percent / 100.0 * f64::from(MILLION)).round() as u32),
        None => Err(format!("{text:?} is no share: expected 0% to 100%, as in 80%")),
    }
}

pub(crate) fn parse_preset(name: &str) -> Result<SetUpPreset, String> {
    let found = SetUpPreset::ALL.iter().copied().find(|preset| preset.name() == name);
    let known: Vec<&str> = SetUpPreset::ALL.iter().map(|preset| preset.name()).collect();
    found.ok_or_else(|| format!("there is no set-up {name:?}: choose {}", known.join(" or ")))
}

pub(crate) fn parse_form(text: &str) -> Result<MetadataForm, String> {
    match text {
        "text" => Ok(MetadataForm::Text),
        "md-workbench" => Ok(MetadataForm::MdWorkbench),
        "csv" => Ok(MetadataForm::Csv),
        "json" => Ok(MetadataForm::Json),
        "parquet" => Err(
            "a result is not printed as Parquet; for the samples, run: iolag export --format parquet -o DIR"
                .to_owned(),
        ),
        _ => Err("expected one of: text, md-workbench, csv, json".to_owned()),
    }
}

/// `3` or `0-3`.
pub(crate) fn parse_clients(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err("expected a client or a range of clients, as in 0-3 or 0,2-3".to_owned()),
    }
}

by_name!(parse_any_phase, Phase, Phase::ALL);
by_name!(parse_operation, Operation, Operation::ALL);

pub(crate) fn parse_label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, for example condition=quiet".to_owned()),
    }
}

pub(crate) fn parse_think(text: &str) -> Result<iolag_model::Think, String> {
    use iolag_model::Think;
    if let Some(factor) = text.strip_suffix('x') {
        return match factor.parse::<f64>() {
            Ok(factor) if factor.is_finite() && (0.0..=1e6).contains(&factor) => Ok(Think::Factor(factor)),
            _ => Err("expected a factor such as 0.5x, at most 1000000x".to_owned()),
        };
    }
    match parse_duration(text) {
        Ok(Nanoseconds(0)) => Ok(Think::None),
        Ok(pause) => Ok(Think::Fixed(pause)),
        Err(_) => {
            Err("expected a factor of the operation's time such as 0.5x, or a duration such as 10ms"
                .to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Think;

    #[test]
    fn think_time_is_a_factor_or_a_duration() {
        assert_eq!(parse_think("0.5x"), Ok(Think::Factor(0.5)));
        assert_eq!(parse_think("10ms"), Ok(Think::Fixed(Nanoseconds::from_milliseconds(10))));
        assert_eq!(parse_think("0"), Ok(Think::None));
        for bad in ["-1x", "nanx", "infx", "5", "x"] {
            assert!(parse_think(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_precision_is_a_percentage() {
        assert_eq!(parse_precision("5%"), Ok(0.05));
        assert_eq!(parse_precision("2.5 %"), Ok(0.025));
        for bad in ["", "5", "0%", "-5%", "nan%", "101%", "%", "x%"] {
            assert!(parse_precision(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(parse_share("80%"), Ok(800_000));
        assert_eq!(parse_share("0.0001 %"), Ok(1));
        for wrong in ["80", "101%", "-1%", "NaN%", "%", ""] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_choice_names_the_known_ones() {
        assert_eq!(parse_pattern("codes"), Err("expected one of: code, paper, batch".to_owned()));
    }
}
