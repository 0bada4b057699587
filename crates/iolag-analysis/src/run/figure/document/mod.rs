//! The figures of a run as they are written: every number that a page or a file draws.

pub(crate) mod activity;
pub(crate) mod distribution;
pub(crate) mod episode;
pub(crate) mod hang;
pub(crate) mod run_figures;
pub(crate) mod sweep_figure;
pub(crate) mod time_line;
