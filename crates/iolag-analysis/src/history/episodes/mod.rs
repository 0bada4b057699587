//! Times that were bad or unknown, and what they come with.

pub(crate) mod association;
pub(crate) mod bad_overlap;
pub(crate) mod gaps;
pub(crate) mod search;
