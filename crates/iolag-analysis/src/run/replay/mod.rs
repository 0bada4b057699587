//! What came of a traced program that was asked again by copies.

mod analysed;
pub(crate) mod analysis;
pub(crate) mod disagreements;
