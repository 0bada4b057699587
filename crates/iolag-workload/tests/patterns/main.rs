//! What clients ask, in which order, in any interleaving.

mod batch_order;
mod check_rounds;
mod check_servers;
mod company;
mod metadata_order;
