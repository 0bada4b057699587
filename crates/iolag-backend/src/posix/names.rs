//! Names of datasets and objects, formed before the clock is read, and the names that iolag makes at all.
//!
//! Object `i` of dataset `d` of rank `r` is `r_d/file-i`. Only canonical decimal numbers are iolag's names: `file-07` is
//! somebody else's file.

use std::ffi::CStr;

use iolag_directory::is_owner_file;
use iolag_model::PlaceToken;

use crate::ObjectKey;

/// Beginning of the names of directories that `iolag check` makes in the working directory.
const CHECK_PREFIX: &[u8] = b"check-";
const REPLAY_PREFIX: &[u8] = b"replay-";

/// Beginning of the name of the file by which a working directory is known for its run's own.
const TOKEN_PREFIX: &str = ".iolag-";

// 10 digits, `_`, 10 digits, `/file-`, 20 digits, NUL.
const NAME_BYTES_MAX: usize = 48;

/// Name of one object, as a system call takes it. Formed again only where it changes.
///
/// Invariant: `bytes[..length]` ends with the only NUL in it, and is the name of `key`.
#[derive(Debug)]
pub(super) struct ObjectName {
    bytes: [u8; NAME_BYTES_MAX],
    key: ObjectKey,
    prefix_length: usize,
    length: usize,
}

impl ObjectName {
    /// The name of object 0 of dataset 0 of rank 0.
    pub(super) fn new() -> Self {
        let key = ObjectKey::default();
        let mut name = Self { bytes: [0; NAME_BYTES_MAX], key, prefix_length: 0, length: 0 };
        name.form_prefix(key);
        name.form_index(key);
        name
    }

    /// Becomes the name of `key`.
    #[inline]
    pub(super) fn form(&mut self, key: ObjectKey) {
        if key == self.key {
            return;
        }
        if key.rank != self.key.rank || key.dataset != self.key.dataset {
            self.form_prefix(key);
        }
        self.form_index(key);
        self.key = key;
    }

    /// The name, relative to the working directory.
    #[inline]
    pub(super) fn as_c_str(&self) -> &CStr {
        // SAFETY: digits and punctuation up to the NUL at `length - 1`, by the invariant of the type.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.bytes[..self.length]) }
    }

    fn form_prefix(&mut self, key: ObjectKey) {
        let end = form_dataset(&mut self.bytes, key);
        self.prefix_length = append(&mut self.bytes, end, b"/file-");
    }

    #[inline]
    fn form_index(&mut self, key: ObjectKey) {
        let end =
            append(&mut self.bytes, self.prefix_length, itoa::Buffer::new().format(key.index).as_bytes());
        self.bytes[end] = 0;
        self.length = end + 1;
    }
}

/// Name of one dataset, as a system call takes it.
///
/// Invariant: `bytes[..length]` ends with the only NUL in it.
#[derive(Debug)]
pub(super) struct DatasetName {
    bytes: [u8; NAME_BYTES_MAX],
    length: usize,
}

impl DatasetName {
    /// The name of this key's dataset.
    pub(super) fn new(key: ObjectKey) -> Self {
        let mut bytes = [0; NAME_BYTES_MAX];
        let end = form_dataset(&mut bytes, key);
        Self { bytes, length: end + 1 }
    }

    /// The name, relative to the working directory.
    #[inline]
    pub(super) fn as_c_str(&self) -> &CStr {
        // SAFETY: digits and `_` up to the NUL at `length - 1`, by the invariant of the type.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.bytes[..self.length]) }
    }
}

/// What a name in the working directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopName {
    /// `<rank>_<dataset>`.
    Dataset,
    /// `check-…`, `replay-…`: whatever is in it is of the run.
    Check,
    /// `.iolag-<token>`.
    Token(PlaceToken),
    /// Made to see its owner; its maker was killed.
    Owner,
    /// Not made by iolag.
    Foreign,
}

impl TopName {
    /// What this name is.
    pub(super) fn of(name: &[u8]) -> Self {
        let is_dataset = || {
            let mut parts = name.split(|byte| *byte == b'_');
            let (Some(rank), Some(dataset), None) = (parts.next(), parts.next(), parts.next()) else {
                return false;
            };
            is_number(rank, u64::from(u32::MAX)) && is_number(dataset, u64::from(u32::MAX))
        };
        if let Some(token) = token_in(name) {
            Self::Token(token)
        } else if is_owner_file(name) {
            Self::Owner
        } else if name.starts_with(CHECK_PREFIX) || name.starts_with(REPLAY_PREFIX) {
            Self::Check
        } else if is_dataset() {
            Self::Dataset
        } else {
            Self::Foreign
        }
    }
}

/// The name of the file that stands for this token.
pub fn token_name(token: PlaceToken) -> String {
    format!("{TOKEN_PREFIX}{token}")
}

fn token_in(name: &[u8]) -> Option<PlaceToken> {
    str::from_utf8(name).ok()?.strip_prefix(TOKEN_PREFIX)?.parse().ok()
}

/// Whether this is the name of an object in its dataset: `file-<index>`.
pub(super) fn is_object(name: &[u8]) -> bool {
    name.strip_prefix(b"file-").is_some_and(|index| is_number(index, u64::MAX))
}

fn is_number(digits: &[u8], maximum: u64) -> bool {
    let is_canonical = digits == b"0" || digits.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    is_canonical
        && digits.iter().all(u8::is_ascii_digit)
        && str::from_utf8(digits).is_ok_and(|text| text.parse().is_ok_and(|number: u64| number <= maximum))
}

/// Writes `r_d` at the beginning; returns its length.
fn form_dataset(bytes: &mut [u8; NAME_BYTES_MAX], key: ObjectKey) -> usize {
    let mut digits = itoa::Buffer::new();
    let end = append(bytes, 0, digits.format(key.rank).as_bytes());
    let end = append(bytes, end, b"_");
    append(bytes, end, digits.format(key.dataset).as_bytes())
}

#[inline]
fn append(bytes: &mut [u8; NAME_BYTES_MAX], at: usize, text: &[u8]) -> usize {
    let end = at + text.len();
    bytes[at..end].copy_from_slice(text);
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_longest_names_fit() {
        let key = ObjectKey { rank: u32::MAX, dataset: u32::MAX, index: u64::MAX };
        let mut name = ObjectName::new();
        assert_eq!(name.as_c_str(), c"0_0/file-0");
        name.form(key);
        assert_eq!(name.as_c_str(), c"4294967295_4294967295/file-18446744073709551615");
        assert_eq!(DatasetName::new(key).as_c_str(), c"4294967295_4294967295");
    }

    #[test]
    fn only_canonical_names_are_ours() {
        for name in ["0_0", "12_345", "4294967295_0"] {
            assert_eq!(TopName::of(name.as_bytes()), TopName::Dataset, "{name}");
        }
        for name in
            ["", "_", "0_", "_0", "00_0", "0_01", "0_0_0", "4294967296_0", "+1_0", "data", "check", "file-0"]
        {
            assert_eq!(TopName::of(name.as_bytes()), TopName::Foreign, "{name}");
        }
        assert_eq!(TopName::of(b"check-7"), TopName::Check);
        assert_eq!(TopName::of(b"replay-0"), TopName::Check);
        let token = PlaceToken(u128::MAX);
        assert_eq!(TopName::of(token_name(token).as_bytes()), TopName::Token(token));
        assert!(is_object(b"file-0") && is_object(b"file-18446744073709551615"));
        for name in
            ["file-", "file-00", "file-1x", "file--1", "file-18446744073709551616", "File-1", "file-\u{661}"]
        {
            assert!(!is_object(name.as_bytes()), "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_that_of_its_key_whatever_it_was_before(
            keys in prop::collection::vec((0_u32..20, 0_u32..20, prop_oneof![0_u64..20, any::<u64>()]), 1..20)
        ) {
            let mut name = ObjectName::new();
            for (rank, dataset, index) in keys {
                name.form(ObjectKey { rank, dataset, index });
                let formed = name.as_c_str().to_str().unwrap();
                prop_assert_eq!(formed, format!("{rank}_{dataset}/file-{index}"));
                let (top, object) = formed.split_once('/').unwrap();
                prop_assert_eq!(TopName::of(top.as_bytes()), TopName::Dataset);
                prop_assert!(is_object(object.as_bytes()));
            }
        }
    }
}
