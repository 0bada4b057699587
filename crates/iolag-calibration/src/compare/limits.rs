//! What the rows are judged by.

/// Sides that differ by no more are the same.
pub const SAME_WITHIN: f64 = 0.05;
/// Most tables that may have a false word.
pub const FALSE_MOST: f64 = 0.05;
/// Least intervals that must hold the truth.
pub const COVERED_LEAST: f64 = 0.93;
/// Least differences that must be found.
pub const FOUND_LEAST: f64 = 0.8;
