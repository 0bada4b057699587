//! In which order the blocks of a file are asked for.

use iolag_model::mix;

/// So many rounds of a Feistel network make its outputs look random (Luby and Rackoff, "How to construct pseudorandom permutations from
/// pseudorandom functions", 1988).
const ROUNDS: usize = 4;

/// Every number below a limit once, in an order of its seed's: a permutation that needs no memory, however long the file is.
///
/// A Feistel network, its halves unequal where the number of bits is odd, permutes the numbers of so many bits; what lands beyond the limit is
/// permuted again until it does not (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). That domain is less than twice as large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RandomOrder {
    keys: [u64; ROUNDS],
    limit: u64,
    /// Of the lower half; the upper one has as many, or one more.
    lower_bits: u32,
    upper_bits: u32,
}

impl RandomOrder {
    /// The order of the numbers below `limit`, which is at least 1 and at most 2⁶².
    pub(super) const fn new(seed: u64, limit: u64) -> Self {
        let bits = u64::BITS - (limit - 1).leading_zeros();
        let mut keys = [0; ROUNDS];
        let mut round = 0;
        while round < ROUNDS {
            keys[round] = mix(seed ^ round as u64);
            round += 1;
        }
        Self { keys, limit, lower_bits: bits / 2, upper_bits: bits.div_ceil(2) }
    }

    /// The number that comes after so many others, which are fewer than all.
    pub(super) const fn number(&self, after: u64) -> u64 {
        let mut number = self.permuted(after);
        while number >= self.limit {
            number = self.permuted(number);
        }
        number
    }

    const fn permuted(&self, number: u64) -> u64 {
        let (lower_mask, upper_mask) = ((1 << self.lower_bits) - 1, (1 << self.upper_bits) - 1);
        let (mut upper, mut lower) = (number >> self.lower_bits, number & lower_mask);
        let mut round = 0;
        while round < ROUNDS {
            upper ^= mix(self.keys[round] ^ lower) & upper_mask;
            lower ^= mix(self.keys[round + 1] ^ upper) & lower_mask;
            round += 2;
        }
        upper << self.lower_bits | lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_once(seed in any::<u64>(), limit in 1_u64..3000) {
            let order = RandomOrder::new(seed, limit);
            let mut numbers: Vec<u64> = (0..limit).map(|after| order.number(after)).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..limit));
        }
    }

    #[test]
    fn the_order_is_that_of_the_seed_and_not_the_natural_one() {
        let of = |seed| -> Vec<u64> {
            (0..1000).map(|after| RandomOrder::new(seed, 1000).number(after)).collect()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let follow = of(1).windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(follow < 10, "of 999 pairs about one follows by chance: {follow}");
        // The distance of two neighbours is that of two random numbers, a third of the range on average.
        let distance: u64 = of(1).windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
        assert!((300..370).contains(&(distance / 999)), "{distance}");
    }

    #[test]
    fn the_largest_file_has_an_order_too() {
        let order = RandomOrder::new(7, 1 << 62);
        assert!(order.number((1 << 62) - 1) < 1 << 62);
    }
}
