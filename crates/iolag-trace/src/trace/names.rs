//! What system calls are called. A trace has its own list, so that a call that this iolag does not know is kept as any other.

use std::sync::Arc;

use super::map::Map;

/// A name, by its place in the list of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallName(pub u16);

/// The list.
#[derive(Debug, Clone, Default)]
pub struct CallNames {
    known: Map<Arc<[u8]>, CallName>,
    names: Vec<Arc<[u8]>>,
}

impl CallNames {
    /// The number of a name; nothing if there are more names than a kernel has calls: the text is not strace's.
    pub fn number(&mut self, name: &[u8]) -> Option<CallName> {
        if let Some(known) = self.known.get(name) {
            return Some(*known);
        }
        let number = CallName(u16::try_from(self.names.len()).ok()?);
        let name: Arc<[u8]> = name.into();
        self.names.push(Arc::clone(&name));
        self.known.insert(name, number);
        Some(number)
    }

    /// The name of a number; empty if there is none.
    pub fn name(&self, number: CallName) -> &[u8] {
        self.names.get(usize::from(number.0)).map_or(&[], |name| name)
    }

    /// All names, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl PartialEq for CallNames {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for CallNames {}
