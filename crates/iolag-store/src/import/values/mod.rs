//! What rows say: numbers, quantities, and what the clock behind them could tell.

pub(super) mod decimal;
pub(super) mod quantity;
pub(super) mod resolution;
