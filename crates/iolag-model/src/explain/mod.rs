//! Why a place is slow: what was seen of it.

mod counters;

pub use counters::{CallTimes, Counted, RequestTimes};
