//! What is known of the host: its mounts, its clocks, its load, and the lists of configurations and outages.

pub(crate) mod clocks;
pub(crate) mod configurations;
pub(crate) mod hidden_root;
pub(crate) mod mounts;
pub(crate) mod outages;
pub(crate) mod surroundings;
pub(crate) mod wall_clock;
