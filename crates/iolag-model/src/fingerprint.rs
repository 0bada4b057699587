//! A short fingerprint of bytes that is the same on every machine and in every version. Against chance, not against malice.

/// FNV-1a with 64 bits (Fowler, Noll, Vo). Its upper bits are the better ones: fold what is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// That of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> u64 {
        Self::default().and(bytes).value()
    }

    /// With these bytes behind what it has.
    #[must_use]
    pub fn and(self, bytes: impl AsRef<[u8]>) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.as_ref().iter().fold(self.0, step))
    }

    /// Its 64 bits.
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fnv_1a() {
        // Of the authors' table.
        assert_eq!(Fingerprint::of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fingerprint::of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fingerprint::of("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(Fingerprint::default().and("foo").and("bar").value(), Fingerprint::of("foobar"));
    }
}
