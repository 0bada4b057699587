//! What is written into a history besides what is watched and imported: notes, and values of runs.

mod correcting;
mod noting;
mod remembering;
