//! Large files and trees: iolag's streams against fio, its reading of trees against `find` and a bare loop.

mod image;
mod processor;
mod sides;
pub mod streams;
pub mod tree;
