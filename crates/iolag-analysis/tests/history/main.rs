//! What histories say, on made-up series of which everything is known.

mod change_calibration;
mod change_known_answers;
mod coarse_clock;
mod distribution;
mod findings;
mod summary;
mod summary_simulations;
mod together_calibration;
