//! What is put aside while a file is read, and sorted there.

pub(super) mod bytes;
pub(super) mod sorter;
