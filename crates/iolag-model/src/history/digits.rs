//! 64-bit names as texts: most programs read a number of JSON as a double, which has 53 bits, and would make two names one.
//!
//! Written as decimal digits in quotes; read as that or, as earlier versions wrote it, as a number.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

/// Writes the digits.
pub(super) fn serialize<S: Serializer>(name: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(name)
}

/// Reads digits or a whole number.
///
/// # Errors
/// If it is neither, or a number that some program has rounded.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Digits)
}

struct Digits;

impl Visitor<'_> for Digits {
    type Value = u64;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a whole number below 2^64, in quotes or without")
    }

    fn visit_u64<E: Error>(self, name: u64) -> Result<u64, E> {
        Ok(name)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let name = is_plain.then(|| text.parse().ok()).flatten();
        name.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use crate::{ConfigurationKey, ProbeId};
    use proptest::prelude::*;

    #[test]
    fn a_name_beyond_53_bits_is_written_in_quotes() {
        assert_eq!(serde_json::to_string(&ProbeId((1 << 53) + 1)).unwrap(), "\"9007199254740993\"");
        assert_eq!(serde_json::to_string(&ConfigurationKey(u64::MAX)).unwrap(), "\"18446744073709551615\"");
        assert_eq!(serde_json::to_string(&Some(ProbeId(7))).unwrap(), "\"7\"");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "1.8e19",
            "1.5",
            "-1",
            "\"\"",
            "\"+1\"",
            "\"-1\"",
            "\" 1\"",
            "\"18446744073709551616\"",
            "[1]",
            "true",
        ] {
            let error = serde_json::from_str::<ProbeId>(text).unwrap_err().to_string();
            assert!(error.contains("a whole number below 2^64"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn both_forms_are_read(name: u64) {
            let written = serde_json::to_string(&ProbeId(name)).unwrap();
            prop_assert_eq!(serde_json::from_str::<ProbeId>(&written).unwrap(), ProbeId(name));
            prop_assert_eq!(serde_json::from_str::<ProbeId>(&name.to_string()).unwrap(), ProbeId(name));
        }

        #[test]
        fn any_text_is_a_name_or_refused(text in any::<String>()) {
            let quoted = serde_json::to_string(&text).unwrap();
            let is_name = text.parse::<u64>().is_ok() && !text.starts_with('+');
            prop_assert_eq!(serde_json::from_str::<ProbeId>(&quoted).is_ok(), is_name);
        }
    }
}
