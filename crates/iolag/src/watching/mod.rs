//! Watching: from arguments, configuration file and environment to a plan, and to the places where things are kept.

mod document;
mod facts;
mod places;
mod plan;
mod programs;
mod servers;
mod tasks;

pub use document::{Document, PRINTED};
pub use places::{Memory, Origin, Places, ProcessOrigin};
pub use plan::{CONTROL, Wishes, plan};
pub use programs::programs;
