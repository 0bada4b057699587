//! What plotters draws on: it becomes shapes of a [`Scene`].

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use crate::figure::scene::font::{CAPITAL_HEIGHT, Font};
use crate::figure::scene::shapes::{Align, Direction, Label, Paint, Scene, Shape, Stroke};

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A drawing backend that keeps what is drawn.
#[derive(Clone)]
pub(super) struct SceneBackend {
    pub(super) scene: Rc<RefCell<Scene>>,
    pub(super) font: Rc<Font>,
}

impl SceneBackend {
    fn push(&self, shape: Shape) -> Drawn {
        self.scene.borrow_mut().shapes.push(shape);
        Ok(())
    }
}

impl DrawingBackend for SceneBackend {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let scene = self.scene.borrow();
        (scene.width.max(0) as u32, scene.height.max(0) as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.push(Shape::Dots { points: vec![point], diameter: 1, paint: paint_of(color) })
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.push(Shape::Line { points: vec![from, to], stroke: stroke_of(style) })
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let mut points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        if fill {
            return self.push(Shape::Area { points, paint: paint_of(style.color()) });
        }
        points.push((left, top));
        self.push(Shape::Line { points, stroke: stroke_of(style) })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.push(Shape::Line { points: path.into_iter().collect(), stroke: stroke_of(style) })
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        let diameter = 2 * radius as i32;
        self.push(Shape::Dots { points: vec![center], diameter, paint: paint_of(style.color()) })
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        self.push(Shape::Area { points: vert.into_iter().collect(), paint: paint_of(style.color()) })
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        let size = style.size().round() as i32;
        let align = match style.anchor().h_pos {
            HPos::Left => Align::Start,
            HPos::Center => Align::Middle,
            HPos::Right => Align::End,
        };
        // From the anchor down to the baseline.
        let down = match style.anchor().v_pos {
            VPos::Top => f64::from(size) * CAPITAL_HEIGHT,
            VPos::Center => f64::from(size) * CAPITAL_HEIGHT / 2.0,
            VPos::Bottom => 0.0,
        } as i32;
        let (place, direction) = match style.transform() {
            FontTransform::Rotate270 | FontTransform::Rotate90 => ((x + down, y), Direction::Upwards),
            FontTransform::None | FontTransform::Rotate180 => ((x, y + down), Direction::Rightwards),
        };
        let label =
            Label { text: text.to_owned(), place, size, align, direction, paint: paint_of(style.color()) };
        self.push(Shape::Text(label))
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size().round() as i32;
        let width = self.font.width(text, size).max(0) as u32;
        Ok((width, (f64::from(size) * CAPITAL_HEIGHT) as u32))
    }
}

fn paint_of(color: BackendColor) -> Paint {
    Paint { rgb: color.rgb, opacity: color.alpha as f32 }
}

fn stroke_of<S: BackendStyle>(style: &S) -> Stroke {
    Stroke::solid(paint_of(style.color()), style.stroke_width() as i32)
}
