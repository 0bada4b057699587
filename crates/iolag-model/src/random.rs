//! Random numbers that are the same on every machine for the same seed.

/// The increment of SplitMix64: 2⁶⁴ divided by the golden ratio.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed. Seeds that differ in few bits begin alike in few bits; see [`Random::of_stream`].
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of many sequences of a seed: that of a client, of a rule.
    pub const fn of_stream(seed: u64, stream: u64) -> Self {
        Self(mix(seed ^ mix(stream.wrapping_add(GOLDEN))))
    }

    /// The next 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number in [0, 1), with 53 random bits.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `limit`, which is at least 1; the bias is at most 2⁻⁶⁴ per value.
    #[inline]
    pub const fn below(&mut self, limit: u64) -> u64 {
        ((self.bits() as u128 * limit as u128) >> 64) as u64
    }

    /// Brings these in an order of which each is about as likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.bits() % (last as u64 + 1)) as usize);
        }
    }

    /// A number of the standard normal distribution (Box and Muller, "A note on the generation of random normal deviates", 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// The output function of SplitMix64: a bijection in which every input bit changes about half of the output bits.
#[inline]
pub const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // Reference values of the authors' C code for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn units_are_spread_over_the_interval() {
        let mut random = Random::of_stream(1, 2);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.unit()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        // The mean's standard error is 0.0029.
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut random = Random::new(3);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 10_000.0;
        let variance = numbers.iter().map(|number| number * number).sum::<f64>() / 10_000.0;
        // Standard errors 0.01 and 0.014.
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.07, "{mean} {variance}");
    }

    #[test]
    fn what_is_below_a_limit_is_each_value_alike() {
        let mut random = Random::new(9);
        let mut counts = [0_u32; 7];
        (0..7000).for_each(|_| counts[random.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(random.below(1), 0);
    }
}
