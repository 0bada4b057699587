//! Each campaign of each row has noise of its own, the same on every machine and whichever rows are measured.

use iolag_model::Random;

/// The noise of one campaign of a row.
pub fn noise_of(row: &str, campaign: usize, seed: u64) -> Random {
    let mut mixed = seed;
    for byte in row.bytes() {
        mixed = Random::new(mixed ^ u64::from(byte)).bits();
    }
    Random::new(Random::new(mixed ^ campaign as u64).bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_campaigns_and_seeds_have_noise_of_their_own() {
        let first = |row: &str, campaign, seed| noise_of(row, campaign, seed).bits();
        assert_eq!(first("a", 1, 2), first("a", 1, 2));
        assert!(first("a", 1, 2) != first("b", 1, 2) && first("a", 1, 2) != first("a", 2, 2));
        assert_ne!(first("a", 1, 2), first("a", 1, 3));
    }
}
