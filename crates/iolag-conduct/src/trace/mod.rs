//! Traces: from what a program does to a stored run.

pub(crate) mod capture;
pub(crate) mod converting;
pub(crate) mod looking;
pub(crate) mod reading;
pub(crate) mod storing;
