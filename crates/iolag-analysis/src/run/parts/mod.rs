//! Where the time of requests to servers goes: to come there, to wait for the first byte, and the rest.

pub(crate) mod part;
pub(crate) mod quantity;
pub(crate) mod reading;
pub(crate) mod spent;
