//! What a round of a check consists of: groups of units of one kind.

use std::collections::BTreeSet;

use iolag_model::{Datasets, Operation};

/// How often an object's life is repeated in a round.
pub(crate) const LIVES: u32 = 20;
/// How often both listings are repeated in a round.
const LISTINGS: u32 = 5;

/// Which tasks can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckTasks {
    /// List, create and compile.
    All,
    /// List and create: no compiler was found.
    WithoutCompiler,
    /// None: the target is no directory.
    None,
}

/// What a target can be asked. A directory can be asked everything; of a server its objects as wholes, as far as it knows such requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckAbilities {
    /// The tasks.
    pub tasks: CheckTasks,
    /// All other operations.
    pub operations: BTreeSet<Operation>,
}

impl CheckAbilities {
    pub(crate) fn can(&self, operation: Operation) -> bool {
        self.operations.contains(&operation)
    }

    pub(crate) fn datasets(&self) -> Datasets {
        if self.can(Operation::MakeDirectory) { Datasets::Made } else { Datasets::Implied }
    }
}

/// Units of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Makes what is listed; over when that is complete.
    Setting,
    Listing,
    Creating,
    Objects,
    Compiling,
    Calls,
    Stream,
}

impl Group {
    /// In the order in which a user asks.
    pub(crate) const ALL: [Self; 7] = [
        Self::Setting,
        Self::Listing,
        Self::Creating,
        Self::Objects,
        Self::Compiling,
        Self::Calls,
        Self::Stream,
    ];

    pub(crate) fn is_possible(self, abilities: &CheckAbilities) -> bool {
        match self {
            Self::Setting | Self::Listing | Self::Creating => abilities.tasks != CheckTasks::None,
            Self::Compiling => abilities.tasks == CheckTasks::All,
            Self::Objects => abilities.can(Operation::Create),
            Self::Calls => abilities.can(Operation::CallCreate),
            Self::Stream => abilities.can(Operation::StreamWrite),
        }
    }

    pub(crate) const fn repetitions(self) -> u32 {
        match self {
            Self::Listing => LISTINGS,
            Self::Objects | Self::Calls => LIVES,
            Self::Setting | Self::Creating | Self::Compiling | Self::Stream => 1,
        }
    }

    /// Requests after which the first unit has told something, roughly, if nothing is cached: in less time it is not begun. It may
    /// be ended then.
    pub(crate) const fn requests(self) -> u64 {
        match self {
            Self::Setting => 7,
            Self::Objects | Self::Calls | Self::Stream => 12,
            Self::Listing | Self::Creating | Self::Compiling => 15,
        }
    }

    /// The dataset that the group makes and removes in this round.
    pub(crate) const fn dataset(self, round: u32) -> Option<u32> {
        match self {
            Self::Objects => Some(round * 2 + 2),
            Self::Calls => Some(round * 2 + 3),
            _ => None,
        }
    }
}
