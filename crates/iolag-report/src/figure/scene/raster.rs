//! A scene as pixels, and pixels as PNG.

use tiny_skia::{
    Color, FillRule, FilterQuality, LineCap, LineJoin, Paint as SkiaPaint, Path, PathBuilder, Pixmap,
    PixmapPaint, Stroke as SkiaStroke, StrokeDash, Transform,
};

use super::font::{Font, Step};
use super::shapes::{Align, Dash, Direction, Image, Label, Outline, Paint, Point, Scene, Shape, Stroke};
use crate::figure::error::FigureError;

/// The scene as PNG of so many pixels; `dots_per_inch` is only noted in it.
pub(crate) fn write_png(
    scene: &Scene,
    font: &Font,
    (width, height): (u32, u32),
    dots_per_inch: f64,
) -> Result<Vec<u8>, FigureError> {
    let mut pixmap = Pixmap::new(width, height).ok_or(FigureError::TooLarge { width, height })?;
    pixmap.fill(Color::WHITE);
    let scale_x = width as f32 / scene.width as f32;
    let scale_y = height as f32 / scene.height as f32;
    let transform = Transform::from_scale(scale_x, scale_y);
    for shape in &scene.shapes {
        draw(&mut pixmap, shape, font, transform)?;
    }
    let png = encode(&pixmap)?;
    Ok(with_resolution(png, dots_per_inch))
}

/// An image as PNG.
pub(crate) fn image_png(image: &Image) -> Result<Vec<u8>, FigureError> {
    encode(&pixmap_of(image)?)
}

fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, FigureError> {
    pixmap.encode_png().map_err(|error| FigureError::Png { reason: error.to_string() })
}

fn pixmap_of(image: &Image) -> Result<Pixmap, FigureError> {
    let (width, height) = (image.columns, image.rows);
    let mut pixmap = Pixmap::new(width, height).ok_or(FigureError::TooLarge { width, height })?;
    for (pixel, rgba) in pixmap.pixels_mut().iter_mut().zip(image.rgba.chunks_exact(4)) {
        *pixel = tiny_skia::ColorU8::from_rgba(rgba[0], rgba[1], rgba[2], rgba[3]).premultiply();
    }
    Ok(pixmap)
}

/// Inserts the chunk pHYs (PNG specification, 11.3.4.3) after the header, so that a figure asked for in mm is
/// printed in that size.
fn with_resolution(mut png: Vec<u8>, dots_per_inch: f64) -> Vec<u8> {
    // The signature takes 8 bytes, the header chunk 25.
    const AFTER_HEADER: usize = 33;
    let per_metre = (dots_per_inch / 0.0254).round() as u32;
    let mut chunk = b"pHYs".to_vec();
    chunk.extend_from_slice(&per_metre.to_be_bytes());
    chunk.extend_from_slice(&per_metre.to_be_bytes());
    chunk.push(1);
    let mut checksum = flate2::Crc::new();
    checksum.update(&chunk);
    let mut bytes = 9_u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&chunk);
    bytes.extend_from_slice(&checksum.sum().to_be_bytes());
    png.splice(AFTER_HEADER..AFTER_HEADER, bytes);
    png
}

fn draw(pixmap: &mut Pixmap, shape: &Shape, font: &Font, transform: Transform) -> Result<(), FigureError> {
    match shape {
        Shape::Line { points, stroke } => stroke_path(pixmap, polyline(points), stroke, transform),
        Shape::Area { points, paint } => fill_path(pixmap, polyline(points), *paint, transform),
        Shape::Dots { points, diameter, paint } => {
            let mut builder = PathBuilder::new();
            for (x, y) in points {
                builder.push_circle(*x as f32, *y as f32, *diameter as f32 / 2.0);
            }
            fill_path(pixmap, builder.finish(), *paint, transform);
        }
        Shape::Marks { points, shape, size, paint } => {
            let mut builder = PathBuilder::new();
            let mut form = Outline::Open;
            for point in points {
                let (lines, outline) = shape.outline(*point, *size);
                form = outline;
                for line in &lines {
                    push_polyline(&mut builder, line);
                    if outline == Outline::Closed {
                        builder.close();
                    }
                }
            }
            match form {
                Outline::Closed => fill_path(pixmap, builder.finish(), *paint, transform),
                Outline::Open => {
                    let stroke = Stroke::solid(*paint, (size / 5).max(1));
                    stroke_path(pixmap, builder.finish(), &stroke, transform);
                }
            }
        }
        Shape::Text(label) => draw_text(pixmap, label, font, transform),
        Shape::Image(image) => {
            let place = transform.pre_translate(image.place.0 as f32, image.place.1 as f32).pre_scale(
                image.width as f32 / image.columns as f32,
                image.height as f32 / image.rows as f32,
            );
            let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
            pixmap.draw_pixmap(0, 0, pixmap_of(image)?.as_ref(), &paint, place, None);
        }
    }
    Ok(())
}

fn skia_paint(paint: Paint) -> SkiaPaint<'static> {
    let (red, green, blue) = paint.rgb;
    let mut skia = SkiaPaint { anti_alias: true, ..SkiaPaint::default() };
    skia.set_color_rgba8(red, green, blue, (paint.opacity.clamp(0.0, 1.0) * 255.0).round() as u8);
    skia
}

fn push_polyline(builder: &mut PathBuilder, points: &[Point]) {
    for (index, (x, y)) in points.iter().enumerate() {
        if index == 0 {
            builder.move_to(*x as f32, *y as f32);
        } else {
            builder.line_to(*x as f32, *y as f32);
        }
    }
}

fn polyline(points: &[Point]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    push_polyline(&mut builder, points);
    builder.finish()
}

/// Fills a path; one that has no extent is nothing to fill.
fn fill_path(pixmap: &mut Pixmap, path: Option<Path>, paint: Paint, transform: Transform) {
    if let Some(path) = path {
        pixmap.fill_path(&path, &skia_paint(paint), FillRule::Winding, transform, None);
    }
}

fn stroke_path(pixmap: &mut Pixmap, path: Option<Path>, stroke: &Stroke, transform: Transform) {
    let Some(path) = path else {
        return;
    };
    let lengths: Vec<f32> =
        stroke.dash.pattern().iter().map(|length| (length * stroke.width.max(1)) as f32).collect();
    let dash = if stroke.dash == Dash::Solid { None } else { StrokeDash::new(lengths, 0.0) };
    let skia = SkiaStroke {
        width: stroke.width as f32,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        dash,
        ..SkiaStroke::default()
    };
    pixmap.stroke_path(&path, &skia_paint(stroke.paint), &skia, transform, None);
}

fn draw_text(pixmap: &mut Pixmap, label: &Label, font: &Font, transform: Transform) {
    let (glyphs, width) = font.layout(&label.text);
    let scale = label.size as f32 / font.units_per_em() as f32;
    let begin = match label.align {
        Align::Start => 0,
        Align::Middle => -width / 2,
        Align::End => -width,
    };
    let degrees = match label.direction {
        Direction::Rightwards => 0.0,
        Direction::Upwards => -90.0,
    };
    let mut builder = PathBuilder::new();
    for placed in glyphs {
        let right = (begin + placed.x) as f32;
        for step in font.outline(placed.glyph) {
            match step {
                Step::Move(x, y) => builder.move_to(x + right, y),
                Step::Line(x, y) => builder.line_to(x + right, y),
                Step::Quadratic(x1, y1, x, y) => builder.quad_to(x1 + right, y1, x + right, y),
                Step::Cubic(x1, y1, x2, y2, x, y) => {
                    builder.cubic_to(x1 + right, y1, x2 + right, y2, x + right, y);
                }
                Step::Close => builder.close(),
            }
        }
    }
    let place = transform
        .pre_translate(label.place.0 as f32, label.place.1 as f32)
        .pre_concat(Transform::from_rotate(degrees))
        .pre_scale(scale, -scale);
    fill_path(pixmap, builder.finish(), label.paint, place);
}
