//! Probes: the children that go where it may hang, what they stamp, and what is made of it.

pub(crate) mod canary;
pub(crate) mod checkpoint;
pub(crate) mod flight;
pub(crate) mod flights;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod purpose;
pub(crate) mod samples;
pub(crate) mod series;
pub(crate) mod stamp_files;
pub(crate) mod stamps;
pub(crate) mod start;
