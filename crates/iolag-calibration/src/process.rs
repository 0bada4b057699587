//! Processes that make durations, of which the whole truth is known.
//!
//! Every duration is log-normal within its state: `exp(shift + 0.6 z)` times [`MEDIAN_SECONDS`]. All processes are stationary but
//! [`Process::Drift`] and [`Process::Step`], and begin as if they had run for ever. The population of a stationary process is a
//! mixture of log-normal distributions, whose quantiles are exact.

use iolag_model::Random;
use statrs::function::erf::{erfc, erfc_inv};

/// The median of quiet durations, in seconds: between the thresholds of tables, above a coarse clock's step.
pub const MEDIAN_SECONDS: f64 = 0.25;
/// Standard deviation of the logarithm.
pub const SIGMA: f64 = 0.6;
/// Slots in a day: one each quarter of an hour.
pub const SLOTS_PER_DAY: usize = 96;
const SLOTS_PER_WEEK: usize = 7 * SLOTS_PER_DAY;

const STORM_SLOTS: usize = 30;
const STORM_SHARE: f64 = 0.03;
const STORM_FACTOR: f64 = 50.0;

/// Of the mode in which most attempts lie; the other is slower by [`MODE_FACTOR`].
const MODE_SHARE: f64 = 0.7;
const MODE_FACTOR: f64 = 10.0;
/// Slots that the slow mode lasts, on average.
const MODE_SLOTS: f64 = 20.0;
/// Modes that are to be told apart are narrower than other durations.
const MODE_SIGMA: f64 = 0.3;

/// Time scales of 1/f noise, in slots: octaves from 1 to 512 (five days).
const OCTAVES: u32 = 10;
/// Amplitude of a daily cycle, on the log scale: noon takes e times as long as midnight.
const DAILY_AMPLITUDE: f64 = 0.5;
/// A weekend's durations by those of a working day.
const WEEKEND_FACTOR: f64 = 0.5;
/// Durations in working hours by those of other hours, and these hours.
const WORKING_FACTOR: f64 = 3.0;
const WORKING_HOURS: std::ops::Range<usize> = 9..17;

/// Jobs at night begin at this hour and last for an hour, times a log-normal factor with this standard deviation.
const NIGHTLY_HOUR: usize = 2;
const NIGHTLY_SPREAD: f64 = 0.5;
/// Share of attempts in working hours, of every day, that are bad by themselves.
const MOMENT_SHARE: f64 = 0.03;

/// Coefficient of slow load under noise, and its share of the variance.
const SLOW_COEFFICIENT: f64 = 0.98;
const SLOW_SHARE: f64 = 0.4;

/// Coefficient of load above a floor, how strong it is, and how far the floor's attempts are apart, by those of other noise.
const FLOOR_COEFFICIENT: f64 = 0.9;
const FLOOR_LOAD: f64 = 1.5;
const FLOOR_SPREAD: f64 = 0.1;
/// Into how many equal shares that load is parted to know its quantiles.
const FLOOR_PARTS: usize = 1000;

/// How far a coarse clock's readings are apart, in seconds.
pub const COARSE_STEP_SECONDS: f64 = 0.1;

/// What makes durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Process {
    /// Each by itself.
    Independent,
    /// Each logarithm resembles the one before, with this coefficient.
    Autoregressive(f64),
    /// Load that changes within half a day, under noise in which each attempt is by itself.
    SlowUnderNoise,
    /// Load that comes and goes above a floor, at which half of the attempts take equally long.
    AboveFloor,
    /// Load on all time scales: a sum of autoregressive processes, an octave apart, of equal variance.
    OneOverF,
    /// Bad times: 3 % of the time, 30 attempts long, 50 times slower, beginning at random.
    Storms,
    /// Fast for a while, then ten times slower for a while.
    ModesInRuns,
    /// Cut off at a deadline that this share would exceed.
    Censored(f64),
    /// Read from a clock that knows tenths of seconds, rounded down.
    CoarseClock,
    /// A daily cycle of fixed amplitude, around autoregressive noise.
    Daily {
        /// When it is slowest, as a share of the day.
        peak: f64,
        /// Coefficient of the noise.
        coefficient: f64,
    },
    /// A daily cycle whose amplitude is drawn anew every day.
    DailyRandom,
    /// Weekends take half as long.
    Weekly,
    /// Working hours of working days take three times as long.
    WorkingHours,
    /// Slower by this factor at the end than at the beginning, in a straight line of the logarithm.
    Drift(f64),
    /// Slower by `factor` from `place` on, a share of the record, after it became so in equal parts; the noise around it is autoregressive.
    Step {
        /// How much slower.
        factor: f64,
        /// Share of the record before it.
        place: f64,
        /// Share of the record for which it became slower before that; 0 is at once.
        lasting: f64,
        /// Coefficient of the noise.
        coefficient: f64,
    },
}

/// What a process made: a duration for each slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Durations in seconds, before any clock or deadline.
    pub seconds: Vec<f64>,
    /// Which slots are in a storm or in the slow mode.
    pub disturbed: Vec<bool>,
}

impl Process {
    /// Durations in `slots` slots, the first at midnight of a Monday, UTC.
    pub fn course(self, slots: usize, noise: &mut Random) -> Course {
        let mut disturbed = vec![false; slots];
        let shifts: Vec<f64> = match self {
            Self::Independent | Self::Censored(_) | Self::CoarseClock => autoregressive(slots, 0.0, noise),
            Self::Autoregressive(coefficient) => autoregressive(slots, coefficient, noise),
            Self::SlowUnderNoise => {
                let slow = autoregressive(slots, SLOW_COEFFICIENT, noise);
                let quick = autoregressive(slots, 0.0, noise);
                let (of_slow, of_quick) = (SLOW_SHARE.sqrt(), (1.0 - SLOW_SHARE).sqrt());
                slow.iter().zip(quick).map(|(slow, quick)| of_slow * slow + of_quick * quick).collect()
            }
            Self::AboveFloor => {
                let load = autoregressive(slots, FLOOR_COEFFICIENT, noise);
                let quick = autoregressive(slots, 0.0, noise);
                let above = |load: f64| FLOOR_LOAD * load.max(0.0);
                load.into_iter().zip(quick).map(|(load, quick)| above(load) + FLOOR_SPREAD * quick).collect()
            }
            Self::OneOverF => one_over_f(slots, noise),
            Self::Storms => {
                disturbed = storms(slots, noise);
                let quiet = autoregressive(slots, 0.0, noise);
                slowed(&quiet, &disturbed, STORM_FACTOR)
            }
            Self::ModesInRuns => {
                disturbed = modes(slots, noise);
                let narrow = autoregressive(slots, 0.0, noise);
                let narrow: Vec<f64> = narrow.iter().map(|shift| shift * MODE_SIGMA / SIGMA).collect();
                slowed(&narrow, &disturbed, MODE_FACTOR)
            }
            Self::Daily { peak, coefficient } => {
                let quiet = autoregressive(slots, coefficient, noise);
                (0..slots).map(|slot| quiet[slot] + DAILY_AMPLITUDE * daily(slot, peak)).collect()
            }
            Self::DailyRandom => {
                let days = slots / SLOTS_PER_DAY + 1;
                let amplitudes: Vec<f64> =
                    (0..days).map(|_| DAILY_AMPLITUDE * (1.0 + noise.normal())).collect();
                let quiet = autoregressive(slots, 0.0, noise);
                let cycle = |slot: usize| amplitudes[slot / SLOTS_PER_DAY] * daily(slot, 0.5);
                (0..slots).map(|slot| quiet[slot] + cycle(slot)).collect()
            }
            Self::Weekly => {
                let quiet = autoregressive(slots, 0.0, noise);
                let level = |slot: usize| if is_weekend(slot) { WEEKEND_FACTOR.ln() } else { 0.0 };
                (0..slots).map(|slot| quiet[slot] + level(slot)).collect()
            }
            Self::WorkingHours => {
                let quiet = autoregressive(slots, 0.0, noise);
                let hour = |slot: usize| slot % SLOTS_PER_DAY * 24 / SLOTS_PER_DAY;
                let is_busy = |slot: usize| !is_weekend(slot) && WORKING_HOURS.contains(&hour(slot));
                let level = |slot: usize| if is_busy(slot) { WORKING_FACTOR.ln() } else { 0.0 };
                (0..slots).map(|slot| quiet[slot] + level(slot)).collect()
            }
            Self::Drift(factor) => {
                let quiet = autoregressive(slots, 0.0, noise);
                let slope = factor.ln() / slots.max(1) as f64;
                (0..slots).map(|slot| quiet[slot] + slope * slot as f64).collect()
            }
            Self::Step { factor, place, lasting, coefficient } => {
                let quiet = autoregressive(slots, coefficient, noise);
                let [begin, end] =
                    [place - lasting, place].map(|share| (share * slots as f64).round() as usize);
                let level = |slot: usize| match slot {
                    slot if slot >= end => factor.ln(),
                    slot => factor.ln() * slot.saturating_sub(begin) as f64 / (end - begin).max(1) as f64,
                };
                (0..slots).map(|slot| quiet[slot] + level(slot)).collect()
            }
        };
        let seconds = shifts.iter().map(|shift| MEDIAN_SECONDS * shift.exp()).collect();
        Course { seconds, disturbed }
    }

    /// The quantile `q` of its durations, in seconds; of a process that is not stationary, that of its quiet noise.
    pub fn quantile(self, q: f64) -> f64 {
        let parts = self.population();
        let share = |shift: f64| parts.iter().map(|part| part.weight * part.share_below(shift)).sum::<f64>();
        let (mut low, mut high) = (-30.0, 30.0);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if share(middle) < q { low = middle } else { high = middle }
        }
        MEDIAN_SECONDS * f64::exp((low + high) / 2.0)
    }

    /// The deadline at which probes are ended, in seconds.
    pub fn deadline_seconds(self) -> Option<f64> {
        match self {
            Self::Censored(share) => Some(self.quantile(1.0 - share)),
            _ => None,
        }
    }

    fn population(self) -> Vec<Part> {
        let quiet = Part { weight: 1.0, shift: 0.0, sigma: SIGMA };
        match self {
            Self::Storms => vec![
                Part { weight: 1.0 - STORM_SHARE, ..quiet },
                Part { weight: STORM_SHARE, shift: STORM_FACTOR.ln(), ..quiet },
            ],
            Self::ModesInRuns => vec![
                Part { weight: MODE_SHARE, sigma: MODE_SIGMA, ..quiet },
                Part { weight: 1.0 - MODE_SHARE, shift: MODE_FACTOR.ln(), sigma: MODE_SIGMA },
            ],
            Self::AboveFloor => (0..FLOOR_PARTS)
                .map(|part| {
                    let share = (part as f64 + 0.5) / FLOOR_PARTS as f64;
                    let load = -SIGMA * std::f64::consts::SQRT_2 * erfc_inv(2.0 * share);
                    let shift = FLOOR_LOAD * load.max(0.0);
                    Part { weight: 1.0 / FLOOR_PARTS as f64, shift, sigma: FLOOR_SPREAD * SIGMA }
                })
                .collect(),
            Self::Daily { peak, .. } => (0..SLOTS_PER_DAY)
                .map(|slot| Part {
                    weight: 1.0 / SLOTS_PER_DAY as f64,
                    shift: DAILY_AMPLITUDE * daily(slot, peak),
                    ..quiet
                })
                .collect(),
            // The amplitude is normal, so that the sum of both is normal at each time of the day.
            Self::DailyRandom => (0..SLOTS_PER_DAY)
                .map(|slot| {
                    let swing = DAILY_AMPLITUDE * daily(slot, 0.5);
                    Part { weight: 1.0 / SLOTS_PER_DAY as f64, shift: swing, sigma: SIGMA.hypot(swing) }
                })
                .collect(),
            Self::Weekly => vec![
                Part { weight: 5.0 / 7.0, ..quiet },
                Part { weight: 2.0 / 7.0, shift: WEEKEND_FACTOR.ln(), ..quiet },
            ],
            Self::WorkingHours => {
                let busy = 5.0 / 7.0 * WORKING_HOURS.len() as f64 / 24.0;
                vec![
                    Part { weight: 1.0 - busy, ..quiet },
                    Part { weight: busy, shift: WORKING_FACTOR.ln(), ..quiet },
                ]
            }
            _ => vec![quiet],
        }
    }
}

impl Course {
    /// A job of each night and nothing else: about an hour in which all is slower by the factor of a storm.
    pub fn of_nightly_jobs(slots: usize, noise: &mut Random) -> Self {
        let mut disturbed = vec![false; slots];
        let hour = SLOTS_PER_DAY as f64 / 24.0;
        for begin in (NIGHTLY_HOUR * SLOTS_PER_DAY / 24..slots).step_by(SLOTS_PER_DAY) {
            let length = (hour * (NIGHTLY_SPREAD * noise.normal()).exp()).round() as usize;
            disturbed[begin..slots.min(begin + length)].fill(true);
        }
        Self::slowed_by_storms(disturbed)
    }

    /// Moments of working hours, each by itself, in which all is slower by the factor of a storm, and nothing else.
    pub fn of_moments_at_work(slots: usize, noise: &mut Random) -> Self {
        let hour = |slot: usize| slot % SLOTS_PER_DAY * 24 / SLOTS_PER_DAY;
        let is_bad = |slot: usize| WORKING_HOURS.contains(&hour(slot)) && noise.unit() < MOMENT_SHARE;
        Self::slowed_by_storms((0..slots).map(is_bad).collect())
    }

    fn slowed_by_storms(disturbed: Vec<bool>) -> Self {
        let shifts = slowed(&vec![0.0; disturbed.len()], &disturbed, STORM_FACTOR);
        Self { seconds: shifts.iter().map(|shift| MEDIAN_SECONDS * shift.exp()).collect(), disturbed }
    }
}

/// A log-normal part of a population.
#[derive(Debug, Clone, Copy)]
struct Part {
    weight: f64,
    shift: f64,
    sigma: f64,
}

impl Part {
    fn share_below(self, shift: f64) -> f64 {
        0.5 * erfc((self.shift - shift) / (self.sigma * std::f64::consts::SQRT_2))
    }
}

/// Logarithms with standard deviation [`SIGMA`], beginning in the stationary state.
fn autoregressive(slots: usize, coefficient: f64, noise: &mut Random) -> Vec<f64> {
    let fresh = (1.0 - coefficient * coefficient).sqrt();
    let mut state = noise.normal();
    (0..slots)
        .map(|_| {
            let now = state;
            state = coefficient * state + fresh * noise.normal();
            SIGMA * now
        })
        .collect()
}

fn one_over_f(slots: usize, noise: &mut Random) -> Vec<f64> {
    let mut sum = vec![0.0; slots];
    for octave in 0..OCTAVES {
        let coefficient = (-1.0 / f64::from(1_u32 << octave)).exp();
        let part = autoregressive(slots, coefficient, noise);
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sum.iter_mut().for_each(|sum| *sum /= f64::from(OCTAVES).sqrt());
    sum
}

fn is_weekend(slot: usize) -> bool {
    slot % SLOTS_PER_WEEK >= 5 * SLOTS_PER_DAY
}

fn slowed(quiet: &[f64], disturbed: &[bool], factor: f64) -> Vec<f64> {
    let levels = quiet.iter().zip(disturbed);
    levels.map(|(quiet, is_slow)| if *is_slow { quiet + factor.ln() } else { *quiet }).collect()
}

/// Storms of equal length after quiet times whose length has no memory; the first may already be under way.
fn storms(slots: usize, noise: &mut Random) -> Vec<bool> {
    let quiet_slots = STORM_SLOTS as f64 * (1.0 - STORM_SHARE) / STORM_SHARE;
    let begins = 1.0 / quiet_slots;
    let mut left =
        if noise.unit() < STORM_SHARE { 1 + (noise.unit() * STORM_SLOTS as f64) as usize } else { 0 };
    let mut disturbed = Vec::with_capacity(slots);
    for _ in 0..slots {
        disturbed.push(left > 0);
        left = left.saturating_sub(1);
        if left == 0 && noise.unit() < begins {
            left = STORM_SLOTS;
        }
    }
    disturbed
}

fn modes(slots: usize, noise: &mut Random) -> Vec<bool> {
    let leaves_slow = 1.0 / MODE_SLOTS;
    let leaves_fast = leaves_slow * (1.0 - MODE_SHARE) / MODE_SHARE;
    let mut is_slow = noise.unit() < 1.0 - MODE_SHARE;
    (0..slots)
        .map(|_| {
            let now = is_slow;
            if noise.unit() < if is_slow { leaves_slow } else { leaves_fast } {
                is_slow = !is_slow;
            }
            now
        })
        .collect()
}

/// -1 to 1, greatest at `peak`.
fn daily(slot: usize, peak: f64) -> f64 {
    let phase = (slot % SLOTS_PER_DAY) as f64 / SLOTS_PER_DAY as f64 - peak;
    (std::f64::consts::TAU * phase).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATIONARY: [Process; 11] = [
        Process::Independent,
        Process::Autoregressive(0.8),
        Process::OneOverF,
        Process::Storms,
        Process::ModesInRuns,
        Process::Daily { peak: 0.5, coefficient: 0.0 },
        Process::DailyRandom,
        Process::Weekly,
        Process::WorkingHours,
        Process::SlowUnderNoise,
        Process::AboveFloor,
    ];

    #[test]
    fn a_long_record_has_the_quantiles_of_the_population() {
        for process in STATIONARY {
            let mut noise = Random::new(1);
            let mut seconds = process.course(100 * 4 * SLOTS_PER_WEEK, &mut noise).seconds;
            seconds.sort_unstable_by(f64::total_cmp);
            for q in [0.5, 0.9, 0.95, 0.99] {
                let share = seconds.partition_point(|one| *one <= process.quantile(q)) as f64;
                let share = share / seconds.len() as f64;
                // 1/f noise is worth little: a standard error of 0.014 at the median.
                assert!((share - q).abs() < 0.03, "{process:?} {q}: {share}");
            }
        }
    }

    #[test]
    fn autocorrelation_is_what_was_asked_for() {
        let mut noise = Random::new(2);
        let shifts = autoregressive(200_000, 0.9, &mut noise);
        let product: f64 = shifts.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let square: f64 = shifts.iter().map(|shift| shift * shift).sum();
        assert!((product / square - 0.9).abs() < 0.005);
        assert!((square / 200_000.0 - SIGMA * SIGMA).abs() < 0.01);
    }

    #[test]
    fn a_step_and_a_drift_are_as_large_as_they_say() {
        let mut noise = Random::new(3);
        let step = Process::Step { factor: 10.0, place: 0.25, lasting: 0.0, coefficient: 0.0 };
        let course = step.course(1000, &mut noise);
        let mean = |slots: &[f64]| slots.iter().map(|one| one.ln()).sum::<f64>() / slots.len() as f64;
        let rise = mean(&course.seconds[250..]) - mean(&course.seconds[..250]);
        assert!((rise - 10_f64.ln()).abs() < 0.15, "{rise}");
        let drift = Process::Drift(1.3).course(100_000, &mut noise).seconds;
        let rise = mean(&drift[90_000..]) - mean(&drift[..10_000]);
        assert!((rise - 0.9 * 1.3_f64.ln()).abs() < 0.03, "{rise}");
    }

    #[test]
    fn jobs_are_at_night_and_moments_at_work() {
        let hours = |course: Course| {
            let bad = course.disturbed.iter().enumerate().filter(|(_, is_bad)| **is_bad);
            bad.map(|(slot, _)| slot % SLOTS_PER_DAY / 4).collect::<Vec<usize>>()
        };
        let at_night = hours(Course::of_nightly_jobs(70 * SLOTS_PER_DAY, &mut Random::new(5)));
        assert!((250..400).contains(&at_night.len()) && at_night.iter().all(|hour| (2..7).contains(hour)));
        let at_work = hours(Course::of_moments_at_work(70 * SLOTS_PER_DAY, &mut Random::new(6)));
        assert!((40..100).contains(&at_work.len()) && at_work.iter().all(|hour| (9..17).contains(hour)));
    }

    #[test]
    fn no_slots_are_no_durations() {
        for process in STATIONARY {
            assert_eq!(process.course(0, &mut Random::new(4)), Course::default());
        }
    }
}
