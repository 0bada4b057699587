//! Sequences by frequency: transforms, noise with a spectrum, periods.

pub(crate) mod coherence;
pub(crate) mod coloured_noise;
pub(crate) mod continuum;
pub(crate) mod cosine;
pub(crate) mod fourier;
pub(crate) mod fundamental;
pub(crate) mod peaks;
pub(crate) mod periodogram;
pub(crate) mod regression;
