//! The one loop that drives clients: what a client is, how it is paced, and how many of them run beside each other.

pub(crate) mod asynchronous;
pub(crate) mod blocking;
pub(crate) mod client;
pub(crate) mod client_loop;
pub(crate) mod heartbeat;
pub(crate) mod lanes;
pub(crate) mod many_clients;
pub(crate) mod pacer;
mod waiting;
pub(crate) mod workers;
