//! What a history holds, counted as it grows, for metrics.

mod follower;
pub mod following;
pub mod frame;
mod kept;
pub mod textfile;
