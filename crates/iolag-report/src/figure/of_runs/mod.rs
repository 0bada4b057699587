//! Figures of runs: what is chosen of them, and a file for each kind.

pub(super) mod boxes;
pub(super) mod choice;
pub(super) mod copies;
pub(super) mod ecdf;
pub(super) mod fairness;
pub(super) mod hangs;
pub(super) mod heat_map;
pub(super) mod histogram;
pub(super) mod jobs;
pub(super) mod marks;
pub(super) mod rates;
pub(super) mod sweep;
pub(super) mod time_line;
