//! Making the page cache of a working place cold or warm: whoever runs the clients does it, and a session only asks.

use std::fmt::Debug;

use iolag_model::Operation;

use crate::Completion;

/// Who makes caches cold or warm, and looks what is in them: as a rule another process, since that may hang.
pub trait CacheMaker: Debug + Send + Sync {
    /// Does what this operation is, which is one of those of caches, and waits for its end, or until it has taken too long.
    fn make(&self, operation: Operation) -> Completion;
}
