//! Figures of a history: what is chosen of it, and a file for each kind.

pub(super) mod backdrop;
pub(super) mod boxes;
pub(super) mod by_configuration;
pub(super) mod choice;
pub(super) mod correlations;
pub(super) mod days;
pub(super) mod ecdf;
pub(super) mod samples;
pub(super) mod time_line;
