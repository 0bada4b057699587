//! A scene as SVG 1.1 that converts to PDF without surprises: text as outlines, no script, no style sheet, no
//! reference to anything outside.

use std::fmt::Write as _;

use base64::Engine as _;

use super::font::{Font, Step};
use super::raster::image_png;
use super::shapes::{Align, Direction, Label, Outline, Paint, Point, Scene, Shape, Stroke};
use crate::figure::error::FigureError;

/// The scene as SVG; `width` and `height` are the attributes' texts with unit.
pub(crate) fn write_svg(
    scene: &Scene,
    font: &Font,
    width: &str,
    height: &str,
) -> Result<String, FigureError> {
    let mut svg = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
         xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" role=\"img\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {} {}\">\n<title>{}</title>\n",
        scene.width,
        scene.height,
        escape(&scene.title)
    );
    push_glyphs(&mut svg, scene, font);
    push(
        &mut svg,
        format_args!("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", scene.width, scene.height),
    );
    for shape in &scene.shapes {
        push_shape(&mut svg, shape, font)?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

fn push(svg: &mut String, text: std::fmt::Arguments<'_>) {
    svg.write_fmt(text).expect("writing to a string cannot fail");
}

/// Every glyph once; texts refer to them.
fn push_glyphs(svg: &mut String, scene: &Scene, font: &Font) {
    let texts = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(label) => Some(label.text.as_str()),
        _ => None,
    });
    let outlines = font.outlines(texts);
    if outlines.is_empty() {
        return;
    }
    svg.push_str("<defs>\n");
    for (glyph, steps) in outlines {
        push(svg, format_args!("<path id=\"g{glyph}\" d=\""));
        for step in steps {
            match step {
                Step::Move(x, y) => push(svg, format_args!("M{x} {y}")),
                Step::Line(x, y) => push(svg, format_args!("L{x} {y}")),
                Step::Quadratic(x1, y1, x, y) => push(svg, format_args!("Q{x1} {y1} {x} {y}")),
                Step::Cubic(x1, y1, x2, y2, x, y) => push(svg, format_args!("C{x1} {y1} {x2} {y2} {x} {y}")),
                Step::Close => svg.push('Z'),
            }
        }
        svg.push_str("\"/>\n");
    }
    svg.push_str("</defs>\n");
}

fn push_shape(svg: &mut String, shape: &Shape, font: &Font) -> Result<(), FigureError> {
    match shape {
        Shape::Line { points, stroke } => push_line(svg, points, stroke),
        Shape::Area { points, paint } => {
            svg.push_str("<path d=\"");
            push_points(svg, points);
            push(svg, format_args!("Z\"{}/>\n", fill(*paint)));
        }
        Shape::Dots { points, diameter, paint } => {
            svg.push_str("<path d=\"");
            for (x, y) in points {
                push(svg, format_args!("M{x} {y}h0"));
            }
            let stroke = Stroke::solid(*paint, *diameter);
            push(
                svg,
                format_args!("\" fill=\"none\"{} stroke-linecap=\"round\"/>\n", stroke_attributes(&stroke)),
            );
        }
        Shape::Marks { points, shape, size, paint } => {
            svg.push_str("<path d=\"");
            let mut form = Outline::Open;
            for point in points {
                let (lines, outline) = shape.outline(*point, *size);
                form = outline;
                for line in &lines {
                    push_points(svg, line);
                    svg.push_str(if outline == Outline::Closed { "Z" } else { "" });
                }
            }
            match form {
                Outline::Closed => push(svg, format_args!("\"{}/>\n", fill(*paint))),
                Outline::Open => {
                    let stroke = Stroke::solid(*paint, (size / 5).max(1));
                    push(svg, format_args!("\" fill=\"none\"{}/>\n", stroke_attributes(&stroke)));
                }
            }
        }
        Shape::Text(label) => push_text(svg, label, font),
        Shape::Image(image) => {
            let png = base64::engine::general_purpose::STANDARD.encode(image_png(image)?);
            push(
                svg,
                format_args!(
                    "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
                     image-rendering=\"optimizeSpeed\" xlink:href=\"data:image/png;base64,{png}\"/>\n",
                    image.place.0, image.place.1, image.width, image.height
                ),
            );
        }
    }
    Ok(())
}

fn push_line(svg: &mut String, points: &[Point], stroke: &Stroke) {
    if points.is_empty() {
        return;
    }
    svg.push_str("<path d=\"");
    push_points(svg, points);
    let pattern: Vec<String> =
        stroke.dash.pattern().iter().map(|length| (length * stroke.width).to_string()).collect();
    push(svg, format_args!("\" fill=\"none\"{} stroke-linejoin=\"round\"", stroke_attributes(stroke)));
    if !pattern.is_empty() {
        push(svg, format_args!(" stroke-dasharray=\"{}\"", pattern.join(" ")));
    }
    svg.push_str("/>\n");
}

fn push_points(svg: &mut String, points: &[Point]) {
    let mut before: Option<Point> = None;
    for (x, y) in points {
        match before {
            None => push(svg, format_args!("M{x} {y}")),
            Some((_, before_y)) if before_y == *y => push(svg, format_args!("H{x}")),
            Some((before_x, _)) if before_x == *x => push(svg, format_args!("V{y}")),
            Some(_) => push(svg, format_args!("L{x} {y}")),
        }
        before = Some((*x, *y));
    }
}

fn push_text(svg: &mut String, label: &Label, font: &Font) {
    let (glyphs, width) = font.layout(&label.text);
    if glyphs.is_empty() {
        return;
    }
    let scale = f64::from(label.size) / f64::from(font.units_per_em());
    let begin = match label.align {
        Align::Start => 0,
        Align::Middle => -width / 2,
        Align::End => -width,
    };
    let turn = match label.direction {
        Direction::Rightwards => "",
        Direction::Upwards => "rotate(-90) ",
    };
    let (x, y) = label.place;
    push(
        svg,
        format_args!(
            "<g aria-label=\"{}\" transform=\"translate({x} {y}) {turn}scale({scale:.5} -{scale:.5})\"{}>",
            escape(&label.text),
            fill(label.paint)
        ),
    );
    for placed in glyphs {
        if !font.outline(placed.glyph).is_empty() {
            push(svg, format_args!("<use xlink:href=\"#g{}\" x=\"{}\"/>", placed.glyph, begin + placed.x));
        }
    }
    svg.push_str("</g>\n");
}

fn hex(paint: Paint) -> String {
    let (red, green, blue) = paint.rgb;
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn fill(paint: Paint) -> String {
    let opacity =
        if paint.opacity < 1.0 { format!(" fill-opacity=\"{:.2}\"", paint.opacity) } else { String::new() };
    format!(" fill=\"{}\"{opacity}", hex(paint))
}

fn stroke_attributes(stroke: &Stroke) -> String {
    let paint = stroke.paint;
    let opacity =
        if paint.opacity < 1.0 { format!(" stroke-opacity=\"{:.2}\"", paint.opacity) } else { String::new() };
    format!(" stroke=\"{}\"{opacity} stroke-width=\"{}\"", hex(paint), stroke.width)
}

/// Text for XML 1.0, in content and in quoted attributes; characters that XML forbids are replaced.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_takes_for_markup_is_escaped() {
        assert_eq!(escape("<script>\"&'\u{1b}"), "&lt;script&gt;&quot;&amp;&#39;\u{fffd}");
    }
}
