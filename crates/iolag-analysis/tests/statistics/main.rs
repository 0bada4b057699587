//! Estimates and intervals, against other programs and against the truth.

mod coverage;
mod known_answers;
