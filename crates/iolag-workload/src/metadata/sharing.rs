//! Who works in whose datasets.
//!
//! With N clients and offset O, dataset d of a client has exactly one client that stats, one that reads, one that removes and
//! one that writes; in the patterns code and paper the first three are the same. The formulas are those of md-workbench's
//! code, of its workload paper of 2013, and of mdtest's option -N; see docs/metadata.md.
//!
//! Invariant: `remover_of(remove_rank(r, d), d) == r` and `writer_of(write_rank(r, d), d) == r`.

use iolag_model::{MetadataSpec, Pattern};

/// The relation between clients and datasets: pure arithmetic modulo the number of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    pattern: Pattern,
    clients: u32,
    offset: u32,
}

/// How much of what a client reads it has written itself; such reads may be answered by its own cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfReadShare {
    /// Among the objects that precreation made, 0 to 1.
    pub precreated: f64,
    /// Among the objects that the benchmark itself made, once they are read, 0 to 1.
    pub steady: f64,
}

impl Sharing {
    /// The relation among `clients` (at least 1) clients.
    pub fn new(spec: &MetadataSpec, clients: u32) -> Self {
        Self { pattern: spec.pattern, clients: clients.max(1), offset: spec.offset }
    }

    /// Number of clients.
    pub const fn clients(&self) -> u32 {
        self.clients
    }

    /// Whose objects `rank` stats in dataset `dataset`.
    pub const fn stat_rank(&self, rank: u32, dataset: u32) -> u32 {
        match self.pattern {
            Pattern::Code | Pattern::Paper => self.read_rank(rank, dataset),
            Pattern::Batch => self.above(rank, 1),
        }
    }

    /// Whose objects `rank` reads in dataset `dataset`. A batch moves on by another offset from stage to stage, as mdtest
    /// does: else a client would read what its own stat has just brought into its cache.
    pub const fn read_rank(&self, rank: u32, dataset: u32) -> u32 {
        match self.pattern {
            Pattern::Code => self.below(rank, dataset as u64 + 1),
            Pattern::Paper => self.above(rank, dataset as u64 + 1),
            Pattern::Batch => self.above(rank, 2),
        }
    }

    /// Whose objects `rank` removes in dataset `dataset`.
    pub const fn remove_rank(&self, rank: u32, dataset: u32) -> u32 {
        match self.pattern {
            Pattern::Code | Pattern::Paper => self.read_rank(rank, dataset),
            Pattern::Batch => self.above(rank, 3),
        }
    }

    /// In whose dataset `dataset` the client `rank` makes new objects.
    pub const fn write_rank(&self, rank: u32, dataset: u32) -> u32 {
        match self.pattern {
            Pattern::Code => self.above(rank, dataset as u64 + 1),
            Pattern::Paper => self.above(rank, dataset as u64),
            Pattern::Batch => rank,
        }
    }

    /// Who removes the objects of dataset `dataset` of `owner`; in the patterns code and paper also who reads them.
    pub const fn remover_of(&self, owner: u32, dataset: u32) -> u32 {
        match self.pattern {
            Pattern::Code => self.above(owner, dataset as u64 + 1),
            Pattern::Paper => self.below(owner, dataset as u64 + 1),
            Pattern::Batch => self.below(owner, 3),
        }
    }

    /// Who makes new objects in dataset `dataset` of `owner`.
    pub const fn writer_of(&self, owner: u32, dataset: u32) -> u32 {
        match self.pattern {
            Pattern::Code => self.below(owner, dataset as u64 + 1),
            Pattern::Paper => self.below(owner, dataset as u64),
            Pattern::Batch => owner,
        }
    }

    /// The share of self-read objects over `datasets` datasets. It is the same for every client, so client 0 stands for
    /// all.
    pub fn self_read_share(&self, datasets: u32) -> SelfReadShare {
        let share = |is_own: &dyn Fn(u32) -> bool| {
            let own = (0..datasets).filter(|dataset| is_own(*dataset)).count();
            own as f64 / f64::from(datasets.max(1))
        };
        SelfReadShare {
            precreated: share(&|dataset| self.read_rank(0, dataset) == 0),
            steady: share(&|dataset| self.writer_of(self.read_rank(0, dataset), dataset) == 0),
        }
    }

    const fn above(&self, rank: u32, steps: u64) -> u32 {
        ((rank as u64 + self.distance(steps)) % self.clients as u64) as u32
    }

    const fn below(&self, rank: u32, steps: u64) -> u32 {
        ((rank as u64 + self.clients as u64 - self.distance(steps)) % self.clients as u64) as u32
    }

    /// Offset times steps, modulo the number of clients; 2³² times 2³² fits 64 bits.
    const fn distance(&self, steps: u64) -> u64 {
        (self.offset as u64 * steps) % self.clients as u64
    }
}

/// The offset to use where the user gives none: the number of clients per node, so that the objects read were written on
/// another node; 1 if all clients are on one node, where no offset can avoid a shared cache.
pub const fn recommended_offset(clients: u32, clients_per_node: u32) -> u32 {
    if clients_per_node > 0 && clients > clients_per_node { clients_per_node } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sharing(pattern: Pattern, clients: u32, offset: u32) -> Sharing {
        Sharing { pattern, clients, offset }
    }

    #[test]
    fn the_printed_ranks_of_a_verbose_run_of_md_workbench_are_met() {
        let sharing = sharing(Pattern::Code, 4, 1);
        let ranks = |of: &dyn Fn(u32) -> u32| (0..3).map(of).collect::<Vec<_>>();
        assert_eq!(ranks(&|dataset| sharing.read_rank(0, dataset)), [3, 2, 1]);
        assert_eq!(ranks(&|dataset| sharing.write_rank(0, dataset)), [1, 2, 3]);
        assert_eq!(ranks(&|dataset| sharing.read_rank(1, dataset)), [0, 3, 2]);
        assert_eq!(ranks(&|dataset| sharing.write_rank(1, dataset)), [2, 3, 0]);
    }

    #[test]
    fn the_paper_reads_above_and_writes_one_step_lower() {
        let sharing = sharing(Pattern::Paper, 10, 1);
        assert_eq!((0..3).map(|d| sharing.read_rank(0, d)).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((0..3).map(|d| sharing.write_rank(0, d)).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn a_batch_moves_on_by_the_offset_from_stage_to_stage() {
        let sharing = sharing(Pattern::Batch, 8, 2);
        let ranks = (sharing.stat_rank(1, 5), sharing.read_rank(1, 5), sharing.remove_rank(1, 5));
        assert_eq!((ranks, sharing.write_rank(1, 5)), ((3, 5, 7), 1));
    }

    #[test]
    fn shares_of_self_read_objects_are_those_computed_for_ten_datasets() {
        for (clients, precreated, steady) in [(1, 1.0, 1.0), (2, 0.5, 1.0), (4, 0.2, 0.5)] {
            let share = sharing(Pattern::Code, clients, 1).self_read_share(10);
            assert_eq!(share, SelfReadShare { precreated, steady }, "{clients} clients");
        }
    }

    #[test]
    fn the_offset_is_a_node_where_there_are_several() {
        assert_eq!(recommended_offset(64, 16), 16);
        assert_eq!((recommended_offset(16, 16), recommended_offset(4, 0)), (1, 1));
    }

    proptest! {
        #[test]
        fn every_dataset_has_one_remover_and_one_writer(
            clients in 1_u32..50, offset: u32, dataset: u32, rank: u32,
            pattern in prop_oneof![Just(Pattern::Code), Just(Pattern::Paper), Just(Pattern::Batch)],
        ) {
            let (sharing, rank) = (sharing(pattern, clients, offset), rank % clients);
            prop_assert_eq!(sharing.remover_of(sharing.remove_rank(rank, dataset), dataset), rank);
            prop_assert_eq!(sharing.writer_of(sharing.write_rank(rank, dataset), dataset), rank);
            prop_assert!(sharing.read_rank(rank, dataset) < clients);
        }
    }
}
