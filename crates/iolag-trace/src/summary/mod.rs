//! What a trace comes to, in one pass: calls are counted and forgotten, so that it takes the memory of the paths and not of the calls.

mod bins;
mod divider;
mod kinds;
mod likeness;
mod lists;
mod lookups;
mod never_back;
mod places;
mod repeats;
mod slowest;
mod summariser;
mod time_line;
mod tree;
mod vain;

pub use divider::Divider;
pub use likeness::Likeness;
pub use lists::{Lists, NamedList};
pub(crate) use places::Ground;
pub use summariser::Summariser;
