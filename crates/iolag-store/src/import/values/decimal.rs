//! Decimal numbers as they are printed: exact, with the place of their last digit.

/// `digits × 10^exponent`, and a sign. What was printed as 0.10 has exponent -2, so that the resolution of a clock can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

/// More digits than a float of 64 bits or a time in nanoseconds has; with them a product with any unit fits 128 bits.
const DIGITS_MAX: u32 = 25;
const EXPONENT_MAX: i32 = 400;

impl Decimal {
    /// Reads `12`, `-0.05`, `.5`, `5.`, `1.2e-3`. Digits after the 25th are cut off behind the point and refused before it.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, scientific) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits = 0_u128;
        let mut count = 0;
        for byte in whole.bytes() {
            digits = digits * 10 + u128::from(digit(byte)?);
            count += u32::from(digits > 0);
            if count > DIGITS_MAX {
                return None;
            }
        }
        let mut exponent = scientific;
        for byte in fraction.bytes() {
            let value = digit(byte)?;
            if count < DIGITS_MAX && exponent > -EXPONENT_MAX {
                digits = digits * 10 + u128::from(value);
                count += u32::from(digits > 0);
                exponent -= 1;
            }
        }
        Some(Self { negative, digits, exponent })
    }

    /// Whether it is below zero; minus zero is not.
    pub const fn is_negative(self) -> bool {
        self.negative && self.digits != 0
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// This number times `factor`, rounded to the nearest whole number, half away from zero; nothing if that is below zero or over 64 bits.
    pub fn times(self, factor: u64) -> Option<u64> {
        if self.is_negative() {
            return None;
        }
        u64::try_from(self.signed_times(factor)?).ok()
    }

    /// The same with a sign.
    pub fn signed_times(self, factor: u64) -> Option<i64> {
        let product = self.digits.checked_mul(u128::from(factor))?;
        let magnitude = if product == 0 {
            0
        } else if self.exponent >= 0 {
            product.checked_mul(10_u128.checked_pow(self.exponent.unsigned_abs())?)?
        } else {
            match 10_u128.checked_pow(self.exponent.unsigned_abs()) {
                Some(divisor) => product / divisor + u128::from(product % divisor >= divisor.div_ceil(2)),
                None => 0,
            }
        };
        let magnitude = i64::try_from(magnitude).ok()?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// The place of the last digit times `factor`, at least 1: the smallest difference that could be printed.
    pub fn quantum(self, factor: u64) -> u64 {
        Self { negative: false, digits: 1, exponent: self.exponent }.times(factor).unwrap_or(u64::MAX).max(1)
    }

    /// This number plus `whole`, as minutes are added to seconds.
    pub fn plus(self, whole: u64) -> Option<Self> {
        let (digits, exponent) = if self.exponent > 0 {
            (self.digits.checked_mul(10_u128.checked_pow(self.exponent.unsigned_abs())?)?, 0)
        } else {
            (self.digits, self.exponent)
        };
        let shifted = u128::from(whole).checked_mul(10_u128.checked_pow(exponent.unsigned_abs())?)?;
        Some(Self { negative: self.negative, digits: digits.checked_add(shifted)?, exponent })
    }

    /// The nearest float; infinite if it is too large.
    pub fn to_float(self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

fn parse_exponent(text: &str) -> Option<i32> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || unsigned.len() > 4 || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent = text.parse::<i32>().ok()?;
    (exponent.abs() < EXPONENT_MAX).then_some(exponent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_exact_and_know_their_last_digit() {
        for (text, ns, quantum) in [
            ("0.00", 0, 10_000_000),
            ("0.01", 10_000_000, 10_000_000),
            ("1.3", 1_300_000_000, 100_000_000),
            (".5", 500_000_000, 100_000_000),
            ("5.", 5_000_000_000, 1_000_000_000),
            ("1.2e-3", 1_200_000, 100_000),
            ("1e3", 1_000_000_000_000, 1_000_000_000_000),
            ("0.1234567890123456789012345678901234567890", 123_456_789, 1),
            ("-0.0", 0, 100_000_000),
        ] {
            let number = Decimal::parse(text).unwrap();
            assert_eq!(number.times(1_000_000_000), Some(ns), "{text}");
            assert_eq!(number.quantum(1_000_000_000), quantum, "{text}");
        }
        for text in
            ["", "-", ".", "1.2.3", "1e", "1e99999", "0x1", "1,5", "12345678901234567890123456", "nan"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse("-1").unwrap().times(1), None);
        assert_eq!(Decimal::parse("-1.5").unwrap().signed_times(10), Some(-15));
        assert_eq!(Decimal::parse("1e30").unwrap().times(1), None);
    }

    proptest! {
        #[test]
        fn floats_come_back(value in proptest::num::f64::NORMAL) {
            prop_assume!(value.abs() < 1e100 && value.abs() > 1e-100);
            prop_assert_eq!(Decimal::parse(&format!("{value:e}")).unwrap().to_float(), value);
        }

        #[test]
        fn nanoseconds_come_back(ns in 0..u64::MAX / 2) {
            let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(Decimal::parse(&text).unwrap().times(1_000_000_000), Some(ns));
        }

        #[test]
        fn no_text_is_too_strange(text in ".{0,40}", factor in any::<u64>()) {
            if let Some(number) = Decimal::parse(&text) {
                let _ = (number.times(factor), number.quantum(factor), number.plus(factor), number.to_float());
            }
        }
    }
}
