//! A directory that hangs: what it does to its own probes, to those of others, and to whoever goes there first.

mod between;
mod first_contact;
pub(crate) mod hangs;
