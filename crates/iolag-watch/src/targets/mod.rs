//! What is known of each target: where it lies, under which circumstances, and whether it answers.

pub(crate) mod circumstances;
pub(crate) mod first_contact;
pub(crate) mod health;
pub(crate) mod known_mounts;
pub(crate) mod lookups;
pub(crate) mod suspicions;
pub(crate) mod target_mounts;
