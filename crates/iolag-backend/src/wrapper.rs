//! A target around another one: everything is forwarded but the sessions, which a [`Disturbance`] wraps.

use iolag_model::{PlaceMaker, mix};

use crate::{
    AsyncOpening, AsyncSession, Backend, BackendError, Capabilities, Description, Greeting, Inventory,
    LaneSession, Leftover, Place, Session, SessionOptions,
};

/// What a wrapper does to the sessions of its inner target.
pub trait Disturbance: Send + Sync {
    /// The wrapper's name in targets.
    const KIND: &'static str;

    /// What it does, as the user wrote it.
    fn text(&self) -> &str;

    /// Wraps a blocking session.
    fn wrap(&self, inner: Box<dyn Session>, options: &SessionOptions) -> Box<dyn Session>;

    /// Wraps a session that has so many requests in flight.
    fn wrap_lanes(
        &self,
        inner: Box<dyn LaneSession>,
        options: &SessionOptions,
        lanes: u32,
    ) -> Box<dyn LaneSession>;

    /// Wraps an asynchronous session.
    fn wrap_async(&self, inner: Box<dyn AsyncSession>, options: &SessionOptions) -> Box<dyn AsyncSession>;
}

/// The seed of what is random in this repetition: if each had the same delays and faults, they would be none.
pub(crate) const fn seed_of_repetition(options: &SessionOptions) -> u64 {
    match options.repetition {
        0 => options.seed,
        later => mix(options.seed ^ mix(later as u64)),
    }
}

/// A target behind a disturbance.
pub struct Wrapper<D> {
    disturbance: D,
    inner: Box<dyn Backend>,
}

impl<D: Disturbance> Wrapper<D> {
    pub(crate) const fn around(inner: Box<dyn Backend>, disturbance: D) -> Self {
        Self { disturbance, inner }
    }
}

/// Deny: a method that the trait gets later must not go past the disturbance unseen.
#[deny(clippy::missing_trait_methods)]
impl<D: Disturbance> Backend for Wrapper<D> {
    fn describe(&self) -> Description {
        let inner = self.inner.describe();
        Description {
            kind: D::KIND,
            target: format!("{}:{}:{}", D::KIND, self.disturbance.text(), inner.target),
            semantics: inner.semantics,
        }
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn expect_place(&self, place: &Place) {
        self.inner.expect_place(place);
    }

    fn greet(&self) -> Result<Option<Greeting>, BackendError> {
        self.inner.greet()
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        self.inner.create_place(maker)
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        self.inner.reopen_place()
    }

    fn has_place(&self) -> Result<bool, BackendError> {
        self.inner.has_place()
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        Ok(self.disturbance.wrap(self.inner.open_session(options)?, options))
    }

    fn open_async_session<'a>(&'a self, options: &'a SessionOptions) -> Option<AsyncOpening<'a>> {
        let inner = self.inner.open_async_session(options)?;
        Some(Box::pin(async move { Ok(self.disturbance.wrap_async(inner.await?, options)) }))
    }

    fn open_lanes(
        &self,
        options: &SessionOptions,
        lanes: u32,
    ) -> Option<Result<Box<dyn LaneSession>, BackendError>> {
        let opened = self.inner.open_lanes(options, lanes)?;
        Some(opened.map(|inner| self.disturbance.wrap_lanes(inner, options, lanes)))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        self.inner.inventory(rank, dataset)
    }

    fn refuse_moved(&self) -> Result<(), BackendError> {
        self.inner.refuse_moved()
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        self.inner.remove_place()
    }
}
