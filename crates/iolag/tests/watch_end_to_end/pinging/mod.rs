//! `iolag ping`, on directories that are quick, slow and full.

mod lines;
mod slowly;
