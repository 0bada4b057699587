//! A watch under way: the loop, what it carries out, and what is outstanding.

pub(crate) mod outstanding;
pub(crate) mod probing;
pub(crate) mod running;
pub(crate) mod status;
pub(crate) mod stop_requests;
pub(crate) mod survey;
pub(crate) mod watch;
