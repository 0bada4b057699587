//! What is drawn on a sheet: a file for each kind of figure, and what several of them show.

pub(super) mod boxes;
mod density;
pub(super) mod ecdf;
pub(super) mod fairness;
pub(super) mod hangs;
pub(super) mod heat_map;
pub(super) mod histogram;
pub(super) mod marks;
pub(super) mod rates;
pub(super) mod sweep;
pub(super) mod time_line;
