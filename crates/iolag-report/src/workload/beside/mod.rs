//! What everybody else felt while a load worked: a sentence, and a table.

pub(crate) mod sentence;
pub(crate) mod table;
