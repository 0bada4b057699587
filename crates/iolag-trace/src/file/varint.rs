//! Numbers of any size in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number.
pub(super) fn put(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Appends a number that may be negative: small ones either way are short.
pub(super) fn put_signed(value: i64, to: &mut Vec<u8>) {
    put(((value << 1) ^ (value >> 63)) as u64, to);
}

/// What is left to be read of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next number; nothing if there is none.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The next number that may be negative.
    pub(super) fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The next number, if it fits.
    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    /// The next so many bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The number of things that follow, each at least a byte long: not more than there can be.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_are_short_and_long_ones_end() {
        let length = |value| {
            let mut bytes = Vec::new();
            put_signed(value, &mut bytes);
            bytes.len()
        };
        assert_eq!([0, -1, 63, -64, 64, i64::MAX, i64::MIN].map(length), [1, 1, 1, 1, 2, 10, 10]);
        assert_eq!(Bytes(&[0x80; 11]).number(), None);
        assert_eq!(Bytes(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number(), None);
        assert_eq!(Bytes(&[]).number(), None);
        assert_eq!(Bytes(&[0x80, 2]).small::<u8>(), None);
    }

    proptest! {
        #[test]
        fn every_number_is_read_again(one: u64, other: i64) {
            let mut bytes = Vec::new();
            put(one, &mut bytes);
            put_signed(other, &mut bytes);
            let mut read = Bytes(&bytes);
            prop_assert_eq!((read.number(), read.signed(), read.is_empty()), (Some(one), Some(other), true));
        }
    }
}
