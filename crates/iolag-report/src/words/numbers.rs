//! Numbers and moments as people read them in tables.

use iolag_model::{Nanoseconds, WallTime, exact_duration, format_bytes, format_count};

/// What stands where there is nothing.
pub(crate) const NOTHING: &str = "–";

/// `60 %`: what the processors did of the time that passed, 100 % being one all the time; of too short a time there is no share.
pub(crate) fn processor_share(share: Option<f64>, taken: Option<Nanoseconds>) -> String {
    match (share, taken) {
        (Some(share), _) => format!("{} %", percentage(share * 100.0)),
        (None, Some(_)) => "too short".to_owned(),
        (None, None) => NOTHING.to_owned(),
    }
}

/// ` at 60 %`, or nothing.
pub(crate) fn at_share(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!(" at {} %", percentage(share * 100.0)))
}

/// A percentage with a decimal only where it matters, but as many as it takes to tell what is rare from what never happened.
pub(crate) fn percentage(percent: f64) -> String {
    match percent {
        p if p <= 0.0 => "0".to_owned(),
        p if p < 0.0001 => "<0.0001".to_owned(),
        p if p < 0.0095 => {
            let decimals = (-p.log10()).ceil() as usize;
            format!("{p:.decimals$}")
        }
        p if p < 0.095 => format!("{p:.2}"),
        p if p < 9.95 => {
            let text = format!("{p:.1}");
            text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
        }
        p => format!("{p:.0}"),
    }
}

/// A duration as it is typed: `2h`, `600s`, `1500ms`.
pub(crate) fn typed_duration(duration: Nanoseconds) -> String {
    const HOUR: Nanoseconds = Nanoseconds::from_seconds(3600);
    match duration.0 {
        0 => exact_duration(duration),
        ns if ns.is_multiple_of(HOUR.0) => format!("{}h", ns / HOUR.0),
        _ => exact_duration(duration),
    }
}

/// A rate with three significant digits and thin groups: `0.28`, `57.1`, `12 345`.
pub(crate) fn rate(per_second: f64) -> String {
    match per_second {
        r if !r.is_finite() => NOTHING.to_owned(),
        r if r < 9.995 => format!("{r:.2}"),
        r if r < 999.5 => format!("{r:.1}"),
        r => format_count(r.round() as u64),
    }
}

/// Bytes a second with three significant digits: `1.30 GiB/s`.
pub(crate) fn throughput(bytes_per_second: f64) -> String {
    match bytes_per_second {
        b if !b.is_finite() => NOTHING.to_owned(),
        b => format!("{}/s", format_bytes(b.round() as u64)),
    }
}

/// UTC as `2026-11-20 18:59:00`.
pub(crate) fn utc(realtime_ns: u64) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(realtime_ns)) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => NOTHING.to_owned(),
    }
}

/// The same of a moment of a history.
pub(crate) fn moment(time: WallTime) -> String {
    u64::try_from(time.0).map_or_else(|_| NOTHING.to_owned(), utc)
}

/// A float as C's `%.4e`: `1.2345e-06`.
pub(crate) fn scientific(value: f64) -> String {
    let text = format!("{value:.4e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, power) = match exponent.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{power:0>2}")
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rare_is_not_nothing() {
        let told = [0.0, 0.000_01, 0.000_38, 0.004, 0.0096, 0.02, 0.5, 3.0, 12.4].map(percentage);
        assert_eq!(told, ["0", "<0.0001", "0.0004", "0.004", "0.01", "0.02", "0.5", "3", "12"]);
    }

    #[test]
    fn what_processors_did_of_too_short_a_time_is_no_number() {
        let taken = Some(Nanoseconds(7));
        let told = [(Some(0.5), taken), (None, taken), (None, None)]
            .map(|(share, taken)| processor_share(share, taken));
        assert_eq!(told, ["50 %", "too short", NOTHING]);
        assert_eq!([at_share(Some(1.98)), at_share(None)], [" at 198 %", ""]);
    }

    #[test]
    fn c_notation_has_two_digits_of_exponent() {
        for (value, text) in
            [(1.23456e-6, "1.2346e-06"), (0.0, "0.0000e+00"), (1234.5, "1.2345e+03"), (2e-101, "2.0000e-101")]
        {
            assert_eq!(scientific(value), text);
        }
    }

    #[test]
    fn moments_are_utc() {
        assert_eq!(utc(1_795_201_140_000_000_000), "2026-11-20 18:59:00");
    }
}
