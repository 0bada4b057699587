//! Watching: from arguments, configuration file and environment to a plan, and to the places where things are kept.

mod document;
mod places;
mod plan;

pub use document::{Document, DocumentError, PRINTED, Text};
pub use places::{Memory, Origin, Places, ProcessOrigin};
pub use plan::{CONTROL, Wishes, find_programs, plan, programs};
