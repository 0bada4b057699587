//! How many objects a client reads that it wrote itself: these come from its own caches and flatter the
//! storage.
//!
//! Client `r` of `N` reads, in dataset `d`, from client `r - O(d+1)` (pattern code) or `r + O(d+1)` (pattern
//! paper), and creates at `r + O(d+1)` or `r + O·d`. An object that was precreated was written by the client
//! whose dataset it is in; in the steady state every object was created in an earlier iteration by the client
//! that creates there. The distance between writer and reader is then `O(d+1)` for precreated objects, and
//! `2·O(d+1)` (code) or `O` (paper) later.

use iolag_model::Pattern;
use serde::{Deserialize, Serialize};

/// Shares of reads, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SelfReadShare {
    /// Of objects that were precreated.
    pub precreated: f64,
    /// Of objects that were created by the benchmark itself.
    pub steady_state: f64,
}

/// Share of reads by the client that wrote the object. `clients` and `datasets` of 0 count as 1. In pattern batch all
/// objects are their reader's own if twice `offset` is a multiple of `clients`, else none.
pub fn self_read_share(clients: u32, datasets: u32, offset: u32, pattern: Pattern) -> SelfReadShare {
    let clients = u64::from(clients.max(1));
    share_of_distances(
        datasets,
        offset,
        pattern,
        |distance| {
            if distance.is_multiple_of(clients) { 1.0 } else { 0.0 }
        },
    )
}

/// Share of reads on the node that wrote the object, with `clients_per_node` neighbouring clients on each of
/// many nodes: what a node's page cache may answer.
pub fn same_node_share(clients_per_node: u32, datasets: u32, offset: u32, pattern: Pattern) -> SelfReadShare {
    let on_node = f64::from(clients_per_node.max(1));
    share_of_distances(datasets, offset, pattern, |distance| (on_node - distance as f64).max(0.0) / on_node)
}

fn share_of_distances(
    datasets: u32,
    offset: u32,
    pattern: Pattern,
    share: impl Fn(u64) -> f64,
) -> SelfReadShare {
    let offset = u64::from(offset);
    let datasets = u64::from(datasets.max(1));
    let mean = |distance: &dyn Fn(u64) -> u64| {
        (1..=datasets).map(|step| share(distance(step))).sum::<f64>() / datasets as f64
    };
    let (precreated, steady_state): (f64, f64) = match pattern {
        Pattern::Code => (mean(&|step| offset * step), mean(&|step| 2 * offset * step)),
        Pattern::Paper => (mean(&|step| offset * step), mean(&|_| offset)),
        // A batch reads what the client two offsets above has made.
        Pattern::Batch => (share(2 * offset), share(2 * offset)),
    };
    SelfReadShare { precreated, steady_state }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_reference() {
        for (clients, precreated, steady_state) in [(1, 1.0, 1.0), (2, 0.5, 1.0), (4, 0.2, 0.5)] {
            assert_eq!(
                self_read_share(clients, 10, 1, Pattern::Code),
                SelfReadShare { precreated, steady_state },
                "{clients} clients"
            );
        }
    }

    #[test]
    fn a_batch_reads_what_the_client_two_offsets_above_has_made() {
        for (clients, offset, own) in
            [(1, 1, 1.0), (2, 1, 1.0), (3, 1, 0.0), (4, 1, 0.0), (4, 2, 1.0), (5, 0, 1.0)]
        {
            let share = SelfReadShare { precreated: own, steady_state: own };
            assert_eq!(
                self_read_share(clients, 3, offset, Pattern::Batch),
                share,
                "{clients} clients, offset {offset}"
            );
        }
    }

    #[test]
    fn shares_of_a_node_are_those_of_the_reference() {
        let percent = |share: f64| (share * 100.0).round() as u32;
        for (clients_per_node, precreated, steady_state) in
            [(8, 35, 15), (16, 66, 35), (24, 77, 54), (48, 89, 77), (128, 96, 91)]
        {
            let share = same_node_share(clients_per_node, 10, 1, Pattern::Code);
            assert_eq!((percent(share.precreated), percent(share.steady_state)), (precreated, steady_state));
        }
    }

    /// Who wrote what is read, by keeping books for two iterations.
    fn by_books(clients: u32, datasets: u32, offset: u32, pattern: Pattern) -> SelfReadShare {
        let (n, o) = (i64::from(clients), i64::from(offset));
        let precreated = || {
            let mut owner = vec![vec![0; datasets as usize]; clients as usize];
            for (rank, sets) in owner.iter_mut().enumerate() {
                sets.fill(rank as i64);
            }
            owner
        };
        let places = |rank: i64, set: i64| match pattern {
            Pattern::Code => (rank - o * (set + 1), rank + o * (set + 1)),
            _ => (rank + o * (set + 1), rank + o * set),
        };
        let owner = precreated();
        let mut created = owner.clone();
        let count = |owner: &Vec<Vec<i64>>| {
            let mut own = 0;
            for rank in 0..n {
                for set in 0..i64::from(datasets) {
                    let reader = places(rank, set).0.rem_euclid(n) as usize;
                    own += u32::from(owner[reader][set as usize] == rank);
                }
            }
            f64::from(own) / f64::from(clients * datasets)
        };
        for rank in 0..n {
            for set in 0..i64::from(datasets) {
                created[places(rank, set).1.rem_euclid(n) as usize][set as usize] = rank;
            }
        }
        SelfReadShare { precreated: count(&owner), steady_state: count(&created) }
    }

    #[test]
    fn shares_agree_with_keeping_books() {
        for clients in 1..9 {
            for (datasets, offset) in [(1, 1), (3, 1), (4, 2), (10, 1), (5, 3), (2, 0)] {
                for pattern in [Pattern::Code, Pattern::Paper] {
                    let expected = by_books(clients, datasets, offset, pattern);
                    let found = self_read_share(clients, datasets, offset, pattern);
                    assert!(
                        (found.precreated - expected.precreated).abs() < 1e-12
                            && (found.steady_state - expected.steady_state).abs() < 1e-12,
                        "N={clients} D={datasets} O={offset} {pattern}"
                    );
                }
            }
        }
    }
}
