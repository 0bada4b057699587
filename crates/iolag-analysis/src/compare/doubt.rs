//! What differs between sides besides what was to be compared.

use super::side::{Fact, RowKey};

/// What to know before the table is believed.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// Sides differ in this, too.
    Differs {
        /// In what.
        fact: Fact,
        /// The values of each side, in their order; none where it is not known.
        values: Vec<Vec<String>>,
    },
    /// Sides were told apart by one label and differ in others: which of them makes a difference cannot be told.
    DifferentLabels {
        /// The labels of each side: `client=nfs`, and `no system` where it has not got one.
        labels: Vec<Vec<String>>,
    },
    /// Sides are one file system by two names, so that a difference is not of file systems.
    OneFileSystem {
        /// Which sides, by their place.
        sides: Vec<usize>,
        /// The device, as `0:45`.
        device: String,
    },
    /// Sides that were named otherwise measured in one directory: a difference is of chance.
    OneDirectory {
        /// Which sides, by their place.
        sides: Vec<usize>,
        /// Its path.
        directory: String,
    },
    /// All runs of one side came before those of another: what changed in time and what differs between sides cannot be told apart.
    OneAfterTheOther {
        /// The side that came first.
        first: usize,
        /// The side that came after.
        after: usize,
        /// From the middle of the one to the middle of the other.
        apart_ns: u64,
    },
    /// Blocks were gone on with much later, so that their runs are no neighbours.
    TakenUpAgain {
        /// How many blocks.
        blocks: u32,
        /// Of how many.
        of: u32,
        /// The longest time that passed between two runs of one of them.
        pause_ns: u64,
    },
    /// Units of the sides have different numbers of attempts, on which a quantile of few depends.
    DifferentAttempts {
        /// The row in which they differ most.
        key: Box<RowKey>,
        /// Attempts of a unit of each side, on average; absent where nobody knows.
        attempts: Vec<Option<u64>>,
    },
    /// A rate of this operation is not that of the same: patterns ask differently often.
    DifferentPatterns {
        /// The pattern of each side.
        patterns: Vec<String>,
    },
}
