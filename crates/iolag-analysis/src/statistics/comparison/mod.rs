//! Two samples and more against each other.

pub(crate) mod crossing;
pub(crate) mod differences;
pub(crate) mod kruskal_wallis;
pub(crate) mod relative_effect;
pub(crate) mod shift;
pub(crate) mod strata;
