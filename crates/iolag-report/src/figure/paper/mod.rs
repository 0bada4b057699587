//! The sheet of a figure: title, legend, caption, panels and their axes, drawn through plotters into a scene.

mod backend;
pub(super) mod sheet;
