//! Series with each other.

pub(crate) mod coefficient;
pub(crate) mod join;
pub(crate) mod lag;
pub(crate) mod matrix;
