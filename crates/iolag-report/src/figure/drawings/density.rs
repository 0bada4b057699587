//! Counts per pixel, painted so that one attempt is seen and a million are not all there is to see.

use crate::figure::paper::sheet::Region;
use crate::figure::scene::shapes::Paint;

const COLUMNS_MAX: i32 = 1600;
const ROWS_MAX: i32 = 1000;

/// A grid of pixels over a panel.
pub(crate) struct DensityGrid {
    pub(crate) columns: u32,
    pub(crate) rows: u32,
    /// Red, green and blue, 0 to 255, over white.
    colours: Vec<[f32; 3]>,
    covered: Vec<f32>,
}

impl DensityGrid {
    /// A grid over a region, a pixel being about as large as a point would be.
    pub(crate) fn over(region: Region, pixel: i32) -> Self {
        let columns = (region.width() / pixel.max(1)).clamp(1, COLUMNS_MAX) as u32;
        let rows = (region.height() / pixel.max(1)).clamp(1, ROWS_MAX) as u32;
        let pixels = (columns * rows) as usize;
        Self { columns, rows, colours: vec![[255.0; 3]; pixels], covered: vec![0.0; pixels] }
    }

    /// An empty count of every pixel.
    pub(crate) fn counts(&self) -> Vec<f32> {
        vec![0.0; (self.columns * self.rows) as usize]
    }

    /// The pixel at a place between 0 and 1 from the left and from the bottom.
    pub(crate) fn pixel(&self, right: f64, up: f64) -> (u32, u32) {
        let column = (right * f64::from(self.columns)) as u32;
        let row = ((1.0 - up) * f64::from(self.rows)) as u32;
        (column.min(self.columns - 1), row.min(self.rows - 1))
    }

    pub(crate) fn index(&self, (column, row): (u32, u32)) -> usize {
        (row * self.columns + column) as usize
    }

    /// Paints counts over what is there: opacity grows with the logarithm of the count.
    pub(crate) fn paint(&mut self, counts: &[f32], paint: Paint) {
        let most = counts.iter().copied().fold(0.0_f32, f32::max);
        if most <= 0.0 {
            return;
        }
        let scale = (1.0 + most).ln();
        self.blend(counts, paint, |count| 0.3 + 0.7 * (1.0 + count).ln() / scale);
    }

    /// Paints over what is there, with the opacity that an amount stands for; nothing where it is zero.
    pub(crate) fn blend(&mut self, amounts: &[f32], paint: Paint, opacity: impl Fn(f32) -> f32) {
        let (red, green, blue) = paint.rgb;
        let colour = [f32::from(red), f32::from(green), f32::from(blue)];
        for (index, amount) in amounts.iter().enumerate().filter(|(_, amount)| **amount > 0.0) {
            let opacity = opacity(*amount);
            for (below, above) in self.colours[index].iter_mut().zip(colour) {
                *below += (above - *below) * opacity;
            }
            self.covered[index] = 1.0 - (1.0 - self.covered[index]) * (1.0 - opacity);
        }
    }

    /// Red, green, blue and opacity; what nothing was painted on is transparent.
    pub(crate) fn into_rgba(self) -> Vec<u8> {
        let pixel = |(colour, covered): (&[f32; 3], &f32)| {
            let opaque = if *covered > 0.0 { 255 } else { 0 };
            [colour[0] as u8, colour[1] as u8, colour[2] as u8, opaque]
        };
        self.colours.iter().zip(&self.covered).flat_map(pixel).collect()
    }
}
