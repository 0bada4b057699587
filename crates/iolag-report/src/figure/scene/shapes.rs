//! A figure as a list of shapes, before it becomes SVG or PNG.
//!
//! Lengths are in units of 0.01 mm, x to the right and y downwards. Shapes are painted in their order.

/// A place in units.
pub(crate) type Point = (i32, i32);

/// A colour with opacity, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Paint {
    pub(crate) rgb: (u8, u8, u8),
    pub(crate) opacity: f32,
}

impl Paint {
    pub(crate) const fn opaque(red: u8, green: u8, blue: u8) -> Self {
        Self { rgb: (red, green, blue), opacity: 1.0 }
    }

    pub(crate) const fn with_opacity(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }
}

/// How a line is interrupted, so that lines can be told apart without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Strokes,
    Dots,
    Alternating,
    Long,
}

impl Dash {
    pub(crate) const ALL: [Self; 5] = [Self::Solid, Self::Strokes, Self::Dots, Self::Alternating, Self::Long];

    /// Lengths of strokes and gaps, as multiples of the line's width.
    pub(crate) const fn pattern(self) -> &'static [i32] {
        match self {
            Self::Solid => &[],
            Self::Strokes => &[5, 3],
            Self::Dots => &[1, 2],
            Self::Alternating => &[6, 2, 1, 2],
            Self::Long => &[12, 3],
        }
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) paint: Paint,
    pub(crate) width: i32,
    pub(crate) dash: Dash,
}

impl Stroke {
    pub(crate) const fn solid(paint: Paint, width: i32) -> Self {
        Self { paint, width, dash: Dash::Solid }
    }
}

/// The form of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkShape {
    Cross,
    Triangle,
    Square,
    Diamond,
    Bar,
}

impl MarkShape {
    /// The strokes of a mark around `centre`, `size` units wide: lines, and whether they enclose an area.
    pub(crate) fn outline(self, (x, y): Point, size: i32) -> (Vec<Vec<Point>>, Outline) {
        let half = (size / 2).max(1);
        match self {
            Self::Cross => {
                let falling = vec![(x - half, y - half), (x + half, y + half)];
                (vec![falling, vec![(x - half, y + half), (x + half, y - half)]], Outline::Open)
            }
            Self::Triangle => {
                (vec![vec![(x - half, y + half), (x, y - half), (x + half, y + half)]], Outline::Closed)
            }
            Self::Square => {
                let corners = vec![
                    (x - half, y - half),
                    (x + half, y - half),
                    (x + half, y + half),
                    (x - half, y + half),
                ];
                (vec![corners], Outline::Closed)
            }
            Self::Diamond => {
                (vec![vec![(x - half, y), (x, y - half), (x + half, y), (x, y + half)]], Outline::Closed)
            }
            Self::Bar => (vec![vec![(x, y - half), (x, y + half)]], Outline::Open),
        }
    }
}

/// Whether an outline encloses an area that is to be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outline {
    Open,
    Closed,
}

/// Where a text's place is in the text, horizontally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// The direction in which a text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Rightwards,
    Upwards,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    pub(crate) text: String,
    /// On the baseline.
    pub(crate) place: Point,
    /// Size of the font (its em) in units.
    pub(crate) size: i32,
    pub(crate) align: Align,
    pub(crate) direction: Direction,
    pub(crate) paint: Paint,
}

/// A small image, stretched over a rectangle without smoothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Image {
    pub(crate) place: Point,
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    /// Red, green, blue and opacity of each pixel, row by row from the top; not premultiplied.
    pub(crate) rgba: Vec<u8>,
}

/// Something to be painted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Line { points: Vec<Point>, stroke: Stroke },
    Area { points: Vec<Point>, paint: Paint },
    Dots { points: Vec<Point>, diameter: i32, paint: Paint },
    Marks { points: Vec<Point>, shape: MarkShape, size: i32, paint: Paint },
    Text(Label),
    Image(Image),
}

/// The figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: i32,
    pub(crate) height: i32,
    pub(crate) title: String,
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    pub(crate) fn new(width: i32, height: i32) -> Self {
        Self { width, height, title: String::new(), shapes: Vec::new() }
    }

    /// Points of all lines, areas, dots and marks: what the size of a vector figure depends on.
    #[cfg(test)]
    pub(crate) fn vector_points(&self) -> usize {
        let points_of = |shape: &Shape| match shape {
            Shape::Line { points, .. } | Shape::Area { points, .. } | Shape::Dots { points, .. } => {
                points.len()
            }
            Shape::Marks { points, shape, .. } => {
                points.len() * shape.outline((0, 0), 2).0.iter().map(Vec::len).sum::<usize>()
            }
            Shape::Text(_) | Shape::Image(_) => 0,
        };
        self.shapes.iter().map(points_of).sum()
    }
}
