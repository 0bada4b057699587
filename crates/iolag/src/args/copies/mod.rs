//! What the user can type of what is done by copies at once.

mod payload;
mod replay;
mod set_up;

pub use payload::PayloadAsked;
pub(crate) use payload::{only_told, parse_payload};
pub use replay::Replay;
pub use set_up::{CopiesAsked, SetUp, SetUpCalls};
