//! Plans: from a file and what was typed to a campaign, and the plans that come with iolag.

mod benches;
mod document;
mod plan;
mod ready;
mod sides;
mod told;

pub use document::PlanDocument;
pub use plan::{Wishes, campaign};
pub use ready::{READY, ReadyPlan, Taker};
