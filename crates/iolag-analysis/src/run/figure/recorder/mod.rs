//! What becomes the figures of a run while its samples arrive.

pub(crate) mod clients;
pub(crate) mod draw;
pub(crate) mod engine;
pub(crate) mod grid;
pub(crate) mod hangs;
pub(crate) mod marks;
pub(crate) mod plan;
pub(crate) mod series;
pub(crate) mod shape;
