//! The maps of a trace.

use std::collections::HashMap;

/// A map of what a trace is full of. Its hash is quicker than the library's, and as the library's another one in each process, so that nobody can write a trace that
/// makes its reader slow.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
