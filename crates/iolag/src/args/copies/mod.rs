//! What the user can type of what is done by copies at once.

mod replay;
mod set_up;

pub use replay::Replay;
pub use set_up::{CopiesAsked, SetUp, SetUpCalls};
