//! Names of datasets and objects in a working place: `RANK_DATASET/file-INDEX`, as in a directory.

use crate::{BackendError, ObjectKey};

/// The name of a dataset.
pub(crate) fn dataset_name(key: ObjectKey) -> String {
    format!("{}_{}", key.rank, key.dataset)
}

/// The name of an object within the working place.
pub(crate) fn object_name(key: ObjectKey) -> String {
    format!("{}_{}/file-{}", key.rank, key.dataset, key.index)
}

/// The object that has this name, if it is exactly as [`object_name`] would make it.
pub(crate) fn key_of(name: &str) -> Option<ObjectKey> {
    let (dataset, index) = name.split_once("/file-")?;
    let (rank, dataset) = dataset.split_once('_')?;
    let key =
        ObjectKey { rank: rank.parse().ok()?, dataset: dataset.parse().ok()?, index: index.parse().ok()? };
    (object_name(key) == name).then_some(key)
}

/// Refuses the name of a working place that could mean something else in a path, a key or a statement.
///
/// # Errors
/// If it has anything but letters, digits, `-`, `_` and `.` in it, or begins with one of these.
pub(crate) fn refuse_odd(name: &str) -> Result<(), BackendError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if begins && name.bytes().all(is_plain) && name.len() <= 40 {
        return Ok(());
    }
    let reason = "the name of a working place on a server has letters, digits, -, _ and . in it, up to 40, such as iolag-work".to_owned();
    Err(BackendError::Target { target: name.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_object_has_one_name_and_no_other_name_is_one(rank: u32, dataset: u32, index: u64, other in "[0-9_/file+-]{0,20}") {
            let key = ObjectKey { rank, dataset, index };
            prop_assert_eq!(key_of(&object_name(key)), Some(key));
            prop_assert!(key_of(&other).is_none_or(|key| object_name(key) == other));
            prop_assert!(object_name(key).starts_with(&dataset_name(key)));
        }
    }

    #[test]
    fn numbers_have_one_form() {
        for name in ["0_0/file-01", "0_0/file-+1", "0_0/file-", "0_0", "0_0/file-1/", "00_0/file-1"] {
            assert_eq!(key_of(name), None, "{name}");
        }
    }
}
