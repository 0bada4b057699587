//! strace's text, as bytes: one line at a time, nothing remembered and nothing copied but what an escape stands for.

pub(crate) mod arguments;
pub(crate) mod errno;
pub(crate) mod line;
pub(crate) mod moment;
pub(crate) mod outcome;
pub(crate) mod quoted;
pub(crate) mod scanning;
pub(crate) mod signals;
