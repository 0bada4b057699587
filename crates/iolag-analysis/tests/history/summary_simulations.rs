//! Modes and events of one series, and simulations: how often a single mode is split, and how often intervals cover the truth.

use iolag_analysis::history::{
    ByAttempt, ChangesNearEvent, ComparisonOptions, ComparisonVerdict, Distribution, Estimate, EventWindows,
    Knowledge, Observation, Observations, Origin, Quantity, compare, event_effect, separated_modes,
};
use iolag_model::Random;
use iolag_model::{Event, EventSource, Nanoseconds, WallTime};

/// 2008-05-05, a Monday, midnight.
const MONDAY: i64 = 1_209_945_600;

/// Shuffles by a fixed rule, so that a mixture is no sequence of levels.
fn shuffled(mut amounts: Vec<f64>, noise: &mut Random) -> Vec<f64> {
    for last in (1..amounts.len()).rev() {
        amounts.swap(last, (noise.unit() * (last + 1) as f64) as usize);
    }
    amounts
}

fn durations(amounts: &[f64], resolution: f64) -> Observations<ByAttempt> {
    let observation = |(slot, amount): (usize, &f64)| {
        let steps = if resolution > 0.0 { (amount / resolution).floor() * resolution } else { *amount };
        let below = resolution > 0.0 && steps < resolution;
        Observation {
            at: WallTime::from_seconds(MONDAY + slot as i64 * 900),
            amount: if below { resolution } else { steps },
            knowledge: if below { Knowledge::AtMost } else { Knowledge::Exactly },
            origin: Origin::Measured,
        }
    };
    Observations::new(Quantity::Duration, amounts.iter().enumerate().map(observation))
}

#[test]
fn the_cache_of_study_000_and_the_price_of_missing_it_are_told_apart() {
    // "About 20 % of the trials completed in approximately 0.01 second or less. Of the remaining 80 %
    // virtually all took at least 1.3 seconds."
    let mut noise = Random::new(2008);
    let amounts: Vec<f64> = (0..960)
        .map(|slot| match slot % 5 {
            0 => 0.008 * (0.4 * noise.normal()).exp(),
            _ => 1.3 + 0.3 * noise.normal().exp(),
        })
        .chain([14_400.0])
        .collect();
    let amounts = shuffled(amounts, &mut noise);
    for resolution in [0.0, 0.01] {
        let modes = separated_modes(&durations(&amounts, resolution), resolution).expect("two modes");
        assert_eq!(modes.modes.len(), 2, "{modes:?}");
        let (fast, slow) = (modes.modes[0], modes.modes[1]);
        assert_eq!((fast.count, fast.count + slow.count), (192, 961), "{modes:?}");
        assert!(fast.high.bound() < Some(0.05) && slow.low.bound() >= Some(1.3), "{modes:?}");
        assert_eq!(slow.high, Estimate::Exactly(14_400.0), "a far point is no mode of its own");
        assert!(modes.ratios[0] > 100.0 && modes.dip > modes.dip_critical);
        if resolution > 0.0 {
            assert_eq!(fast.median, Estimate::Below(0.01));
        }
    }
}

#[test]
fn three_modes_are_found_in_order() {
    let mut noise = Random::new(33);
    let amounts: Vec<f64> =
        (0..900).map(|slot| 10_f64.powi(slot % 3 - 2) * (0.2 * noise.normal()).exp()).collect();
    let modes = separated_modes(&durations(&shuffled(amounts, &mut noise), 0.0), 0.0).expect("three modes");
    assert_eq!(modes.modes.iter().map(|mode| mode.count).collect::<Vec<_>>(), [300, 300, 300]);
    assert!(modes.ratios.iter().all(|ratio| (8.0..12.5).contains(ratio)), "{modes:?}");
}

#[test]
fn a_single_mode_is_hardly_ever_split() {
    let mut noise = Random::new(99);
    let (mut experiments, mut split) = (0, 0);
    for (count, spread, phi, resolution) in [
        (50, 1.0, 0.0, 0.0),
        (500, 1.0, 0.0, 0.0),
        (500, 2.0, 0.0, 0.0),
        (500, 1.0, 0.8, 0.0),
        (3000, 1.0, 0.5, 0.0),
        // Clocks that count in steps: a hundredth, a third and three times the median.
        (500, 1.0, 0.0, 0.01),
        (500, 1.0, 0.0, 0.3),
        (500, 1.0, 0.0, 3.0),
        (500, 2.0, 0.0, 0.2),
    ] {
        let mut split_here = 0;
        for _ in 0..60 {
            let mut state = noise.normal();
            let amounts: Vec<f64> = (0..count)
                .map(|_| {
                    state = phi * state + (1.0_f64 - phi * phi).sqrt() * noise.normal();
                    (spread * state).exp()
                })
                .collect();
            split_here += u32::from(separated_modes(&durations(&amounts, resolution), resolution).is_some());
        }
        assert!(split_here <= 3, "{split_here} of 60 at {count} {spread} {phi} {resolution}");
        split += split_here;
        experiments += 60;
    }
    assert!(f64::from(split) <= 0.05 * f64::from(experiments), "{split} of {experiments}");
}

#[test]
fn an_event_is_followed_by_a_change_and_another_by_none() {
    let mut noise = Random::new(4);
    let amounts: Vec<f64> = (0..28 * 96)
        .map(|slot| if slot < 14 * 96 { 1.0 } else { 0.5 } * (0.5 * noise.normal()).exp())
        .collect();
    let observations = durations(&amounts, 0.0);
    let event = |day: i64| Event {
        id: "1".to_owned(),
        text: "LDAP cache enabled".to_owned(),
        ..Event::of_all(EventSource::Note, WallTime::from_seconds(MONDAY + day * 86_400))
    };
    let windows = EventWindows {
        length: Nanoseconds::from_seconds(7 * 86_400),
        margin: Nanoseconds::from_seconds(3600),
    };
    let options = ComparisonOptions::default();
    let effect_of = |day: i64, changes: &ChangesNearEvent| {
        event_effect(&observations, &event(day), &windows, changes, &options)
    };
    let none = ChangesNearEvent::default();
    let effect = effect_of(14, &none);
    assert_eq!(effect.comparison.verdict, ComparisonVerdict::Faster);
    assert_eq!(effect.comparison.first.counts.total(), 7 * 96);
    let interval = effect.comparison.shift.expect("both sides have attempts").interval;
    assert!(
        interval.low.is_some_and(|low| low < 0.5)
            && interval.high.is_some_and(|high| high > 0.5 && high < 0.6)
    );
    assert_eq!(effect_of(7, &none).comparison.verdict, ComparisonVerdict::NoDifferenceShown);
    assert_eq!(effect_of(40, &none).comparison.verdict, ComparisonVerdict::TooFew);
    // Written down a day late: what was between the change and the note is on neither side.
    let own = ChangesNearEvent { own: vec![event(14).begin], others: Vec::new() };
    let late = effect_of(15, &own);
    assert_eq!((late.before.end, late.after.begin), (event(14).begin, event(15).begin.after(windows.margin)));
    assert_eq!(late.comparison.verdict, ComparisonVerdict::Faster);
    assert_eq!(late.comparison.first.counts.total(), 7 * 96);
    let early = effect_of(13, &own);
    assert_eq!(
        (early.before.end, early.after.begin),
        (event(13).begin.before(windows.margin), event(14).begin)
    );
    assert_eq!(early.comparison.verdict, ComparisonVerdict::Faster);
}

/// How often the interval of the ratio covers the true one, and how often p < 0.05 when the ratio is 1.
fn coverage(sizes: [usize; 2], ratio: f64, phi: f64, deadline: f64) -> (f64, f64) {
    const EXPERIMENTS: usize = 300;
    let mut noise = Random::new(77);
    let (mut covered, mut significant) = (0, 0);
    for _ in 0..EXPERIMENTS {
        let [first, second] = [(sizes[0], 1.0), (sizes[1], ratio)].map(|(size, factor)| {
            let mut state = noise.normal();
            let list: Vec<Observation> = (0..size)
                .map(|slot| {
                    state = phi * state + (1.0_f64 - phi * phi).sqrt() * noise.normal();
                    let amount: f64 = factor * state.exp();
                    let knowledge = if amount > deadline { Knowledge::AtLeast } else { Knowledge::Exactly };
                    let at = WallTime::from_seconds(slot as i64);
                    Observation { at, amount: amount.min(deadline), knowledge, origin: Origin::Measured }
                })
                .collect();
            Observations::<ByAttempt>::new(Quantity::Duration, list)
        });
        let comparison = compare(&first, &second, &ComparisonOptions::default()).expect("both are durations");
        let interval = comparison.shift.expect("neither is empty").interval;
        covered += usize::from(
            interval.low.is_none_or(|low| low <= ratio) && interval.high.is_none_or(|high| high >= ratio),
        );
        significant += usize::from(comparison.greater.expect("neither is empty").p < 0.05);
    }
    (covered as f64 / EXPERIMENTS as f64, significant as f64 / EXPERIMENTS as f64)
}

#[test]
fn the_interval_of_the_ratio_covers_it_as_promised() {
    for sizes in [[12, 15], [40, 100]] {
        let (covered, _) = coverage(sizes, 1.7, 0.0, f64::INFINITY);
        assert!(covered >= 0.925, "{sizes:?}: {covered}");
    }
    // Time-outs of a tenth of the second sample only widen it.
    let (covered, _) = coverage([60, 60], 1.7, 0.0, 6.0);
    assert!(covered >= 0.925, "censored: {covered}");
}

#[test]
fn nothing_is_found_where_nothing_is_more_often_than_promised() {
    let (_, alone) = coverage([40, 60], 1.0, 0.0, f64::INFINITY);
    assert!(alone <= 0.08, "independent: {alone}");
    let (_, correlated) = coverage([300, 300], 1.0, 0.6, f64::INFINITY);
    assert!(correlated <= 0.12, "correlated: {correlated}");
}

#[test]
fn bands_and_intervals_cover_the_truth_under_censoring() {
    // Exponential durations, a third of which are cut at random ages; the truth is 1 - exp(-t), its median ln
    // 2.
    const EXPERIMENTS: u32 = 400;
    let truth = |amount: f64| 1.0 - (-amount).exp();
    let mut noise = Random::new(11);
    let (mut all_points, mut one_point, mut median) = (0, 0, 0);
    for _ in 0..EXPERIMENTS {
        let list: Vec<Observation> = (0..80)
            .map(|slot| {
                let mut exponential = |mean: f64| -mean * (1.0 - noise.unit()).ln();
                let (amount, age) = (exponential(1.0), exponential(2.0));
                let knowledge = if amount > age { Knowledge::AtLeast } else { Knowledge::Exactly };
                let at = WallTime::from_seconds(slot);
                Observation { at, amount: amount.min(age), knowledge, origin: Origin::Measured }
            })
            .collect();
        let distribution = Distribution::of(&Observations::<ByAttempt>::new(Quantity::Duration, list));
        let curve = distribution.curve(usize::MAX);
        // A band holds from its step to just before the next.
        let within = |pair: &[iolag_analysis::history::CurvePoint]| {
            let band = pair[0].simultaneous;
            band.low <= truth(pair[0].amount) && truth(pair[1].amount) <= band.high
        };
        all_points += u32::from(curve.windows(2).all(within));
        let before_one = curve.partition_point(|point| point.amount <= 1.0) - 1;
        let band = curve[before_one].pointwise;
        one_point += u32::from(band.low <= truth(1.0) && truth(1.0) <= band.high);
        median += u32::from(distribution.quantile_with_interval(0.5).interval.allows(2.0_f64.ln()));
    }
    for (name, covered) in [("all points", all_points), ("one point", one_point), ("median", median)] {
        assert!(f64::from(covered) >= 0.92 * f64::from(EXPERIMENTS), "{name}: {covered} of {EXPERIMENTS}");
    }
}
