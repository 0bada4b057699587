//! Why a place is slow: what was seen of it ([`SeenPlace`]), and what that comes to ([`Explanation`]); and what was seen of a command ([`SeenCommand`]).

mod command;
mod counters;
mod explanation;
mod seen;

pub use command::{SeenCommand, SeenMount};
pub use counters::{CallTimes, Counted, RequestTimes};
pub use explanation::{
    CacheWord, Caches, Explanation, ExplanationWord, Lack, Layer, NameServiceWord, NameTimes, Part,
    PartReason, Subject,
};
pub use seen::{
    Connecting, LIST_PAIRS, ListPair, ProbeEnd, Probed, SeenPlace, ServedBy, UNKNOWN_FUNCTION, Waits,
};
