//! `iolag ping`, on directories that are quick, slow and full.

pub(crate) mod lines;
mod slowly;
