//! A toy: the store in memory under another name.

use iolag_model::PlaceMaker;

use crate::{
    AsyncSession, Backend, BackendError, Capabilities, Description, Inventory, Leftover, MemoryBackend,
    Place, Session, SessionOptions,
};

/// A store in memory that is called a toy.
#[derive(Debug)]
pub struct ToyBackend {
    memory: MemoryBackend,
}

impl ToyBackend {
    /// An empty store.
    pub fn new(working_name: &str) -> Self {
        Self { memory: MemoryBackend::new(working_name) }
    }
}

impl Backend for ToyBackend {
    fn describe(&self) -> Description {
        Description { kind: "toy", target: "toy:".to_owned(), ..self.memory.describe() }
    }

    fn capabilities(&self) -> Capabilities {
        self.memory.capabilities()
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        self.memory.create_place(maker)
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        self.memory.reopen_place()
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        self.memory.open_session(options)
    }

    fn open_async_session(
        &self,
        options: &SessionOptions,
    ) -> Option<Result<Box<dyn AsyncSession>, BackendError>> {
        self.memory.open_async_session(options)
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        self.memory.inventory(rank, dataset)
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        self.memory.remove_place()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_rules_of_backends() {
        crate::conformance::conformance(|| Box::new(ToyBackend::new("w")));
    }
}
