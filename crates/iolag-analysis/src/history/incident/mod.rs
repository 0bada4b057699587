//! The trouble in a history, as an incident report tells it.

pub(crate) mod analysis;
pub(crate) mod bad_times;
pub(crate) mod impact;
pub(crate) mod places;
pub(crate) mod seen;
