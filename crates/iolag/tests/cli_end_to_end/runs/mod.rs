//! What can be done with stored runs, also with those of other versions.

mod baselines;
mod memory;
mod older_runs;
mod order;
mod rm;
mod stored;
mod unknown;
