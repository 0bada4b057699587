//! A figure as shapes, and shapes as SVG or PNG.

pub(super) mod font;
pub(super) mod raster;
pub(super) mod shapes;
pub(super) mod svg;
