//! What was done when: the time of a trace in pieces of equal length, and in each how long what was done.

/// Pieces, at most: with more to come each becomes twice as long.
const BINS: usize = 1 << 14;
/// How long a piece is at first, in ns: with so many of them a second.
const WIDTH: u64 = 1 << 16;

/// Time by kind of activity and by piece. Calls may come in any order.
#[derive(Debug)]
pub(super) struct Bins {
    width: u64,
    by_kind: Vec<Vec<u64>>,
}

/// How a kind shares the time in which others do something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It does something.
    Does,
    /// It waits: it gets what those leave who do something.
    Waits,
    /// It waits for other tasks: it gets what all leave.
    WaitsForTasks,
}

impl Default for Bins {
    fn default() -> Self {
        Self { width: WIDTH, by_kind: Vec::new() }
    }
}

impl Bins {
    /// A task did this from one moment to another, in ns.
    pub(super) fn add(&mut self, kind: usize, from: u64, to: u64) {
        if from >= to {
            return;
        }
        while to.div_ceil(self.width) > BINS as u64 {
            self.widen();
        }
        if self.by_kind.len() <= kind {
            self.by_kind.resize(kind + 1, Vec::new());
        }
        let (first, last) = ((from / self.width) as usize, ((to - 1) / self.width) as usize);
        let bins = &mut self.by_kind[kind];
        if bins.len() <= last {
            bins.resize(last + 1, 0);
        }
        for (place, bin) in bins.iter_mut().enumerate().take(last + 1).skip(first) {
            let begin = place as u64 * self.width;
            *bin += to.min(begin + self.width) - from.max(begin);
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        for bins in &mut self.by_kind {
            *bins = bins.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    /// Only this share of one kind is that: the rest is another.
    pub(super) fn split(&mut self, kind: usize, share: f64, other: usize) {
        let len = self.by_kind.len().max(kind.max(other) + 1);
        self.by_kind.resize(len, Vec::new());
        let bins = std::mem::take(&mut self.by_kind[kind]);
        let kept: Vec<u64> = bins.iter().map(|bin| (*bin as f64 * share) as u64).collect();
        let rest = &mut self.by_kind[other];
        rest.resize(rest.len().max(bins.len()), 0);
        rest.iter_mut().zip(bins.iter().zip(&kept)).for_each(|(rest, (bin, kept))| *rest += bin - kept);
        self.by_kind[kind] = kept;
    }

    /// Nobody did that.
    pub(super) fn clear(&mut self, kind: usize) {
        self.by_kind.get_mut(kind).into_iter().for_each(Vec::clear);
    }

    /// How long all tasks did each kind.
    pub(super) fn sum(&self, kind: usize) -> u64 {
        self.by_kind.get(kind).map_or(0, |bins| bins.iter().sum())
    }

    /// Gives each moment between two to what was done then. In a piece of time those who do something share it by how long each did; who waits
    /// gets what they leave. What is left in the end nobody had. The parts by kind, and that.
    pub(super) fn divide(&self, from: u64, to: u64, rank: impl Fn(usize) -> Rank) -> (Vec<f64>, f64) {
        let mut parts = vec![0.0; self.by_kind.len()];
        let mut nobody = 0.0;
        if from >= to {
            return (parts, nobody);
        }
        for place in (from / self.width)..=((to - 1) / self.width) {
            let begin = place * self.width;
            let mut room = (to.min(begin + self.width) - from.max(begin)) as f64;
            for wanted in [Rank::Does, Rank::Waits, Rank::WaitsForTasks] {
                let of_rank = || (0..self.by_kind.len()).filter(|kind| rank(*kind) == wanted);
                let time = |kind: usize| self.by_kind[kind].get(place as usize).copied().unwrap_or(0) as f64;
                let all: f64 = of_rank().map(time).sum();
                let scale = if all > room { room / all } else { 1.0 };
                of_rank().for_each(|kind| parts[kind] += time(kind) * scale);
                room -= all.min(room);
            }
            nobody += room;
        }
        (parts, nobody)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANKS: [Rank; 3] = [Rank::Does, Rank::Waits, Rank::WaitsForTasks];

    fn divided(bins: &Bins, to: u64) -> (Vec<u64>, u64) {
        let (parts, nobody) = bins.divide(0, to, |kind| RANKS[kind]);
        (parts.iter().map(|part| part.round() as u64).collect(), nobody.round() as u64)
    }

    #[test]
    fn who_waits_gets_what_the_others_leave() {
        let mut bins = Bins::default();
        const SECOND: u64 = 1_000_000_000;
        bins.add(2, 0, 10 * SECOND);
        bins.add(0, 2 * SECOND, 5 * SECOND);
        bins.add(1, 4 * SECOND, 8 * SECOND);
        let (parts, nobody) = divided(&bins, 11 * SECOND);
        for (part, expected) in parts.iter().chain([&nobody]).zip([3, 3, 4, 1]) {
            // As exact as the pieces are short.
            assert!(part.abs_diff(expected * SECOND) < 10_000_000, "{parts:?} {nobody}");
        }
        assert_eq!(parts.iter().sum::<u64>() + nobody, 11 * SECOND);
        assert_eq!([0, 1, 2, 3].map(|kind| bins.sum(kind)), [3 * SECOND, 4 * SECOND, 10 * SECOND, 0]);
    }

    #[test]
    fn those_who_do_something_at_the_same_time_share_it() {
        let mut bins = Bins::default();
        for _ in 0..16 {
            bins.add(0, 1000, 5000);
        }
        assert_eq!(divided(&bins, 5000), (vec![5000], 0));
        bins.add(0, 7, 7);
        assert_eq!(divided(&bins, 0), (vec![0], 0));
    }

    #[test]
    fn whole_days_take_no_more_room_and_lose_nothing() {
        let mut bins = Bins::default();
        const DAY: u64 = 86_400_000_000_000;
        for call in 0..1000 {
            bins.add(0, call * 90_000_000_000, call * 90_000_000_000 + 1000);
        }
        bins.add(1, 0, 3 * DAY);
        assert!(bins.by_kind.iter().all(|bins| bins.len() <= BINS));
        assert_eq!(divided(&bins, 3 * DAY), (vec![1_000_000, 3 * DAY - 1_000_000], 0));
    }
}
