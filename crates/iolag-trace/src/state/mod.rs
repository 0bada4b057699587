//! What a kernel keeps for its tasks, as far as their calls tell: descriptors, directories, who shares them.

mod descriptors;
mod shared;

pub(crate) use descriptors::{Descriptors, Files, Opened};
pub(crate) use shared::{Shared, SharedId};
