//! What is drawn in the same way whatever it is of: curves, clouds of attempts, marks, boxes.

pub(crate) mod beside;
pub(crate) mod boxes;
pub(crate) mod cloud;
pub(crate) mod density;
pub(crate) mod marks;
pub(crate) mod palette;
pub(crate) mod steps;
