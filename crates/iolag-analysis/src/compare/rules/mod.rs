//! Rules that say what must not show, and what became of them.

pub(crate) mod outcomes;
pub(crate) mod rule;
