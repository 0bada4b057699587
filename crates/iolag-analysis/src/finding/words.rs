//! Durations, factors, shares and lists in words.

use iolag_model::{counted, format_count};

use crate::statistics::quantile::censored::QuantileValue;

/// A duration as in `1.25 ms`, `at least 15.0 s`.
pub fn duration_in_words(value: QuantileValue) -> String {
    match value {
        QuantileValue::Exactly(duration) => duration.to_string(),
        QuantileValue::AtLeast(duration) => format!("at least {duration}"),
        QuantileValue::Below(duration) => format!("below {duration}"),
        QuantileValue::TooFew { needed, have } => format!("unknown ({have} of {needed} attempts needed)"),
        QuantileValue::FewStretches { stretches } => {
            format!("unknown (in {})", counted(stretches, "stretch of time", "stretches of time"))
        }
    }
}

/// A factor as in `1.4`, `40`, `1 100`.
pub fn factor_in_words(factor: f64) -> String {
    match factor {
        factor if factor < 9.95 => format!("{factor:.1}"),
        factor if factor < 999.5 => format!("{factor:.0}"),
        factor => {
            // Two digits of what is known so roughly.
            let step = 10_f64.powf(factor.log10().floor() - 1.0);
            format_count(((factor / step).round() * step) as u64)
        }
    }
}

/// A share as in `12 %`, `0.4 %`, `0.02 %`; what happened at all is not `0.0 %`, and what did not always happen is not `100 %`.
pub fn share_in_words(share: f64) -> String {
    match share * 100.0 {
        percent if (99.5..100.0).contains(&percent) => format!("{:.1} %", (10.0 * percent).floor() / 10.0),
        percent if percent <= 0.0 || percent >= 9.95 => format!("{percent:.0} %"),
        percent if percent < 0.0001 => "under 0.0001 %".to_owned(),
        percent if percent < 0.095 => {
            let decimals = (-percent.log10()).ceil() as usize;
            format!("{percent:.decimals$} %")
        }
        percent => format!("{percent:.1} %"),
    }
}

/// A sentence that begins with these words.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Parts of a sentence with commas and an "and".
pub fn joined(mut parts: Vec<String>) -> String {
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        last => last.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_share_is_not_zero() {
        let told = [0.0, 1e-7, 0.000_004, 0.000_19, 0.000_96, 0.004, 0.123].map(share_in_words);
        assert_eq!(told, ["0 %", "under 0.0001 %", "0.0004 %", "0.02 %", "0.1 %", "0.4 %", "12 %"]);
    }
}
