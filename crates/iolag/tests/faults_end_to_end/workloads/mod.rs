//! Benches on storage that is slow, full or hung in a way that is known.

mod set_up;
mod streams;
