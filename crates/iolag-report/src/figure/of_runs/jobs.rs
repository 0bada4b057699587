//! Jobs per hour against copies: the numbers with their intervals, and behind them the plateau, a colour for each target.

use iolag_analysis::{JobAnswer, JobLevel, JobRate, JobStanding, Recommendation, SAME_WITHIN};

use crate::figure::axis::Axis;
use crate::figure::drawings::beside::{Beside, Look};
use crate::figure::error::FigureError;
use crate::figure::of_runs::choice::FigureSelection;
use crate::figure::paper::sheet::{AxisTexts, Panel, Sheet};
use crate::figure::scene::shapes::{Dash, MarkShape, Paint, Stroke};
use crate::words::jobs::recommendation_sentence;

/// More sentences than these fill a figure.
const SENTENCES_MAX: usize = 4;

pub(crate) fn draw(
    sheet: &mut Sheet,
    told: &[Recommendation],
    selection: &FigureSelection,
) -> Result<(), FigureError> {
    let wanted =
        |one: &&Recommendation| selection.targets.is_empty() || selection.targets.contains(&one.target);
    let wanted: Vec<&Recommendation> = told.iter().filter(wanted).collect();
    let rates = || wanted.iter().flat_map(|one| known(one));
    let top = |rate: JobRate| rate.interval.map_or(rate.per_hour, |[_, high]| high);
    let most = rates().map(|(_, rate)| top(rate)).fold(0.0, f64::max);
    let side =
        Beside { count: wanted.len(), most: rates().map(|(level, _)| level.copies).max().unwrap_or(1) };
    let drawn: Vec<(&Recommendation, Look)> =
        wanted.iter().enumerate().map(|(index, one)| (*one, side.look(index))).collect();
    sheet.title("Jobs per hour against copies at once");
    let key = |(one, look): &(&Recommendation, Look)| (look.key(), one.target.clone());
    sheet.legend(&drawn.iter().map(key).collect::<Vec<_>>());
    sheet.caption(&caption(&drawn, sheet.room_for_sentences(SENTENCES_MAX)));
    let region = sheet.free;
    if most == 0.0 {
        sheet.nothing("There is nothing to draw: copies of a job with a payload have such a figure.");
        return Ok(());
    }
    let x = side.axis(sheet.labels_across(region.width()));
    let y = Axis::amount(1.02 * most, sheet.labels_up(region.height()).min(10));
    let texts = AxisTexts { x: "copies", y: "jobs per hour", ..AxisTexts::default() };
    let panel = sheet.panel(region, x, y, texts)?;
    // Bands lie behind all numbers.
    drawn.iter().for_each(|(one, look)| band(&panel, one, look.paint.with_opacity(0.15)));
    for (one, look) in &drawn {
        draw_target(&panel, one, *look);
    }
    Ok(())
}

fn known(told: &Recommendation) -> impl Iterator<Item = (&JobLevel, JobRate)> {
    told.levels.iter().filter_map(|level| Some((level, level.jobs?)))
}

/// From the best to what is as good, over the numbers of the plateau.
fn band(panel: &Panel<'_>, told: &Recommendation, paint: Paint) {
    let JobAnswer::Run { best, plateau, .. } = &told.answer else { return };
    let (Some(first), Some(last)) = (plateau.first(), plateau.last()) else { return };
    let Some(most) = told.level(*best).and_then(|level| level.jobs) else { return };
    // One number alone is to be seen, too.
    let (from, to) = (f64::from(*first) - 0.25, f64::from(*last) + 0.25);
    panel.rectangle((from, most.per_hour), (to, most.per_hour * (1.0 - SAME_WITHIN)), paint);
}

fn draw_target(panel: &Panel<'_>, told: &Recommendation, look: Look) {
    let stroke = Stroke { paint: look.paint, width: panel.line_width(), dash: look.dash };
    let at = |level: &JobLevel, amount: f64| (look.at(level.copies), amount);
    panel.line(known(told).map(|(level, rate)| at(level, rate.per_hour)), stroke);
    for (level, rate) in known(told) {
        let bar = Stroke { dash: Dash::Solid, ..stroke };
        panel.line(rate.interval.into_iter().flatten().map(|end| at(level, end)), bar);
        let (x, y) = at(level, rate.per_hour);
        let place = vec![panel.place(x, y)];
        match level.standing {
            JobStanding::TimeOuts | JobStanding::Unsure => panel.marks(place, MarkShape::Cross, stroke.paint),
            _ => look.draw(panel, place),
        }
    }
}

fn caption(drawn: &[(&Recommendation, Look)], sentences_max: usize) -> String {
    let mut sentences = vec![
        "Bars: 95 % intervals; bands: the plateaus; crosses: too many time-outs, or perhaps.".to_owned(),
    ];
    if drawn.len() <= sentences_max {
        sentences.extend(drawn.iter().map(|(one, _)| recommendation_sentence(one)));
    }
    sentences.join(" ")
}
