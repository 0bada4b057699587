//! Traces: from calls of a program to a stored run.

pub(crate) mod converting;
pub(crate) mod reading;
pub(crate) mod storing;
