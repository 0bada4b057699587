//! The sheet that a figure is drawn on: title, legend and caption around one or more panels.
//!
//! Sizes of text follow the width of the sheet: 7 pt in a column of 85 mm, 16 px in 1200 px.

use std::cell::RefCell;
use std::rc::Rc;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::Cartesian2d;
use plotters::style::{IntoFont, RGBColor, ShapeStyle};

use super::backend::SceneBackend;
use crate::figure::axis::Axis;
use crate::figure::error::FigureError;
use crate::figure::scene::font::Font;
use crate::figure::scene::shapes::{
    Align, Dash, Direction, Image, Label, MarkShape, Paint, Point, Scene, Shape, Stroke,
};
use crate::figure::size::FigureSize;

pub(crate) const INK: Paint = Paint::opaque(0x22, 0x22, 0x22);
const QUIET: Paint = Paint::opaque(0x55, 0x55, 0x55);
const LINE_OF_PANEL: RGBColor = RGBColor(0x77, 0x77, 0x77);
const BOLD_LINE: RGBColor = RGBColor(0xd4, 0xd4, 0xd4);
const LIGHT_LINE: RGBColor = RGBColor(0xee, 0xee, 0xee);

const TITLE_LINES_MAX: usize = 2;
/// A panel of several is at least so many times the size of text wide, axis and labels included, and so high.
const PANEL_WIDTH_LEAST: i32 = 11;
const PANEL_HEIGHT_LEAST: i32 = 6;

/// A rectangle in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) right: i32,
    pub(crate) bottom: i32,
}

impl Region {
    pub(crate) fn width(self) -> i32 {
        self.right - self.left
    }

    pub(crate) fn height(self) -> i32 {
        self.bottom - self.top
    }
}

/// What stands before a name in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    Line(Stroke),
    Dot(Paint),
    Mark(MarkShape, Paint),
}

/// Where the sentences of a figure stand.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Captions {
    /// Below its panels.
    OnSheet,
    /// In the page around it, whose lines are as long as its reader's window is wide: these.
    Beside(String),
}

/// The sheet.
pub(crate) struct Sheet {
    captions: Captions,
    backend: SceneBackend,
    area: DrawingArea<SceneBackend, Shift>,
    /// Where panels may be.
    pub(crate) free: Region,
    /// Size of text.
    pub(crate) text: i32,
}

impl Sheet {
    pub(crate) fn new(size: FigureSize) -> Result<Self, FigureError> {
        let (width, height) = size.units();
        let text = (190 + width * 75 / 10_000).clamp(200, 640);
        let scene = Rc::new(RefCell::new(Scene::new(width, height)));
        let backend = SceneBackend { scene, font: Rc::new(Font::load()?) };
        let area = backend.clone().into_drawing_area();
        let margin = text / 2;
        let free = Region { left: margin, top: margin, right: width - margin, bottom: height - margin };
        Ok(Self { captions: Captions::OnSheet, backend, area, free, text })
    }

    /// One of a page, which has the sentences: see [`Sheet::sentences`].
    pub(crate) fn of_page(size: FigureSize) -> Result<Self, FigureError> {
        Ok(Self { captions: Captions::Beside(String::new()), ..Self::new(size)? })
    }

    /// How many sentences there is room for that say what it shows: up to so many, and none in a page, where they stand already.
    pub(crate) const fn room_for_sentences(&self, most: usize) -> usize {
        match self.captions {
            Captions::OnSheet => most,
            Captions::Beside(_) => 0,
        }
    }

    /// What the page has to say of it.
    pub(crate) fn sentences(&self) -> &str {
        match &self.captions {
            Captions::OnSheet => "",
            Captions::Beside(sentences) => sentences,
        }
    }

    pub(crate) fn font(&self) -> &Font {
        &self.backend.font
    }

    /// The figure and its font.
    pub(crate) fn finish(self) -> (Scene, Rc<Font>) {
        let empty = Scene::new(1, 1);
        (self.backend.scene.replace(empty), self.backend.font)
    }

    /// A bar along the x axis, its left end in the middle of its height at `from`; never narrower than can be seen.
    pub(crate) fn bar(&self, from: Point, to_x: i32, height: i32, paint: Paint) {
        let (left, right) = (from.0, to_x.max(from.0 + height / 4));
        let (top, bottom) = (from.1 - height / 2, from.1 + height / 2);
        let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        self.push(Shape::Area { points, paint });
    }

    fn push(&self, shape: Shape) {
        self.backend.scene.borrow_mut().shapes.push(shape);
    }

    /// Writes a heading.
    pub(crate) fn title(&mut self, text: &str) {
        self.backend.scene.borrow_mut().title = text.to_owned();
        let size = self.text * 6 / 5;
        let mut lines = self.font().wrapped(text, size, self.free.width());
        if lines.len() > TITLE_LINES_MAX {
            lines.truncate(TITLE_LINES_MAX);
            let last = format!("{} …", lines[TITLE_LINES_MAX - 1]);
            lines[TITLE_LINES_MAX - 1] = self.font().shortened(&last, size, self.free.width());
        }
        for line in &lines {
            self.free.top += size * 6 / 5;
            self.label(line, (self.free.left, self.free.top - size / 3), size, Align::Start, INK);
        }
        self.free.top += size / 6;
    }

    /// Writes sentences at the bottom; what does not fit into a third of the sheet is cut.
    pub(crate) fn caption(&mut self, text: &str) {
        if let Captions::Beside(sentences) = &mut self.captions {
            text.clone_into(sentences);
            return;
        }
        let size = self.text * 9 / 10;
        let line = size * 5 / 4;
        let lines_max = (self.free.height() / 3 / line).max(1) as usize;
        let mut lines = self.font().wrapped(text, size, self.free.width());
        if lines.len() > lines_max {
            lines.truncate(lines_max);
            if let Some(last) = lines.last_mut() {
                let longer = format!("{last} {}", "…");
                *last = self.font().shortened(&longer, size, self.free.width());
            }
        }
        for text in lines.iter().rev() {
            self.label(text, (self.free.left, self.free.bottom - size / 5), size, Align::Start, QUIET);
            self.free.bottom -= line;
        }
        self.free.bottom -= size / 3;
    }

    /// Writes the legend; names that do not fit into a quarter of the sheet are counted instead.
    pub(crate) fn legend(&mut self, entries: &[(Key, String)]) {
        let (size, key_width) = (self.text, self.text * 9 / 4);
        let line = size * 5 / 4;
        let rows_max = (self.free.height() / 4 / line).max(1);
        let widest = self.free.width() - key_width - size;
        let names: Vec<String> =
            entries.iter().map(|(_, name)| self.font().shortened(name, size, widest)).collect();
        let (mut row, mut x) = (0, self.free.left);
        for (index, ((key, _), name)) in entries.iter().zip(&names).enumerate() {
            let width = key_width + self.font().width(name, size) + size;
            if x > self.free.left && x + width > self.free.right + size {
                (row, x) = (row + 1, self.free.left);
            }
            let left = entries.len() - index;
            let is_last_row = row + 1 == rows_max;
            let next =
                names.get(index + 1).map_or(0, |name| key_width + self.font().width(name, size) + size);
            let middle = self.free.top + row * line + size / 2;
            let more_follow_in_vain =
                is_last_row && left > 1 && x + width + next + 4 * size > self.free.right;
            if more_follow_in_vain {
                let text = format!("and {left} more");
                self.label(&text, (x, middle + size / 3), size, Align::Start, QUIET);
                break;
            }
            self.key(*key, (x, middle), key_width);
            self.label(name, (x + key_width, middle + size / 3), size, Align::Start, INK);
            x += width;
        }
        if !entries.is_empty() {
            self.free.top += (row + 1) * line + size / 4;
        }
    }

    fn key(&self, key: Key, (x, y): Point, width: i32) {
        match key {
            Key::Line(stroke) => {
                let points = vec![(x, y), (x + width - self.text / 2, y)];
                self.push(Shape::Line { points, stroke });
            }
            Key::Dot(paint) => {
                let points = vec![(x + width / 2, y)];
                self.push(Shape::Dots { points, diameter: self.text / 2, paint });
            }
            Key::Mark(shape, paint) => {
                let points = vec![(x + width / 2, y)];
                self.push(Shape::Marks { points, shape, size: self.text * 3 / 5, paint });
            }
        }
    }

    /// Writes a text.
    pub(crate) fn label(&self, text: &str, place: Point, size: i32, align: Align, paint: Paint) {
        if !text.is_empty() {
            let direction = Direction::Rightwards;
            self.push(Shape::Text(Label { text: text.to_owned(), place, size, align, direction, paint }));
        }
    }

    /// The free region in `count` rows of equal height.
    pub(crate) fn rows(&self, count: usize) -> Vec<Region> {
        let count = count.max(1) as i32;
        let gap = self.text / 2;
        let height = (self.free.height() - gap * (count - 1)) / count;
        let row = |index: i32| {
            let top = self.free.top + index * (height + gap);
            Region { top, bottom: top + height, ..self.free }
        };
        (0..count).map(row).collect()
    }

    /// How many panels fit besides title, legend and caption: side by side, and above each other.
    pub(crate) fn panels_max(&self) -> (usize, usize) {
        let fit = |length: i32, least: i32| ((length / self.text + 1) / (least + 1)).max(1) as usize;
        (
            fit(self.free.width(), PANEL_WIDTH_LEAST),
            fit(self.free.height() - 8 * self.text, PANEL_HEIGHT_LEAST),
        )
    }

    /// `count` panels in rows from left to right, in as few columns as have at most `rows_max` rows.
    pub(crate) fn grid(&self, count: usize, (columns_max, rows_max): (usize, usize)) -> Vec<Region> {
        let columns = (1..columns_max).find(|columns| count.div_ceil(*columns) <= rows_max);
        let columns = columns.unwrap_or(columns_max);
        let gap = self.text;
        let width = (self.free.width() - gap * (columns as i32 - 1)) / columns as i32;
        let cell = |row: Region, column: i32| {
            let left = row.left + column * (width + gap);
            Region { left, right: left + width, ..row }
        };
        let rows = self.rows(count.div_ceil(columns));
        let cells = rows.into_iter().flat_map(|row| (0..columns as i32).map(move |column| cell(row, column)));
        cells.take(count).collect()
    }

    /// Writes the name of a panel above it.
    pub(crate) fn panel_name(&self, name: &str, region: &mut Region) {
        let name = self.font().shortened(name, self.text, region.width());
        let place = (region.left, region.top + self.text * 4 / 5);
        self.label(&name, place, self.text, Align::Start, INK);
        // The uppermost label of the axis reaches above the panel.
        region.top += self.text * 5 / 4;
    }

    /// How many labels of durations fit side by side.
    pub(crate) fn labels_across(&self, width: i32) -> usize {
        (width / (self.text * 9 / 2)).max(2) as usize
    }

    /// How many dates fit below a panel so wide, labels of its upright axis included.
    pub(crate) fn dates_across(&self, width: i32) -> usize {
        self.labels_across(width - 9 * self.text)
    }

    /// Width of the widest label of an axis.
    pub(crate) fn labels_width(&self, axis: &Axis) -> i32 {
        axis.ticks().iter().map(|(_, label)| self.font().width(label, self.text)).max().unwrap_or(0)
    }

    /// How many labels fit above each other.
    pub(crate) fn labels_up(&self, height: i32) -> usize {
        // The axis below takes some of the height.
        ((height - self.text * 3) / (self.text * 2)).max(2) as usize
    }

    /// A panel with its axes.
    pub(crate) fn panel(
        &self,
        region: Region,
        x: Axis,
        y: Axis,
        text: AxisTexts<'_>,
    ) -> Result<Panel<'_>, FigureError> {
        let size = self.text;
        let y = y.relabelled(|label| self.font().shortened(label, size, region.width() * 2 / 5));
        let widest = self.labels_width(&y).max(text.labels_width);
        let y_text = if text.y.is_empty() { 0 } else { size * 3 / 2 };
        let bottom = size * 7 / 4 + if text.x.is_empty() { 0 } else { size * 4 / 3 };
        let area = self
            .area
            .clone()
            .shrink((region.left, region.top), (region.width().max(1) as u32, region.height().max(1) as u32));
        let left_of_panel = widest + size * 3 / 4 + y_text;
        let (x_axis, y_axis) = (x.clone(), y.clone());
        // The last label of the x axis reaches beyond the panel by half its width.
        let last = x.ticks().last().map_or(0, |(_, label)| self.font().width(label, size) / 2);
        let mut chart = ChartBuilder::on(&area)
            .margin_right(last.min(size * 2))
            .margin_top(size / 3)
            .x_label_area_size(bottom)
            .y_label_area_size(left_of_panel)
            .build_cartesian_2d(x, y)?;
        let font = ("sans-serif", size).into_font();
        let ink = RGBColor(INK.rgb.0, INK.rgb.1, INK.rgb.2);
        let hairline = (size / 20).max(3) as u32;
        let line =
            |colour: RGBColor| ShapeStyle { color: colour.into(), filled: false, stroke_width: hairline };
        chart
            .configure_mesh()
            .bold_line_style(line(BOLD_LINE))
            .light_line_style(line(LIGHT_LINE))
            .axis_style(line(LINE_OF_PANEL))
            .label_style(font.clone().color(&ink))
            .axis_desc_style(font.color(&ink))
            .set_all_tick_mark_size(size / 3)
            .x_labels(100)
            .y_labels(100)
            .draw()?;
        self.axis_texts(region, &chart, text);
        Ok(Panel { sheet: self, chart, x: x_axis, y: y_axis })
    }

    fn axis_texts(
        &self,
        region: Region,
        chart: &ChartContext<'_, SceneBackend, Cartesian2d<Axis, Axis>>,
        text: AxisTexts<'_>,
    ) {
        let (across, up) = chart.plotting_area().get_pixel_range();
        let size = self.text;
        if !text.x.is_empty() {
            let x_text = self.font().shortened(text.x, size, region.width());
            let half = self.font().width(&x_text, size) / 2;
            let middle = across.start.midpoint(across.end).min(region.right - half).max(region.left + half);
            self.label(&x_text, (middle, region.bottom - size / 4), size, Align::Middle, INK);
        }
        if !text.y.is_empty() {
            let y_text = self.font().shortened(text.y, size, region.height());
            let half = self.font().width(&y_text, size) / 2;
            let middle = up.start.midpoint(up.end).min(region.bottom - half).max(region.top + half);
            let place = (region.left + size * 4 / 5, middle);
            let (align, direction, paint) = (Align::Middle, Direction::Upwards, INK);
            self.push(Shape::Text(Label { text: y_text, place, size, align, direction, paint }));
        }
    }

    /// A sentence in the middle of the free region, for a figure without data.
    pub(crate) fn nothing(&self, text: &str) {
        let (x, y) = (self.free.left.midpoint(self.free.right), self.free.top.midpoint(self.free.bottom));
        for (line, text) in (0..).zip(self.font().wrapped(text, self.text, self.free.width())) {
            let place = (x, y + line * self.text * 5 / 4);
            self.label(&text, place, self.text, Align::Middle, QUIET);
        }
    }
}

/// What is written along the axes; nothing where empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AxisTexts<'a> {
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
    /// Least width of the labels of the upright axis, so that panels below each other are aligned.
    pub(crate) labels_width: i32,
}

/// A panel: coordinates are values of its axes, except where places in units are asked for.
pub(crate) struct Panel<'a> {
    sheet: &'a Sheet,
    chart: ChartContext<'a, SceneBackend, Cartesian2d<Axis, Axis>>,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Panel<'_> {
    /// The place of a value.
    pub(crate) fn place(&self, x: f64, y: f64) -> Point {
        self.chart.backend_coord(&(x, y))
    }

    /// The rectangle of the panel without its axes.
    pub(crate) fn region(&self) -> Region {
        let ((left, right), (bottom, top)) = (self.x.ends(), self.y.ends());
        let ((left, top), (right, bottom)) = (self.place(left, top), self.place(right, bottom));
        Region { left, top, right, bottom }
    }

    /// Width of a line of data.
    pub(crate) fn line_width(&self) -> i32 {
        self.sheet.text / 9
    }

    pub(crate) fn line(&self, values: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) {
        let mut points: Vec<Point> = values.into_iter().map(|(x, y)| self.place(x, y)).collect();
        points.dedup();
        if points.len() > 1 {
            self.sheet.push(Shape::Line { points, stroke });
        }
    }

    pub(crate) fn area(&self, values: impl IntoIterator<Item = (f64, f64)>, paint: Paint) {
        let mut points: Vec<Point> = values.into_iter().map(|(x, y)| self.place(x, y)).collect();
        points.dedup();
        if points.len() > 2 {
            self.sheet.push(Shape::Area { points, paint });
        }
    }

    pub(crate) fn rectangle(&self, from: (f64, f64), to: (f64, f64), paint: Paint) {
        self.area([from, (to.0, from.1), to, (from.0, to.1)], paint);
    }

    pub(crate) fn dots(&self, points: Vec<Point>, diameter: i32, paint: Paint) {
        if !points.is_empty() {
            self.sheet.push(Shape::Dots { points, diameter, paint });
        }
    }

    pub(crate) fn marks(&self, points: Vec<Point>, shape: MarkShape, paint: Paint) {
        if !points.is_empty() {
            self.sheet.push(Shape::Marks { points, shape, size: self.sheet.text * 3 / 5, paint });
        }
    }

    /// An image over the whole panel.
    pub(crate) fn image(&self, columns: u32, rows: u32, rgba: Vec<u8>) {
        let ((left, right), (bottom, top)) = (self.x.ends(), self.y.ends());
        self.image_between((left, top), (right, bottom), (columns, rows), rgba);
    }

    /// An image between these values of the axes: its upper left corner and its lower right one.
    pub(crate) fn image_between(
        &self,
        from: (f64, f64),
        to: (f64, f64),
        (columns, rows): (u32, u32),
        rgba: Vec<u8>,
    ) {
        let (place, (right, bottom)) = (self.place(from.0, from.1), self.place(to.0, to.1));
        let (width, height) = (right - place.0, bottom - place.1);
        self.sheet.push(Shape::Image(Image { place, width, height, columns, rows, rgba }));
    }

    /// Writes a text at a place in units.
    pub(crate) fn label(&self, text: &str, place: Point, align: Align) {
        self.sheet.label(text, place, self.sheet.text * 9 / 10, align, INK);
    }

    /// Lines at 0.1, 1 and 10 s, where people begin to notice, to wait and to leave (Nielsen 1993).
    pub(crate) fn thresholds(&self, along: Along) {
        let stroke =
            Stroke { paint: Paint::opaque(0x88, 0x88, 0x88), width: self.line_width(), dash: Dash::Strokes };
        let ((x_begin, x_end), (y_begin, y_end)) = (self.x.ends(), self.y.ends());
        for threshold_ns in [1e8, 1e9, 1e10] {
            match along {
                Along::X if threshold_ns > x_begin && threshold_ns < x_end => {
                    self.line([(threshold_ns, y_begin), (threshold_ns, y_end)], stroke);
                }
                Along::Y if threshold_ns > y_begin && threshold_ns < y_end => {
                    self.line([(x_begin, threshold_ns), (x_end, threshold_ns)], stroke);
                }
                Along::X | Along::Y => {}
            }
        }
    }
}

/// The axis along which durations run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Along {
    X,
    Y,
}
