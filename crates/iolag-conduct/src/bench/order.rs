//! The order of a campaign: which point comes when, so that what changes in time is no difference between points.

use iolag_model::{Order, Random};

/// When a point is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The point, from 0.
    pub point: usize,
    /// The block, from 1: each has every point once.
    pub block: u32,
}

/// Blocks of these points, one place after the other. The same seed gives the same order, and the first blocks do not depend on
/// how many follow: a campaign that is gone on with, also for longer, finds its place.
pub(super) fn arranged(points: usize, blocks: u32, order: Order, seed: u64) -> Vec<Place> {
    let drawn = |stream: u32| {
        let mut block: Vec<usize> = (0..points).collect();
        Random::of_stream(seed, u64::from(stream)).shuffle(&mut block);
        block
    };
    let of_block = |block: u32| -> Vec<usize> {
        match (order, block % 2) {
            (Order::Interleaved, 1) => drawn(block / 2),
            (Order::Interleaved, _) => drawn(block / 2 - 1).into_iter().rev().collect(),
            (Order::Random, _) => drawn(block),
            (Order::Sequential, _) => (0..points).collect(),
        }
    };
    let places_of = |block| of_block(block).into_iter().map(move |point| Place { point, block });
    let mut places: Vec<Place> = (1..=blocks).flat_map(places_of).collect();
    if order == Order::Sequential {
        places.sort_by_key(|place| place.point);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The points as letters, a word for each block that follows the one before.
    fn letters(points: usize, blocks: u32, order: Order, seed: u64) -> String {
        let places = arranged(points, blocks, order, seed);
        let words = places.chunk_by(|left, right| left.block == right.block);
        let letter = |place: &Place| char::from(b'A' + place.point as u8);
        words.map(|word| word.iter().map(letter).collect::<String>()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn known_orders() {
        // By a program of its own, with the same generator.
        assert_eq!(letters(2, 4, Order::Interleaved, 1), "AB BA AB BA");
        assert_eq!(letters(2, 4, Order::Random, 1), "AB BA BA AB");
        assert_eq!(letters(2, 4, Order::Sequential, 1), "A A A A B B B B");
        assert_eq!(letters(3, 5, Order::Interleaved, 1), "BAC CAB BCA ACB ACB");
        assert_eq!(letters(3, 5, Order::Interleaved, 2), "ACB BCA ACB BCA ABC");
        assert_eq!(letters(1, 3, Order::Interleaved, 1), "A A A");
        assert_eq!(letters(0, 3, Order::Interleaved, 1), "");
    }

    fn any_order() -> impl Strategy<Value = Order> {
        prop::sample::select(Order::ALL)
    }

    proptest! {
        #[test]
        fn each_block_has_each_point_once(
            points in 0_usize..9, blocks in 0_u32..9, order in any_order(), seed in any::<u64>()
        ) {
            let places = arranged(points, blocks, order, seed);
            prop_assert_eq!(places.len(), points * blocks as usize);
            for block in 1..=blocks {
                let mut own: Vec<usize> =
                    places.iter().filter(|place| place.block == block).map(|place| place.point).collect();
                own.sort_unstable();
                prop_assert_eq!(own, (0..points).collect::<Vec<_>>());
            }
        }

        #[test]
        fn over_two_blocks_each_point_has_the_same_mean_place(
            points in 1_usize..9, twos in 1_usize..5, seed in any::<u64>()
        ) {
            let places = arranged(points, 2 * twos as u32, Order::Interleaved, seed);
            for two in places.chunks(2 * points) {
                for point in 0..points {
                    let sum: usize = (0..).zip(two).filter(|(_, place)| place.point == point).map(|(at, _)| at).sum();
                    prop_assert_eq!(sum, 2 * points - 1);
                }
            }
        }

        #[test]
        fn more_blocks_change_nothing_of_the_first(
            points in 0_usize..9, blocks in 0_u32..9, more in 0_u32..4, seed in any::<u64>()
        ) {
            for order in [Order::Interleaved, Order::Random] {
                let longer = arranged(points, blocks + more, order, seed);
                let shorter = arranged(points, blocks, order, seed);
                prop_assert_eq!(&longer[..shorter.len()], &shorter[..]);
            }
        }
    }

    #[test]
    fn seeds_and_twos_have_orders_of_their_own() {
        let orders =
            |blocks| (0..20).map(|seed| letters(4, blocks, Order::Interleaved, seed)).collect::<Vec<_>>();
        let different: std::collections::BTreeSet<_> = orders(1).into_iter().collect();
        assert!(different.len() > 5, "{different:?}");
        let alike = orders(3).iter().filter(|word| word[..4] == word[10..]).count();
        assert!(alike < 5, "{alike} of 20 second twos are in the order of the first");
    }
}
