//! The data behind the figures of a history.

pub(crate) mod axis;
pub(crate) mod curves;
pub(crate) mod days;
pub(crate) mod document;
pub(crate) mod hangs;
pub(crate) mod marks;
pub(crate) mod points;
