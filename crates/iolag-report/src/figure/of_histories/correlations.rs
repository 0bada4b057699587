//! How any two series go together: coefficients as a triangle of colours.

use std::collections::BTreeMap;

use iolag_analysis::history::{CorrelationMethod, PairCell};

use super::choice::Chosen;
use crate::figure::axis::Axis;
use crate::figure::drawings::palette::PALETTE;
use crate::figure::error::FigureError;
use crate::figure::paper::sheet::{AxisTexts, Sheet};
use crate::figure::scene::shapes::{Align, Paint};

/// Of more series numbers do not fit.
const NUMBERED_MOST: usize = 14;
/// More series than this are not told apart.
const SERIES_MOST: usize = 60;

pub(crate) fn draw(sheet: &mut Sheet, chosen: &Chosen<'_>) -> Result<(), FigureError> {
    let figure = &chosen.history.figures.correlations;
    let method = match figure.method {
        CorrelationMethod::Spearman => "Spearman's, of ranks",
        CorrelationMethod::Pearson => "Pearson's, of values",
        CorrelationMethod::PearsonLog => "Pearson's, of logarithms",
    };
    let names = &figure.names[..figure.names.len().min(SERIES_MOST)];
    sheet.title("How series go together");
    let left_out = match figure.names.len() - names.len() {
        0 => String::new(),
        more => format!(" {more} more series are not drawn."),
    };
    let text = format!(
        "Coefficients ({method}): orange where both are slow together, blue where one is fast when the other is slow; pale ones may well be \
         chance (p above {} for all pairs together). Columns have the numbers of rows.{left_out} {}",
        figure.significance,
        chosen.history_in_words()
    );
    sheet.caption(&text);
    if figure.pairs.is_empty() {
        sheet.nothing("There is nothing to draw: too few attempts were made together.");
        return Ok(());
    }
    let rows = names.iter().enumerate().map(|(index, name)| format!("{name}  {}", index + 1)).collect();
    let columns = (0..names.len()).map(|index| (index as f64, (index + 1).to_string())).collect();
    let x = Axis::labelled(-0.5, names.len() as f64 - 0.5, columns);
    let panel = sheet.panel(sheet.free, x, Axis::rows(rows), AxisTexts::default())?;
    // Lines of the axes mean nothing between names.
    let ((left, right), (bottom, top)) = (panel.x.ends(), panel.y.ends());
    panel.rectangle((left, bottom), (right, top), Paint::opaque(0xff, 0xff, 0xff));
    // What was read of a host was read with each series: the cell of a pair of names is the last of them.
    let cell = |pair: &'_ PairCell| ((pair.left.max(pair.right), pair.left.min(pair.right)), pair.clone());
    let cells: BTreeMap<(usize, usize), PairCell> = figure.pairs.iter().map(cell).collect();
    let is_drawn = |((row, column), _): &(&(usize, usize), &PairCell)| *row < names.len() && row > column;
    for ((row, column), pair) in cells.iter().filter(is_drawn) {
        let (x, y) = (*column as f64, -(*row as f64));
        let strength = pair.coefficient.abs().min(1.0) as f32 * if pair.is_significant { 0.85 } else { 0.25 };
        let paint = PALETTE[usize::from(pair.coefficient > 0.0)].with_opacity(strength.max(0.02));
        panel.rectangle((x - 0.47, y - 0.45), (x + 0.47, y + 0.45), paint);
        if names.len() <= NUMBERED_MOST {
            let (left, middle) = panel.place(x, y);
            let text = format!("{:.2}", pair.coefficient).replace("-0.00", "0.00");
            panel.label(&text, (left, middle + sheet.text / 3), Align::Middle);
        }
    }
    Ok(())
}
