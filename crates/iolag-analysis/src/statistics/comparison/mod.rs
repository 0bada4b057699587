//! Two samples and more against each other.

pub(crate) mod all_pairs;
pub(crate) mod crossing;
pub(crate) mod shift;
