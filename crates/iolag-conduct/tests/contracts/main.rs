//! What the contracts of the core are for, in small: four examples, each of which is built on them alone and stays below 200 lines.

mod get;
mod server;
mod stream;
